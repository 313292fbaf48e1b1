//! `marks.ndjson`: what a command marked, with the time at which it was.

use crate::clock::monotonic_ns;
use crate::events::Events;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Put a mark into the events and the marks of the run; returns its time, CLOCK_MONOTONIC ns.
pub fn mark(
    out: &Path,
    events: &Events,
    id: u64,
    label: &str,
    phase: Option<&str>,
) -> io::Result<u64> {
    let t_ns = monotonic_ns();
    let line = json!({"id": id, "label": label, "phase": phase, "t_ns": t_ns});
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(out.join("marks.ndjson"))?;
    file.write_all(format!("{line}\n").as_bytes())?;
    events.emit(
        "mark",
        json!({"id": id, "label": label, "phase": phase, "at_ns": t_ns}),
    );
    Ok(t_ns)
}
