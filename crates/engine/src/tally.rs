//! The cold half of recording: gathers each due second's samples until nothing due in it is outstanding, derives what the hot half
//! did not count, and writes it. Runs on the writer's thread, never on a worker's.

use crate::client_state::{Scheduled, Second as ClientSecond};
use crate::counts::Verdicts;
use crate::merged::{Greatest, Merge};
use crate::operation::Outcome;
use crate::phase_files::{COORDINATOR, PhaseFiles, Tagged, VIEWS, op_names};
use crate::recorder::{
    Buckets, CLOCKS, Clocked, IntervalSet, SECOND, SLOTS, Share, Straggler, TOTAL, Tick, slot,
};
use crate::series::{Coordinator, Row, VerdictCounts};
use crate::summary::{Saturation, Views, failures};
use std::collections::BTreeMap;
use std::io;

/// Samples of one due second, as (value, count) pairs: small however many histograms are open.
#[derive(Default)]
struct Second {
    pairs: BTreeMap<usize, Vec<(u64, u64)>>,
    coordinators: Tagged,
    row: Row,
}

/// How samples of a phase are to be read.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Closed loop: response = service, wait = 0.
    pub closed: bool,
    /// Totals have histograms of their own.
    pub apart: bool,
}

/// One phase's seconds on their way into its files.
pub struct Tally {
    shape: Shape,
    start_ns: u64,
    open: BTreeMap<u64, Second>,
    next_second: u64,
    files: PhaseFiles,
    saturation: Saturation,
}

impl Tally {
    /// `start_ns` is the phase's start.
    pub fn new(files: PhaseFiles, shape: Shape, start_ns: u64) -> Self {
        Self {
            shape,
            start_ns,
            open: BTreeMap::new(),
            next_second: 0,
            files,
            saturation: Saturation::default(),
        }
    }

    fn at(&mut self, second: u64) -> &mut Second {
        self.open.entry(second.max(self.next_second)).or_default()
    }

    /// Take a second's histograms over; they are left empty.
    pub fn take(&mut self, set: &mut IntervalSet) {
        let second = self.at(set.second);
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
            let pairs = &mut self.at(sample.second).pairs;
            pairs
                .entry(sample.slot)
                .or_default()
                .push((sample.value, 1));
        }
    }

    /// A second on the wall has ended, in which the engine's threads waited for so long to run. `names` are the
    /// coordinators'. Returns its row, without distributions.
    pub fn count(&mut self, tick: &Tick, scheduled: Scheduled, names: &[String]) -> Row {
        let row = row(tick, scheduled, names);
        let second = self.at(tick.second);
        second.row.merge(&row);
        for share in &tick.coordinators {
            let tag = format!("{COORDINATOR}{}", name(share, names));
            let pairs = second.coordinators.entry(tag).or_default();
            pairs.extend_from_slice(&share.service);
        }
        row
    }

    /// Nothing due before second `watermark` is outstanding any more: write what is complete.
    pub fn settle(&mut self, watermark: u64) -> io::Result<()> {
        while self.next_second < watermark {
            let second = self.open.remove(&self.next_second).unwrap_or_default();
            self.write(self.next_second, second)?;
            self.next_second += 1;
        }
        self.files.flush()
    }

    /// Write all that is left of a phase of `seconds`; returns each operation's distributions, and whose fault it was when the
    /// load was not kept.
    pub fn finish(&mut self, seconds: f64) -> io::Result<(BTreeMap<String, Views>, Saturation)> {
        let last = self.open.keys().next_back().copied().unwrap_or(0);
        self.settle(last + 1)?;
        Ok((self.files.finish(seconds)?, self.saturation.clone()))
    }

    fn write(&mut self, number: u64, mut second: Second) -> io::Result<()> {
        self.complete(&mut second);
        second.row.second = number.into();
        second.row.t_ns = (self.start_ns + number * SECOND).into();
        self.saturation.note(&second.row);
        let mut samples = second.coordinators;
        for (op, name) in op_names() {
            for (view, word) in VIEWS.iter().enumerate() {
                samples.insert(
                    format!("{name}.{word}"),
                    view_pairs(&second.pairs, op, view),
                );
            }
        }
        self.files.write_second(second.row, samples)
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
            pairs
                .entry(SLOTS - CLOCKS + index % CLOCKS)
                .or_default()
                .extend(values);
        }
    }
}

