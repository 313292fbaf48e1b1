//! One operation from ticket to answer: build it, attempt it until the policy says stop, stamp the clocks.

use crate::clock::{Clock, nanos};
use crate::core::{Performed, Ticket};
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
        desk.reply.reset(
            ticket.judge,
            self.tools.policy.versions && ticket.draft.kind != Kind::Scan,
        );
        let started = self.clock.now();
        if ticket.draft.kind != Kind::ReadModifyWrite {
            let (outcome, done, attempts) = self.attempts(desk, started).await;
            return Performed {
                outcome,
                started,
                done,
                attempts,
                turned: None,
            };
        }
        desk.op.kind = Kind::Read;
        desk.op.fields = ticket.draft.read_fields;
        let (read, turned, first) = self.attempts(desk, started).await;
        if read != Outcome::Ok {
            return Performed {
                outcome: read,
                started,
                done: turned,
                attempts: first,
                turned: None,
            };
        }
        desk.op.kind = Kind::Update;
        desk.op.fields = ticket.draft.fields;
        let (outcome, done, second) = self.attempts(desk, started).await;
        Performed {
            outcome,
            started,
            done,
            attempts: first.max(second),
            turned: Some(turned),
        }
    }

    /// Attempt until it succeeds, retrying cannot help, or the deadline has passed. The clock is never restarted.
    async fn attempts(&self, desk: &mut Desk, started: u64) -> (Outcome, u64, u32) {
        let deadline = started + self.tools.policy.timeout_ns;
        let (mut attempt, mut pause, mut now) = (1, FIRST_PAUSE, started);
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
            let again = outcome.retryable() && self.tools.policy.retry == Retry::UntilDeadline;
            if let Some(text) = desk.reply.error.take() {
                desk.reply.failure.get_or_insert((outcome, text));
            }
            if !again || now + pause.as_nanos() as u64 >= deadline {
                return (outcome, now, attempt);
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
