//! Several engines of one run become one result: histograms are added, counts summed, percentiles computed anew. Nothing is averaged.

use crate::recorder::{Clocked, Counts, histogram, slot};
use crate::tally::{SecondCounts, Shape, Tally, VIEWS, op_names};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
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

/// Merge the engines' folders into `out`; each phase's merged summary is a `phase_end` event in `out/events.ndjson`.
pub fn merge(out: &Path, engines: &[PathBuf]) -> Result<(), MergeError> {
    let mut events = Vec::new();
    for (index, folder) in engines.iter().enumerate() {
        for mut event in ndjson(&folder.join("events.ndjson"))? {
            event["engine"] = json!(index);
            events.push(event);
        }
    }
    events.sort_by_key(|e| e["t_ns"].as_u64());
    let mut phases: BTreeMap<u64, (String, Vec<Value>)> = BTreeMap::new();
    for event in events.iter().filter(|e| e["event"] == "phase_end") {
        let name = event["phase"].as_str().unwrap_or_default().to_owned();
        let order = phases
            .iter()
            .find(|(_, p)| p.0 == name)
            .map_or(phases.len() as u64, |(order, _)| *order);
        phases
            .entry(order)
            .or_insert((name, Vec::new()))
            .1
            .push(event["summary"].clone());
    }
    for (name, summaries) in phases.into_values() {
        let summary = phase(out, engines, &name, &summaries)?;
        events.push(json!({"event": "phase_end", "phase": name, "merged": true, "reason": summaries[0]["reason"],
                           "t_ns": summary["end_ns"], "start_ns": summary["start_ns"], "end_ns": summary["end_ns"],
                           "first": summary["first"], "next": summary["next"], "summary": summary}));
    }
    let lines: String = events.iter().map(|e| format!("{e}\n")).collect();
    let file = out.join("events.ndjson");
    fs::write(&file, lines).map_err(|e| MergeError::new(&file, e))
}

fn phase(
    out: &Path,
    engines: &[PathBuf],
    name: &str,
    summaries: &[Value],
) -> Result<Value, MergeError> {
    let start = summaries
        .iter()
        .filter_map(|s| s["start_ns"].as_u64())
        .min()
        .unwrap_or(0);
    let unix_s = start_time(&engines[0].join(format!("{name}.hdr")))?;
    // Every view is there already: nothing is to be derived.
    let shape = Shape {
        closed: false,
        apart: true,
    };
    let mut tally =
        Tally::create(out, name, shape, start, unix_s).map_err(|e| MergeError::new(out, e))?;
    let mut counts: BTreeMap<u64, SecondCounts> = BTreeMap::new();
    for folder in engines {
        for (tag, second, h) in hdr(&folder.join(format!("{name}.hdr")))? {
            let Some((op, view)) = parse_tag(&tag) else {
                continue;
            };
            if let Some(clock) = stored_as(view) {
                tally.add_second(second, slot(op, clock), &h);
            }
        }
        for row in ndjson(&folder.join(format!("{name}.series.ndjson")))? {
            add_row(
                counts
                    .entry(row["second"].as_u64().unwrap_or(0))
                    .or_default(),
                &row,
            );
        }
    }
    floors(&mut tally, engines, name)?;
    for (second, sum) in counts {
        tally.count(second, sum);
    }
    let end = summaries
        .iter()
        .filter_map(|s| s["end_ns"].as_u64())
        .max()
        .unwrap_or(start);
    let seconds = (end - start) as f64 / 1e9;
    let ops = tally
        .finish(out, name, unix_s, seconds)
        .map_err(|e| MergeError::new(out, e))?;
    Ok(summary(summaries, ops, seconds, end))
}

/// The view in which a histogram of the log is added; `all` is put together anew from its parts.
fn stored_as(view: usize) -> Option<Clocked> {
    match view {
        0 => Some(Clocked::Response),
        1 => Some(Clocked::Service),
        2 => Some(Clocked::Wait),
        4 => Some(Clocked::Failed),
        _ => None,
    }
}

/// `all` less `response` is what failures count as.
fn floors(tally: &mut Tally, engines: &[PathBuf], name: &str) -> Result<(), MergeError> {
    for folder in engines {
        let mut all: BTreeMap<(u64, usize), Histogram<u64>> = BTreeMap::new();
        let mut responses: BTreeMap<(u64, usize), Histogram<u64>> = BTreeMap::new();
        for (tag, second, h) in hdr(&folder.join(format!("{name}.hdr")))? {
            match parse_tag(&tag) {
                Some((op, 3)) => all.insert((second, op), h),
                Some((op, 0)) => responses.insert((second, op), h),
                _ => None,
            };
        }
        for ((second, op), mut floor) in all {
            if let Some(response) = responses.get(&(second, op)) {
                floor
                    .subtract(response)
                    .map_err(|e| MergeError::new(folder, format!("{e:?}")))?;
            }
            tally.add_second(second, slot(op, Clocked::FailedFloor), &floor);
        }
    }
    Ok(())
}

fn add_row(sum: &mut SecondCounts, row: &Value) {
    let n = |field: &str| row[field].as_u64().unwrap_or(0);
    let Counts {
        due,
        started,
        done,
        outcomes,
        tenths,
        in_flight,
    } = &mut sum.counts;
    *due += n("due");
    *started += n("started");
    *done += n("done");
    *in_flight += n("in_flight");
    sum.backlog += n("backlog");
    sum.cpu_ns += n("cpu_ns");
    outcomes[0] += n("ok");
    let done_in = row["tenths"].as_array().into_iter().flatten();
    for (sum, count) in tenths.iter_mut().zip(done_in) {
        *sum += count.as_u64().unwrap_or(0);
    }
    for (kind, count) in row["failed"].as_object().into_iter().flatten() {
        if let Some(outcome) = crate::operation::Outcome::ALL
            .iter()
            .find(|o| o.name() == kind)
        {
            outcomes[*outcome as usize] += count.as_u64().unwrap_or(0);
        }
    }
}

