//! Increment: add to 64-bit counters of one row.

use super::mutation::{Durability, Kind, Mutation};
use crate::cell::CellKind;

/// Amounts to be added to columns of one row, atomically. A column that does not exist counts as 0; values are 8 bytes,
/// big-endian. The answer is the row's new values.
#[derive(Debug, Clone)]
pub struct Increment(pub(crate) Mutation);

impl Increment {
    /// Of `row`.
    pub fn new(row: &[u8]) -> Self {
        Self(Mutation::new(Kind::Increment, row))
    }

    /// And add `amount` to this column.
    pub fn add(&mut self, family: &[u8], qualifier: &[u8], amount: i64) -> &mut Self {
        let timestamp = self.0.timestamp;
        let value = amount.to_be_bytes();
        self.0
            .add(CellKind::Put, timestamp, family, qualifier, &value);
        self
    }

    /// How durable.
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.0.set_durability(durability);
        self
    }

    /// A number by which servers know another attempt of the same operation and do not do it twice; 0 is none. Operations of
    /// [`crate::Client`] get one of themselves; [`crate::Once`] sends only what is set here.
    pub const fn nonce(&mut self, nonce: u64) -> &mut Self {
        self.0.nonce = nonce;
        self
    }
}
