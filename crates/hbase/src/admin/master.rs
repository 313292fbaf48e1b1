//! Calls of the active master, whichever that is.

use super::Admin;
use crate::error::{Action, Error};
use crate::names::Address;
use crate::rpc::Service;
use crate::stamps::Stamps;
use prost::Message;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// First pause before the next try; doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// A master that says nothing for so long is asked again: the longest calls (balance, move) answer when they are done.
const SILENCE: Duration = Duration::from_secs(60);

/// What a master answered.
pub(super) struct Answer<M> {
    pub message: M,
    pub server: Address,
    pub stamps: Stamps,
}

impl Admin {
    /// Calls the active master; while there is none, or it is just starting, or lost, asks for it anew until the deadline.
    pub(super) async fn master<A: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
        deadline: Instant,
    ) -> Result<Answer<A>, Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.attempt(method, request, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if error.action() == Action::GiveUp || Instant::now() + pause >= deadline {
                return Err(error);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn attempt<A: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
        deadline: Instant,
    ) -> Result<Answer<A>, Error> {
        let within = deadline
            .saturating_duration_since(Instant::now())
            .min(SILENCE);
        let server = self.core.master().await?.address;
        let reply = self
            .core
            .pool
            .call(&server, Service::Master, method, request, &[], within)
            .await?;
        Ok(Answer {
            message: reply.decode(&server)?,
            server,
            stamps: reply.stamps,
        })
    }
}
