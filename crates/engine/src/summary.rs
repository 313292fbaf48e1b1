//! The phase summary: what an engine says at the end of a phase, and what several say together. Its fields are those of
//! docs/format.md; each has one rule by which engines are put together, and percentiles are found anew in the histograms.

use crate::counts::{ATTEMPTS, KindCounts};
use crate::distribution::Distribution;
use crate::driver::Traffic;
use crate::merged::{Greatest, Least, Merge, Same, merged};
use crate::operation::{Kind, Outcome};
use crate::plan::{Arrivals, PhaseKind, Quantum, Verify};
use crate::recorder::Lag;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Distributions of one operation by their view; no part's percentiles make a whole's, so that merging leaves none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Views(pub BTreeMap<String, Distribution>);

impl Merge for Views {
    fn merge(&mut self, _: &Self) {
        self.0.clear();
    }
}

/// Counts by name: kinds of failure, numbers of attempts.
pub type Counts = BTreeMap<String, u64>;

merged! {
    /// A phase of one engine, or of several together.
    pub struct Summary {
        /// Its name.
        pub phase: Same<String>,
        /// What it does.
        pub kind: Same<PhaseKind>,
        /// Its start, CLOCK_MONOTONIC ns.
        pub start_ns: Least,
        /// Its last completion, ns.
        pub end_ns: Greatest<u64>,
        /// The end of the window in which operations were offered, ns.
        pub window_end_ns: Greatest<u64>,
        /// That window in seconds.
        pub seconds: Greatest<f64>,
        /// What was done within it.
        pub within: Within,
        /// First operation number.
        pub first: Same<u64>,
        /// First number that was not used.
        pub next: Greatest<u64>,
        /// Operations done.
        pub operations: u64,
        /// Of those, successes.
        pub ok: u64,
        /// Failures by kind.
        pub failed: Counts,
        /// Most operations in flight that the plan allows, over all engines.
        pub in_flight_cap: Same<u32>,
        /// As planned.
        pub arrivals: Same<Arrivals>,
        /// Judgements.
        pub verify: Verification,
        /// Operations by the attempts they took.
        pub attempts: Counts,
        /// What was due and has no answer.
        pub censored: Censored,
        /// Seconds in which the load was not kept, by whose fault it was.
        pub saturation: Saturation,
        /// How due times were waited for.
        pub pacing: PacingFacts,
        /// CPU in user mode, ns.
        pub cpu_user_ns: u64,
        /// CPU in the kernel, ns.
        pub cpu_system_ns: u64,
        /// Largest resident set, bytes: of several processes together.
        pub rss_max_bytes: u64,
        /// What the driver's sockets did.
        pub traffic: Option<Traffic>,
        /// Writes that were collected, counted as done and never acknowledged; only with client buffering.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unflushed: Option<u64>,
        /// What an audit found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub audit: Option<Findings>,
        /// Each operation.
        pub ops: BTreeMap<String, OperationSummary>,
    }

    /// What was done within the window in which operations were offered.
    pub struct Within {
        /// Operations done.
        pub operations: u64,
        /// Of those, successes.
        pub ok: u64,
    }

    /// One kind of operation.
    pub struct OperationSummary {
        /// Its counts; none of TOTAL, whose counts are the phase's.
        #[serde(flatten)]
        pub counts: Option<OperationCounts>,
        /// Its distributions.
        #[serde(flatten)]
        pub views: Views,
    }

    /// Counts of one kind of operation.
    pub struct OperationCounts {
        /// Operations that ended.
        pub count: u64,
        /// Of those, within the window.
        pub within: u64,
        /// Successes.
        pub ok: u64,
        /// Of those, reads of records that were not acknowledged yet; they are in no percentile of successes.
        pub not_yet: u64,
        /// Of those, reads and deletes that found nothing in a workload that deletes.
        pub absent: u64,
        /// Failures by kind.
        pub failures: Counts,
        /// Rows received.
        pub rows: u64,
        /// Bytes of values received.
        pub bytes: u64,
    }

    /// Judgements over the phase.
    pub struct Verification {
        /// How much is judged.
        pub mode: Same<Verify>,
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
        /// Reads of records that were not acknowledged yet.
        pub not_yet: u64,
    }

    /// What an audit found.
    pub struct Findings {
        /// Records with an acknowledged write that were read.
        pub records: u64,
        /// Records with one that could not be read, those included that an audit which was stopped did not come to.
        pub unread: u64,
        /// Of those read, not found.
        pub lost: u64,
        /// Fields that are not there in records that are.
        pub fields_lost: u64,
        /// Fields older than their last acknowledged write.
        pub stale: u64,
        /// The first of each engine's faults.
        pub examples: Vec<Example>,
    }

    /// Operations that were due and have no answer.
    pub struct Censored {
        /// Never sent.
        pub unsent: u64,
        /// Sent.
        pub unanswered: u64,
    }

    /// Seconds in which the load was not kept. Of several engines a second counts once, for the worst that any said.
    pub struct Saturation {
        /// The engine's threads had no processor.
        pub seconds_starved: u64,
        /// The client was slow.
        pub seconds_saturated: u64,
        /// The server was slow.
        pub seconds_cap_reached: u64,
        /// Largest backlog at the end of a second.
        pub max_backlog: u64,
    }

    /// How due times were waited for.
    pub struct PacingFacts {
        /// As the plan asked for it.
        pub asked: Same<Quantum>,
        /// Quantum in effect at the end, us; 0 is exact.
        pub quantum_us: Greatest<f64>,
        /// Each change of it: second, quantum from then on, us.
        pub quanta_us: Same<Vec<(u64, f64)>>,
        /// Under SCHED_FIFO.
        pub realtime: Same<bool>,
        /// Times the engine woke for what was due, or the event loop for anything.
        pub turns: u64,
        /// How long answers lay in the kernel; none where none of them had a stamp.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lag: Option<LagFacts>,
    }

    /// From the arrival of answers in the kernel to the read() that brought them; of several engines the longest.
    pub struct LagFacts {
        /// Calls of read().
        pub reads: u64,
        /// Median, ns.
        pub p50_ns: Greatest<u64>,
        /// 99 %, ns.
        pub p99_ns: Greatest<u64>,
        /// The longest, ns.
        pub max_ns: Greatest<u64>,
    }
}

