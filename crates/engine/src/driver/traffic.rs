//! System calls and messages on a driver's sockets: how many requests leave in one write decides what a client costs.

use super::coordinators::Coordinators;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use steelyard_multiplexer as multiplexer;

/// What a driver's connections have done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Calls of read() that brought bytes.
    pub reads: u64,
    /// Calls of write().
    pub writes: u64,
    /// Requests sent.
    pub requests: u64,
    /// Answers received.
    pub answers: u64,
}

impl Traffic {
    /// What has been done since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            writes: self.writes - before.writes,
            requests: self.requests - before.requests,
            answers: self.answers - before.answers,
        }
    }
}

/// The same while it is being counted, by all connections together.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub reads: AtomicU64,
    pub writes: AtomicU64,
    pub requests: AtomicU64,
    pub answers: AtomicU64,
    /// Who was sent to.
    pub coordinators: Coordinators,
}

impl Counters {
    /// A connection that had done `before` has done `after`.
    #[inline]
    pub(crate) fn count(&self, before: multiplexer::Traffic, after: multiplexer::Traffic) {
        let add = |counter: &AtomicU64, count: u64| {
            if count > 0 {
                counter.fetch_add(count, Ordering::Relaxed);
            }
        };
        add(&self.reads, after.reads - before.reads);
        add(&self.writes, after.writes - before.writes);
        add(&self.requests, after.requests - before.requests);
        add(&self.answers, after.answers - before.answers);
    }

    /// The counts now.
    pub(crate) fn traffic(&self) -> Traffic {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            reads: now(&self.reads),
            writes: now(&self.writes),
            requests: now(&self.requests),
            answers: now(&self.answers),
        }
    }
}
