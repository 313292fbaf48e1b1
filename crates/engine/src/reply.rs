//! What an attempt brings back: counts and verdicts on values, clocks, errors.

use crate::generate::check::Check;
use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};

/// When an attempt was at the socket, CLOCK_MONOTONIC ns: what a driver knows better than whoever calls it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When the write that carried the request was issued.
    pub sent_ns: Option<u64>,
    /// When the read that completed the answer returned, before parsing.
    pub received_ns: Option<u64>,
}

/// Puts that a driver has collected, on their way to the database.
#[derive(Debug, Default)]
pub struct Batch {
    /// Not acknowledged yet.
    pub pending: Vec<Operation>,
    /// Acknowledged by one of the flush's attempts.
    pub acknowledged: Vec<Operation>,
    /// Held while the batch is on its way: one at a time, so that memory is bounded.
    pub permit: Option<tokio::sync::OwnedSemaphorePermit>,
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
    /// The write was collected, not sent: a later [`Kind::Flush`] acknowledges it.
    pub buffered: bool,
    /// Puts to be flushed by whoever holds this reply.
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
        *buffered = false;
        self.judge = judge;
        self.keep_versions = keep_versions;
    }

    /// Forget the last attempt and what it read. A write keeps what the read before it, of the same operation, brought.
    pub fn forget_attempt(&mut self, writes: bool) {
        if !writes {
            let failure = self.failure.take();
            self.reset(self.judge, self.keep_versions);
            self.failure = failure;
        }
        self.error = None;
        self.stamps = Stamps::default();
        self.buffered = false;
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