/// (value, count) pairs of one view; `all` is successes, floored failures and what was not there yet together.
fn view_pairs(pairs: &BTreeMap<usize, Vec<(u64, u64)>>, op: usize, view: usize) -> Vec<(u64, u64)> {
    let of = |clock| pairs.get(&slot(op, clock)).into_iter().flatten().copied();
    match view {
        0 => of(Clocked::Response).collect(),
        1 => of(Clocked::Service).collect(),
        2 => of(Clocked::Wait).collect(),
        3 => of(Clocked::Response)
            .chain(of(Clocked::FailedFloor))
            .chain(of(Clocked::NotYet))
            .collect(),
        4 => of(Clocked::Failed).collect(),
        _ => of(Clocked::NotYet).collect(),
    }
}

/// What a tick says of its second.
pub(crate) fn row(tick: &Tick, scheduled: Scheduled, names: &[String]) -> Row {
    let counts = &tick.counts;
    let mean = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
    let client = ClientSecond {
        due: counts.due,
        backlog: tick.backlog,
        over: tick.over,
        in_flight: counts.in_flight,
        on_wire: counts.on_wire,
        cap: tick.cap,
        loop_wait_ns: scheduled.loop_waited_ns,
        loop_ran_ns: scheduled.loop_ran_ns,
        late_mean_ns: mean(counts.late.sum_ns, counts.late.count),
        response_mean_ns: match counts.done {
            0 => 1e9,
            done => mean(counts.response_sum_ns, done),
        },
    };
    Row {
        second: tick.second.into(),
        due: counts.due,
        started: counts.started,
        done: counts.done,
        ok: counts.outcomes[Outcome::Ok as usize],
        failed: failures(&counts.outcomes),
        tenths: counts.tenths,
        in_flight: counts.in_flight,
        on_wire: counts.on_wire,
        backlog: tick.backlog,
        cpu_ns: tick.cpu_ns,
        run_wait_ns: scheduled.waited_ns,
        late_count: counts.late.count,
        late_sum_ns: counts.late.sum_ns,
        late_max_ns: Greatest(counts.late.max_ns),
        lag: tick.lag.as_ref().map(Into::into),
        client: Greatest(client.judge()),
        verdicts: verdicts(&tick.verdicts),
        coordinators: coordinators(&tick.coordinators, names),
        ..Row::default()
    }
}

fn verdicts(judged: &Verdicts) -> VerdictCounts {
    VerdictCounts {
        stale: judged.stale,
        lost: judged.lost,
        not_yet: judged.not_yet,
        corrupt: judged.corrupt,
        foreign: judged.foreign,
    }
}

fn coordinators(shares: &[Share], names: &[String]) -> BTreeMap<String, Coordinator> {
    let told = shares.iter().map(|share| {
        let mut failed = failures(&share.outcomes);
        failed.remove(Outcome::NotFound.name()); // the node has answered
        let attempts: u64 = share.outcomes.iter().sum();
        let coordinator = Coordinator {
            attempts,
            ok: attempts - failed.values().sum::<u64>(),
            failed,
            ..Coordinator::default()
        };
        (name(share, names), coordinator)
    });
    told.collect()
}

fn name(share: &Share, names: &[String]) -> String {
    let known = names.get(usize::from(share.coordinator));
    known
        .cloned()
        .unwrap_or_else(|| share.coordinator.to_string())
}

#[cfg(test)]
mod tests;
