//! The files of one phase: an HdrHistogram log and a row of the series for each second, and the totals. One second is held at a
//! time; of the whole phase one histogram for each tag.

use crate::distribution::Distribution;
use crate::operation::Kind;
use crate::recorder::histogram;
use crate::series::{Row, RowOperation, Service};
use crate::summary::Views;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a file calls each distribution of an operation.
pub const VIEWS: [&str; 6] = ["response", "service", "wait", "all", "failed", "not_yet"];
/// Begins the tag of a coordinator's attempts, before its name.
pub const COORDINATOR: &str = "@";

/// Values with their counts.
pub type Pairs = Vec<(u64, u64)>;
/// The samples of a second by their tag: `OP.view`, or `@` and a coordinator's name.
pub type Tagged = BTreeMap<String, Pairs>;

/// Names of the operations, that of all together last.
pub fn op_names() -> impl Iterator<Item = (usize, &'static str)> {
    Kind::ALL
        .iter()
        .map(|kind| kind.name())
        .chain(["TOTAL"])
        .enumerate()
}

/// A phase's files, being written.
pub struct PhaseFiles {
    folder: PathBuf,
    name: String,
    start_unix_s: f64,
    totals: BTreeMap<String, Histogram<u64>>,
    scratch: Histogram<u64>,
    serializer: V2DeflateSerializer,
    log: BufWriter<File>,
    series: BufWriter<File>,
    encoded: u64,
}

/// What was encoded already in the second at hand.
struct Encoded {
    pairs: Pairs,
    /// The line behind its tag.
    line: Vec<u8>,
    found: Distribution,
}

impl PhaseFiles {
    /// `NAME.hdr` and `NAME.series.ndjson` in `folder`, of a phase that starts at `start_unix_s`, realtime seconds.
    pub fn create(folder: &Path, name: &str, start_unix_s: f64) -> io::Result<Self> {
        let mut log = BufWriter::new(File::create(folder.join(format!("{name}.hdr")))?);
        header(&mut log, start_unix_s)?;
        let series = File::create(folder.join(format!("{name}.series.ndjson")))?;
        Ok(Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            start_unix_s,
            totals: BTreeMap::new(),
            scratch: histogram(),
            serializer: V2DeflateSerializer::new(),
            log,
            series: BufWriter::new(series),
            encoded: 0,
        })
    }

    /// Write a second: its samples, and its row with their distributions. Equal samples, as response and service of a closed
    /// loop are, are encoded once.
    pub fn write_second(&mut self, mut row: Row, samples: Tagged) -> io::Result<()> {
        let second = row.second.0.unwrap_or(0);
        let mut before: Vec<Encoded> = Vec::new();
        row.ops.clear();
        for (tag, pairs) in samples {
            if pairs.is_empty() {
                continue;
            }
            let total = self.totals.entry(tag.clone()).or_insert_with(histogram);
            for (value, count) in &pairs {
                total.saturating_record_n(*value, *count);
            }
            let known = before.iter().position(|encoded| encoded.pairs == pairs);
            let at = if let Some(at) = known {
                at
            } else {
                before.push(self.encode(pairs, second)?);
                before.len() - 1
            };
            write!(self.log, "Tag={tag},")?;
            self.log.write_all(&before[at].line)?;
            tell(&mut row, &tag, &before[at].found);
        }
        serde_json::to_writer(&mut self.series, &row)?;
        self.series.write_all(b"\n")
    }

    fn encode(&mut self, pairs: Pairs, second: u64) -> io::Result<Encoded> {
        self.encoded += 1;
        self.scratch.reset();
        for (value, count) in &pairs {
            self.scratch.saturating_record_n(*value, *count);
        }
        let (start, length) = (Duration::from_secs(second), Duration::from_secs(1));
        Ok(Encoded {
            line: line(&mut self.serializer, &self.scratch, start, length)?,
            found: Distribution::from(&self.scratch),
            pairs,
        })
    }

    /// What was written is with the operating system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.log.flush()?;
        self.series.flush()
    }

    /// Write `NAME.totals.hdr` of a phase of `seconds`; returns each operation's distributions.
    pub fn finish(&mut self, seconds: f64) -> io::Result<BTreeMap<String, Views>> {
        self.flush()?;
        let file = self.folder.join(format!("{}.totals.hdr", self.name));
        let mut log = BufWriter::new(File::create(file)?);
        header(&mut log, self.start_unix_s)?;
        let mut views: BTreeMap<String, Views> = BTreeMap::new();
        let length = Duration::from_secs_f64(seconds);
        for (tag, total) in &self.totals {
            write!(log, "Tag={tag},")?;
            log.write_all(&line(&mut self.serializer, total, Duration::ZERO, length)?)?;
            if let Some((op, view)) = operation_of(tag) {
                let distribution = Distribution::from(total);
                views
                    .entry(op.into())
                    .or_default()
                    .0
                    .insert(view.into(), distribution);
            }
        }
        log.flush()?;
        Ok(views)
    }

    /// How many histograms of seconds were encoded so far.
    #[cfg(test)]
    pub const fn encoded(&self) -> u64 {
        self.encoded
    }
}

/// Operation and view of a tag; None of a coordinator's.
fn operation_of(tag: &str) -> Option<(&str, &str)> {
    if tag.starts_with(COORDINATOR) {
        return None;
    }
    tag.rsplit_once('.')
}

/// Put a distribution where the row tells it.
fn tell(row: &mut Row, tag: &str, found: &Distribution) {
    if let Some(node) = tag.strip_prefix(COORDINATOR) {
        row.coordinators.entry(node.into()).or_default().service = Service::from(found);
    } else if let Some((op, view)) = operation_of(tag) {
        let op: &mut RowOperation = row.ops.entry(op.into()).or_default();
        if view == "all" {
            op.count = found.count;
        }
        op.views.0.insert(view.into(), found.clone());
    }
}

fn header(out: &mut impl Write, start_unix_s: f64) -> io::Result<()> {
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(out, "#[StartTime: {start_unix_s:.3} (seconds since epoch)]")?;
    writeln!(out, "#[BaseTime: {start_unix_s:.3} (seconds since epoch)]")?;
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )
}

/// A line of an interval log without its tag.
fn line(
    serializer: &mut V2DeflateSerializer,
    histogram: &Histogram<u64>,
    start: Duration,
    length: Duration,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    IntervalLogWriterBuilder::new()
        .begin_log_with(&mut text, serializer)?
        .write_histogram(histogram, start, length, None)
        .map_err(|e| io::Error::other(format!("{e:?}")))?;
    Ok(text)
}
