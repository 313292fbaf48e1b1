//! Field values: written so that they can be judged when they are read.
//!
//! A checked value is a [`Header`] and content derived from seed, key, field and write number, its length included; it is
//! printable ASCII, hence valid text in every database. Shorter values than a header cannot be judged: where the least
//! field length is below 20 bytes no value carries a header and [`Values::verifiable`] is false, as for YCSB's random
//! values. Those of its `dataintegrity` can be judged, but do not say which write they came from.

use super::check::Check;
use super::content::{Content, mask, write_ycsb};
use super::hash::hash;
use super::header::{HEADER_LEN, Header, IDENTITY_BITS, Stamp};
use super::integrity::Integrity;
use super::length::Lengths;
use super::random::{Draw, GOLDEN, SALT, STEP, Source, Stream, fold, mix64};
use crate::plan::{Fields, RECORDS_MAX, ValueKind};
use std::ops::Range;

/// Bytes of a field, as YCSB has them.
const USUAL_LENGTH: usize = 100;

/// Set in the write number of values the load phase wrote, which are older than any other.
pub const LOADED: u64 = RECORDS_MAX;

/// Writes and judges values.
#[derive(Debug, Clone)]
pub struct Values {
    /// The seed, mixed.
    seed: u64,
    lengths: Lengths,
    mask: u64,
    /// Random bytes are YCSB's.
    ycsb: bool,
    /// Values carry headers.
    headed: bool,
    /// Values are YCSB's for `dataintegrity`.
    integrity: Option<Integrity>,
}

impl Values {
    /// Values of a checked plan.
    pub fn new(seed: u64, fields: &Fields, kind: ValueKind) -> Self {
        let lengths = Lengths::new(&fields.length);
        let integrity = (kind == ValueKind::YcsbIntegrity)
            .then(|| Integrity::new(&fields.prefix, lengths.min()));
        let headed = kind == ValueKind::Checked && lengths.min() as usize >= HEADER_LEN;
        Self {
            seed: Source::new(seed, Stream::Value).draw(0).next_u64(),
            lengths,
            mask: mask(fields.bits_per_byte),
            ycsb: kind == ValueKind::Ycsb,
            headed,
            integrity,
        }
    }

    /// Whether values can be judged: they are checked ones, none shorter than 20 bytes, or those of `dataintegrity`.
    pub const fn verifiable(&self) -> bool {
        self.headed || self.integrity.is_some()
    }

    /// Length in bytes of every value, if it is the same and [`Row::fill`] can write it.
    #[inline]
    pub fn constant_length(&self) -> Option<usize> {
        let length = self.lengths.constant().map(|length| length as usize);
        length.filter(|_| self.integrity.is_none())
    }

    /// Judge a value of `key`'s field `field`. `Unnumbered` where values are not [`Values::verifiable`].
    pub fn check(&self, key: &[u8], field: u16, value: &[u8]) -> Check {
        self.row(key).check(field, value)
    }

    /// Append the value that operation `number` writes.
    pub fn write(&self, key: &[u8], field: u16, number: u64, out: &mut Vec<u8>) {
        self.row(key).write(field, number, out);
    }

    /// The row of `key`: hashes the key once for all of its fields.
    #[inline]
    pub fn row<'a>(&'a self, key: &'a [u8]) -> Row<'a> {
        Row {
            values: self,
            key,
            hash: hash(self.seed, key),
        }
    }

    /// Length in bytes of the value whose content starts from `base`.
    #[inline]
    fn length(&self, base: u64) -> usize {
        let length = self.lengths.constant();
        length.unwrap_or_else(|| self.lengths.draw(&mut Draw::from_bits(mix64(base)))) as usize
    }
}

/// Writes and judges the values of one row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    values: &'a Values,
    key: &'a [u8],
    hash: u64,
}

#[expect(
    clippy::inline_always,
    reason = "of every value of an operation: a call takes as long as what is called"
)]
impl Row<'_> {
    /// As [`Values::write`].
    #[inline]
    pub fn write(&self, field: u16, number: u64, out: &mut Vec<u8>) {
        if let Some(integrity) = &self.values.integrity {
            return integrity.write(self.key, field, out);
        }
        let length = self.values.length(content_base(self.cell(field), number));
        let start = out.len();
        out.resize(start + length, 0);
        self.put(field, Stamp::new(number, length), number, &mut out[start..]);
    }

    /// The values of `fields`, one after another, where all have the [`Values::constant_length`] `length`.
    #[inline]
    pub fn fill(&self, fields: Range<u16>, number: u64, length: usize, out: &mut [u8]) {
        if self.values.ycsb || !self.values.headed {
            let stamp = Stamp::new(number, length);
            let places = fields.zip(out.chunks_exact_mut(length));
            places.for_each(|(field, value)| self.put(field, stamp, number, value));
        } else if length == USUAL_LENGTH {
            self.fill_headed(fields, number, USUAL_LENGTH, out);
        } else {
            self.fill_headed(fields, number, length, out);
        }
    }

    /// Compiled once more for the length that is usual, of which the compiler then makes a straight line.
    #[inline(always)]
    fn fill_headed(&self, fields: Range<u16>, number: u64, length: usize, mut out: &mut [u8]) {
        let stamp = Stamp::new(number, length);
        for field in fields {
            let Some((value, rest)) = out.split_at_mut_checked(length) else {
                return;
            };
            self.put_headed(field, stamp, number, value);
            out = rest;
        }
    }

    #[inline]
    fn put(&self, field: u16, stamp: Stamp, number: u64, value: &mut [u8]) {
        let base = content_base(self.cell(field), number);
        if self.values.ycsb {
            write_ycsb(&mut Draw::from_bits(base), value);
        } else if self.values.headed {
            self.put_headed(field, stamp, number, value);
        } else {
            Content::new(base, self.values.mask).write(value);
        }
    }

    /// The usual values: their way is short, and part of the loop over fields.
    #[inline(always)]
    fn put_headed(&self, field: u16, stamp: Stamp, number: u64, value: &mut [u8]) {
        let cell = self.cell(field);
        if let Some((header, rest)) = value.split_first_chunk_mut() {
            stamp.write(identity(cell), header);
            Content::new(content_base(cell, number), self.values.mask).write(rest);
        }
    }

    /// As [`Values::check`].
    #[inline]
    pub fn check(&self, field: u16, value: &[u8]) -> Check {
        if let Some(integrity) = &self.values.integrity {
            return integrity.check(self.key, field, value);
        }
        if !self.values.headed {
            return Check::Unnumbered;
        }
        let Some(Header {
            number,
            identity: found,
        }) = Header::decode(value)
        else {
            return Check::Corrupt;
        };
        let cell = self.cell(field);
        if found != identity(cell) {
            return Check::Foreign;
        }
        let base = content_base(cell, number);
        let content = Content::new(base, self.values.mask);
        if self.values.length(base) == value.len() && content.matches(&value[HEADER_LEN..]) {
            Check::Good { number }
        } else {
            Check::Corrupt
        }
    }

    /// Hash of (seed, key, field).
    #[inline]
    fn cell(&self, field: u16) -> u64 {
        fold(
            self.hash ^ (u64::from(field) + 1).wrapping_mul(GOLDEN),
            STEP,
        )
    }
}

/// The bits of a cell's hash that stand in its header.
#[inline]
const fn identity(cell: u64) -> u64 {
    cell >> (64 - IDENTITY_BITS)
}

/// Where the content of a cell's write starts.
#[inline]
const fn content_base(cell: u64, number: u64) -> u64 {
    fold(cell ^ SALT, number ^ GOLDEN)
}

#[cfg(test)]
mod tests;
