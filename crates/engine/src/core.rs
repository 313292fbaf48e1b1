//! The state of one engine's phase: what is handed out, in flight, acknowledged and counted. A pure state machine: it is told
//! the time; the reactor's worker holds it in a cell, the blocking worker behind a lock.

use crate::clock::Usage;
use crate::dispense::{Dispenser, Next};
use crate::generate::{Cursor, Draft};
use crate::ledger::{Known, Ledger};
use crate::operation::{FieldSet, Kind, Outcome, Reply};
use crate::plan::{PhaseKind, Verify, Workload};
use crate::recorder::{Recorder, SECOND, Sample, Shipment, Tick};
use serde::Serialize;
use std::sync::mpsc::Sender;

/// One operation handed to a client.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    /// What to do.
    pub draft: Draft,
    /// Due time, ns; in a closed loop None: due = started.
    pub due: Option<u64>,
    /// Write timestamp, us.
    pub timestamp_us: i64,
    /// Lowest number whose write has the same timestamp in the database's unit.
    pub peer: u64,
    /// Judge returned values.
    pub judge: bool,
    /// What was known of the record.
    pub known: Known,
}

/// What a client is told.
pub enum Claim {
    /// Do this.
    Go(Ticket),
    /// Nothing before this time, ns.
    Wait(u64),
    /// Nothing more.
    End,
}

/// How an operation went.
#[derive(Debug, Clone, Copy)]
pub struct Performed {
    /// Outcome of the last attempt.
    pub outcome: Outcome,
    /// When the first attempt was issued, ns.
    pub started: u64,
    /// When the last answer was there, ns.
    pub done: u64,
    /// Attempts made.
    pub attempts: u32,
    /// Of a read-modify-write whose read was done: its clocks in the middle.
    pub turn: Option<Turn>,
}

/// Where a read-modify-write turns from reading to writing.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// When the read's answer was there, ns: the update is due.
    pub read_done: u64,
    /// When the update's first attempt was issued, ns.
    pub update_started: u64,
}

/// Counts of one kind over the phase.
#[derive(Debug, Clone, Copy, Default)]
pub struct KindCounts {
    /// Operations that ended.
    pub count: u64,
    /// By outcome.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Reads of records whose insert was not acknowledged yet.
    pub not_yet: u64,
    /// Reads and deletes that found nothing, in a workload that deletes: successes.
    pub absent: u64,
    /// Rows received; of flushes: writes acknowledged.
    pub rows: u64,
    /// Bytes of values received; of flushes: of the writes acknowledged.
    pub bytes: u64,
}

/// Judgements over the phase.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Verdicts {
    /// Values judged.
    pub checked: u64,
    /// Values that do not fit their own header.
    pub corrupt: u64,
    /// Values of another key, field or seed.
    pub foreign: u64,
    /// Reads that missed an acknowledged write.
    pub stale: u64,
    /// Acknowledged records that were not found.
    pub lost: u64,
    /// Reads of records not acknowledged yet.
    pub not_yet: u64,
}

/// Saturation over the phase, in seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Saturation {
    /// Backlog although the in-flight cap was not reached: the client is slow.
    pub seconds_saturated: u64,
    /// Backlog with the cap reached: the server is slow.
    pub seconds_cap_reached: u64,
    /// Largest backlog at the end of a second.
    pub max_backlog: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    due: u64,
    kind: Kind,
    busy: bool,
}

const IDLE: Slot = Slot {
    due: u64::MAX,
    kind: Kind::Read,
    busy: false,
};

/// Histogram of attempts: the last bucket holds all above.
pub const ATTEMPTS: usize = 32;

/// A backlog below this share of a second's operations is the granularity of the tick, not lateness.
const BACKLOG_SHARE: f64 = 0.01;

/// The state of a phase.
pub struct Core {
    /// Hands out numbers.
    pub dispenser: Dispenser,
    /// What was acknowledged; passed on from phase to phase.
    pub ledger: Ledger,
    cursor: Cursor,
    recorder: Recorder,
    out: Sender<Shipment>,
    start_ns: u64,
    load: bool,
    fields: u16,
    verify: Verify,
    deletes: bool,
    slots: Vec<Slot>,
    in_flight: u64,
    due_total: u64,
    started_total: u64,
    ticked: u64,
    cpu_at_tick: u64,
    offset_us: i64,
    last_timestamp_us: i64,
    grain_us: i64,
    /// The first number with the newest timestamp in the database's unit ...
    peer: u64,
    /// ... and where that ends, us.
    peers_until: i64,
    /// Per kind.
    pub kinds: [KindCounts; Kind::ALL.len()],
    /// Operations that ended (parts of a read-modify-write not among them).
    pub done: u64,
    /// Of those, successes.
    pub ok: u64,
    /// Of those, by outcome.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// How many operations took how many attempts.
    pub attempts: [u64; ATTEMPTS],
    /// Judgements.
    pub verdicts: Verdicts,
    /// Saturation.
    pub saturation: Saturation,
    /// Puts that were collected and never acknowledged, however long their flush tried.
    pub unflushed: u64,
    /// First error text of each outcome, not yet told.
    pub complaints: Vec<(Outcome, String)>,
    complained: [bool; Outcome::ALL.len()],
    /// Time of the last completion, ns.
    pub last_done: u64,
}

