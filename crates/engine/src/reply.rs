//! What an attempt brings back: counts and verdicts on values, clocks, errors.

use crate::generate::check::Check;
use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};
use std::sync::Arc;

/// When an attempt was at the socket, CLOCK_MONOTONIC ns: what a driver knows better than whoever calls it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When the write that carried the request was issued.
    pub sent_ns: Option<u64>,
    /// When the read that completed the answer returned, before parsing.
    pub received_ns: Option<u64>,
}

/// Writes that were collected, on their way to the database.
#[derive(Debug, Default)]
pub struct Batch {
    /// Not acknowledged yet.
    pub pending: Vec<Operation>,
    /// Acknowledged by one of the flush's attempts.
    pub acknowledged: Vec<Operation>,
    /// Held while the batch is on its way: one at a time, so that memory is bounded.
    pub permit: Arc<()>,
}

/// One attempt that a coordinator was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The node, by its index in the driver's `coordinators`.
    pub coordinator: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// From its start to its end, ns.
    pub service_ns: u64,
}

/// What a read-modify-write's read brought, kept while its update is attempted.
#[derive(Debug, Default)]
pub struct Brought {
    /// Rows, fields, bytes, checked, corrupt, foreign.
    counts: [u64; 6],
    versions: Vec<(u16, u64)>,
}

/// What an attempt brought back. Drivers call [`Reply::field`] for every value they receive; nothing is kept but counts.
#[derive(Debug, Default)]
pub struct Reply {
    /// Rows received.
    pub rows: u64,
    /// Values received.
    pub fields: u64,
    /// Bytes of values received.
    pub bytes: u64,
    /// Values judged.
    pub checked: u64,
    /// Values that do not fit their own header.
    pub corrupt: u64,
    /// Values written for another key, field or seed.
    pub foreign: u64,
    /// (field, write number) of each value of a single-row read, kept only under `verify = full`.
    pub versions: Vec<(u16, u64)>,
    /// Judge the values of this reply.
    pub judge: bool,
    /// Keep `versions`.
    pub keep_versions: bool,
    /// The text of the error, set by a driver that returns a failure.
    pub error: Option<String>,
    /// The first attempt that failed, if any, whatever became of the operation.
    pub failure: Option<(Outcome, String)>,
    /// The attempt's clocks, as far as the driver knows them.
    pub stamps: Stamps,
    /// The node that was asked, by its index in the driver's `coordinators`; None where it has none, or was not reached.
    pub coordinator: Option<u16>,
    /// Attempts of this operation before its last, those of a read-modify-write's read among them.
    pub earlier: Vec<Attempt>,
    /// The write was collected, not sent: a later [`Kind::Flush`] acknowledges it.
    pub buffered: bool,
    /// Collected writes, to be flushed by whoever holds this reply.
    pub batch: Option<Box<Batch>>,
}

impl Reply {
    /// Forget the last reply; buffers stay, and so does a batch. Field by field: a whole new one would be moved in the hot loop.
    #[inline]
    pub fn reset(&mut self, judge: bool, keep_versions: bool) {
        let Self {
            rows,
            fields,
            bytes,
            checked,
            corrupt,
            foreign,
            versions,
            error,
            failure,
            stamps,
            coordinator,
            earlier,
            buffered,
            batch: _,
            ..
        } = self;
        for count in [rows, fields, bytes, checked, corrupt, foreign] {
            *count = 0;
        }
        versions.clear();
        *error = None;
        *failure = None;
        *stamps = Stamps::default();
        *coordinator = None;
        earlier.clear();
        *buffered = false;
        self.judge = judge;
        self.keep_versions = keep_versions;
    }

    /// Note how the attempt that ended just now went, before another begins.
    pub fn note_attempt(&mut self, outcome: Outcome, service_ns: u64) {
        if let Some(coordinator) = self.coordinator.take() {
            self.earlier.push(Attempt {
                coordinator,
                outcome,
                service_ns,
            });
        }
    }

    /// What was brought so far is put aside, so that an attempt at something else begins anew; `take_back` adds it.
    #[must_use]
    pub fn put_aside(&mut self) -> Brought {
        Brought {
            counts: [
                self.rows,
                self.fields,
                self.bytes,
                self.checked,
                self.corrupt,
                self.foreign,
            ],
            versions: std::mem::take(&mut self.versions),
        }
    }

    /// Add what `put_aside` has kept.
    pub fn take_back(&mut self, kept: Brought) {
        let Self {
            rows,
            fields,
            bytes,
            checked,
            corrupt,
            foreign,
            ..
        } = self;
        let counts = [rows, fields, bytes, checked, corrupt, foreign];
        for (count, kept) in counts.into_iter().zip(kept.counts) {
            *count += kept;
        }
        self.versions = kept.versions; // an update returns none
    }

    /// Begin an attempt anew: nothing that the one before brought stays but how it went, and the first failure.
    pub fn retry(&mut self) {
        let (failure, earlier) = (self.failure.take(), std::mem::take(&mut self.earlier));
        self.reset(self.judge, self.keep_versions);
        (self.failure, self.earlier) = (failure, earlier);
    }

    /// A row begins.
    pub fn row(&mut self) {
        self.rows += 1;
    }

    /// One value of the row of `key`.
    pub fn field(&mut self, values: &Values, key: &[u8], field: u16, value: &[u8]) {
        self.fields += 1;
        self.bytes += value.len() as u64;
        if !self.judge {
            return;
        }
        self.checked += 1;
        match values.check(key, field, value) {
            Check::Good { number } => {
                if self.keep_versions {
                    self.versions.push((field, number));
                }
            }
            Check::Unnumbered => {}
            Check::Corrupt => self.corrupt += 1,
            Check::Foreign => self.foreign += 1,
        }
    }
}
