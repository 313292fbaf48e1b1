//! What put, delete, increment and append have in common: a row, cells in a block, how durable.

use super::check_row;
use crate::cell::{Cell, CellKind, LATEST};
use crate::error::Error;
use crate::region::Location;
use crate::rpc::Request;
use crate::rpc::wire::{bytes_len, number_len, put_bytes, put_length, put_number};

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// As the table says; HBase's own default is [`Durability::SyncWal`].
    #[default]
    UseDefault,
    /// In the server's memory; nothing is logged.
    SkipWal,
    /// Logged a moment later.
    AsyncWal,
    /// The log entry is on its way through HDFS (hflush: in the memory of all replicas).
    SyncWal,
    /// The log entry is on the disks of all replicas (hsync).
    FsyncWal,
}

impl Durability {
    const fn code(self) -> u64 {
        self as u64
    }
}

/// MutationProto's types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Append = 0,
    Increment = 1,
    Put = 2,
    Delete = 3,
}

/// What fits a KeyValue, bytes. Servers refuse far smaller values (`hbase.server.keyvalue.maxsize`, 10 MiB).
const MAX_FAMILY: usize = i8::MAX as usize;
const MAX_QUALIFIER: usize = i16::MAX as usize;
const MAX_VALUE: usize = 1 << 30;

/// A change of one row. Its cells are encoded as they are added.
#[derive(Debug, Clone)]
pub(crate) struct Mutation {
    kind: Kind,
    row: Vec<u8>,
    block: Vec<u8>,
    cells: u32,
    durability: Durability,
    /// Of cells added from now on; of the whole row in a delete without cells.
    pub(crate) timestamp: i64,
    /// Tells servers that a second attempt is the same operation; 0 = none.
    pub(crate) nonce: u64,
    /// Why it cannot be sent.
    fault: Option<&'static str>,
}

impl Mutation {
    pub(crate) fn new(kind: Kind, row: &[u8]) -> Self {
        Self {
            kind,
            row: row.to_vec(),
            block: Vec::new(),
            cells: 0,
            durability: Durability::UseDefault,
            timestamp: LATEST,
            nonce: 0,
            fault: None,
        }
    }

    pub(crate) fn reset(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.block.clear();
        self.cells = 0;
        self.timestamp = LATEST;
        self.nonce = 0;
        self.fault = None;
    }

    /// Whether it can be sent.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let empty = self.cells == 0 && self.kind != Kind::Delete;
        match self
            .fault
            .or(empty.then_some("there is nothing in it: add a column"))
        {
            Some(fault) => Err(Error::Input(format!(
                "the mutation cannot be sent: {fault}"
            ))),
            None => check_row(&self.row),
        }
    }

    pub(crate) fn row(&self) -> &[u8] {
        &self.row
    }

    pub(crate) fn cells(&self) -> &[u8] {
        &self.block
    }

    pub(crate) const fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    pub(crate) fn add(
        &mut self,
        kind: CellKind,
        timestamp: i64,
        family: &[u8],
        qualifier: &[u8],
        value: &[u8],
    ) {
        if family.len() > MAX_FAMILY || value.len() > MAX_VALUE || qualifier.len() > MAX_QUALIFIER {
            self.fault = Some("a family, qualifier or value is longer than a cell can hold");
            return;
        }
        let cell = Cell {
            row: &self.row,
            family,
            qualifier,
            timestamp,
            kind,
            value,
        };
        cell.write(&mut self.block);
        self.cells += 1;
    }

    /// Of a delete without cells: of the whole row.
    fn own_timestamp(&self) -> Option<u64> {
        (self.cells == 0 && self.timestamp != LATEST).then_some(self.timestamp as u64)
    }

    /// Bytes of the message `MutationProto`.
    pub(crate) fn encoded_len(&self) -> usize {
        bytes_len(self.row.len())
            + number_len(self.kind as u64)
            + self.own_timestamp().map_or(0, number_len)
            + number_len(self.durability.code())
            + number_len(self.cells.into())
            + if self.nonce == 0 {
                0
            } else {
                number_len(self.nonce)
            }
    }

    /// As the message `MutationProto`; the cells go beside it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, 1, &self.row);
        put_number(out, 2, self.kind as u64);
        if let Some(timestamp) = self.own_timestamp() {
            put_number(out, 4, timestamp);
        }
        put_number(out, 6, self.durability.code());
        put_number(out, 8, self.cells.into());
        if self.nonce != 0 {
            put_number(out, 9, self.nonce);
        }
    }
}

/// A mutation on its way to a region, perhaps with a condition.
pub(crate) struct MutateRequest<'a> {
    pub(crate) mutation: &'a Mutation,
    pub(crate) location: &'a Location,
    /// The encoded message `Condition`; empty = none.
    pub(crate) condition: &'a [u8],
    /// Of this client; goes with a nonce.
    pub(crate) nonce_group: u64,
}

impl Request for MutateRequest<'_> {
    fn method(&self) -> &'static str {
        "Mutate"
    }

    fn param_len(&self) -> usize {
        let mut len =
            bytes_len(self.location.specifier.len()) + bytes_len(self.mutation.encoded_len());
        if !self.condition.is_empty() {
            len += bytes_len(self.condition.len());
        }
        if self.mutation.nonce != 0 {
            len += number_len(self.nonce_group);
        }
        len
    }

    fn write_param(&self, out: &mut Vec<u8>) {
        put_bytes(out, 1, &self.location.specifier);
        put_length(out, 2, self.mutation.encoded_len());
        self.mutation.write(out);
        if !self.condition.is_empty() {
            put_bytes(out, 3, self.condition);
        }
        if self.mutation.nonce != 0 {
            put_number(out, 4, self.nonce_group);
        }
    }

    fn cells(&self) -> &[u8] {
        self.mutation.cells()
    }
}
