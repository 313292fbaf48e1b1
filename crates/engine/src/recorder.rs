//! The hot half of recording: counts and histograms of one worker, swapped out every due second. Nothing here allocates per
//! operation, encodes or writes; the cold half is `tally`.
//!
//! A latency belongs to the second in which its operation was **due**. Operations are handed out in due order, so two open
//! sets (the newest due second and the one before) hold nearly everything; what is older goes out as single samples.

mod buckets;
mod lag;
mod shares;

pub use buckets::Buckets;
pub use lag::Lag;
pub use shares::{Share, Shares};

use crate::counts::Verdicts;
use crate::operation::{Kind, Outcome};
use hdrhistogram::Histogram;
use std::sync::mpsc::{Receiver, Sender};

/// One second in nanoseconds.
pub const SECOND: u64 = 1_000_000_000;
/// Parts of a second in which completions are counted.
pub const TENTHS: usize = 10;
const TENTH: u64 = SECOND / TENTHS as u64;
/// Longest latency a histogram holds, ns; longer ones are recorded as this.
pub const HOUR_NS: u64 = 3600 * SECOND;

/// What is measured of an operation. The first three are of successes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Clocked {
    /// done - due.
    Response,
    /// done - started.
    Service,
    /// started - due.
    Wait,
    /// done - due of failures.
    Failed,
    /// done - due of failures, at least the time-out.
    FailedFloor,
    /// done - due of reads that found nothing and could not: no failures, and no measure of a read that finds something.
    NotYet,
}

/// How many [`Clocked`] there are.
pub const CLOCKS: usize = 6;
/// Histogram slots of a set: every kind, then all operations together.
pub const SLOTS: usize = (Kind::ALL.len() + 1) * CLOCKS;
/// Index of "all operations" beside the kinds.
pub const TOTAL: usize = Kind::ALL.len();

/// Index of a kind's histogram in a set.
pub const fn slot(op: usize, clock: Clocked) -> usize {
    op * CLOCKS + clock as usize
}

/// A histogram of nanoseconds, 1 ns to 1 h, three digits, of fixed size.
///
/// # Panics
/// Never: the bounds are constants that the library accepts.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HOUR_NS, 3).expect("constant bounds")
}

/// Among which latencies an operation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Successes: ok, and an absence in a workload that deletes.
    Success,
    /// Reads of records that were not acknowledged yet, or whose insert failed.
    NotYet,
    /// Failures.
    Failure,
}

impl Class {
    /// By outcome alone.
    pub const fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Success,
            _ => Self::Failure,
        }
    }
}

/// One finished operation.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Kind.
    pub kind: Kind,
    /// How it ended.
    pub outcome: Outcome,
    /// Among which latencies it counts.
    pub class: Class,
    /// Part of a read-modify-write, or a flush: recorded under its kind, not under the total.
    pub part: bool,
    /// Due, started, done: CLOCK_MONOTONIC ns.
    pub due: u64,
    /// When its request was issued.
    pub started: u64,
    /// When its answer was there.
    pub done: u64,
}

/// As fine as [`histogram`].
type Interval = Buckets<10>;
/// Fine enough to look at while it runs.
type Live = Buckets<7>;

/// The histograms of one due second.
pub struct IntervalSet {
    /// Seconds since the phase's start.
    pub second: u64,
    /// By [`slot`], made on first use and then kept.
    pub histograms: [Option<Interval>; SLOTS],
}

impl Default for IntervalSet {
    fn default() -> Self {
        Self {
            second: 0,
            histograms: [const { None }; SLOTS],
        }
    }
}

impl IntervalSet {
    #[inline]
    fn record(&mut self, slot: usize, value: u64) {
        self.histograms[slot].get_or_insert_default().record(value);
    }
}

/// A sample too late for the open sets.
#[derive(Debug, Clone, Copy)]
pub struct Straggler {
    /// Its due second.
    pub second: u64,
    /// Histogram slot.
    pub slot: usize,
    /// Nanoseconds.
    pub value: u64,
}

/// Counts of one second on the wall.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Due in this second.
    pub due: u64,
    /// Started in this second.
    pub started: u64,
    /// Done in this second, however they ended.
    pub done: u64,
    /// Of those, by outcome.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Of those, by the tenth of the second in which they were done.
    pub tenths: [u64; TENTHS],
    /// Most operations in flight: claimed, not done.
    pub in_flight: u64,
    /// Most requests found on the wire: written, not answered; None where the driver has no sockets.
    pub on_wire: Option<u64>,
    /// Lateness of the loop.
    pub late: Lateness,
    /// Sum of the responses of operations done, ns.
    pub response_sum_ns: u64,
}

