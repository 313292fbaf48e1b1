//! Steelyard's load engine.
//!
//! The way of an operation: `plan` -> `schedule` and `dispense` (when is it due, who does it) -> `event_loop` or `blocking`
//! { `generate` (what is it) -> `driver` (do it, retried in `perform`) -> `phase_state`, `recorder` (how did it go) } -> `writer`, `tally`
//! (files) and `events`. Nothing here knows of studies, clusters or reports.

pub mod audit;
pub mod blocking;
pub mod client_state;
pub mod clients;
pub mod clock;
pub mod command;
pub mod counts;
pub mod deadlines;
pub mod dispense;
pub mod distribution;
pub mod driver;
pub mod event_loop;
pub mod events;
pub mod generate;
pub mod ledger;
pub mod marks;
pub mod merge;
pub mod merged;
pub mod net;
pub mod operation;
pub mod pacing;
pub mod perform;
pub mod phase;
pub mod phase_files;
pub mod phase_state;
pub mod plan;
pub mod recorder;
pub mod reply;
pub mod run;
pub mod schedule;
pub mod series;
pub mod summary;
pub mod tally;
pub mod ticket;
pub mod writer;
