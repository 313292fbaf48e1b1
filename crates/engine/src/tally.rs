//! The cold half of recording: gathers each due second's samples, writes them as an HdrHistogram log and a row of the
//! series, and keeps the totals of the phase. Runs on the writer's thread (and in `merge`), never on a worker's.

use crate::distribution::Distribution;
use crate::operation::{Kind, Outcome};
use crate::recorder::{
    Buckets, Clocked, Counts, IntervalSet, SECOND, SLOTS, Straggler, TOTAL, histogram, slot,
};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// What a file calls each distribution of an operation.
pub const VIEWS: [&str; 5] = ["response", "service", "wait", "all", "failed"];

/// Names of the operations, [`TOTAL`] last.
pub fn op_names() -> impl Iterator<Item = (usize, &'static str)> {
    Kind::ALL
        .iter()
        .map(|k| k.name())
        .chain(["TOTAL"])
        .enumerate()
}

/// Samples of one due second, as (value, count) pairs: small however many histograms are open.
#[derive(Default)]
struct Second {
    pairs: BTreeMap<usize, Vec<(u64, u64)>>,
    counts: Option<SecondCounts>,
}

/// Counts of a second on the wall, with what the engine knew at its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct SecondCounts {
    /// The counts.
    pub counts: Counts,
    /// Due, not started, at the end of the second.
    pub backlog: u64,
    /// CPU of the engine in this second, ns.
    pub cpu_ns: u64,
}

/// How samples of a phase are to be read.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Closed loop: response = service, wait = 0.
    pub closed: bool,
    /// Totals have histograms of their own.
    pub apart: bool,
}

/// One phase's files and totals.
pub struct Tally {
    shape: Shape,
    start_ns: u64,
    open: BTreeMap<u64, Second>,
    next_second: u64,
    totals: BTreeMap<(usize, usize), Histogram<u64>>,
    scratch: Histogram<u64>,
    serializer: V2DeflateSerializer,
    log: BufWriter<File>,
    series: BufWriter<File>,
}

impl Tally {
    /// Files `NAME.hdr` and `NAME.series.ndjson` in `folder`; `start_ns` is the phase's start, `start_unix_s` the same in realtime seconds.
    pub fn create(
        folder: &Path,
        name: &str,
        shape: Shape,
        start_ns: u64,
        start_unix_s: f64,
    ) -> io::Result<Self> {
        let mut log = BufWriter::new(File::create(folder.join(format!("{name}.hdr")))?);
        header(&mut log, start_unix_s)?;
        Ok(Self {
            shape,
            start_ns,
            open: BTreeMap::new(),
            next_second: 0,
            totals: BTreeMap::new(),
            scratch: histogram(),
            serializer: V2DeflateSerializer::new(),
            log,
            series: BufWriter::new(File::create(folder.join(format!("{name}.series.ndjson")))?),
        })
    }

    /// Take a second's histograms over; they are left empty.
    pub fn take(&mut self, set: &mut IntervalSet) {
        let second = self
            .open
            .entry(set.second.max(self.next_second))
            .or_default();
        for (index, histogram) in set.histograms.iter_mut().enumerate() {
            let mut found = histogram.iter_mut().flat_map(Buckets::drain).peekable();
            if found.peek().is_some() {
                second.pairs.entry(index).or_default().extend(found);
            }
        }
    }

    /// Take single late samples over.
    pub fn late(&mut self, samples: &[Straggler]) {
        for sample in samples {
            let second = self
                .open
                .entry(sample.second.max(self.next_second))
                .or_default();
            second
                .pairs
                .entry(sample.slot)
                .or_default()
                .push((sample.value, 1));
        }
    }

    /// A second on the wall has ended with these counts.
    pub fn count(&mut self, second: u64, counts: SecondCounts) {
        let entry = self.open.entry(second.max(self.next_second)).or_default();
        let sum = entry.counts.get_or_insert_default();
        sum.counts.due += counts.counts.due;
        sum.counts.started += counts.counts.started;
        sum.counts.done += counts.counts.done;
        add_each(&mut sum.counts.outcomes, &counts.counts.outcomes);
        add_each(&mut sum.counts.tenths, &counts.counts.tenths);
        sum.counts.in_flight = sum.counts.in_flight.max(counts.counts.in_flight);
        sum.backlog = counts.backlog;
        sum.cpu_ns += counts.cpu_ns;
    }

    /// Nothing due before second `watermark` is outstanding any more: write what is complete.
    pub fn settle(&mut self, watermark: u64) -> io::Result<()> {
        while self.next_second < watermark {
            let second = self.open.remove(&self.next_second).unwrap_or_default();
            self.write_second(self.next_second, second)?;
            self.next_second += 1;
        }
        self.log.flush()?;
        self.series.flush()
    }

