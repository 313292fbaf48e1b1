//! From (seed, operation number) to an operation: kind, record rank, key, values.
//!
//! [`Cursor`] walks numbers in order, because an insert's rank is the count of inserts before it; everything else is a
//! pure function and lives in [`Generator`], which threads share.

pub mod values;

use crate::operation::{FieldSet, Kind, Operation};
use crate::plan::{PhaseKind, Plan, PlanError};
use values::Values;

/// What the cursor decides about one number.
#[derive(Debug, Clone, Copy)]
pub struct Draft {
    /// Kind.
    pub kind: Kind,
    /// Number.
    pub number: u64,
    /// Rank of the record.
    pub rank: u64,
    /// Fields read or written (for a read-modify-write: written).
    pub fields: FieldSet,
    /// Rows of a scan.
    pub scan_length: u32,
}

/// Walks the operation numbers of one phase in increasing order.
pub struct Cursor {}

impl Cursor {
    /// A cursor at number `first` of a phase.
    pub fn new(plan: &Plan, phase: PhaseKind, first: u64) -> Result<Self, PlanError> {
        let _ = (plan, phase, first);
        todo!()
    }
    /// The draft of `number`, which must be greater than that of the call before.
    pub fn at(&mut self, number: u64) -> Draft {
        let _ = number;
        todo!()
    }
}

/// The pure part: keys and values.
pub struct Generator {
    /// How values are written and judged.
    pub values: Values,
}

impl Generator {
    /// From a checked plan.
    pub fn new(plan: &Plan) -> Result<Self, PlanError> {
        let _ = plan;
        todo!()
    }
    /// Fill `op` from `draft`: key always, values if the kind writes (update, insert, read-modify-write).
    pub fn fill(&self, draft: &Draft, op: &mut Operation) {
        let _ = (draft, op);
        todo!()
    }
}
