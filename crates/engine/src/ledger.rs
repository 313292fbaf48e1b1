//! What has been acknowledged: tells `not_yet` always, and with `verify = full` finds stale and lost data.
//!
//! Writes carry timestamps in the order of their numbers, and the last one wins. A read must therefore return, for each field, a
//! number not below that of the last write acknowledged before the read was sent; what is still in flight or has timed out may be
//! seen or not.

use crate::generate::values::LOADED;
use crate::plan::{EngineShare, Verify, Workload};
use std::collections::{HashMap, HashSet};

/// A set of ranks, one bit each, that grows.
#[derive(Default)]
struct Bitmap(Vec<u64>);

impl Bitmap {
    fn set(&mut self, index: u64) {
        let word = (index / 64) as usize;
        if word >= self.0.len() {
            self.0.resize((word + 1).next_power_of_two(), 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    fn members(&self) -> impl Iterator<Item = u64> {
        let all = self.0.iter().zip(0_u64..);
        all.flat_map(|(word, place)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| place * 64 + bit)
        })
    }

    fn has(&self, index: u64) -> bool {
        self.0
            .get((index / 64) as usize)
            .is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// Acknowledged writes of this engine.
pub struct Ledger {
    records: u64,
    fields: usize,
    share: EngineShare,
    full: bool,
    loaded: Bitmap,
    inserted: Bitmap,
    floors: HashMap<u64, Box<[u64]>>,
    deleted: HashSet<u64>,
}

/// What was known about a record when a read of it was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// Inserted in the run phase, and not acknowledged to this engine: its absence is `not_yet`.
    pub unacknowledged: bool,
    /// Acknowledged and never deleted: its absence is `lost`.
    pub present: bool,
}

impl Ledger {
    /// For one engine's share of a workload.
    pub fn new(workload: &Workload, share: EngineShare) -> Self {
        Self {
            records: workload.records,
            fields: workload.fields.count as usize,
            share,
            full: workload.verify == Verify::Full,
            loaded: Bitmap::default(),
            inserted: Bitmap::default(),
            floors: HashMap::new(),
            deleted: HashSet::new(),
        }
    }

    /// What is known of `rank` now; `floors` receives the least acceptable version of each field (full only).
    #[inline]
    pub fn known(&self, rank: u64, floors: &mut Vec<u64>) -> Known {
        floors.clear();
        let new = rank >= self.records;
        let unacknowledged = new && !self.inserted.has(rank - self.records);
        if !self.full {
            return Known {
                unacknowledged,
                present: false,
            };
        }
        if let Some(known) = self.floors.get(&rank) {
            floors.extend_from_slice(known);
        }
        let written = self.loaded.has(rank) || (new && !unacknowledged) || !floors.is_empty();
        Known {
            unacknowledged,
            present: written && !self.deleted.contains(&rank),
        }
    }

    /// Ranks of all records that a write was acknowledged of to this engine and that were not deleted, ascending (full only).
    pub fn acknowledged(&self) -> Vec<u64> {
        let mut ranks: Vec<u64> = self.loaded.members().collect();
        ranks.extend(self.inserted.members().map(|new| self.records + new));
        ranks.extend(self.floors.keys());
        ranks.sort_unstable();
        ranks.dedup();
        ranks.retain(|rank| !self.deleted.contains(rank));
        ranks
    }

    /// Fields of a record.
    pub const fn fields(&self) -> u16 {
        self.fields as u16
    }

    /// Whether every field of the record was written by an acknowledged insert.
    pub fn whole(&self, rank: u64) -> bool {
        let inserted = rank.checked_sub(self.records);
        self.loaded.has(rank) || inserted.is_some_and(|new| self.inserted.has(new))
    }

    /// The load phase's insert of `rank` was acknowledged.
    pub fn loaded(&mut self, rank: u64) {
        if self.full {
            self.loaded.set(rank);
        }
    }

    /// A run-phase write of `fields` of `rank` by operation `number` was acknowledged.
    #[inline]
    pub fn written(&mut self, rank: u64, number: u64, fields: impl Iterator<Item = u16>) {
        if rank >= self.records {
            self.inserted.set(rank - self.records);
        }
        if !self.full {
            return;
        }
        let count = self.fields;
        let floors = self
            .floors
            .entry(rank)
            .or_insert_with(|| vec![0; count].into_boxed_slice());
        for field in fields {
            let floor = &mut floors[usize::from(field)];
            *floor = (*floor).max(number + 1);
        }
    }

    /// A delete of `rank` is about to be sent: from now on its absence proves nothing.
    pub fn deleting(&mut self, rank: u64) {
        if self.full {
            self.deleted.insert(rank);
        }
    }

    /// Whether a delete of `rank` has been sent: concurrent with it, anything may be seen.
    #[inline]
    pub fn deleted(&self, rank: u64) -> bool {
        self.deleted.contains(&rank)
    }

    /// Whether a read that was sent when `floors` held returned older data.
    #[inline]
    pub fn stale(&self, floors: &[u64], versions: &[(u16, u64)]) -> bool {
        versions
            .iter()
            .any(|(field, number)| self.older(floors, *field, *number))
    }

    /// Whether the value of `field` that write `number` left is older than `floors` allow.
    #[inline]
    pub fn older(&self, floors: &[u64], field: u16, number: u64) -> bool {
        let floor = floors.get(usize::from(field)).copied().unwrap_or(0);
        let loaded = number & LOADED != 0;
        // Numbers of other engines are not ordered with ours by time.
        let comparable =
            loaded || number % u64::from(self.share.count) == u64::from(self.share.index);
        let version = if loaded { 0 } else { number + 1 };
        comparable && version < floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ledger(verify: &str) -> Ledger {
        let workload = json!({"records": 10, "mix": {"read": 1}, "request": {"kind": "uniform"}, "verify": verify});
        Ledger::new(
            &serde_json::from_value(workload).unwrap(),
            EngineShare::default(),
        )
    }

    #[test]
    fn an_insert_is_not_yet_there_until_acknowledged() {
        let (mut l, mut floors) = (ledger("all"), Vec::new());
        assert!(l.known(12, &mut floors).unacknowledged);
        l.written(12, 5, 0..10);
        assert!(!l.known(12, &mut floors).unacknowledged);
        assert!(!l.known(3, &mut floors).unacknowledged);
    }

    #[test]
    fn a_read_that_misses_an_acknowledged_write_is_stale() {
        let (mut l, mut floors) = (ledger("full"), Vec::new());
        l.loaded(3);
        l.known(3, &mut floors);
        assert!(
            !l.stale(&floors, &[(0, LOADED | 3)]),
            "nothing newer was acknowledged"
        );
        l.written(3, 7, std::iter::once(0));
        l.known(3, &mut floors);
        assert!(l.stale(&floors, &[(0, LOADED | 3)]));
        assert!(l.stale(&floors, &[(0, 6)]));
        assert!(!l.stale(&floors, &[(0, 7), (1, LOADED | 3)]));
        assert!(
            !l.stale(&floors, &[(0, 9)]),
            "a write still in flight may be seen"
        );
    }

    #[test]
    fn every_record_with_an_acknowledged_write_is_audited_but_those_deleted() {
        let mut l = ledger("full");
        l.loaded(3);
        l.loaded(4);
        l.written(75, 7, 0..10);
        l.written(9, 8, std::iter::once(0));
        l.deleting(4);
        assert_eq!(l.acknowledged(), [3, 9, 75]);
        assert_eq!(
            [3, 9, 75, 80].map(|rank| l.whole(rank)),
            [true, false, true, false]
        );
    }

    #[test]
    fn only_an_acknowledged_record_can_be_lost() {
        let (mut l, mut floors) = (ledger("full"), Vec::new());
        assert!(!l.known(3, &mut floors).present);
        l.loaded(3);
        assert!(l.known(3, &mut floors).present);
        l.deleting(3);
        assert!(!l.known(3, &mut floors).present);
    }
}
