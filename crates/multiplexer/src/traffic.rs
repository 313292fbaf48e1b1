//! What connections have done.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a connection, or several, have done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls of `read()` that brought bytes.
    pub reads: u64,
    /// Bytes they brought.
    pub bytes_in: u64,
    /// Calls of `write()` that took bytes.
    pub writes: u64,
    /// Bytes they took.
    pub bytes_out: u64,
    /// Requests handed to a `write()`.
    pub requests: u64,
    /// Answers received, those that nobody waited for included.
    pub answers: u64,
}

impl Traffic {
    /// What has been done since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            bytes_in: self.bytes_in - before.bytes_in,
            writes: self.writes - before.writes,
            bytes_out: self.bytes_out - before.bytes_out,
            requests: self.requests - before.requests,
            answers: self.answers - before.answers,
        }
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, more: Self) {
        self.reads += more.reads;
        self.bytes_in += more.bytes_in;
        self.writes += more.writes;
        self.bytes_out += more.bytes_out;
        self.requests += more.requests;
        self.answers += more.answers;
    }
}

/// The same while it is being counted, by all connections of a client together.
#[derive(Debug, Default)]
pub struct Counters {
    reads: AtomicU64,
    bytes_in: AtomicU64,
    writes: AtomicU64,
    bytes_out: AtomicU64,
    requests: AtomicU64,
    answers: AtomicU64,
}

impl Counters {
    /// So much `more` was done.
    #[inline]
    pub fn add(&self, more: Traffic) {
        let add = |counter: &AtomicU64, count: u64| {
            if count > 0 {
                counter.fetch_add(count, Ordering::Relaxed);
            }
        };
        add(&self.reads, more.reads);
        add(&self.bytes_in, more.bytes_in);
        add(&self.writes, more.writes);
        add(&self.bytes_out, more.bytes_out);
        add(&self.requests, more.requests);
        add(&self.answers, more.answers);
    }

    /// The counts now.
    pub fn now(&self) -> Traffic {
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            reads: now(&self.reads),
            bytes_in: now(&self.bytes_in),
            writes: now(&self.writes),
            bytes_out: now(&self.bytes_out),
            requests: now(&self.requests),
            answers: now(&self.answers),
        }
    }
}
