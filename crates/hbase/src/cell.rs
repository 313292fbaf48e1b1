//! Cells and rows as views over received bytes, and the writing of cells.
//!
//! A cell block of `KeyValueCodec` is a sequence of `int32 n` and a KeyValue of n bytes: `int32 key length, int32 value length,
//! int16 row length, row, int8 family length, family, qualifier, int64 timestamp, int8 type, value`, all big-endian.

use crate::pb;
use crate::rpc::wire::{Field, Fields};
use bytes::Bytes;
use std::borrow::Cow;
use std::fmt;

/// The timestamp that a server replaces by its own clock.
pub(crate) const LATEST: i64 = i64::MAX;
/// Bytes of a KeyValue's two lengths.
const LENGTHS: usize = 8;
/// Bytes of a key without row, family and qualifier: their two lengths, the timestamp, the type.
const KEY_FIXED: usize = 2 + 1 + 8 + 1;

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// A value.
    Put,
    /// This version is deleted.
    Delete,
    /// All cells of the family with this timestamp are deleted.
    DeleteFamilyVersion,
    /// The column is deleted up to this timestamp.
    DeleteColumn,
    /// The family is deleted up to this timestamp.
    DeleteFamily,
    /// A code of a newer server.
    Other(u8),
}

impl CellKind {
    const fn of_code(code: u8) -> Self {
        match code {
            4 => Self::Put,
            8 => Self::Delete,
            10 => Self::DeleteFamilyVersion,
            12 => Self::DeleteColumn,
            14 => Self::DeleteFamily,
            other => Self::Other(other),
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Put => 4,
            Self::Delete => 8,
            Self::DeleteFamilyVersion => 10,
            Self::DeleteColumn => 12,
            Self::DeleteFamily => 14,
            Self::Other(code) => code,
        }
    }
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// Row key.
    pub row: &'a [u8],
    /// Column family.
    pub family: &'a [u8],
    /// Column qualifier.
    pub qualifier: &'a [u8],
    /// Version: by convention milliseconds since 1970.
    pub timestamp: i64,
    /// What it says.
    pub kind: CellKind,
    /// The value.
    pub value: &'a [u8],
}

impl<'a> Cell<'a> {
    /// Of one KeyValue, without its own length; None if its lengths do not fit together. Tags behind the value are skipped.
    fn of_key_value(bytes: &'a [u8]) -> Option<Self> {
        let (key_len, rest) = bytes.split_first_chunk::<4>()?;
        let (value_len, rest) = rest.split_first_chunk::<4>()?;
        let (key, rest) = rest.split_at_checked(u32::from_be_bytes(*key_len) as usize)?;
        let value = rest.get(..u32::from_be_bytes(*value_len) as usize)?;
        let (row_len, key) = key.split_first_chunk::<2>()?;
        let (row, key) = key.split_at_checked(u16::from_be_bytes(*row_len).into())?;
        let (family_len, key) = key.split_first()?;
        let (family, key) = key.split_at_checked((*family_len).into())?;
        let (key, kind) = key.split_last().map(|(kind, key)| (key, *kind))?;
        let (qualifier, timestamp) = key.split_last_chunk::<8>()?;
        Some(Self {
            row,
            family,
            qualifier,
            timestamp: i64::from_be_bytes(*timestamp),
            kind: CellKind::of_code(kind),
            value,
        })
    }

    /// Append it to a cell block.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let key_len = KEY_FIXED + self.row.len() + self.family.len() + self.qualifier.len();
        let len = LENGTHS + key_len + self.value.len();
        out.reserve(4 + len);
        out.extend_from_slice(&(len as u32).to_be_bytes());
        out.extend_from_slice(&(key_len as u32).to_be_bytes());
        out.extend_from_slice(&(self.value.len() as u32).to_be_bytes());
        out.extend_from_slice(&(self.row.len() as u16).to_be_bytes());
        out.extend_from_slice(self.row);
        out.push(self.family.len() as u8);
        out.extend_from_slice(self.family);
        out.extend_from_slice(self.qualifier);
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.push(self.kind.code());
        out.extend_from_slice(self.value);
    }
}

/// The cells of a row, or of a cell block, in the server's order.
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        let (len, rest) = self.rest.split_first_chunk::<4>()?;
        let (cell, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        self.rest = rest;
        Cell::of_key_value(cell)
    }
}

/// One row, or the part of it that was asked for: a view over the bytes received. Cloning it copies nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Row {
    block: Bytes,
    cells: usize,
    exists: bool,
}

