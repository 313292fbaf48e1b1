//! Steelyard's load engine.
//!
//! The way of an operation: `plan` -> `schedule` and `dispense` (when is it due, who does it) -> `worker` or `blocking`
//! { `generate` (what is it) -> `driver` (do it, timed in `perform`) -> `phase_state`, `recorder` (how did it go) } -> `writer`, `tally`
//! (files) and `events`. Nothing here knows of studies, clusters or reports.

pub mod blocking;
pub mod clock;
pub mod command;
pub mod crew;
pub mod dispense;
pub mod distribution;
pub mod driver;
pub mod events;
pub mod generate;
pub mod ledger;
pub mod merge;
pub mod operation;
pub mod perform;
pub mod phase;
pub mod phase_state;
pub mod plan;
pub mod recorder;
pub mod reply;
pub mod run;
pub mod schedule;
pub mod tally;
pub mod timer;
pub mod worker;
pub mod writer;
