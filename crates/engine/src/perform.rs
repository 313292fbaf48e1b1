//! One operation from ticket to answer: build it, attempt it until the policy says stop, stamp the clocks.

use crate::clock::{Clock, nanos};
use crate::core::{Performed, Ticket, Turn};
use crate::driver::{AnyDriver, Driver};
use crate::generate::Generator;
use crate::operation::{Kind, Operation, Outcome, Reply};
use crate::plan::{Plan, Retry};
use std::sync::Arc;
use std::time::Duration;

/// Deadlines and retries: one policy for all systems.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// An operation's deadline from its start, ns.
    pub timeout_ns: u64,
    /// One attempt's deadline.
    pub attempt: Duration,
    /// Whether to try again.
    pub retry: Retry,
    /// Keep the versions that reads return.
    pub versions: bool,
}

impl Policy {
    /// From the plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            timeout_ns: plan.timeout_ms * 1_000_000,
            attempt: Duration::from_millis(plan.attempt_timeout_ms),
            retry: plan.retry,
            versions: plan.workload.verify == crate::plan::Verify::Full,
        }
    }
}

/// What clients of all threads share.
#[derive(Clone)]
pub struct Tools {
    /// Keys and values.
    pub generator: Arc<Generator>,
    /// The database.
    pub driver: AnyDriver,
    /// Deadlines and retries.
    pub policy: Policy,
}

/// What a client needs to do its work; one per thread, since a clock is.
pub struct Bench {
    /// The thread's clock.
    pub clock: Clock,
    /// What all threads share.
    pub tools: Tools,
}

/// A client's buffers, reused from operation to operation.
#[derive(Default)]
pub struct Desk {
    /// The operation.
    pub op: Operation,
    /// What came back.
    pub reply: Reply,
    /// Least acceptable version of each field.
    pub floors: Vec<u64>,
}

/// First pause between attempts, doubled each time up to [`LONGEST_PAUSE`]: a refused connection must not become a busy loop.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Bench {
    /// Do `ticket`.
    pub async fn perform(&self, ticket: &Ticket, desk: &mut Desk) -> Performed {
        self.tools.generator.fill(&ticket.draft, &mut desk.op);
        desk.op.timestamp_us = ticket.timestamp_us;
        desk.op.peer = ticket.peer;
        desk.reply.reset(
            ticket.judge,
            self.tools.policy.versions && ticket.draft.kind != Kind::Scan,
        );
        let begun = self.clock.now();
        let deadline = begun + self.tools.policy.timeout_ns;
        if ticket.draft.kind != Kind::ReadModifyWrite {
            return self.attempts(desk, begun, deadline).await;
        }
        desk.op.kind = Kind::Read;
        desk.op.fields = ticket.draft.read_fields;
        let read = self.attempts(desk, begun, deadline).await;
        if read.outcome != Outcome::Ok {
            return read;
        }
        desk.op.kind = Kind::Update;
        desk.op.fields = ticket.draft.fields;
        let update = self.attempts(desk, read.done, deadline).await;
        Performed {
            started: read.started,
            attempts: read.attempts.max(update.attempts),
            turn: Some(Turn {
                read_done: read.done,
                update_started: update.started,
            }),
            ..update
        }
    }

    /// Send the batch that lies in the reply, `due` since it was full.
    pub async fn flush(&self, due: u64, desk: &mut Desk) -> Performed {
        desk.op.kind = Kind::Flush;
        desk.reply.reset(false, false);
        let deadline = due + self.tools.policy.timeout_ns;
        self.attempts(desk, due, deadline).await
    }

    /// Attempt until it succeeds, retrying cannot help, or the deadline has passed. The clock is never restarted: `started`
    /// is of the first attempt, `done` of the last, each read at the socket where the driver can, else around its call.
    async fn attempts(&self, desk: &mut Desk, begun: u64, deadline: u64) -> Performed {
        let (mut attempt, mut pause, mut now) = (1, FIRST_PAUSE, begun);
        let mut started = begun;
        loop {
            let timeout = self
                .tools
                .policy
                .attempt
                .min(nanos(deadline.saturating_sub(now)));
            let Desk { op, reply, .. } = desk;
            let outcome = self
                .tools
                .driver
                .execute(op, attempt, timeout, &self.tools.generator.values, reply)
                .await;
            now = self.clock.now();
            if attempt == 1 {
                // The two clocks differ by nanoseconds: nothing is sent before it was taken.
                started = reply.stamps.sent_ns.map_or(begun, |sent| sent.max(begun));
            }
            let again = outcome.retryable() && self.tools.policy.retry == Retry::UntilDeadline;
            if let Some(text) = desk.reply.error.take() {
                desk.reply.failure.get_or_insert((outcome, text));
            }
            if !again || now + pause.as_nanos() as u64 >= deadline {
                let received = desk.reply.stamps.received_ns;
                return Performed {
                    outcome,
                    started,
                    done: received.unwrap_or(now).max(started),
                    attempts: attempt,
                    turn: None,
                };
            }
            self.pause(pause).await;
            let failure = desk.reply.failure.take();
            desk.reply.reset(desk.reply.judge, desk.reply.keep_versions);
            desk.reply.failure = failure;
            pause = (pause * 2).min(LONGEST_PAUSE);
            attempt += 1;
            now = self.clock.now();
        }
    }

    async fn pause(&self, pause: Duration) {
        if self.tools.driver.blocks() {
            std::thread::sleep(pause); // this thread serves one client, there is no reactor to keep running
        } else {
            tokio::time::sleep(pause).await;
        }
    }
}

#[cfg(test)]
mod tests;
