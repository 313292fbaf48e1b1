//! What connections have done, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the connections of a client have done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests handed to a `write()`.
    pub requests: u64,
    /// Answers received.
    pub answers: u64,
    /// `read()` calls that brought bytes.
    pub reads: u64,
    /// Bytes they brought.
    pub bytes_in: u64,
    /// `write()` calls that took bytes.
    pub writes: u64,
    /// Bytes they took.
    pub bytes_out: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    answers: AtomicU64,
    reads: AtomicU64,
    bytes_in: AtomicU64,
    writes: AtomicU64,
    bytes_out: AtomicU64,
}

impl Counters {
    pub(super) fn wrote(&self, bytes: usize) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self, bytes: usize) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn sent(&self, requests: usize) {
        self.requests.fetch_add(requests as u64, Ordering::Relaxed);
    }

    pub(super) fn answered(&self, answers: u64) {
        self.answers.fetch_add(answers, Ordering::Relaxed);
    }

    pub(super) fn traffic(&self) -> Traffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            requests: read(&self.requests),
            answers: read(&self.answers),
            reads: read(&self.reads),
            bytes_in: read(&self.bytes_in),
            writes: read(&self.writes),
            bytes_out: read(&self.bytes_out),
        }
    }
}