/// What a core is made of.
pub struct CoreParts<'a> {
    /// Numbers.
    pub dispenser: Dispenser,
    /// Kinds and ranks.
    pub cursor: Cursor,
    /// Histograms.
    pub recorder: Recorder,
    /// Acknowledgements.
    pub ledger: Ledger,
    /// Where ticks go.
    pub out: Sender<Shipment>,
    /// The phase's start, ns.
    pub start_ns: u64,
    /// What the phase does.
    pub kind: PhaseKind,
    /// Clients of this engine.
    pub clients: usize,
    /// The workload.
    pub workload: &'a Workload,
    /// CLOCK_REALTIME - CLOCK_MONOTONIC, us.
    pub offset_us: i64,
    /// The database's unit of timestamps, us.
    pub grain_us: i64,
}

impl Core {
    /// A phase about to begin.
    pub fn new(parts: CoreParts<'_>) -> Self {
        Self {
            dispenser: parts.dispenser,
            ledger: parts.ledger,
            cursor: parts.cursor,
            recorder: parts.recorder,
            out: parts.out,
            start_ns: parts.start_ns,
            load: parts.kind == PhaseKind::Load,
            fields: parts.workload.fields.count as u16,
            verify: parts.workload.verify,
            deletes: parts.workload.mix.delete > 0.0,
            slots: vec![IDLE; parts.clients],
            in_flight: 0,
            due_total: 0,
            started_total: 0,
            ticked: 0,
            cpu_at_tick: Usage::now().cpu_ns(),
            offset_us: parts.offset_us,
            last_timestamp_us: 0,
            grain_us: parts.grain_us,
            peer: 0,
            peers_until: 0,
            kinds: [KindCounts::default(); Kind::ALL.len()],
            done: 0,
            ok: 0,
            outcomes: [0; Outcome::ALL.len()],
            attempts: [0; ATTEMPTS],
            verdicts: Verdicts::default(),
            saturation: Saturation::default(),
            unflushed: 0,
            complaints: Vec::new(),
            complained: [false; Outcome::ALL.len()],
            last_done: parts.start_ns,
        }
    }

    /// Client `slot` asks for work; `floors` is its buffer for the least acceptable versions.
    pub fn claim(&mut self, slot: usize, now: u64, floors: &mut Vec<u64>) -> Claim {
        let (number, due) = match self.dispenser.next(now) {
            Next::Wait(until) => return Claim::Wait(until),
            Next::End => return Claim::End,
            Next::Go { number, due } => (number, due),
        };
        let draft = self.cursor.at(number);
        if draft.kind == Kind::Delete {
            self.ledger.deleting(draft.rank);
        }
        let known = self.ledger.known(draft.rank, floors);
        self.slots[slot] = Slot {
            due: due.unwrap_or(now),
            kind: draft.kind,
            busy: true,
        };
        self.in_flight += 1;
        self.started_total += 1;
        self.recorder.counts.started += 1;
        self.recorder.counts.in_flight = self.recorder.counts.in_flight.max(self.in_flight);
        self.last_timestamp_us =
            (now as i64 / 1000 + self.offset_us).max(self.last_timestamp_us + 1);
        if self.last_timestamp_us >= self.peers_until {
            self.peer = number;
            self.peers_until =
                self.last_timestamp_us - self.last_timestamp_us % self.grain_us + self.grain_us;
        }
        let judge = match self.verify {
            Verify::Off => false,
            Verify::Sample => number.is_multiple_of(64),
            Verify::All | Verify::Full => true,
        };
        Claim::Go(Ticket {
            draft,
            due,
            timestamp_us: self.last_timestamp_us,
            peer: self.peer,
            judge,
            known,
        })
    }