    /// Write all that is left; returns the summary's `ops`.
    pub fn finish(
        &mut self,
        folder: &Path,
        name: &str,
        start_unix_s: f64,
        seconds: f64,
    ) -> io::Result<Value> {
        let last = self.open.keys().next_back().copied().unwrap_or(0);
        self.settle(last + 1)?;
        let mut log = BufWriter::new(File::create(folder.join(format!("{name}.totals.hdr")))?);
        header(&mut log, start_unix_s)?;
        for ((op, view), total) in &self.totals {
            let tag = tag(*op, *view);
            line(
                &mut log,
                &mut self.serializer,
                total,
                Duration::ZERO,
                Duration::from_secs_f64(seconds),
                &tag,
            )?;
        }
        log.flush()?;
        Ok(self.operations())
    }

    /// `ops` of the summary: each operation's distributions.
    fn operations(&self) -> Value {
        let mut ops = Map::new();
        for (op, name) in op_names() {
            let views: Map<String, Value> = VIEWS
                .iter()
                .enumerate()
                .filter_map(|(view, word)| {
                    let total = self.totals.get(&(op, view))?;
                    Some(((*word).to_owned(), json!(Distribution::from(total))))
                })
                .collect();
            if !views.is_empty() {
                ops.insert(name.to_owned(), Value::Object(views));
            }
        }
        Value::Object(ops)
    }

    fn write_second(&mut self, number: u64, mut second: Second) -> io::Result<()> {
        self.complete(&mut second);
        let mut ops = Map::new();
        for (op, name) in op_names() {
            let mut row = Map::new();
            for (view, word) in VIEWS.iter().enumerate() {
                let pairs = view_pairs(&second, op, view);
                if pairs.is_empty() {
                    continue;
                }
                self.scratch.reset();
                for (value, count) in pairs {
                    self.scratch.saturating_record_n(value, count);
                }
                self.totals
                    .entry((op, view))
                    .or_insert_with(histogram)
                    .add(&self.scratch)
                    .map_err(io::Error::other)?;
                let start = Duration::from_secs(number);
                line(
                    &mut self.log,
                    &mut self.serializer,
                    &self.scratch,
                    start,
                    Duration::from_secs(1),
                    &tag(op, view),
                )?;
                row.insert((*word).to_owned(), json!(Distribution::from(&self.scratch)));
            }
            if !row.is_empty() {
                row.insert(
                    "count".into(),
                    row.get("all")
                        .and_then(|all| all.get("count").cloned())
                        .unwrap_or(json!(0)),
                );
                ops.insert(name.to_owned(), Value::Object(row));
            }
        }
        self.write_row(number, &second, ops)
    }

    /// Derive what the workers did not record: responses of a closed loop, waits of zero, totals over the kinds.
    fn complete(&self, second: &mut Second) {
        let pairs = &mut second.pairs;
        if self.shape.closed {
            for op in 0..=TOTAL {
                if let Some(service) = pairs.get(&slot(op, Clocked::Service)).cloned() {
                    let zeros = service.iter().map(|(_, n)| n).sum();
                    pairs.insert(slot(op, Clocked::Response), service);
                    pairs.insert(slot(op, Clocked::Wait), vec![(0, zeros)]);
                }
            }
        }
        if self.shape.apart {
            return;
        }
        let kinds: Vec<(usize, Vec<(u64, u64)>)> =
            pairs.iter().map(|(i, p)| (*i, p.clone())).collect();
        for (index, values) in kinds {
            let clock = index % crate::recorder::CLOCKS;
            pairs
                .entry(SLOTS - crate::recorder::CLOCKS + clock)
                .or_default()
                .extend(values);
        }
    }

    fn write_row(
        &mut self,
        number: u64,
        second: &Second,
        ops: Map<String, Value>,
    ) -> io::Result<()> {
        let c = second.counts.unwrap_or_default();
        let row = json!({
            "second": number, "t_ns": self.start_ns + number * SECOND,
            "due": c.counts.due, "started": c.counts.started, "done": c.counts.done,
            "ok": c.counts.outcomes[Outcome::Ok as usize], "failed": failures(&c.counts.outcomes), "tenths": c.counts.tenths,
            "in_flight": c.counts.in_flight, "backlog": c.backlog, "cpu_ns": c.cpu_ns, "ops": ops,
        });
        serde_json::to_writer(&mut self.series, &row)?;
        self.series.write_all(b"\n")
    }

    /// Add to a total directly (`merge` does; it has no seconds to add).
    pub fn add_total(
        &mut self,
        op: usize,
        view: usize,
        histogram_: &Histogram<u64>,
    ) -> io::Result<()> {
        self.totals
            .entry((op, view))
            .or_insert_with(histogram)
            .add(histogram_)
            .map_err(io::Error::other)
    }

    /// Add a histogram of a second under the view it was written as.
    pub fn add_second(&mut self, second: u64, slot: usize, h: &Histogram<u64>) {
        let pairs = self
            .open
            .entry(second)
            .or_default()
            .pairs
            .entry(slot)
            .or_default();
        pairs.extend(
            h.iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration())),
        );
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, count) in sums.iter_mut().zip(more) {
        *sum += count;
    }
}

/// The failures among outcome counts, by name.
pub fn failures(outcomes: &[u64; Outcome::ALL.len()]) -> Value {
    let named = Outcome::ALL
        .iter()
        .filter(|o| **o != Outcome::Ok && outcomes[**o as usize] > 0);
    Value::Object(
        named
            .map(|o| (o.name().to_owned(), json!(outcomes[*o as usize])))
            .collect(),
    )
}

