//! System calls and messages on a driver's sockets: how many requests leave in one write decides what a client costs.

use super::coordinators::Coordinators;
use serde::{Deserialize, Serialize};
use steelyard_multiplexer as multiplexer;

/// What a driver's connections have done in a phase, as its summary says it.
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

impl From<multiplexer::Traffic> for Traffic {
    fn from(traffic: multiplexer::Traffic) -> Self {
        Self {
            reads: traffic.reads,
            writes: traffic.writes,
            requests: traffic.requests,
            answers: traffic.answers,
        }
    }
}

/// What is counted by all connections of a driver together.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// What they did.
    pub traffic: multiplexer::Counters,
    /// Who was sent to.
    pub coordinators: Coordinators,
}
