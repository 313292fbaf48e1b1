//! What is counted over a whole phase.

use crate::operation::Outcome;
use serde::Serialize;

/// Histogram of attempts: the last bucket holds all above.
pub const ATTEMPTS: usize = 32;

/// Counts of one kind over the phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct KindCounts {
    /// Operations that ended.
    pub count: u64,
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

/// Judgements over the phase.
#[derive(Debug, Clone, Copy, Default, Serialize)]
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

/// Saturation over the phase, in seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Saturation {
    /// Backlog although the in-flight cap was not reached: the client is slow.
    pub seconds_saturated: u64,
    /// Backlog with the cap reached: the server is slow.
    pub seconds_cap_reached: u64,
    /// Largest backlog at the end of a second.
    pub max_backlog: u64,
}