    /// Client `slot` has done `ticket`.
    pub fn finish(
        &mut self,
        slot: usize,
        ticket: &Ticket,
        did: &Performed,
        reply: &mut Reply,
        floors: &[u64],
    ) {
        self.slots[slot] = IDLE;
        self.in_flight -= 1;
        self.done += 1;
        self.last_done = self.last_done.max(did.done);
        self.attempts[(did.attempts as usize).min(ATTEMPTS - 1)] += 1;
        let outcome = self.judge(ticket, did, reply, floors);
        let success = outcome == Outcome::Ok;
        self.ok += u64::from(success);
        self.outcomes[outcome as usize] += 1;
        if !reply.buffered {
            self.acknowledge(ticket, success);
        }
        let counts = &mut self.kinds[ticket.draft.kind as usize];
        counts.count += 1;
        counts.outcomes[outcome as usize] += 1;
        counts.rows += reply.rows;
        counts.bytes += reply.bytes;
        if let Some((kind, text)) = reply.failure.take() {
            self.complain(
                kind,
                if success {
                    text + " (another attempt succeeded)"
                } else {
                    text
                },
            );
        }
        self.record(ticket, did, outcome, success);
    }

    /// The outcome after judging what came back: an absence that had to be expected is a success.
    fn judge(
        &mut self,
        ticket: &Ticket,
        did: &Performed,
        reply: &Reply,
        floors: &[u64],
    ) -> Outcome {
        self.verdicts.checked += reply.checked;
        self.verdicts.corrupt += reply.corrupt;
        self.verdicts.foreign += reply.foreign;
        let deleted = self.ledger.deleted(ticket.draft.rank);
        if !deleted && self.ledger.stale(floors, &reply.versions) {
            self.verdicts.stale += 1;
        }
        if did.outcome != Outcome::NotFound {
            return did.outcome;
        }
        let counts = &mut self.kinds[ticket.draft.kind as usize];
        if ticket.known.unacknowledged {
            self.verdicts.not_yet += 1;
            counts.not_yet += 1;
            return Outcome::Ok;
        }
        self.verdicts.lost += u64::from(ticket.known.present && !deleted);
        if self.deletes {
            counts.absent += 1;
            return Outcome::Ok;
        }
        Outcome::NotFound
    }

    fn acknowledge(&mut self, ticket: &Ticket, success: bool) {
        let draft = &ticket.draft;
        let writes = matches!(
            draft.kind,
            Kind::Insert | Kind::Update | Kind::ReadModifyWrite
        );
        if success && writes {
            self.written(draft.rank, ticket.peer, draft.fields);
        }
    }

    /// Writes of one timestamp are in the server's order, which we do not know: any of them may be the one that is read later,
    /// so what must be seen is `peer`, the lowest of their numbers, or newer.
    fn written(&mut self, rank: u64, peer: u64, fields: FieldSet) {
        if self.load {
            self.ledger.loaded(rank);
            return;
        }
        let fields = match fields {
            FieldSet::All => 0..self.fields,
            FieldSet::One(field) => field..field + 1,
        };
        self.ledger.written(rank, peer, fields);
    }

    /// Client `slot` begins to send the puts that its driver had collected, at `now`.
    pub fn flushing(&mut self, slot: usize, now: u64) {
        self.slots[slot] = Slot {
            due: now,
            kind: Kind::Flush,
            busy: true,
        };
        self.in_flight += 1;
    }

    /// Client `slot` has sent them, or given up; `due` since they were full. Only what was acknowledged counts as written.
    pub fn flushed(&mut self, slot: usize, due: u64, did: &Performed, reply: &mut Reply) {
        self.slots[slot] = IDLE;
        self.in_flight -= 1;
        self.last_done = self.last_done.max(did.done);
        let batch = reply.batch.take().unwrap_or_default();
        for op in &batch.acknowledged {
            self.written(op.rank, op.peer, op.fields);
            self.kinds[Kind::Flush as usize].rows += 1;
            self.kinds[Kind::Flush as usize].bytes += op.values.len() as u64;
        }
        self.unflushed += batch.pending.len() as u64;
        if let Some((outcome, text)) = reply.failure.take() {
            self.complain(outcome, format!("flush: {text}"));
        }
        let sample = Sample {
            kind: Kind::Flush,
            outcome: did.outcome,
            success: did.outcome == Outcome::Ok,
            part: true,
            due: if self.dispenser.paced() {
                due
            } else {
                did.started
            },
            started: did.started,
            done: did.done,
        };
        self.part(Kind::Flush, &sample);
    }

    /// Whether no client has anything in flight.
    pub const fn idle(&self) -> bool {
        self.in_flight == 0
    }

    fn complain(&mut self, outcome: Outcome, text: String) {
        if !std::mem::replace(&mut self.complained[outcome as usize], true) {
            self.complaints.push((outcome, text));
        }
    }