/// How late the engine itself was with what it could have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lateness {
    /// How often it was looked at.
    pub count: u64,
    /// Sum, ns.
    pub sum_ns: u64,
    /// Most, ns.
    pub max_ns: u64,
}

impl Lateness {
    /// The loop came `ns` after the time at which it could have.
    #[inline]
    pub fn note(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += ns;
        self.max_ns = self.max_ns.max(ns);
    }
}

impl Counts {
    /// An operation was done, `since_ns` after the second began.
    #[inline]
    fn completed(&mut self, outcome: Outcome, response_ns: u64, since_ns: u64) {
        self.done += 1;
        self.response_sum_ns += response_ns;
        self.outcomes[outcome as usize] += 1;
        self.tenths[((since_ns / TENTH) as usize).min(TENTHS - 1)] += 1;
    }
}

/// What the recorder sends to the cold half.
pub enum WriterMessage {
    /// A finished due second.
    Set(Box<IntervalSet>),
    /// Samples older than the open sets.
    Late(Vec<Straggler>),
    /// A second on the wall is over.
    Tick(Box<Tick>),
}

/// What is known when a second on the wall is over.
#[derive(Debug, Clone, Default)]
pub struct Tick {
    /// Seconds since the phase's start.
    pub second: u64,
    /// Its counts.
    pub counts: Counts,
    /// Due but not started, at its end.
    pub backlog: u64,
    /// It began when nothing more was to be sent: answers are waited for.
    pub over: bool,
    /// In flight at its end.
    pub in_flight: u64,
    /// Operations of the phase so far: done, ok.
    pub total: (u64, u64),
    /// Median and 99 % of responses that came in it, ns.
    pub live: (u64, u64),
    /// CPU of the process in it, ns.
    pub cpu_ns: u64,
    /// Nothing due before this second is outstanding.
    pub watermark: u64,
    /// Judgements in it.
    pub verdicts: Verdicts,
    /// Most operations this engine may have in flight.
    pub cap: u64,
    /// What each coordinator did in it, by the driver's index.
    pub coordinators: Vec<Share>,
    /// How long answers that were read in it had lain there; none where none of them had a stamp.
    pub lag: Option<Lag>,
}

/// Records one worker's operations.
pub struct Recorder {
    start_ns: u64,
    timeout_ns: u64,
    closed: bool,
    apart: bool,
    current: Box<IntervalSet>,
    /// When the current due second began.
    current_from: u64,
    previous: Box<IntervalSet>,
    late: Vec<Straggler>,
    live: Live,
    /// Counts of the second that is running.
    pub counts: Counts,
    /// When it ends, ns since the phase's start.
    second_end: u64,
    /// What was done after that already: the end of a second is noticed a little late.
    ahead: Counts,
    out: Sender<WriterMessage>,
    spare: Receiver<Box<IntervalSet>>,
}

impl Recorder {
    /// `closed`: due = started, so one histogram serves for response and service. `apart`: totals need histograms of their
    /// own, because read-modify-writes record their parts too, or writes are collected and flushed.
    pub fn new(
        start_ns: u64,
        timeout_ns: u64,
        closed: bool,
        apart: bool,
        out: Sender<WriterMessage>,
        spare: Receiver<Box<IntervalSet>>,
    ) -> Self {
        Self {
            start_ns,
            timeout_ns,
            closed,
            apart,
            current: Box::default(),
            current_from: start_ns,
            previous: Box::default(),
            late: Vec::with_capacity(256),
            live: Live::default(),
            counts: Counts::default(),
            second_end: SECOND,
            ahead: Counts::default(),
            out,
            spare,
        }
    }

