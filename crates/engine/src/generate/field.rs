//! Which fields of its record an operation reads or writes.

use super::random::{Source, Stream};
use crate::operation::FieldSet;

/// All fields, or one drawn for each number.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    source: Source,
    all: bool,
    count: u32,
}

impl Fields {
    /// All of `count` fields, or one of them for each number of `stream`.
    pub const fn new(seed: u64, stream: Stream, all: bool, count: u32) -> Self {
        Self {
            source: Source::new(seed, stream),
            all,
            count,
        }
    }

    /// The fields of operation `number`.
    #[inline]
    pub const fn at(&self, number: u64) -> FieldSet {
        if self.all {
            return FieldSet::All;
        }
        FieldSet::One(self.source.draw(number).below(self.count as u64) as u16)
    }
}
