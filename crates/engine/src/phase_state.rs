//! The state of one engine's phase: what is handed out, in flight, acknowledged and counted. A pure state machine: it is told
//! the time; the event loop owns it, clients on threads share it behind a lock.

mod clock;
mod record;
mod seconds;

pub use clock::WriteClock;
pub use seconds::Window;

use crate::audit::Audit;
use crate::clock::Usage;
use crate::counts::{ATTEMPTS, KindCounts, Verdicts};
use crate::dispense::{Dispenser, Next};
use crate::generate::{Cursor, Draft};
use crate::ledger::Ledger;
use crate::operation::{FieldSet, Kind, Outcome};
use crate::plan::{PhaseKind, Verify, Workload};
use crate::recorder::{Class, Lag, Recorder, Sample, Shares, WriterMessage};
use crate::reply::Reply;
use crate::ticket::{Claim, Performed, Ticket};
use std::sync::mpsc::Sender;

#[derive(Clone, Copy)]
struct Slot {
    due: u64,
    kind: Kind,
    busy: bool,
}

/// Of an audit, so many losses are told by their keys.
const EXAMPLES: usize = 20;

const IDLE: Slot = Slot {
    due: u64::MAX,
    kind: Kind::Read,
    busy: false,
};

/// The state of a phase.
pub struct PhaseState {
    /// Hands out numbers.
    pub dispenser: Dispenser,
    /// What was acknowledged; passed on from phase to phase.
    pub ledger: Ledger,
    cursor: Cursor,
    recorder: Recorder,
    out: Sender<WriterMessage>,
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
    verdicts_at_tick: Verdicts,
    shares: Shares,
    lag: Option<Lag>,
    lag_in_second: Option<Lag>,
    /// Timestamps of writes; passed on from phase to phase.
    pub write_clock: WriteClock,
    /// A client has been free since then, ns: what is claimed later than that was late by our fault.
    free_since: u64,
    /// What is done later is outside the window in which operations were offered, ns.
    window_end: u64,
    /// Of an audit: which fields of the record at hand must be there, and what was found wanting.
    pub audit: Option<Audit>,
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
    /// Operations done within the window, and successes among them.
    pub within: (u64, u64),
    /// Writes that were collected and never acknowledged, however long their flush tried.
    pub unflushed: u64,
    /// First error text of each outcome, not yet told.
    pub complaints: Vec<(Outcome, String)>,
    complained: [bool; Outcome::ALL.len()],
    /// Time of the last completion, ns.
    pub last_done: u64,
}

/// What a core is made of.
pub struct PhaseParts<'a> {
    /// Numbers.
    pub dispenser: Dispenser,
    /// Kinds and ranks.
    pub cursor: Cursor,
    /// Histograms.
    pub recorder: Recorder,
    /// Acknowledgements.
    pub ledger: Ledger,
    /// Where ticks go.
    pub out: Sender<WriterMessage>,
    /// The phase's start, ns.
    pub start_ns: u64,
    /// What the phase does.
    pub kind: PhaseKind,
    /// Clients of this engine.
    pub clients: usize,
    /// The workload.
    pub workload: &'a Workload,
    /// Timestamps of writes.
    pub write_clock: WriteClock,
}