impl Row {
    /// There is no such row, or nothing of it was asked for.
    pub const fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// How many cells.
    pub const fn len(&self) -> usize {
        self.cells
    }

    /// Whether the row exists: also true, without cells, for a get that asked for existence only.
    pub const fn exists(&self) -> bool {
        self.exists || !self.is_empty()
    }

    /// The row key; empty if the row is.
    pub fn key(&self) -> &[u8] {
        self.cells().next().map_or(&[], |cell| cell.row)
    }

    /// The cells: by family, qualifier, and newest version first.
    pub fn cells(&self) -> Cells<'_> {
        Cells { rest: &self.block }
    }

    /// The newest version received of one column.
    pub fn value(&self, family: &[u8], qualifier: &[u8]) -> Option<&[u8]> {
        self.cells()
            .find(|cell| cell.family == family && cell.qualifier == qualifier)
            .map(|cell| cell.value)
    }

    /// Take `cells` cells off the front of `block`; None if there are fewer, or one of them is malformed.
    pub(crate) fn take(block: &mut Bytes, cells: usize) -> Option<Self> {
        let len = length(block, cells)?;
        let row = Self {
            block: if len == 0 {
                Bytes::new()
            } else {
                block.split_to(len)
            },
            cells,
            exists: false,
        };
        Some(row)
    }

    /// Of a server's result whose cells, if not inside, are next in `block`; None if they are not.
    pub(crate) fn of_result(result: &pb::Result, block: &mut Bytes) -> Option<Self> {
        let mut row = match result.cell.as_slice() {
            [] => {
                let count = usize::try_from(result.associated_cell_count.unwrap_or(0)).ok()?;
                Self::take(block, count)?
            }
            inline => Self {
                block: block_of(inline).into(),
                cells: inline.len(),
                exists: false,
            },
        };
        row.exists = result.exists.unwrap_or(false);
        Some(row)
    }

    /// The parts of one row, in order, as one.
    pub(crate) fn join(parts: &[Self]) -> Self {
        match parts {
            [] => Self::default(),
            [whole] => whole.clone(),
            parts => Self {
                block: parts
                    .iter()
                    .flat_map(|part| &part.block[..])
                    .copied()
                    .collect(),
                cells: parts.iter().map(Self::len).sum(),
                exists: false,
            },
        }
    }
}

/// Bytes of the first `cells` cells of `block`; None if there are fewer, or one of them is malformed.
fn length(block: &[u8], cells: usize) -> Option<usize> {
    let mut walk = Cells { rest: block };
    for _ in 0..cells {
        walk.next()?;
    }
    Some(block.len() - walk.rest.len())
}

/// Some answers carry their cells as messages even to clients that take blocks.
fn block_of(cells: &[pb::Cell]) -> Vec<u8> {
    let mut block = Vec::new();
    for cell in cells {
        let part = |bytes: &Option<Bytes>| bytes.clone().unwrap_or_default();
        Cell {
            row: &part(&cell.row),
            family: &part(&cell.family),
            qualifier: &part(&cell.qualifier),
            timestamp: cell.timestamp.unwrap_or(0) as i64,
            kind: CellKind::of_code(cell.kind.unwrap_or(4) as u8),
            value: &part(&cell.value),
        }
        .write(&mut block);
    }
    block
}

/// The cells of one row where they were received, for whoever looks at them before the next read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received<'a>(Cow<'a, [u8]>);

impl<'a> Received<'a> {
    /// There is no such row, or nothing of it was asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As [`Row::cells`].
    pub fn cells(&self) -> Cells<'_> {
        Cells { rest: &self.0 }
    }

    /// Of a GetResponse or a MutateResponse, which begin alike, whose cells, if not inside, are at the start of `block`; None if
    /// they are not.
    pub(crate) fn of_response(response: &'a [u8], block: &'a [u8]) -> Option<Self> {
        let mut count = 0;
        let mut fields = Fields::new(response);
        while !fields.is_empty() {
            let (1, Field::Bytes(result)) = fields.next()? else {
                continue;
            };
            let mut parts = Fields::new(result);
            while !parts.is_empty() {
                match parts.next()? {
                    (1, _) => return Self::of_messages(result),
                    (2, Field::Number(number)) => count = usize::try_from(number).ok()?,
                    _ => {}
                }
            }
        }
        let len = length(block, count)?;
        Some(Self(block[..len].into()))
    }

    #[cold]
    fn of_messages(result: &[u8]) -> Option<Self> {
        let decoded = <pb::Result as prost::Message>::decode(result).ok()?;
        Some(Self(block_of(&decoded.cell).into()))
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

#[cfg(test)]
mod tests;