/// A fault that an audit found, by its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The record's key.
    pub key: String,
    /// `lost`, `field_lost` or `stale`.
    pub fault: String,
    /// The field's index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<u16>,
    /// Stale: the number of the write whose value was found (of a loaded one the record's rank).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// Stale: the number of the newest write that was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<u64>,
}

impl Merge for Traffic {
    fn merge(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.requests += other.requests;
        self.answers += other.answers;
    }
}

impl From<&Lag> for LagFacts {
    fn from(lag: &Lag) -> Self {
        Self {
            reads: lag.count,
            p50_ns: Greatest(lag.quantile(0.5)),
            p99_ns: Greatest(lag.quantile(0.99)),
            max_ns: Greatest(lag.max_ns),
        }
    }
}

/// The failures among outcome counts, by name.
pub fn failures(outcomes: &[u64; Outcome::ALL.len()]) -> Counts {
    let failed = Outcome::ALL
        .iter()
        .filter(|outcome| **outcome != Outcome::Ok);
    failed
        .map(|outcome| (outcome.name().to_owned(), outcomes[*outcome as usize]))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Operations by the attempts they took.
pub fn attempts(counts: &[u64; ATTEMPTS]) -> Counts {
    let counted = counts.iter().enumerate().skip(1).filter(|(_, n)| **n > 0);
    counted.map(|(n, count)| (n.to_string(), *count)).collect()
}

impl OperationSummary {
    /// Put its distributions beside its counts: all but the one whose count is of the same name. Its times are in the series and
    /// the histograms.
    pub fn tell(&mut self, mut views: Views) {
        views.0.remove("not_yet");
        self.views = views;
    }
}

/// Each kind's counts beside its distributions.
pub fn operations(
    views: BTreeMap<String, Views>,
    kinds: &[KindCounts; Kind::ALL.len()],
) -> BTreeMap<String, OperationSummary> {
    let counted = Kind::ALL
        .iter()
        .map(|kind| (kind.name(), &kinds[*kind as usize]));
    let mut ops: BTreeMap<String, OperationSummary> = counted
        .filter(|(_, counts)| counts.count > 0)
        .map(|(name, counts)| {
            let counts = Some(of_kind(counts));
            (
                name.to_owned(),
                OperationSummary {
                    counts,
                    ..OperationSummary::default()
                },
            )
        })
        .collect();
    for (name, views) in views {
        ops.entry(name).or_default().tell(views);
    }
    ops
}

fn of_kind(counts: &KindCounts) -> OperationCounts {
    OperationCounts {
        count: counts.count,
        within: counts.within,
        ok: counts.outcomes[Outcome::Ok as usize],
        not_yet: counts.not_yet,
        absent: counts.absent,
        failures: failures(&counts.outcomes),
        rows: counts.rows,
        bytes: counts.bytes,
    }
}

#[cfg(test)]
mod tests;
