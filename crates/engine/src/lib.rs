//! Steelyard's load engine.
//!
//! The way of an operation: `plan` -> `schedule` (when is it due) -> `worker` { `generate` (what is it) -> `driver` (do it)
//! -> `recorder` (how long did it take) } -> `events`. Nothing here knows of studies, clusters or reports.

pub mod driver;
pub mod generate;
pub mod operation;
pub mod plan;