/// Counts summed, distributions anew, and each engine's own beside them.
fn summary(summaries: &[Value], mut ops: Value, seconds: f64, end: u64) -> Value {
    let mut merged = summaries[0].clone();
    for other in &summaries[1..] {
        for field in [
            "operations",
            "ok",
            "failed",
            "attempts",
            "censored",
            "verify",
            "cpu_user_ns",
            "cpu_system_ns",
            "rss_max_bytes",
            "unflushed",
            "traffic",
        ] {
            add(&mut merged[field], &other[field]);
        }
        for field in ["seconds_saturated", "seconds_cap_reached", "max_backlog"] {
            let of = |summary: &Value| summary["saturation"][field].as_u64();
            merged["saturation"][field] = json!(of(&merged).max(of(other)));
        }
        merged["next"] = json!(merged["next"].as_u64().max(other["next"].as_u64()));
    }
    for (name, op) in ops.as_object_mut().into_iter().flatten() {
        for field in [
            "count", "ok", "not_yet", "absent", "failures", "rows", "bytes",
        ] {
            for engine in summaries {
                add(&mut op[field], &engine["ops"][name][field]);
            }
        }
    }
    merged["seconds"] = json!(seconds);
    merged["end_ns"] = json!(end);
    merged["engines"] = summaries
        .iter()
        .map(|s| json!({"ops": s["ops"], "seconds": s["seconds"]}))
        .collect();
    merged["ops"] = ops;
    merged
}

/// Numbers are added, objects field by field; text stays.
fn add(to: &mut Value, from: &Value) {
    match (&mut *to, from) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in b {
                add(a.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Null, value) => *to = value.clone(),
        (Value::Number(a), Value::Number(b)) => {
            *to = json!(a.as_u64().unwrap_or(0) + b.as_u64().unwrap_or(0));
        }
        _ => {}
    }
}

fn ndjson(file: &Path) -> Result<Vec<Value>, MergeError> {
    let reader = BufReader::new(fs::File::open(file).map_err(|e| MergeError::new(file, e))?);
    let parse = |line: std::io::Result<String>| {
        let line = line.map_err(|e| MergeError::new(file, e))?;
        serde_json::from_str(&line).map_err(|e| MergeError::new(file, e))
    };
    reader.lines().map(parse).collect()
}

fn start_time(file: &Path) -> Result<f64, MergeError> {
    let text = fs::read_to_string(file).map_err(|e| MergeError::new(file, e))?;
    let found = text.lines().find_map(|line| {
        line.strip_prefix("#[StartTime: ")?
            .split(' ')
            .next()?
            .parse()
            .ok()
    });
    found.ok_or_else(|| MergeError::new(file, "no start time"))
}

/// (tag, second, histogram) of every line of an HdrHistogram log that we wrote.
fn hdr(file: &Path) -> Result<Vec<(String, u64, Histogram<u64>)>, MergeError> {
    let text = fs::read_to_string(file).map_err(|e| MergeError::new(file, e))?;
    let mut decoder = Deserializer::new();
    text.lines()
        .filter_map(|line| line.strip_prefix("Tag="))
        .map(|line| entry(file, &mut decoder, line))
        .collect()
}

fn entry(
    file: &Path,
    decoder: &mut Deserializer,
    line: &str,
) -> Result<(String, u64, Histogram<u64>), MergeError> {
    let mut words = line.split(',');
    let (Some(tag), Some(start), Some(encoded)) = (words.next(), words.next(), words.nth(2)) else {
        return Err(MergeError::new(file, "a line of the log is cut short"));
    };
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded)
        .map_err(|e| MergeError::new(file, e))?;
    let read = decoder
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| MergeError::new(file, format!("{e:?}")))?;
    let mut h = histogram();
    h.add(&read)
        .map_err(|e| MergeError::new(file, format!("{e:?}")))?;
    let second: f64 = start.parse().map_err(|e| MergeError::new(file, e))?;
    Ok((tag.to_owned(), second as u64, h))
}

fn parse_tag(tag: &str) -> Option<(usize, usize)> {
    let (op, view) = tag.rsplit_once('.')?;
    let op = op_names().find(|(_, name)| *name == op)?.0;
    Some((op, VIEWS.iter().position(|v| *v == view)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_is_field_by_field() {
        let mut a = json!({"ok": 1, "failed": {"timeout": 2}, "mode": "all"});
        add(
            &mut a,
            &json!({"ok": 3, "failed": {"timeout": 1, "server": 4}, "mode": "all"}),
        );
        assert_eq!(
            a,
            json!({"ok": 4, "failed": {"timeout": 3, "server": 4}, "mode": "all"})
        );
    }

    #[test]
    fn tags_name_operation_and_view() {
        assert_eq!(parse_tag("READ-MODIFY-WRITE.all"), Some((5, 3)));
        assert_eq!(parse_tag("FLUSH.service"), Some((6, 1)));
        assert_eq!(parse_tag("TOTAL.response"), Some((7, 0)));
        assert_eq!(parse_tag("NOTHING.response"), None);
    }
}
