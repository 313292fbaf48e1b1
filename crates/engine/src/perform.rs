//! One operation from ticket to answer: build it, attempt it until the policy says stop, stamp the clocks.

use crate::driver::{Attempt, Exchange};
use crate::generate::Generator;
use crate::operation::{Kind, Outcome};
use crate::plan::{Plan, Retry};
use crate::reply::Brought;
use crate::ticket::{Performed, Ticket, Turn};
use std::sync::Arc;

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

/// What every client works with.
#[derive(Clone)]
pub struct Tools {
    /// Keys and values.
    pub generator: Arc<Generator>,
    /// Deadlines and retries.
    pub policy: Policy,
}

/// First pause between attempts, doubled each time up to [`LONGEST_PAUSE_NS`]: a refused connection must not become a busy loop.
const FIRST_PAUSE_NS: u64 = 1_000_000;
const LONGEST_PAUSE_NS: u64 = 100_000_000;

/// What follows on an attempt that has ended.
#[derive(Debug)]
pub enum Next {
    /// Another attempt, at once: a read-modify-write writes what it has read.
    Attempt,
    /// Another attempt at this time, ns.
    Pause(u64),
    /// Nothing: the operation is done.
    Done(Performed),
}

/// Where an operation is between its ticket and its end. It is told the time and how attempts ended; making them is the
/// event loop's, or a client thread's.
///
/// The clock is never restarted: `started` is of the first attempt, `done` of the last, each read at the socket where the
/// driver can, else around its call.
#[derive(Debug, Default)]
pub struct Progress {
    /// When the attempt was begun, ns.
    begun: u64,
    deadline: u64,
    started: u64,
    attempts: u32,
    pause_ns: u64,
    /// Of a read-modify-write whose read was done, with what it brought.
    read: Option<(Performed, Brought)>,
}

impl Progress {
    /// Take up `ticket` at `now`: its first attempt may begin. Of a flush, the batch lies in the reply.
    #[inline]
    pub fn begin(&mut self, tools: &Tools, ticket: &Ticket, exchange: &mut Exchange, now: u64) {
        let Exchange { op, reply } = exchange;
        tools.generator.fill(&ticket.draft, op);
        op.timestamp_us = ticket.timestamp_us;
        op.peer = ticket.peer;
        if ticket.draft.kind == Kind::ReadModifyWrite {
            op.kind = Kind::Read;
            op.fields = ticket.draft.read_fields;
        }
        let versions = tools.policy.versions && ticket.draft.kind != Kind::Scan;
        reply.reset(ticket.judge, versions);
        self.first_attempt(&tools.policy, now);
        self.read = None;
    }

    const fn first_attempt(&mut self, policy: &Policy, now: u64) {
        self.begun = now;
        self.deadline = now + policy.timeout_ns;
        self.attempts = 1;
        self.pause_ns = FIRST_PAUSE_NS;
    }

    /// Make another attempt at `now`, after a pause.
    pub const fn again(&mut self, now: u64) {
        self.begun = now;
        self.attempts += 1;
    }

    /// The attempt to be made.
    #[inline]
    pub fn attempt(&self, policy: &Policy) -> Attempt {
        Attempt {
            number: self.attempts,
            timeout_ns: self
                .deadline
                .saturating_sub(self.begun)
                .min(policy.attempt_ns),
        }
    }

    /// When the attempt is to be given up, ns.
    #[inline]
    pub fn gives_up_at(&self, policy: &Policy) -> u64 {
        self.begun + self.attempt(policy).timeout_ns
    }

    /// The attempt has ended at `now`.
    #[inline]
    pub fn ended(
        &mut self,
        policy: &Policy,
        ticket: &Ticket,
        exchange: &mut Exchange,
        outcome: Outcome,
        now: u64,
    ) -> Next {
        let stamps = exchange.reply.stamps;
        if self.attempts == 1 {
            // The two clocks differ by nanoseconds: nothing is sent before it was taken.
            self.started = stamps
                .sent_ns
                .map_or(self.begun, |sent| sent.max(self.begun));
        }
        let done = stamps.received_ns.unwrap_or(now).max(self.started);
        if (exchange.reply.error.is_some() || outcome.retryable())
            && let Some(until) = self.failed(policy, exchange, outcome, now)
        {
            return Next::Pause(until);
        }
        if ticket.draft.kind == Kind::ReadModifyWrite {
            let did = self.performed(outcome, done);
            return self.step(policy, ticket, exchange, did);
        }
        Next::Done(self.performed(outcome, done)) // made in its place: it would be moved in the hot loop
    }

    #[inline]
    const fn performed(&self, outcome: Outcome, done: u64) -> Performed {
        Performed {
            outcome,
            started: self.started,
            done,
            attempts: self.attempts,
            turn: None,
        }
    }

    /// An attempt failed: until when to pause before the next one, if there is one.
    #[cold]
    fn failed(
        &mut self,
        policy: &Policy,
        exchange: &mut Exchange,
        outcome: Outcome,
        now: u64,
    ) -> Option<u64> {
        let reply = &mut exchange.reply;
        if let Some(text) = reply.error.take() {
            reply.failure.get_or_insert((outcome, text));
        }
        let until = now + self.pause_ns;
        if !outcome.retryable() || policy.retry != Retry::UntilDeadline || until >= self.deadline {
            return None;
        }
        self.pause_ns = (self.pause_ns * 2).min(LONGEST_PAUSE_NS);
        let since = if self.attempts == 1 {
            self.started
        } else {
            self.begun
        };
        reply.note_attempt(outcome, now.saturating_sub(since));
        reply.retry();
        Some(until)
    }

    /// A part of a read-modify-write is done: its update is due when its read is.
    fn step(
        &mut self,
        policy: &Policy,
        ticket: &Ticket,
        exchange: &mut Exchange,
        did: Performed,
    ) -> Next {
        let reply = &mut exchange.reply;
        let Some((read, brought)) = self.read.take() else {
            if did.outcome != Outcome::Ok {
                return Next::Done(did);
            }
            reply.note_attempt(did.outcome, did.done.saturating_sub(did.started));
            // Attempts at the update forget what the one before brought, never what the read did.
            self.read = Some((did, reply.put_aside()));
            reply.retry();
            exchange.op.kind = Kind::Update;
            exchange.op.fields = ticket.draft.fields;
            self.first_attempt(policy, did.done);
            return Next::Attempt;
        };
        reply.take_back(brought);
        Next::Done(Performed {
            started: read.started,
            attempts: read.attempts.max(did.attempts),
            turn: Some(Turn {
                read_done: read.done,
                update_started: did.started,
            }),
            ..did
        })
    }
}

#[cfg(test)]
mod tests;