    /// Record a finished operation.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        if !sample.part {
            self.completed(sample);
            self.live.record(sample.done.saturating_sub(sample.due));
        }
        self.clock(sample.kind as usize, sample);
        if self.apart && !sample.part {
            self.clock(TOTAL, sample);
        }
    }

    #[inline]
    fn completed(&mut self, sample: &Sample) {
        let since = sample.done.saturating_sub(self.start_ns);
        let response = sample.done.saturating_sub(sample.due);
        if let Some(late) = since.checked_sub(self.second_end) {
            self.ahead.completed(sample.outcome, response, late);
        } else {
            let second = self.second_end - SECOND;
            self.counts
                .completed(sample.outcome, response, since.saturating_sub(second));
        }
    }

    #[inline]
    fn clock(&mut self, op: usize, sample: &Sample) {
        let due = sample.due;
        let response = sample.done.saturating_sub(due);
        match sample.class {
            Class::Success => {}
            Class::NotYet => return self.put(due, slot(op, Clocked::NotYet), response),
            Class::Failure => {
                self.put(due, slot(op, Clocked::Failed), response);
                let floored = response.max(self.timeout_ns);
                return self.put(due, slot(op, Clocked::FailedFloor), floored);
            }
        }
        self.put(
            due,
            slot(op, Clocked::Service),
            sample.done.saturating_sub(sample.started),
        );
        if !self.closed {
            self.put(due, slot(op, Clocked::Response), response);
            self.put(
                due,
                slot(op, Clocked::Wait),
                sample.started.saturating_sub(due),
            );
        }
    }

    /// An operation that was due but never answered: `waited` ns so far. It counts as a failure at least as long as the time-out.
    pub fn censor(&mut self, kind: Kind, due: u64, waited: u64) {
        let total = self.apart && kind != Kind::Flush; // which is no part of the total
        for op in [Some(kind as usize), total.then_some(TOTAL)]
            .into_iter()
            .flatten()
        {
            self.put(
                due,
                slot(op, Clocked::FailedFloor),
                waited.max(self.timeout_ns),
            );
        }
    }

    #[inline]
    fn put(&mut self, due: u64, slot: usize, value: u64) {
        if due.wrapping_sub(self.current_from) < SECOND {
            self.current.record(slot, value);
        } else {
            self.put_apart(due, slot, value);
        }
    }

    /// Into a newer set than the current one, or an older.
    #[cold]
    fn put_apart(&mut self, due: u64, slot: usize, value: u64) {
        let second = due.saturating_sub(self.start_ns) / SECOND;
        if second > self.current.second {
            self.advance(second);
            self.current.record(slot, value);
        } else if second == self.current.second {
            self.current.record(slot, value); // due before the start
        } else if second == self.previous.second {
            self.previous.record(slot, value);
        } else {
            self.late.push(Straggler {
                second,
                slot,
                value,
            });
            if self.late.len() == self.late.capacity() {
                self.ship_late();
            }
        }
    }

    fn advance(&mut self, second: u64) {
        let mut fresh = self.spare.try_recv().unwrap_or_default();
        fresh.second = second;
        self.current_from = self.start_ns + second * SECOND;
        let current = std::mem::replace(&mut self.current, fresh);
        let previous = std::mem::replace(&mut self.previous, current);
        let _ = self.out.send(WriterMessage::Set(previous)); // the cold half outlives every worker
    }

    fn ship_late(&mut self) {
        if !self.late.is_empty() {
            let late = std::mem::replace(&mut self.late, Vec::with_capacity(256));
            let _ = self.out.send(WriterMessage::Late(late));
        }
    }

    /// Second `ended` is over: its counts, and p50 and p99 of the responses that came in it (for the live view).
    pub fn tick(&mut self, ended: u64, in_flight: u64) -> (Counts, u64, u64) {
        self.ship_late();
        let live = (
            self.live.value_at_quantile(0.5),
            self.live.value_at_quantile(0.99),
        );
        self.live.reset();
        let next = Counts {
            in_flight,
            ..std::mem::take(&mut self.ahead)
        };
        self.second_end = (ended + 2) * SECOND;
        (std::mem::replace(&mut self.counts, next), live.0, live.1)
    }

    /// The oldest due second whose histograms have not been shipped.
    pub fn oldest_open(&self) -> u64 {
        self.previous.second
    }

    /// Ship everything that is still open.
    pub fn finish(mut self) {
        self.ship_late();
        let _ = self.out.send(WriterMessage::Set(self.previous));
        let _ = self.out.send(WriterMessage::Set(self.current));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn completions_fall_into_the_tenth_in_which_they_happened_however_late_its_second_is_closed() {
        let (out, _messages) = channel();
        let (_spare, spares) = channel();
        let start = 7 * SECOND;
        let mut recorder = Recorder::new(start, SECOND, true, false, out, spares);
        let done = |ms: u64| Sample {
            kind: Kind::Read,
            outcome: Outcome::Ok,
            class: Class::Success,
            part: false,
            due: start,
            started: start,
            done: start + ms * 1_000_000,
        };
        for ms in [0, 99, 150, 999, 1000, 1199] {
            recorder.record(&done(ms));
        }
        let (first, ..) = recorder.tick(0, 0);
        assert_eq!(first.tenths, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        recorder.record(&done(998)); // its second is closed already: it counts at the start of this one
        recorder.record(&done(1950));
        let (second, ..) = recorder.tick(1, 0);
        assert_eq!(second.tenths, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((first.done, second.done), (4, 4));
    }
}
