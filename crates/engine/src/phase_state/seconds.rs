//! The seconds on the wall: each is closed when it is over, and what is known then is sent to be written.

use super::{PhaseState, Slot};
use crate::clock::Usage;
use crate::recorder::{SECOND, Tick, WriterMessage};

impl PhaseState {
    /// Whether a second on the wall that was not closed yet is over at `now`.
    pub const fn ends_second(&self, now: u64) -> bool {
        now.saturating_sub(self.start_ns) / SECOND > self.ticked
    }

    /// Close the seconds on the wall that are over at `now`, each with what belongs to it.
    pub fn tick(&mut self, now: u64) {
        let second = now.saturating_sub(self.start_ns) / SECOND;
        self.dispenser.look_ahead(now);
        if let Some(end) = self.dispenser.offered_until() {
            self.window_end = self.offered_end(end);
        }
        while self.ticked < second {
            let due = self.dispenser.due_by_next_second();
            self.ship(self.ticked, due);
            self.ticked += 1;
        }
    }

    /// A rate that changes moves the end of a schedule; a closed loop ends with its last operation or its time.
    fn offered_end(&self, foreseen: u64) -> u64 {
        if self.dispenser.paced() {
            foreseen
        } else {
            foreseen.min(self.window_end)
        }
    }

    /// Second `second` is over; `due_total` operations have fallen due up to its end.
    fn ship(&mut self, second: u64, due_total: u64) {
        let paced = self.dispenser.paced();
        let (mut counts, p50, p99) = self.recorder.tick(second, self.in_flight);
        counts.due = if paced {
            due_total.saturating_sub(self.due_total)
        } else {
            counts.started
        };
        self.due_total += counts.due;
        let backlog = if paced {
            self.due_total.saturating_sub(self.started_total)
        } else {
            0
        };
        let cpu = Usage::now().cpu_ns();
        let verdicts = self.verdicts.since(&self.verdicts_at_tick);
        let tick = Tick {
            second,
            counts,
            backlog,
            over: self.start_ns + second * SECOND >= self.dispenser.until(),
            in_flight: self.in_flight,
            total: (self.done, self.ok),
            live: (p50, p99),
            cpu_ns: cpu - self.cpu_at_tick,
            watermark: self.watermark(second),
            verdicts,
            cap: self.slots.len() as u64,
            coordinators: self.shares.take(),
            lag: self.lag_in_second.take(),
        };
        self.cpu_at_tick = cpu;
        self.verdicts_at_tick = self.verdicts;
        let _ = self.out.send(WriterMessage::Tick(Box::new(tick))); // the writer outlives the phase's state
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
        self.tick(now);
        let due = self.dispenser.due_by(now);
        let newly = due.saturating_sub(self.due_total);
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
            self.ship(self.ticked, due);
        }
        (unsent, busy.len() as u64)
    }

    /// The end, ns, of the window in which operations were offered, with the operations and successes done within it. It ends
    /// where the next operation would have been due, in a closed loop where the last was sent: a straggler is waited for, and
    /// makes the phase no longer. A closed loop too short for that is measured to its last completion.
    pub fn window(&mut self) -> Window {
        let known = self.dispenser.offered_until();
        let end_ns = known.map_or(self.window_end, |end| self.offered_end(end));
        let within = self.within.0 as f64;
        let short = !self.dispenser.paced() && within < self.done as f64 * ENOUGH_WITHIN;
        if end_ns == u64::MAX || end_ns <= self.start_ns || short {
            for kind in &mut self.kinds {
                kind.within = kind.count;
            }
            return Window {
                end_ns: self.last_done.max(self.start_ns + 1),
                operations: self.done,
                ok: self.ok,
            };
        }
        Window {
            end_ns,
            operations: self.within.0,
            ok: self.within.1,
        }
    }
}

/// A closed loop of which less was done when its last operation was sent has no time of its own before its end.
const ENOUGH_WITHIN: f64 = 0.9;

/// The time in which operations were offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its end, CLOCK_MONOTONIC ns.
    pub end_ns: u64,
    /// Operations done within it.
    pub operations: u64,
    /// Of those, successes.
    pub ok: u64,
}