    fn record(&mut self, ticket: &Ticket, did: &Performed, outcome: Outcome, success: bool) {
        let due = ticket.due.unwrap_or(did.started);
        let whole = Sample {
            kind: ticket.draft.kind,
            outcome,
            success,
            part: false,
            due,
            started: did.started,
            done: did.done,
        };
        self.recorder.record(&whole);
        if ticket.draft.kind != Kind::ReadModifyWrite {
            return;
        }
        let Some(turn) = did.turn else {
            self.part(
                Kind::Read,
                &Sample {
                    kind: Kind::Read,
                    part: true,
                    ..whole
                },
            );
            return;
        };
        let read = Sample {
            kind: Kind::Read,
            outcome: Outcome::Ok,
            success: true,
            part: true,
            done: turn.read_done,
            ..whole
        };
        self.part(Kind::Read, &read);
        self.part(
            Kind::Update,
            &Sample {
                kind: Kind::Update,
                part: true,
                // In a closed loop due = started, of the parts too.
                due: ticket.due.map_or(turn.update_started, |_| turn.read_done),
                started: turn.update_started,
                ..whole
            },
        );
    }

    fn part(&mut self, kind: Kind, sample: &Sample) {
        self.kinds[kind as usize].count += 1;
        self.kinds[kind as usize].outcomes[sample.outcome as usize] += 1;
        self.recorder.record(sample);
    }

    /// Close the seconds on the wall that are over at `now`.
    pub fn tick(&mut self, now: u64) {
        let second = now.saturating_sub(self.start_ns) / SECOND;
        if second <= self.ticked {
            return;
        }
        let mut due = 0;
        self.dispenser.newly_due(now, |_| due += 1);
        self.ship(second - 1, due);
        self.ticked = second;
    }

    fn ship(&mut self, second: u64, newly_due: u64) {
        let paced = self.dispenser.paced();
        let (mut counts, p50, p99) = self.recorder.tick(self.in_flight);
        counts.due = if paced { newly_due } else { counts.started };
        self.due_total += counts.due;
        let backlog = if paced {
            self.due_total.saturating_sub(self.started_total)
        } else {
            0
        };
        self.saturate(backlog, &counts);
        let cpu = Usage::now().cpu_ns();
        let tick = Tick {
            second,
            counts,
            backlog,
            in_flight: self.in_flight,
            total: (self.done, self.ok),
            live: (p50, p99),
            cpu_ns: cpu - self.cpu_at_tick,
            watermark: self.watermark(second),
        };
        self.cpu_at_tick = cpu;
        let _ = self.out.send(Shipment::Tick(Box::new(tick))); // the writer outlives the core
    }

    fn saturate(&mut self, backlog: u64, counts: &crate::recorder::Counts) {
        self.saturation.max_backlog = self.saturation.max_backlog.max(backlog);
        if backlog as f64 <= (counts.due as f64 * BACKLOG_SHARE).max(10.0) {
            return;
        }
        if counts.in_flight >= self.slots.len() as u64 {
            self.saturation.seconds_cap_reached += 1;
        } else {
            self.saturation.seconds_saturated += 1;
        }
    }

    /// The first second in which something that was due is still outstanding, at most `second`.
    fn watermark(&mut self, second: u64) -> u64 {
        let oldest = self.slots.iter().map(|s| s.due).min().unwrap_or(u64::MAX);
        let head = self.dispenser.head().unwrap_or(u64::MAX);
        let outstanding = oldest.min(head).saturating_sub(self.start_ns) / SECOND;
        outstanding.min(second).min(self.recorder.oldest_open())
    }

    /// The phase is over: what is unanswered and unsent is censored. Returns (unsent, unanswered).
    pub fn close(&mut self, now: u64) -> (u64, u64) {
        let mut newly = 0;
        self.dispenser.newly_due(now, |_| newly += 1);
        let busy: Vec<Slot> = self.slots.iter().filter(|s| s.busy).copied().collect();
        for slot in &busy {
            self.recorder
                .censor(slot.kind, slot.due, now - slot.due.min(now));
        }
        let mut unsent = 0;
        while let Some((number, due)) = self.dispenser.unsent(now) {
            let kind = self.cursor.at(number).kind;
            self.recorder.censor(kind, due, now - due);
            unsent += 1;
        }
        let counts = &self.recorder.counts;
        if newly + counts.started + counts.done > 0 || self.ticked == 0 {
            self.ship(self.ticked, newly); // what came since the last tick came in the second after it
        }
        (unsent, busy.len() as u64)
    }

    /// Ship the last histograms and give the ledger back.
    pub fn dissolve(self) -> Ledger {
        self.recorder.finish();
        self.ledger
    }
}