/// (value, count) pairs of one view; `all` is successes and floored failures together.
fn view_pairs(second: &Second, op: usize, view: usize) -> Vec<(u64, u64)> {
    let of = |clock| {
        second
            .pairs
            .get(&slot(op, clock))
            .into_iter()
            .flatten()
            .copied()
    };
    match view {
        0 => of(Clocked::Response).collect(),
        1 => of(Clocked::Service).collect(),
        2 => of(Clocked::Wait).collect(),
        3 => of(Clocked::Response)
            .chain(of(Clocked::FailedFloor))
            .collect(),
        _ => of(Clocked::Failed).collect(),
    }
}

fn tag(op: usize, view: usize) -> String {
    let name = op_names().nth(op).map_or("TOTAL", |(_, name)| name);
    format!("{name}.{}", VIEWS[view])
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

fn line(
    out: &mut impl Write,
    serializer: &mut V2DeflateSerializer,
    h: &Histogram<u64>,
    start: Duration,
    length: Duration,
    tag: &str,
) -> io::Result<()> {
    let mut writer = IntervalLogWriterBuilder::new().begin_log_with(out, serializer)?;
    writer
        .write_histogram(h, start, length, Tag::new(tag))
        .map_err(|e| io::Error::other(format!("{e:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Recorder, Sample, WriterMessage};
    use std::sync::mpsc::channel;

    const TIMEOUT_NS: u64 = 10 * SECOND;

    /// Record samples given as (due, started, done, success) in ms, and return the rows of the series and the summary's `ops`.
    fn tallied(closed: bool, samples: &[(u64, u64, u64, bool)]) -> (Vec<Value>, Value) {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape {
            closed,
            apart: false,
        };
        let mut tally = Tally::create(folder.path(), "run", shape, 0, 0.0).unwrap();
        let (out, messages) = channel();
        let (_spare, spares) = channel();
        let mut recorder = Recorder::new(0, TIMEOUT_NS, closed, false, out, spares);
        for (due, started, done, success) in samples {
            let outcome = if *success {
                Outcome::Ok
            } else {
                Outcome::Timeout
            };
            let ms = 1_000_000;
            recorder.record(&Sample {
                kind: Kind::Read,
                outcome,
                success: *success,
                part: false,
                due: due * ms,
                started: started * ms,
                done: done * ms,
            });
        }
        recorder.finish();
        for message in messages {
            match message {
                WriterMessage::Set(mut set) => tally.take(&mut set),
                WriterMessage::Late(late) => tally.late(&late),
                WriterMessage::Tick(_) => {}
            }
        }
        let ops = tally.finish(folder.path(), "run", 0.0, 1.0).unwrap();
        let series = std::fs::read_to_string(folder.path().join("run.series.ndjson")).unwrap();
        (
            series
                .lines()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect(),
            ops,
        )
    }

    fn near(value: &Value, ms: f64) -> bool {
        (value.as_f64().unwrap() / 1e6 - ms).abs() <= ms * 0.001
    }

    #[test]
    fn a_latency_belongs_to_the_second_it_was_due_however_late_it_is_done() {
        let (rows, _) = tallied(
            false,
            &[
                (100, 100, 110, true),
                (7200, 7200, 7210, true),
                (500, 500, 9500, true),
            ],
        );
        let count = |row: &Value| row["ops"]["READ"]["count"].as_u64().unwrap_or(0);
        assert_eq!(
            rows.iter().map(count).collect::<Vec<_>>(),
            [2, 0, 0, 0, 0, 0, 0, 1]
        );
        assert!(
            near(&rows[0]["ops"]["READ"]["response"]["max_ns"], 9000.0),
            "{}",
            rows[0]
        );
    }

    #[test]
    fn waiting_is_in_the_response_and_not_in_the_service() {
        let (_, ops) = tallied(false, &[(0, 900, 950, true)]);
        assert!(near(&ops["READ"]["response"]["max_ns"], 950.0));
        assert!(near(&ops["READ"]["service"]["max_ns"], 50.0));
        assert!(near(&ops["READ"]["wait"]["max_ns"], 900.0));
    }

    #[test]
    fn a_failure_counts_as_at_least_its_timeout_in_all_and_not_among_successes() {
        let (_, ops) = tallied(false, &[(0, 0, 5, true), (1, 1, 2, false)]);
        assert_eq!(ops["READ"]["response"]["count"], 1);
        assert_eq!(ops["READ"]["all"]["count"], 2);
        assert!(near(&ops["READ"]["all"]["max_ns"], 10_000.0));
        assert!(near(&ops["READ"]["failed"]["max_ns"], 1.0));
    }

    #[test]
    fn in_a_closed_loop_response_is_service_and_nothing_waits() {
        let (_, ops) = tallied(true, &[(10, 10, 30, true)]);
        assert_eq!(ops["READ"]["response"], ops["READ"]["service"]);
        assert_eq!(ops["READ"]["wait"]["max_ns"], 0);
        assert_eq!(ops["TOTAL"]["response"]["count"], 1);
    }
}
