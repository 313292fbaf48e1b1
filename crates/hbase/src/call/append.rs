//! Append: add bytes to the end of values of one row.

use super::mutation::{Durability, Kind, Mutation};
use crate::cell::CellKind;

/// Bytes to be added to the end of columns of one row, atomically. The answer is the row's new values.
#[derive(Debug, Clone)]
pub struct Append(pub(crate) Mutation);

impl Append {
    /// To `row`.
    pub fn new(row: &[u8]) -> Self {
        Self(Mutation::new(Kind::Append, row))
    }

    /// And add `suffix` to this column.
    pub fn add(&mut self, family: &[u8], qualifier: &[u8], suffix: &[u8]) -> &mut Self {
        let timestamp = self.0.timestamp;
        self.0
            .add(CellKind::Put, timestamp, family, qualifier, suffix);
        self
    }

    /// How durable.
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.0.set_durability(durability);
        self
    }

    /// As [`crate::Increment::nonce`].
    pub const fn nonce(&mut self, nonce: u64) -> &mut Self {
        self.0.nonce = nonce;
        self
    }
}
