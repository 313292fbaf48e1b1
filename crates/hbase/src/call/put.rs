//! Put: values into columns of one row.

use super::mutation::{Durability, Kind, Mutation};
use crate::cell::CellKind;

/// Values to be written to one row, atomically. Values are copied in as they are added.
#[derive(Debug, Clone)]
pub struct Put(pub(crate) Mutation);

impl Put {
    /// Into `row`.
    pub fn new(row: &[u8]) -> Self {
        Self(Mutation::new(Kind::Put, row))
    }

    /// Begin anew with `row`; memory and durability are kept.
    pub fn reset(&mut self, row: &[u8]) -> &mut Self {
        self.0.reset(row);
        self
    }

    /// Timestamp of the cells added from now on, by convention milliseconds since 1970; the server's clock if none is given.
    pub const fn at(&mut self, timestamp: i64) -> &mut Self {
        self.0.timestamp = timestamp;
        self
    }

    /// And this value.
    pub fn add(&mut self, family: &[u8], qualifier: &[u8], value: &[u8]) -> &mut Self {
        let timestamp = self.0.timestamp;
        self.0
            .add(CellKind::Put, timestamp, family, qualifier, value);
        self
    }

    /// How durable.
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.0.set_durability(durability);
        self
    }

    /// Encoded size of the cells, bytes.
    pub fn size(&self) -> usize {
        self.0.cells().len()
    }
}
