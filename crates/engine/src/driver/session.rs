//! A driver's connections as the event loop uses them: many attempts in flight, one for each client, and no future for any.

use crate::generate::values::Values;
use crate::net::{Notifier, Poller, Ready};
use crate::operation::{Operation, Outcome};
use crate::recorder::Lag;
use crate::reply::{Batch, Reply};

/// What a client asks for, and what comes back: reused from operation to operation.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The operation.
    pub op: Operation,
    /// What came back.
    pub reply: Reply,
}

/// One attempt at an operation.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// How long it may take, ns.
    pub timeout_ns: u64,
}

/// What became of an attempt that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It has ended already.
    Ended(Outcome),
    /// It ends later, or the client gives it up.
    InFlight,
    /// It ends later and is never given up alone: whoever makes it has the exchange, and keeps its time-out.
    Elsewhere,
}

/// An attempt that has ended; what it brought is in its client's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whose it was.
    pub client: u32,
    /// How.
    pub outcome: Outcome,
}

/// What a session may use while it handles something.
pub struct Turn<'a> {
    /// What watches its sockets.
    pub poller: &'a Poller,
    /// What values must look like.
    pub values: &'a Values,
    /// By client. Empty between phases.
    pub exchanges: &'a mut [Exchange],
    /// Attempts that ended are put here.
    pub ended: &'a mut Vec<Ended>,
}

/// Attempts at operations, one at a time for each client.
///
/// Nothing here waits: requests are collected until [`Session::flush`] writes them, answers come with [`Session::ready`], and
/// what happens on other threads with [`Session::woken`], after [`Session::notifier`] was notified.
pub trait Session: Send {
    /// What wakes the loop for this session.
    fn notifier(&self) -> &Notifier;

    /// Begin an attempt of `client`, which has none.
    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun;

    /// The attempt of `client`, which is in flight, is given up: its answer will be thrown away. Its clocks go to the reply.
    fn give_up(&mut self, client: u32, reply: &mut Reply);

    /// Nobody waits for any attempt any more: a phase gave its clients up.
    fn forget_all(&mut self);

    /// Write what was collected: one write for each connection.
    fn flush(&mut self, turn: &mut Turn<'_>);

    /// A socket of its own can be read or written.
    fn ready(&mut self, ready: Ready, turn: &mut Turn<'_>);

    /// Take what other threads have sent.
    fn woken(&mut self, turn: &mut Turn<'_>);

    /// Look after connections at `now_ns`; when to do so again, ns.
    fn look_after(&mut self, now_ns: u64, turn: &mut Turn<'_>) -> u64;

    /// All operations have ended: writes that were collected and not sent. Most sessions send every write alone.
    fn take_collected(&mut self) -> Option<Box<Batch>> {
        None
    }

    /// How long answers have lain unread since this was asked last; none if nothing that was read since then had a stamp.
    fn take_lag(&mut self) -> Option<Lag> {
        None
    }

    /// Requests on its sockets whose answers may still come, also those that nobody waits for any more; none if the kernel does
    /// not stamp what comes, so that no answer may lie unread.
    fn unanswered(&self) -> Option<usize> {
        Some(0)
    }
}
