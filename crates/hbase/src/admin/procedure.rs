//! Waiting for the master's procedures: most changes are done in the background, and their result is asked for.

use super::Admin;
use super::master::Answer;
use crate::error::{Error, Exception};
use crate::pb::NameBytesPair;
use crate::pb::admin::{
    ForeignExceptionMessage, GetProcedureResultRequest, GetProcedureResultResponse,
    ProcedureStarted,
};
use prost::Message;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// First pause between two questions whether a procedure is done; doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

const NOT_FOUND: i32 = 0;
const FINISHED: i32 = 2;

impl Admin {
    /// Starts a procedure and waits for its end. A `request` with a nonce is started once, however often it is sent.
    pub(super) async fn procedure(
        &self,
        method: &'static str,
        request: &impl Message,
    ) -> Result<(), Error> {
        let deadline = self.deadline();
        let started: Answer<ProcedureStarted> = self.master(method, request, deadline).await?;
        match started.message.proc_id {
            Some(number) => self.finished(method, number, deadline).await,
            None => Ok(()),
        }
    }

    async fn finished(
        &self,
        what: &'static str,
        number: u64,
        deadline: Instant,
    ) -> Result<(), Error> {
        let question = GetProcedureResultRequest { proc_id: number };
        let mut pause = FIRST_PAUSE;
        loop {
            let answer: Answer<GetProcedureResultResponse> = self
                .master("getProcedureResult", &question, deadline)
                .await?;
            match answer.message.state {
                FINISHED => return outcome(answer),
                NOT_FOUND => {
                    return Err(Error::Protocol {
                        server: answer.server,
                        what: "the master does not know the procedure that it started",
                    });
                }
                _ => {}
            }
            if Instant::now() + pause >= deadline {
                return Err(Error::Timeout {
                    what: format!("{what}, procedure {number} of master {}", answer.server),
                    after: self.patience,
                });
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

fn outcome(answer: Answer<GetProcedureResultResponse>) -> Result<(), Error> {
    match answer.message.exception.clone() {
        None => Ok(()),
        Some(failure) => Err(Error::Server(Box::new(exception(failure, &answer)))),
    }
}

/// A failed procedure is at its end: it was rolled back, and doing the same again fails again.
fn exception(
    failure: ForeignExceptionMessage,
    answer: &Answer<GetProcedureResultResponse>,
) -> Exception {
    let generic = failure.generic_exception.unwrap_or_default();
    let pair = NameBytesPair {
        name: generic.class_name.unwrap_or_default(),
        value: Some(generic.message.unwrap_or_default().into_bytes()),
    };
    Exception {
        do_not_retry: true,
        ..Exception::of_pair(pair, &answer.server, answer.stamps)
    }
}

/// A number that no other request will carry: the master starts one procedure for it.
pub(super) fn nonce() -> u64 {
    RandomState::new().hash_one("nonce")
}