impl PhaseState {
    /// A phase about to begin.
    pub fn new(parts: PhaseParts<'_>) -> Self {
        let window_end = parts.dispenser.end_ns();
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
            verdicts_at_tick: Verdicts::default(),
            shares: Shares::default(),
            lag: None,
            lag_in_second: None,
            write_clock: parts.write_clock,
            free_since: parts.start_ns,
            window_end,
            audit: (parts.kind == PhaseKind::Audit).then(|| Audit::new(EXAMPLES)),
            kinds: [KindCounts::default(); Kind::ALL.len()],
            done: 0,
            ok: 0,
            outcomes: [0; Outcome::ALL.len()],
            attempts: [0; ATTEMPTS],
            verdicts: Verdicts::default(),
            within: (0, 0),
            unflushed: 0,
            complaints: Vec::new(),
            complained: [false; Outcome::ALL.len()],
            last_done: parts.start_ns,
        }
    }

    /// Have the phase's time over at `at_ns`, unless it is sooner; what is done later is not within its window.
    pub fn end_at(&mut self, at_ns: u64) {
        self.dispenser.end_at(at_ns);
        self.window_end = self.window_end.min(at_ns);
    }

    /// How many records an audit is to read; 0 of any other phase.
    pub fn audited(&self) -> u64 {
        self.cursor.audited()
    }

    /// Client `slot` asks for work; `ticket` is filled if there is any.
    #[inline]
    pub fn claim(&mut self, slot: usize, now: u64, ticket: &mut Ticket) -> Claim {
        let (number, due) = match self.dispenser.next(now) {
            Next::Wait(until) => return Claim::Wait(until),
            Next::End => return Claim::End,
            Next::Go { number, due } => (number, due),
        };
        match due {
            Some(due) => {
                let late = now.saturating_sub(due.max(self.free_since));
                self.recorder.counts.late.note(late);
            }
            // The last one is sent.
            None if self.dispenser.ended(now) => self.window_end = self.window_end.min(now),
            None => {}
        }
        let draft = self.cursor.at(number);
        ticket.draft = draft;
        ticket.due = due;
        if draft.kind == Kind::Delete {
            self.ledger.deleting(draft.rank);
        }
        ticket.known = self.ledger.known(draft.rank, &mut ticket.floors);
        self.slots[slot] = Slot {
            due: due.unwrap_or(now),
            kind: draft.kind,
            busy: true,
        };
        self.in_flight += 1;
        self.started_total += 1;
        self.recorder.counts.started += 1;
        self.recorder.counts.in_flight = self.recorder.counts.in_flight.max(self.in_flight);
        (ticket.timestamp_us, ticket.peer) = self.write_clock.next(now, number);
        ticket.judge = match self.verify {
            Verify::Off => false,
            Verify::Sample => self.dispenser.own(number).is_multiple_of(64),
            Verify::All | Verify::Full => true,
        };
        Claim::Go
    }

    /// Answers lay in the kernel for `lag` before they were read, since this was told last.
    pub fn lay_unread(&mut self, lag: Option<Lag>) {
        let Some(lag) = lag else {
            return;
        };
        self.lag.get_or_insert_default().add(&lag);
        match &mut self.lag_in_second {
            Some(second) => second.add(&lag),
            none => *none = Some(lag),
        }
    }

    /// How long answers lay unread in the whole phase; none where none of them had a stamp.
    pub const fn lag(&self) -> Option<&Lag> {
        self.lag.as_ref()
    }

    /// So many requests are written and not answered just now.
    #[inline]
    pub fn on_wire(&mut self, requests: u64) {
        let most = self.recorder.counts.on_wire.get_or_insert(0);
        *most = (*most).max(requests.min(self.in_flight));
    }

    /// Client `slot` has done `ticket`.
    #[inline]
    pub fn finish(&mut self, slot: usize, ticket: &Ticket, did: &Performed, reply: &mut Reply) {
        self.slots[slot] = IDLE;
        if self.in_flight == self.slots.len() as u64 {
            self.free_since = did.done;
        }
        self.in_flight -= 1;
        self.done += 1;
        self.last_done = self.last_done.max(did.done);
        self.attempts[(did.attempts as usize).min(ATTEMPTS - 1)] += 1;
        let (outcome, class) = self.judge(ticket, did, reply);
        let success = outcome == Outcome::Ok;
        self.ok += u64::from(success);
        self.outcomes[outcome as usize] += 1;
        let within = did.done <= self.window_end;
        self.within.0 += u64::from(within);
        self.within.1 += u64::from(within && success);
        self.share(did, reply);
        if !reply.buffered {
            self.acknowledge(ticket, success);
        }
        let counts = &mut self.kinds[ticket.draft.kind as usize];
        counts.count += 1;
        counts.within += u64::from(within);
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
        self.record(ticket, did, outcome, class);
    }

    /// Each attempt counts for the node that was asked.
    #[inline]
    fn share(&mut self, did: &Performed, reply: &Reply) {
        for attempt in &reply.earlier {
            self.shares
                .count(attempt.coordinator, attempt.outcome, attempt.service_ns);
        }
        if let Some(coordinator) = reply.coordinator {
            let begun = did.turn.map_or(did.started, |turn| turn.update_started);
            // Of an operation that was tried again the last attempt alone; its stamp is the driver's.
            let last = reply.stamps.sent_ns.unwrap_or(begun).max(begun);
            let service_ns = did.done.saturating_sub(last);
            self.shares.count(coordinator, did.outcome, service_ns);
        }
    }

    #[inline]
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
    #[inline]
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

    /// Client `slot` is to send a batch of collected writes, due `now`; `ticket` is filled.
    pub fn flushing(&mut self, slot: usize, now: u64, ticket: &mut Ticket) {
        ticket.draft = Draft {
            kind: Kind::Flush,
            ..Draft::default()
        };
        ticket.due = self.dispenser.paced().then_some(now);
        ticket.judge = false;
        self.slots[slot] = Slot {
            due: now,
            kind: Kind::Flush,
            busy: true,
        };
        self.in_flight += 1;
    }

    /// Client `slot` has sent its batch, or given up. Only what was acknowledged counts as written.
    pub fn flushed(&mut self, slot: usize, ticket: &Ticket, did: &Performed, reply: &mut Reply) {
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
        self.share(did, reply);
        if let Some((outcome, text)) = reply.failure.take() {
            self.complain(outcome, format!("flush: {text}"));
        }
        let sample = Sample {
            kind: Kind::Flush,
            outcome: did.outcome,
            class: Class::of(did.outcome),
            part: true,
            due: ticket.due.unwrap_or(did.started),
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

    /// Ship the last histograms and give back what the next phase needs.
    pub fn dissolve(self) -> (Ledger, WriteClock) {
        self.recorder.finish();
        (self.ledger, self.write_clock)
    }
}

#[cfg(test)]
mod tests;
