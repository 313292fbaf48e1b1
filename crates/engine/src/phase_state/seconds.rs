//! The seconds on the wall: each is closed when it is over, and what is known then is sent to be written.

use super::{PhaseState, Slot};
use crate::clock::Usage;
use crate::recorder::{Counts, SECOND, Tick, WriterMessage};

/// A backlog below this share of a second's operations is the granularity of the tick, not lateness.
const BACKLOG_SHARE: f64 = 0.01;

impl PhaseState {
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
        let (mut counts, p50, p99) = self.recorder.tick(second, self.in_flight);
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
        let _ = self.out.send(WriterMessage::Tick(Box::new(tick))); // the writer outlives the core
    }

    fn saturate(&mut self, backlog: u64, counts: &Counts) {
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
        self.tick(now);
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
            self.ship(self.ticked, newly);
        }
        (unsent, busy.len() as u64)
    }
}
