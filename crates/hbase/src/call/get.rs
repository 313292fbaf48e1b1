//! Get: one row, or parts of it.

use super::columns::Columns;
use crate::region::Location;
use crate::rpc::Request;
use crate::rpc::wire::{bytes_len, number_len, put_bytes, put_length, put_number};
use std::ops::Range;

/// What to read of one row. It borrows the row and the columns, so that making one allocates nothing.
#[derive(Debug, Clone)]
pub struct Get<'a> {
    pub(crate) row: &'a [u8],
    columns: &'a [u8],
    versions: u32,
    cache_blocks: bool,
    existence_only: bool,
    time_range: Option<Range<i64>>,
}

impl<'a> Get<'a> {
    /// The newest version of every column of `row`.
    pub const fn new(row: &'a [u8]) -> Self {
        Self {
            row,
            columns: &[],
            versions: 1,
            cache_blocks: true,
            existence_only: false,
            time_range: None,
        }
    }

    /// Only these columns.
    #[must_use]
    pub fn columns(mut self, columns: &'a Columns) -> Self {
        self.columns = columns.encoded();
        self
    }

    /// So many versions of each column, newest first.
    #[must_use]
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Whether blocks read for this get may stay in the server's block cache (yes by default).
    #[must_use]
    pub const fn cache_blocks(mut self, cache: bool) -> Self {
        self.cache_blocks = cache;
        self
    }

    /// No cells, only whether the row exists: see [`crate::Row::exists`].
    #[must_use]
    pub const fn existence_only(mut self) -> Self {
        self.existence_only = true;
        self
    }

    /// Only versions with a timestamp in this range (not negative).
    #[must_use]
    pub const fn time_range(mut self, range: Range<i64>) -> Self {
        self.time_range = Some(range);
        self
    }

    pub(super) fn encoded_len(&self) -> usize {
        bytes_len(self.row.len())
            + self.columns.len()
            + self
                .time_range
                .as_ref()
                .map_or(0, |range| bytes_len(range_len(range)))
            + if self.versions == 1 {
                0
            } else {
                number_len(self.versions.into())
            }
            + if self.cache_blocks { 0 } else { number_len(0) }
            + if self.existence_only {
                number_len(1)
            } else {
                0
            }
    }

    /// As the message `Get`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, 1, self.row);
        out.extend_from_slice(self.columns);
        if let Some(range) = &self.time_range {
            put_length(out, 5, range_len(range));
            put_number(out, 1, range.start as u64);
            put_number(out, 2, range.end as u64);
        }
        if self.versions != 1 {
            put_number(out, 6, self.versions.into());
        }
        if !self.cache_blocks {
            put_number(out, 8, 0);
        }
        if self.existence_only {
            put_number(out, 10, 1);
        }
    }
}

fn range_len(range: &Range<i64>) -> usize {
    number_len(range.start as u64) + number_len(range.end as u64)
}

/// A get on its way to a region.
pub(crate) struct GetRequest<'a> {
    pub(crate) get: &'a Get<'a>,
    pub(crate) location: &'a Location,
}

impl Request for GetRequest<'_> {
    fn method(&self) -> &'static str {
        "Get"
    }

    fn param_len(&self) -> usize {
        bytes_len(self.location.specifier.len()) + bytes_len(self.get.encoded_len())
    }

    fn write_param(&self, out: &mut Vec<u8>) {
        put_bytes(out, 1, &self.location.specifier);
        put_length(out, 2, self.get.encoded_len());
        self.get.write(out);
    }
}
