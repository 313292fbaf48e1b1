//! One operation from ticket to answer: build it, attempt it until the policy says stop, stamp the clocks.

use crate::clock::{Clock, nanos};
use crate::driver::{AnyDriver, Driver};
use crate::generate::Generator;
use crate::operation::{Kind, Operation, Outcome};
use crate::phase_state::{Performed, Ticket, Turn};
use crate::plan::{Plan, Retry};
use crate::reply::Reply;
use std::sync::Arc;
use std::time::Duration;

/// Deadlines and retries: one policy for all systems.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// An operation's deadline from its start, ns.
    pub timeout_ns: u64,
    /// One attempt's deadline, ns.
    pub attempt_ns: u64,
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
            attempt_ns: plan.attempt_timeout_ms * 1_000_000,
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
    /// What is to be done.
    pub ticket: Ticket,
    /// The operation.
    pub op: Operation,
    /// What came back.
    pub reply: Reply,
}

/// First pause between attempts, doubled each time up to [`LONGEST_PAUSE`]: a refused connection must not become a busy loop.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Bench {
    /// Do the desk's ticket.
    pub async fn perform(&self, desk: &mut Desk) -> Performed {
        let Desk { ticket, op, reply } = &mut *desk;
        self.tools.generator.fill(&ticket.draft, op);
        op.timestamp_us = ticket.timestamp_us;
        op.peer = ticket.peer;
        let versions = self.tools.policy.versions && ticket.draft.kind != Kind::Scan;
        reply.reset(ticket.judge, versions);
        let begun = self.clock.now();
        let deadline = begun + self.tools.policy.timeout_ns;
        if ticket.draft.kind == Kind::ReadModifyWrite {
            return self.read_modify_write(desk, begun, deadline).await;
        }
        self.attempts(desk, begun, deadline).await
    }

    async fn read_modify_write(&self, desk: &mut Desk, begun: u64, deadline: u64) -> Performed {
        desk.op.kind = Kind::Read;
        desk.op.fields = desk.ticket.draft.read_fields;
        let read = self.attempts(desk, begun, deadline).await;
        if read.outcome != Outcome::Ok {
            return read;
        }
        desk.op.kind = Kind::Update;
        desk.op.fields = desk.ticket.draft.fields;
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
        let outcome = self.attempt(desk, 1, begun, deadline).await;
        let now = self.clock.now();
        let stamps = desk.reply.stamps;
        // The two clocks differ by nanoseconds: nothing is sent before it was taken.
        let started = stamps.sent_ns.map_or(begun, |sent| sent.max(begun));
        let first = Performed {
            outcome,
            started,
            done: stamps.received_ns.unwrap_or(now).max(started),
            attempts: 1,
            turn: None,
        };
        if desk.reply.error.is_none() && !outcome.retryable() {
            return first;
        }
        // Seldom, and its state would make that of every operation larger.
        Box::pin(self.further_attempts(desk, first, now, deadline)).await
    }

    /// What follows on an attempt that ended, at `now`, in an error.
    async fn further_attempts(
        &self,
        desk: &mut Desk,
        mut did: Performed,
        mut now: u64,
        deadline: u64,
    ) -> Performed {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(text) = desk.reply.error.take() {
                desk.reply.failure.get_or_insert((did.outcome, text));
            }
            let again = did.outcome.retryable() && self.tools.policy.retry == Retry::UntilDeadline;
            if !again || now + pause.as_nanos() as u64 >= deadline {
                return did;
            }
            self.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            let failure = desk.reply.failure.take();
            desk.reply.reset(desk.reply.judge, desk.reply.keep_versions);
            desk.reply.failure = failure;
            did.attempts += 1;
            let begun = self.clock.now();
            did.outcome = self.attempt(desk, did.attempts, begun, deadline).await;
            now = self.clock.now();
            let received = desk.reply.stamps.received_ns;
            did.done = received.unwrap_or(now).max(did.started);
        }
    }

    /// One attempt. (No future of its own around the driver's: it would be polled for every operation.)
    fn attempt<'a>(
        &'a self,
        desk: &'a mut Desk,
        attempt: u32,
        begun: u64,
        deadline: u64,
    ) -> impl Future<Output = Outcome> + 'a {
        let left = deadline.saturating_sub(begun);
        let timeout = nanos(left.min(self.tools.policy.attempt_ns));
        let Desk { op, reply, .. } = desk;
        let values = &self.tools.generator.values;
        self.tools
            .driver
            .execute(op, attempt, timeout, values, reply)
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
