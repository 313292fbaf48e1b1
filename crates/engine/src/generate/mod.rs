//! From (seed, operation number) to an operation: kind, record rank, key, values.
//!
//! [`Cursor`] walks numbers in order, because an insert's rank is the count of inserts before it; everything else is a
//! pure function and lives in [`Generator`], which threads share.

pub mod check;
mod content;
mod cursor;
mod field;
mod hash;
mod header;
mod integrity;
pub mod key;
pub mod length;
pub mod mix;
pub mod permutation;
pub mod random;
pub mod request;
pub mod split;
pub mod values;
pub mod ycsb;
mod zeta;
pub mod zipfian;

pub use cursor::Cursor;

use crate::operation::{FieldSet, Key, Kind, Operation};
use crate::plan::{Plan, PlanError};
use key::Keys;
use values::{LOADED, Values};

/// What the cursor decides about one number.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Draft {
    /// Kind.
    pub kind: Kind,
    /// Number.
    pub number: u64,
    /// Rank of the record.
    pub rank: u64,
    /// The number in its key.
    pub key: u64,
    /// Fields read or written (for a read-modify-write: written).
    pub fields: FieldSet,
    /// Fields a read-modify-write reads.
    pub read_fields: FieldSet,
    /// Rows of a scan; 0 for other kinds.
    pub scan_length: u32,
    /// Belongs to the load phase.
    pub loaded: bool,
}

impl Draft {
    /// Nothing but its number is known yet.
    fn numbered(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }

    /// The number that the values of this write carry: [`LOADED`] marks the load phase.
    pub const fn write_number(&self) -> u64 {
        if self.loaded {
            self.number | LOADED
        } else {
            self.number
        }
    }
}

/// The pure part: keys and values.
#[derive(Debug, Clone)]
pub struct Generator {
    /// How values are written and judged.
    pub values: Values,
    keys: Keys,
    /// Fields of a record.
    fields: u16,
}

impl Generator {
    /// From a plan.
    ///
    /// # Errors
    /// As [`Workload::check`](crate::plan::Workload::check).
    pub fn new(plan: &Plan) -> Result<Self, PlanError> {
        let workload = &plan.workload;
        workload.check()?;
        Ok(Self {
            values: Values::new(plan.seed, &workload.fields, workload.values),
            keys: Keys::new(&workload.key),
            fields: workload.fields.count as u16,
        })
    }

    /// Fill `op` from `draft`: key always, values if the kind writes (update, insert, read-modify-write). The time stamp is
    /// left as it is.
    #[inline]
    pub fn fill(&self, draft: &Draft, op: &mut Operation) {
        op.kind = draft.kind;
        op.number = draft.number;
        op.rank = draft.rank;
        op.fields = draft.fields;
        op.scan_length = draft.scan_length;
        op.loaded = draft.loaded;
        self.keys.write(draft.key, &mut op.key);
        op.ends.clear();
        if matches!(
            draft.kind,
            Kind::Update | Kind::Insert | Kind::ReadModifyWrite
        ) {
            self.write(draft, op);
        }
    }

    /// The key of `rank`.
    pub fn key(&self, rank: u64) -> Key {
        let mut key = Key::default();
        self.keys.write(self.keys.number(rank), &mut key);
        key
    }

    fn write(&self, draft: &Draft, op: &mut Operation) {
        let Operation {
            key, values, ends, ..
        } = op;
        let row = self.values.row(key.as_bytes());
        let number = draft.write_number();
        let fields = match draft.fields {
            FieldSet::All => 0..self.fields,
            FieldSet::One(field) => field..field + 1,
        };
        let Some(length) = self.values.constant_length() else {
            values.clear();
            for field in fields {
                row.write(field, number, values);
                ends.push(values.len() as u32);
            }
            return;
        };
        // The buffer is not cleared before: it would only be filled with zeros again.
        values.resize(length * fields.len(), 0);
        ends.extend((1..=fields.len()).map(|place| (place * length) as u32));
        row.fill(fields, number, length, values);
    }
}

#[cfg(test)]
mod tests;
