//! A driver for tests: it answers as it was told to, and can send writes together.

use super::Driver;
use super::buffered::{SendsTogether, Sent};
use crate::generate::values::Values;
use crate::operation::{Kind, Operation, Outcome};
use crate::reply::{Reply, Stamps};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

/// What one attempt does: how it ends, its clocks, and how long it takes.
pub type Line = (Outcome, Stamps, Duration);

/// Answers attempts in turn by its script, then at once with ok; its writes are collected if `buffer_bytes` is above 0.
#[derive(Default)]
pub struct Scripted {
    /// The attempts to come.
    pub script: Mutex<VecDeque<Line>>,
    /// Bytes of collected writes.
    pub buffer_bytes: u64,
}

impl Scripted {
    /// How the next attempt ends, after as long as that takes.
    async fn answer(&self, reply: &mut Reply) -> Outcome {
        let line = self
            .script
            .lock()
            .expect("nobody panics with it")
            .pop_front();
        let Some((outcome, stamps, takes)) = line else {
            return Outcome::Ok;
        };
        tokio::time::sleep(takes).await;
        reply.stamps = stamps;
        reply.coordinator = Some(0);
        if outcome != Outcome::Ok {
            reply.error = Some("as the script says".into());
        }
        outcome
    }
}

impl Driver for Scripted {
    async fn execute(
        &self,
        op: &Operation,
        _: u32,
        _: Duration,
        _: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        let outcome = self.answer(reply).await;
        if op.kind == Kind::Read && outcome == Outcome::Ok {
            reply.row();
        }
        outcome
    }
}

impl SendsTogether for Scripted {
    /// Of those that fail, the first write gets through all the same.
    async fn send(
        &self,
        writes: &[Operation],
        _: Duration,
        reply: &mut Reply,
    ) -> Result<Vec<Sent>, Outcome> {
        let outcome = self.answer(reply).await;
        let sent = |place| match outcome {
            _ if place == 0 => Ok(()),
            Outcome::Ok => Ok(()),
            failed => Err((failed, "as the script says".to_owned())),
        };
        Ok((0..writes.len()).map(sent).collect())
    }
}
