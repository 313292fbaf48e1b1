//! What one engine has left, read in the order of its seconds. A line that cannot be read ends its file: it is the torn tail of an
//! engine that was killed, and what stands before it counts.

use crate::merged::Merge;
use crate::phase_files::{Pairs, Tagged};
use crate::recorder::SECOND;
use crate::series::Row;
use crate::summary::Summary;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

/// A sample set of one second.
struct Entry {
    second: u64,
    tag: String,
    pairs: Pairs,
}

/// One engine's files of one phase.
pub struct Engine {
    index: usize,
    log: Peekable<Reader<Entry>>,
    series: Peekable<Reader<Row>>,
    faults: Vec<String>,
    known: Summary,
    last: Option<u64>,
}

impl Engine {
    /// Open what engine `index` has left of phase `name` in `folder`.
    pub fn open(index: usize, folder: &Path, name: &str) -> Self {
        let mut decoder = Deserializer::new();
        let log = Reader::open(&folder.join(format!("{name}.hdr")), move |line| {
            entry(&mut decoder, line)
        });
        let series = Reader::open(&folder.join(format!("{name}.series.ndjson")), json_line);
        let mut engine = Self {
            index,
            faults: [log.fault.clone(), series.fault.clone()]
                .into_iter()
                .flatten()
                .collect(),
            log: log.peekable(),
            series: series.peekable(),
            known: Summary::default(),
            last: None,
        };
        engine.known.phase = name.to_owned().into();
        engine
    }

    /// Its index.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The next second of which anything is left.
    pub fn next_second(&mut self) -> Option<u64> {
        let logged = self
            .log
            .peek()
            .and_then(|read| Some(read.as_ref().ok()?.second));
        let row = self
            .series
            .peek()
            .and_then(|read| read.as_ref().ok()?.second.0);
        if logged.is_none() {
            self.note_fault_of_log();
        }
        if row.is_none() {
            self.note_fault_of_series();
        }
        logged.into_iter().chain(row).min()
    }

    fn note_fault_of_log(&mut self) {
        let fault = self.log.next_if(Result::is_err).and_then(Result::err);
        self.faults
            .extend(fault.map(|fault| format!("engine {}: {fault}", self.index)));
    }

    fn note_fault_of_series(&mut self) {
        let fault = self.series.next_if(Result::is_err).and_then(Result::err);
        self.faults
            .extend(fault.map(|fault| format!("engine {}: {fault}", self.index)));
    }

    /// Add what this engine has of `second` to `row` and `samples`.
    pub fn take(&mut self, second: u64, row: &mut Row, samples: &mut Tagged) {
        let now = |read: &Result<Entry, String>| read.as_ref().is_ok_and(|e| e.second <= second);
        while let Some(Ok(entry)) = self.log.next_if(now) {
            samples.entry(entry.tag).or_default().extend(entry.pairs);
            self.last = Some(second);
        }
        let of = |read: &Result<Row, String>| {
            read.as_ref()
                .is_ok_and(|row| row.second.0.is_none_or(|own| own <= second))
        };
        while let Some(Ok(own)) = self.series.next_if(of) {
            self.note(&own);
            row.merge(&own);
            self.last = Some(second);
        }
    }

    fn note(&mut self, row: &Row) {
        let known = &mut self.known;
        let begun = row.t_ns.0.unwrap_or(0);
        known.start_ns.0 = known.start_ns.0.min(begun);
        known.end_ns.0 = known.end_ns.0.max(begun + SECOND);
        known.window_end_ns.0 = known.end_ns.0;
        known.seconds.0 = (known.end_ns.0 - known.start_ns.0) as f64 / 1e9;
        known.operations += row.done;
        known.ok += row.ok;
        Merge::merge(&mut known.failed, &row.failed);
        known.within.operations += row.done;
        known.within.ok += row.ok;
        known.cpu_user_ns += row.cpu_ns; // in which mode nobody told
        let verdicts = &row.verdicts;
        for (sum, more) in [
            (&mut known.verify.stale, verdicts.stale),
            (&mut known.verify.lost, verdicts.lost),
            (&mut known.verify.not_yet, verdicts.not_yet),
            (&mut known.verify.corrupt, verdicts.corrupt),
            (&mut known.verify.foreign, verdicts.foreign),
        ] {
            *sum += more;
        }
    }

    /// The summary of an engine that never said one, as far as its series tells.
    pub fn as_far_as_known(&self) -> Summary {
        self.known.clone()
    }

    /// The last second of which anything was left.
    pub const fn last_second(&self) -> Option<u64> {
        self.last
    }

