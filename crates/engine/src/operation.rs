//! What everyone speaks of: kinds of operation, keys, fields, outcomes, and one operation as the engine hands it to a driver.
//! Nothing else is used here.

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
    /// Collected writes are sent: no workload asks for it, and it is no part of the total.
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

/// Longest prefix of a key, bytes.
pub const PREFIX_MAX: usize = 16;
/// Most digits of a key: its widest zero padding.
pub const DIGITS_MAX: usize = 24;
/// Longest key, bytes.
pub const KEY_MAX: usize = PREFIX_MAX + DIGITS_MAX;

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
    /// What to do. Drivers see neither [`Kind::ReadModifyWrite`], whose parts are made one by one, nor [`Kind::Flush`], which sends
    /// the reply's batch.
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
    /// Belongs to the load phase.
    pub loaded: bool,
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
            loaded: false,
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
