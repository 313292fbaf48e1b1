//! What is counted over a whole phase.

use crate::operation::Outcome;
use serde::{Deserialize, Serialize};

/// Histogram of attempts: the last bucket holds all above.
pub const ATTEMPTS: usize = 32;

/// Counts of one kind over the phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct KindCounts {
    /// Operations that ended.
    pub count: u64,
    /// Of those, within the window in which operations were offered.
    pub within: u64,
    /// By outcome.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Reads of records whose insert was not acknowledged yet.
    pub not_yet: u64,
    /// Reads and deletes that found nothing, in a workload that deletes: successes.
    pub absent: u64,
    /// Rows received; of flushes: writes acknowledged.
    pub rows: u64,
    /// Bytes of values received; of flushes: of the writes acknowledged.
    pub bytes: u64,
}

/// Judgements over a phase or a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Values judged.
    pub checked: u64,
    /// Values that do not fit their own header.
    pub corrupt: u64,
    /// Values of another key, field or seed.
    pub foreign: u64,
    /// Reads that missed an acknowledged write.
    pub stale: u64,
    /// Acknowledged records that were not found.
    pub lost: u64,
    /// Reads of records not acknowledged yet.
    pub not_yet: u64,
}

impl Verdicts {
    /// What was judged since `before`.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            checked: self.checked - before.checked,
            corrupt: self.corrupt - before.corrupt,
            foreign: self.foreign - before.foreign,
            stale: self.stale - before.stale,
            lost: self.lost - before.lost,
            not_yet: self.not_yet - before.not_yet,
        }
    }
}
