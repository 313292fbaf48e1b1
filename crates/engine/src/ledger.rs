//! What has been acknowledged: tells `not_yet` always, and with `verify = full` finds stale and lost data.
//!
//! Writes carry timestamps in the order of their numbers, and the last one wins. A read must therefore return, for each field, a
//! number not below that of the last write acknowledged before the read was sent; what is still in flight or has timed out may be
//! seen or not.

use crate::generate::values::LOADED;
use crate::operation::FieldSet;
use crate::plan::{EngineShare, Verify, Workload};
use crate::reply::Reply;
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
    /// The load phase wrote every field of it, acknowledged to this engine (full only).
    pub loaded: bool,
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
                loaded: false,
            };
        }
        if let Some(known) = self.floors.get(&rank) {
            floors.extend_from_slice(known);
        }
        Known {
            unacknowledged,
            loaded: self.loaded.has(rank),
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

    /// Whether a read of the fields `asked`, sent when `known` and `floors` held, lacks one with an acknowledged write. Values
    /// that carry no number are counted only: some of what was never written may then hide what is missing.
    pub fn lost(&self, known: Known, floors: &[u64], asked: FieldSet, reply: &Reply) -> bool {
        let asked = match asked {
            FieldSet::All => 0..self.fields,
            FieldSet::One(field) => usize::from(field)..usize::from(field) + 1,
        };
        if !self.full || reply.fields >= asked.len() as u64 {
            return false;
        }
        if known.loaded {
            return true;
        }
        let mut written = asked.filter(|field| floors.get(*field).is_some_and(|floor| *floor > 0));
        if reply.versions.len() as u64 != reply.fields {
            return written.count() as u64 > reply.fields;
        }
        let came = |field: usize| reply.versions.iter().any(|(f, _)| usize::from(*f) == field);
        written.any(|field| !came(field))
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

    /// Whether a read of `asked` that brought `versions` back lacks something.
    fn lost(l: &Ledger, rank: u64, asked: FieldSet, versions: &[(u16, u64)]) -> bool {
        let mut floors = Vec::new();
        let known = l.known(rank, &mut floors);
        let reply = Reply {
            fields: versions.len() as u64,
            versions: versions.to_vec(),
            ..Reply::default()
        };
        l.lost(known, &floors, asked, &reply)
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
    fn only_what_was_acknowledged_can_be_lost() {
        let mut l = ledger("full");
        assert!(!lost(&l, 3, FieldSet::All, &[]));
        l.loaded(3);
        assert!(lost(&l, 3, FieldSet::All, &[]));
        assert!(!lost(&ledger("all"), 3, FieldSet::All, &[]));
    }

    #[test]
    fn a_field_without_a_value_is_lost_if_it_was_written() {
        let mut l = ledger("full");
        l.loaded(3);
        let whole: Vec<_> = (0..10).map(|field| (field, LOADED)).collect();
        assert!(!lost(&l, 3, FieldSet::All, &whole));
        assert!(lost(&l, 3, FieldSet::All, &whole[..9]));
        assert!(lost(&l, 3, FieldSet::One(4), &[]));
        // An update made record 4, of one field.
        l.written(4, 7, std::iter::once(2));
        assert!(!lost(&l, 4, FieldSet::All, &[(2, 7)]));
        assert!(lost(&l, 4, FieldSet::All, &[(1, 6)]));
        assert!(!lost(&l, 4, FieldSet::One(1), &[]));
        assert!(lost(&l, 4, FieldSet::One(2), &[]));
    }
}
