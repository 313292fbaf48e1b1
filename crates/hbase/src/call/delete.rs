//! Delete: a row, families, columns, or versions of one row.

use super::mutation::{Durability, Kind, Mutation};
use crate::cell::CellKind;

/// What to delete of one row, atomically: the whole row unless something is named.
#[derive(Debug, Clone)]
pub struct Delete(pub(crate) Mutation);

impl Delete {
    /// Of `row`.
    pub fn new(row: &[u8]) -> Self {
        Self(Mutation::new(Kind::Delete, row))
    }

    /// Begin anew with `row`; memory and durability are kept.
    pub fn reset(&mut self, row: &[u8]) -> &mut Self {
        self.0.reset(row);
        self
    }

    /// Only versions up to this timestamp, for the whole row or what is named from now on; up to now if none is given.
    pub const fn at(&mut self, timestamp: i64) -> &mut Self {
        self.0.timestamp = timestamp;
        self
    }

    /// All columns of `family`.
    pub fn family(&mut self, family: &[u8]) -> &mut Self {
        self.add(CellKind::DeleteFamily, family, b"")
    }

    /// All columns of `family`, but of their versions only those with exactly the timestamp given by [`Self::at`].
    pub fn family_version(&mut self, family: &[u8]) -> &mut Self {
        self.add(CellKind::DeleteFamilyVersion, family, b"")
    }

    /// All versions of one column.
    pub fn column(&mut self, family: &[u8], qualifier: &[u8]) -> &mut Self {
        self.add(CellKind::DeleteColumn, family, qualifier)
    }

    /// One version of one column: that of the timestamp given by [`Self::at`], else the newest.
    pub fn version(&mut self, family: &[u8], qualifier: &[u8]) -> &mut Self {
        self.add(CellKind::Delete, family, qualifier)
    }

    /// How durable.
    pub const fn durability(&mut self, durability: Durability) -> &mut Self {
        self.0.set_durability(durability);
        self
    }

    fn add(&mut self, kind: CellKind, family: &[u8], qualifier: &[u8]) -> &mut Self {
        let timestamp = self.0.timestamp;
        self.0.add(kind, timestamp, family, qualifier, b"");
        self
    }
}