    /// What could not be read.
    pub fn faults(&self) -> impl Iterator<Item = &String> {
        self.faults.iter()
    }
}

/// What a line holds.
enum Line<T> {
    /// A comment or a heading.
    Nothing,
    Holds(T),
    /// It cannot be read.
    Torn,
}

impl<T> From<Option<T>> for Line<T> {
    fn from(read: Option<T>) -> Self {
        read.map_or(Self::Torn, Self::Holds)
    }
}

fn json_line<T: serde::de::DeserializeOwned>(line: &str) -> Line<T> {
    serde_json::from_str(line).ok().into()
}

type Parse<T> = Box<dyn FnMut(&str) -> Line<T>>;

/// What a file's lines hold, up to one that cannot be read, which is the last and an error.
struct Reader<T> {
    file: PathBuf,
    lines: Option<Lines<BufReader<File>>>,
    number: u64,
    parse: Parse<T>,
    fault: Option<String>,
}

impl<T> Reader<T> {
    fn open(file: &Path, parse: impl FnMut(&str) -> Line<T> + 'static) -> Self {
        let opened = File::open(file);
        Self {
            fault: opened
                .as_ref()
                .err()
                .map(|e| format!("{}: {e}", file.display())),
            file: file.to_owned(),
            lines: opened.ok().map(|file| BufReader::new(file).lines()),
            number: 0,
            parse: Box::new(parse),
        }
    }
}

impl<T> Iterator for Reader<T> {
    type Item = Result<T, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.lines.as_mut()?.next()?;
            self.number += 1;
            match line.ok().map(|line| (self.parse)(&line)) {
                Some(Line::Nothing) => {}
                Some(Line::Holds(read)) => return Some(Ok(read)),
                _ => {
                    self.lines = None;
                    let (file, number) = (self.file.display(), self.number);
                    return Some(Err(format!(
                        "{file} cannot be read from line {number} on: it was cut short"
                    )));
                }
            }
        }
    }
}

/// An entry of an HdrHistogram log.
fn entry(decoder: &mut Deserializer, line: &str) -> Line<Entry> {
    if line.starts_with('#') || line.starts_with('"') || line.is_empty() {
        return Line::Nothing;
    }
    tagged(decoder, line).into()
}

fn tagged(decoder: &mut Deserializer, line: &str) -> Option<Entry> {
    let mut words = line.strip_prefix("Tag=")?.split(',');
    let (tag, start, encoded) = (words.next()?, words.next()?, words.nth(2)?);
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded)
        .ok()?;
    let read: Histogram<u64> = decoder.deserialize(&mut bytes.as_slice()).ok()?;
    let recorded = read.iter_recorded();
    Some(Entry {
        second: start.parse::<f64>().ok()? as u64,
        tag: tag.to_owned(),
        pairs: recorded
            .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()))
            .collect(),
    })
}

/// The events of engine `index`, each with that index; those that cannot be read end them, which is said in `missing`.
pub fn events(index: usize, file: &Path, missing: &mut Vec<String>) -> Vec<Value> {
    let mut reader: Reader<Value> = Reader::open(file, json_line);
    missing.extend(
        reader
            .fault
            .take()
            .map(|fault| format!("engine {index}: {fault}")),
    );
    let mut found = Vec::new();
    for read in reader {
        match read {
            Ok(mut event) => {
                event["engine"] = json!(index);
                found.push(event);
            }
            Err(fault) => missing.push(format!("engine {index}: {fault}")),
        }
    }
    found
}

/// The marks of all engines; one that all of them were given stands once, with the earliest time.
pub fn marks(engines: &[PathBuf]) -> Vec<Value> {
    let read = |folder: &PathBuf| Reader::open(&folder.join("marks.ndjson"), json_line);
    let mut all: Vec<Value> = engines
        .iter()
        .flat_map(read)
        .filter_map(Result::ok)
        .collect();
    all.sort_by_key(|mark| mark["t_ns"].as_u64());
    let mut once: Vec<Value> = Vec::new();
    for mark in all {
        let same = |held: &Value| held["id"] == mark["id"] && held["label"] == mark["label"];
        if !once.iter().any(same) {
            once.push(mark);
        }
    }
    once
}

/// When the phase of a log began, realtime seconds.
pub fn start_time(file: &Path) -> Option<f64> {
    let lines = BufReader::new(File::open(file).ok()?).lines();
    lines.map_while(Result::ok).find_map(|line| {
        line.strip_prefix("#[StartTime: ")?
            .split(' ')
            .next()?
            .parse()
            .ok()
    })
}
