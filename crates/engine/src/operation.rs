//! One operation as the engine hands it to a driver, and the reply it gets back.

use crate::generate::values::{Check, Values};

/// Kinds of operation, by YCSB's names.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Read one record.
    #[default]
    Read,
    /// Write fields of an existing record.
    Update,
    /// Write a new record.
    Insert,
    /// Read a range of records.
    Scan,
    /// Delete one record.
    Delete,
    /// A read and an update of one record; its parts are recorded too.
    ReadModifyWrite,
    /// Puts that a driver had collected are sent: no workload asks for it, and it is no part of the total.
    Flush,
}

impl Kind {
    /// Every kind, in the order of their discriminants.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::Delete,
        Self::ReadModifyWrite,
        Self::Flush,
    ];

    /// YCSB's name, used in every file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Update => "UPDATE",
            Self::Insert => "INSERT",
            Self::Scan => "SCAN",
            Self::Delete => "DELETE",
            Self::ReadModifyWrite => "READ-MODIFY-WRITE",
            Self::Flush => "FLUSH",
        }
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// Done.
    Ok,
    /// The server answered: there is no such record.
    NotFound,
    /// No answer in time, or the server's own time-out.
    Timeout,
    /// The server shed load.
    Overloaded,
    /// Too few replicas alive.
    Unavailable,
    /// The connection broke or could not be made.
    Connection,
    /// Any other error answer.
    Server,
    /// An error on our side of the wire.
    Client,
}

impl Outcome {
    /// Every outcome, in the order of their discriminants.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::NotFound,
        Self::Timeout,
        Self::Overloaded,
        Self::Unavailable,
        Self::Connection,
        Self::Server,
        Self::Client,
    ];

    /// The name used in every file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotFound => "not_found",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    /// Whether another attempt may help.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::Timeout | Self::Overloaded | Self::Unavailable | Self::Connection | Self::Server
        )
    }
}

/// Longest key: a 16-byte prefix and 24 digits.
pub const KEY_MAX: usize = 40;

/// A key held in place, so that no operation allocates.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The bytes; the first `len` count.
    pub bytes: [u8; KEY_MAX],
    /// Length in bytes.
    pub len: u8,
}

impl Default for Key {
    fn default() -> Self {
        Self {
            bytes: [0; KEY_MAX],
            len: 0,
        }
    }
}

impl Key {
    /// The key's bytes (ASCII).
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The key's text.
    ///
    /// # Panics
    /// Never: keys are ASCII by construction.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("keys are ASCII")
    }
}

/// Which fields of a record are meant.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum FieldSet {
    /// All of them, in order.
    #[default]
    All,
    /// The field of this index.
    One(u16),
}

/// One operation; its buffers are reused by the client that owns it.
#[derive(Debug, Clone)]
pub struct Operation {
    /// What to do. Drivers never see [`Kind::ReadModifyWrite`]: the worker does its parts. [`Kind::Flush`] sends the reply's batch.
    pub kind: Kind,
    /// Its number over all engines.
    pub number: u64,
    /// The record's rank.
    pub rank: u64,
    /// The record's key.
    pub key: Key,
    /// Fields read or written.
    pub fields: FieldSet,
    /// Rows a scan asks for.
    pub scan_length: u32,
    /// Values written, one after another, in field order; of an operation that writes nothing, what was here before.
    pub values: Vec<u8>,
    /// End offset of each value in `values`.
    pub ends: Vec<u32>,
    /// Write timestamp in microseconds, strictly increasing in the order operations are started.
    pub timestamp_us: i64,
    /// Lowest number whose write has the same timestamp in the database's unit.
    pub peer: u64,
}

impl Default for Operation {
    fn default() -> Self {
        Self {
            kind: Kind::Read,
            number: 0,
            rank: 0,
            key: Key::default(),
            fields: FieldSet::All,
            scan_length: 0,
            values: Vec::new(),
            ends: Vec::new(),
            timestamp_us: 0,
            peer: 0,
        }
    }
}

impl Operation {
    /// The written values with their field indices.
    pub fn written(&self) -> impl Iterator<Item = (u16, &[u8])> {
        let first = match self.fields {
            FieldSet::All => 0,
            FieldSet::One(index) => index,
        };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(self.ends.iter().copied())
            .enumerate()
            .map(move |(i, (start, end))| {
                (first + i as u16, &self.values[start as usize..end as usize])
            })
    }
}

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
