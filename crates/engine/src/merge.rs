//! Several engines of one run become one result: counts are added, histograms too, percentiles found anew. Nothing is averaged.
//!
//! Files are read side by side, one second at a time, so that an hour of many engines needs no more memory than a minute. What
//! an engine that was killed has left counts too; what is missing is said.

mod read;

use crate::merged::Merge;
use crate::phase_files::{PhaseFiles, Tagged};
use crate::series::Row;
use crate::summary::{OperationSummary, Saturation, Summary};
use read::{Engine, start_time};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What cannot be merged, with the file at fault.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct MergeError {
    file: String,
    what: String,
}

impl MergeError {
    fn new(file: &Path, what: impl ToString) -> Self {
        Self {
            file: file.display().to_string(),
            what: what.to_string(),
        }
    }
}

/// A merged phase, and each engine's own beside it.
#[derive(Serialize)]
struct Merged<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    engines: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    ops: &'a BTreeMap<String, OperationSummary>,
    seconds: f64,
}

/// One phase as every engine ended it; None where one did not.
struct Phase {
    name: String,
    ends: Vec<Option<(Summary, Value)>>,
}

/// Merge the engines' folders into `out`; each phase's merged summary is a `phase_end` event in `out/events.ndjson`, and what is
/// missing a `warning` of kind `incomplete` there.
pub fn merge(out: &Path, engines: &[PathBuf]) -> Result<(), MergeError> {
    let mut missing = Vec::new();
    let told: Vec<Vec<Value>> = engines
        .iter()
        .enumerate()
        .map(|(index, folder)| read::events(index, &folder.join("events.ndjson"), &mut missing))
        .collect();
    let mut merged = Vec::new();
    for phase in phases(&told) {
        merged.push(merge_phase(out, engines, &phase, &mut missing)?);
    }
    let mut events: Vec<Value> = told.into_iter().flatten().collect();
    events.sort_by_key(|event| event["t_ns"].as_u64());
    events.extend(merged);
    let warn = |text: &String| json!({"event": "warning", "kind": "incomplete", "merged": true, "text": text, "t_ns": 0});
    events.extend(missing.iter().map(warn));
    write_lines(&out.join("events.ndjson"), &events)?;
    let marks = read::marks(engines);
    if marks.is_empty() {
        return Ok(());
    }
    write_lines(&out.join("marks.ndjson"), &marks)
}

fn write_lines(file: &Path, lines: &[Value]) -> Result<(), MergeError> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(file, text).map_err(|e| MergeError::new(file, e))
}

/// Every phase that any engine began, in order; of one that was run again and again the last time, whose files there are.
fn phases(told: &[Vec<Value>]) -> Vec<Phase> {
    let mut names: Vec<String> = Vec::new();
    for event in told.iter().flatten() {
        if event["event"] == "phase_start" || event["event"] == "phase_end" {
            let name = event["phase"].as_str().unwrap_or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    let phase = |name: String| Phase {
        ends: told.iter().map(|events| last_end(events, &name)).collect(),
        name,
    };
    names.into_iter().map(phase).collect()
}

fn last_end(events: &[Value], name: &str) -> Option<(Summary, Value)> {
    let of_phase = |event: &&Value| event["phase"] == name;
    let last = events
        .iter()
        .filter(of_phase)
        .rfind(|event| event["event"] == "phase_start" || event["event"] == "phase_end")?;
    let summary = serde_json::from_value(last.get("summary")?.clone()).ok()?;
    Some((summary, last["reason"].clone()))
}

fn merge_phase(
    out: &Path,
    engines: &[PathBuf],
    phase: &Phase,
    missing: &mut Vec<String>,
) -> Result<Value, MergeError> {
    let name = &phase.name;
    let started = engines
        .iter()
        .find_map(|folder| start_time(&folder.join(format!("{name}.hdr"))));
    let started =
        started.ok_or_else(|| MergeError::new(out, format!("no engine has left {name}.hdr")))?;
    let mut files = PhaseFiles::create(out, name, started).map_err(|e| MergeError::new(out, e))?;
    let mut sources: Vec<Engine> = engines
        .iter()
        .enumerate()
        .map(|(index, folder)| Engine::open(index, folder, name))
        .collect();
    let mut saturation = Saturation::default();
    while let Some(second) = sources.iter_mut().filter_map(Engine::next_second).min() {
        let (mut row, mut samples) = (Row::default(), Tagged::new());
        for source in &mut sources {
            source.take(second, &mut row, &mut samples);
        }
        row.second = second.into();
        saturation.note(&row);
        files
            .write_second(row, samples)
            .map_err(|e| MergeError::new(out, e))?;
    }
    let mut summary = Summary::default();
    for (source, end) in sources.iter().zip(&phase.ends) {
        match end {
            Some((said, _)) => summary.merge(said),
            None => summary.merge(&source.as_far_as_known()),
        }
    }
    missing.extend(absences(&sources, phase));
    summary.saturation = saturation;
    let views = files
        .finish(summary.seconds.0)
        .map_err(|e| MergeError::new(out, e))?;
    for (op, views) in views {
        summary.ops.entry(op).or_default().tell(views);
    }
    Ok(phase_end(phase, &summary))
}

fn phase_end(phase: &Phase, summary: &Summary) -> Value {
    let ended = || phase.ends.iter().flatten();
    let parts = ended().map(|(said, _)| Part {
        ops: &said.ops,
        seconds: said.seconds.0,
    });
    let merged = Merged {
        summary,
        engines: parts.collect(),
    };
    let reason = ended()
        .next()
        .map_or_else(|| json!("killed"), |(_, reason)| reason.clone());
    json!({"event": "phase_end", "phase": phase.name, "merged": true, "reason": reason, "t_ns": summary.end_ns,
           "start_ns": summary.start_ns, "end_ns": summary.end_ns, "first": summary.first, "next": summary.next,
           "summary": merged})
}

/// What the merge of a phase lacks, in words.
fn absences(sources: &[Engine], phase: &Phase) -> Vec<String> {
    let last = sources.iter().filter_map(Engine::last_second).max();
    let mut said = Vec::new();
    for (source, end) in sources.iter().zip(&phase.ends) {
        said.extend(
            source
                .faults()
                .map(|fault| format!("{}: {fault}", phase.name)),
        );
        if end.is_none() {
            let until = match (source.last_second(), last) {
                (Some(own), Some(last)) => {
                    format!("its {} of {} seconds are counted", own + 1, last + 1)
                }
                _ => "nothing of it is counted".to_owned(),
            };
            let index = source.index();
            said.push(format!(
                "{}: engine {index} never ended it; {until}",
                phase.name
            ));
        }
    }
    said
}

#[cfg(test)]
mod tests;
