//! Scan: a range of rows, over as many regions as it touches.

use super::Columns;
use crate::pb;
use std::ops::Range;

/// Rows asked for by one call, unless told otherwise.
const CACHING: u32 = 100;
/// Bytes of cells asked for by one call, unless told otherwise: HBase's own default.
const MAX_BYTES: u64 = 2 << 20;

/// Where a range begins or ends; an empty row is the table's own edge.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) row: Vec<u8>,
    pub(crate) included: bool,
}

impl Edge {
    pub(crate) fn at(row: &[u8], included: bool) -> Self {
        Self {
            row: row.to_vec(),
            included,
        }
    }
}

/// What to read: by default all columns of all rows, newest versions, in order.
#[derive(Debug, Clone)]
pub struct Scan {
    pub(crate) start: Edge,
    stop: Edge,
    pub(crate) reversed: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) caching: u32,
    max_bytes: u64,
    columns: Columns,
    versions: u32,
    cache_blocks: bool,
    time_range: Option<Range<i64>>,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            start: Edge::at(b"", true),
            stop: Edge::at(b"", false),
            reversed: false,
            limit: None,
            caching: CACHING,
            max_bytes: MAX_BYTES,
            columns: Columns::all(),
            versions: 1,
            cache_blocks: true,
            time_range: None,
        }
    }
}

impl Scan {
    /// The whole table.
    pub fn new() -> Self {
        Self::default()
    }

    /// From this row on; empty = from the first one (of a reversed scan: from the last).
    #[must_use]
    pub fn start(mut self, row: &[u8]) -> Self {
        self.start = Edge::at(row, true);
        self
    }

    /// From the row that follows this one.
    #[must_use]
    pub fn after(mut self, row: &[u8]) -> Self {
        self.start = Edge::at(row, false);
        self
    }

    /// Up to this row, without it; empty = to the end (of a reversed scan: to the first row).
    #[must_use]
    pub fn stop(mut self, row: &[u8]) -> Self {
        self.stop = Edge::at(row, false);
        self
    }

    /// Up to this row, and it too.
    #[must_use]
    pub fn stop_including(mut self, row: &[u8]) -> Self {
        self.stop = Edge::at(row, true);
        self
    }

    /// In descending order: from `start` down to `stop`.
    #[must_use]
    pub const fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// At most so many rows.
    #[must_use]
    pub const fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows asked for by one call (at least 1; 100 by default).
    #[must_use]
    pub fn caching(mut self, rows: u32) -> Self {
        self.caching = rows.max(1);
        self
    }

    /// About so many bytes of cells are answered to one call (2 MiB by default): the server cuts even a row there.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Only these columns.
    #[must_use]
    pub fn columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// So many versions of each column, newest first.
    #[must_use]
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Whether blocks read for this scan may stay in the server's block cache (yes by default).
    #[must_use]
    pub const fn cache_blocks(mut self, cache: bool) -> Self {
        self.cache_blocks = cache;
        self
    }

    /// Only versions with a timestamp in this range (not negative).
    #[must_use]
    pub const fn time_range(mut self, range: Range<i64>) -> Self {
        self.time_range = Some(range);
        self
    }

    /// As the message that opens a scanner which goes on at `from`.
    pub(crate) fn message(&self, from: &Edge) -> pb::Scan {
        pb::Scan {
            column: self.columns.messages(),
            start_row: Some(from.row.clone()),
            stop_row: Some(self.stop.row.clone()),
            time_range: self.time_range.as_ref().map(|range| pb::TimeRange {
                from: Some(range.start as u64),
                to: Some(range.end as u64),
            }),
            max_versions: Some(self.versions),
            cache_blocks: Some(self.cache_blocks),
            max_result_size: Some(self.max_bytes),
            reversed: Some(self.reversed),
            caching: Some(self.caching),
            include_start_row: Some(from.included),
            include_stop_row: Some(self.stop.included),
            read_type: None,
        }
    }

    /// Whether nothing of what is wanted lies behind the region from `start` to `end`.
    pub(crate) fn ends_in(&self, start: &[u8], end: &[u8]) -> bool {
        let stop = &*self.stop.row;
        if self.reversed {
            return start.is_empty() || (!stop.is_empty() && start <= stop);
        }
        let past_stop = end > stop || (end == stop && !self.stop.included);
        end.is_empty() || (!stop.is_empty() && past_stop)
    }
}
