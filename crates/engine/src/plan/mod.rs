//! The plan: everything one engine process needs to know, as JSON. `docs/format.md` says every field.
//!
//! Parsing never touches the world: a plan is checked as a whole, here and by its driver, before anything is opened.

mod arrivals;
mod check;
mod driver;
#[cfg(test)]
pub(crate) mod fixture;
pub mod words;
mod workload;

pub use arrivals::{Arrivals, Rate};
pub use driver::DriverSection;
pub use workload::{
    Compat, Fields, KeyOrder, KeyPlan, Length, Mix, RECORDS_MAX, Request, ValueKind, Verify,
    Workload, YCSB_THETA,
};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of the plan format; a plan of another version is refused.
pub const PLAN_FORMAT: u32 = 2;

/// A plan that cannot be run; the text says which field and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

/// One engine process's orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must equal [`PLAN_FORMAT`].
    pub plan_format: u32,
    /// Every random draw of the run is a function of this seed and an operation number.
    pub seed: u64,
    /// Which of how many engines this one is.
    #[serde(default)]
    pub engine: EngineShare,
    /// Folder (existing) that receives events, histograms and series.
    pub out: PathBuf,
    /// The database driver and its options.
    pub driver: DriverSection,
    /// Records, keys, values and the mix of operations.
    pub workload: Workload,
    /// How due times are waited for.
    #[serde(default)]
    pub pacing: Pacing,
    /// What happens when an attempt fails.
    #[serde(default)]
    pub retry: Retry,
    /// An operation's deadline from its start, over all attempts, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// One attempt's deadline, in milliseconds.
    #[serde(default = "default_attempt_timeout_ms")]
    pub attempt_timeout_ms: u64,
    /// The phases, in the order in which commands may start them.
    pub phases: Vec<Phase>,
    /// Start every phase at once, in order, without commands (for use by hand).
    #[serde(default)]
    pub autostart: bool,
}

fn default_timeout_ms() -> u64 {
    10_000
}
fn default_attempt_timeout_ms() -> u64 {
    5_000
}

/// A default.
pub(crate) fn yes() -> bool {
    true
}

/// A default.
pub(crate) fn one() -> u32 {
    1
}

/// Engine `index` of `count` takes the operation numbers n with n mod count = index.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineShare {
    /// This engine, from 0.
    pub index: u32,
    /// All engines of the run.
    pub count: u32,
}

impl Default for EngineShare {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

/// When the loop wakes for what is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantum {
    /// At its due time.
    Exact,
    /// At multiples of the coarsest quantum whose lateness stays below 5 % of the median response, 50 us to 1 ms.
    #[default]
    Auto,
    /// At multiples of so many microseconds.
    #[serde(untagged)]
    Microseconds(u64),
}

/// Pacing of due times.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// `exact`, `auto`, or a number of microseconds from 1 on.
    #[serde(default)]
    pub quantum_us: Quantum,
    /// Run the event loop under SCHED_FIFO.
    #[serde(default)]
    pub realtime: bool,
}

/// The retry policy, one for all systems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Try again, elsewhere, until the operation's deadline; the clock is never restarted.
    #[default]
    UntilDeadline,
    /// One attempt.
    None,
}

/// One phase.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name: file names and commands use it.
    pub name: String,
    /// What it does.
    pub kind: PhaseKind,
    /// Most operations in flight at once, over all engines; in a closed loop the number of clients.
    pub in_flight: u32,
    /// When operations are due.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// When it ends.
    pub limit: Limit,
    /// The first record of a load: what is below has been stored before. (A run's first number comes with its command.)
    #[serde(default)]
    pub first: u64,
}

/// What a phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Insert records first .. records.
    Load,
    /// Operations of the mix.
    Run,
    /// Read back every record that this engine got a write acknowledged for, and say what is lost or stale.
    Audit,
}

/// When a phase ends: whichever comes first.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Operations over all engines.
    #[serde(default)]
    pub operations: Option<u64>,
    /// Seconds.
    #[serde(default)]
    pub seconds: Option<f64>,
}

impl Plan {
    /// Check the plan before anything is opened; the driver checks its own options.
    pub fn check(&self) -> Result<(), PlanError> {
        let refuse = |text: String| Err(PlanError(text));
        if self.plan_format != PLAN_FORMAT {
            let age = if self.plan_format < PLAN_FORMAT {
                "an older"
            } else {
                "a newer"
            };
            return refuse(format!(
                "plan_format is {}, this engine speaks {PLAN_FORMAT}: the plan was made by {age} Steelyard; use the engine of \
                 the same release",
                self.plan_format
            ));
        }
        if self.engine.count == 0 || self.engine.index >= self.engine.count {
            return refuse(format!(
                "engine.index {} of engine.count {}",
                self.engine.index, self.engine.count
            ));
        }
        if self.timeout_ms == 0 || self.attempt_timeout_ms == 0 {
            return refuse("timeout_ms and attempt_timeout_ms must be above 0".into());
        }
        for (i, phase) in self.phases.iter().enumerate() {
            phase
                .check(self.workload.records)
                .map_err(|e| PlanError(format!("phases[{i}]: {}", e.0)))?;
        }
        let audits = |phase: &Phase| phase.kind == PhaseKind::Audit;
        if self.phases.iter().any(audits) && self.workload.verify != Verify::Full {
            return refuse(
                "a phase of kind audit needs workload.verify = full: without it nobody remembers what was acknowledged"
                    .into(),
            );
        }
        self.workload.check()
    }
}

impl Phase {
    /// Operations it has over all engines, if that is limited; `records` of the workload end a load.
    pub fn operations(&self, records: u64) -> Option<u64> {
        match self.kind {
            PhaseKind::Load => Some(records.saturating_sub(self.first)),
            PhaseKind::Run | PhaseKind::Audit => self.limit.operations,
        }
    }

    fn check(&self, records: u64) -> Result<(), PlanError> {
        let refuse = |text: &str| Err(PlanError(text.into()));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return refuse("name must be letters, digits, - and _: files are called by it");
        }
        if self.in_flight == 0 {
            return refuse("in_flight must be above 0");
        }
        if self.kind == PhaseKind::Load && self.first >= records {
            return Err(PlanError(format!(
                "first is {} of {records} records: nothing is left to load",
                self.first
            )));
        }
        if self.kind != PhaseKind::Load && self.first > 0 {
            return refuse(
                "first is where a load begins; a run's first number comes with its command",
            );
        }
        self.arrivals.check()?;
        if self
            .limit
            .seconds
            .is_some_and(|s| !(s.is_finite() && s > 0.0))
        {
            return refuse("limit.seconds must be above 0");
        }
        if self.kind == PhaseKind::Run
            && self.limit.operations.is_none()
            && self.limit.seconds.is_none()
        {
            return refuse("limit needs operations or seconds: the phase would never end");
        }
        let endless = self.limit.seconds.is_none() && self.kind != PhaseKind::Audit;
        if endless && self.arrivals.rate().is_some_and(Rate::ends_at_zero) {
            return refuse(
                "arrivals.rate ends at 0: limit needs seconds, or the phase would never end",
            );
        }
        Ok(())
    }
}
