//! Hands out operation numbers in order, each when it is due: one shared schedule for all clients of an engine.
//!
//! A pure state machine: it is told the time and answers; waiting is the worker's.

use crate::plan::{EngineShare, Phase};
use crate::schedule::Schedule;

/// What a client that asks for work is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Do operation `number`; it was due at `due` ns (None in a closed loop: due = started).
    Go {
        /// Operation number.
        number: u64,
        /// Due time.
        due: Option<u64>,
    },
    /// Nothing is due before this time, ns.
    Wait(u64),
    /// Nothing more will be due.
    End,
}

/// The numbers of one phase that belong to this engine.
#[derive(Debug)]
pub struct Dispenser {
    share: EngineShare,
    first: u64,
    /// This engine's next number.
    next: u64,
    /// First number beyond the phase (over all engines).
    limit: u64,
    end_ns: u64,
    schedule: Option<Schedule>,
    /// Runs ahead of `next` to count what is due but not handed out.
    ahead: Option<(Schedule, u64)>,
    head_due: Option<u64>,
    stopped_at: Option<u64>,
}

impl Dispenser {
    /// From the phase's plan; numbers begin at `first`, time at `start_ns`.
    pub fn new(
        phase: &Phase,
        records: u64,
        share: EngineShare,
        seed: u64,
        first: u64,
        start_ns: u64,
    ) -> Self {
        let count = u64::from(share.count);
        let next = first + (u64::from(share.index) + count - first % count) % count;
        let schedule = Schedule::new(seed, phase.arrivals, start_ns);
        let ahead = schedule.clone().map(|s| (s, next));
        let end_ns = phase
            .limit
            .seconds
            .map_or(u64::MAX, |s| start_ns + (s * 1e9) as u64);
        let limit = phase
            .operations(records)
            .map_or(u64::MAX, |n| first.saturating_add(n));
        Self {
            share,
            first,
            next,
            limit,
            end_ns,
            schedule,
            ahead,
            head_due: None,
            stopped_at: None,
        }
    }

    /// What to do now. In a closed loop `now` may be the last time read.
    #[inline]
    pub fn next(&mut self, now: u64) -> Next {
        if self.ended(now) {
            return Next::End;
        }
        let due = match self.head() {
            None => None,
            Some(due) if due >= self.end_ns => return Next::Wait(self.end_ns),
            Some(due) if due > now => return Next::Wait(due),
            some => some,
        };
        let number = self.next;
        self.next += u64::from(self.share.count);
        self.head_due = None;
        Next::Go { number, due }
    }

    /// Whether nothing more will be handed out.
    #[inline]
    pub fn ended(&self, now: u64) -> bool {
        self.stopped_at.is_some() || self.next >= self.limit || now >= self.end_ns
    }

    /// Due time of the number at the head, ns; None in a closed loop.
    #[inline]
    pub fn head(&mut self) -> Option<u64> {
        let schedule = self.schedule.as_mut()?;
        let index = self.next - self.first;
        Some(*self.head_due.get_or_insert_with(|| schedule.due(index)))
    }

    /// Change the target rate from `at_ns` on; false in a closed loop.
    pub fn set_rate(&mut self, at_ns: u64, rate: f64) -> bool {
        let (Some(schedule), Some((ahead, _))) = (self.schedule.as_mut(), self.ahead.as_mut())
        else {
            return false;
        };
        schedule.set_rate(at_ns, rate);
        ahead.set_rate(at_ns, rate);
        self.head_due = None;
        true
    }

    /// Hand out nothing more from `now` on.
    pub fn stop(&mut self, now: u64) {
        self.stopped_at.get_or_insert(now);
    }

    /// Whether it was stopped by command, and not by its own limit.
    pub const fn stopped(&self) -> bool {
        self.stopped_at.is_some()
    }

    /// The due times that have passed up to `now` (or the end) and were not reported by an earlier call.
    pub fn newly_due(&mut self, now: u64, mut each: impl FnMut(u64)) {
        let until = now
            .min(self.end_ns)
            .min(self.stopped_at.unwrap_or(u64::MAX));
        let Some((schedule, next)) = self.ahead.as_mut() else {
            return;
        };
        while *next < self.limit {
            let due = schedule.due(*next - self.first);
            if due >= until {
                break;
            }
            each(due);
            *next += u64::from(self.share.count);
        }
    }

    /// The next operation (number, due time) that was due before the end and handed to nobody: to be counted as censored.
    pub fn unsent(&mut self, now: u64) -> Option<(u64, u64)> {
        let until = now
            .min(self.end_ns)
            .min(self.stopped_at.unwrap_or(u64::MAX));
        let due = if self.next < self.limit {
            self.head()?
        } else {
            return None;
        };
        if due >= until {
            return None;
        }
        let number = self.next;
        self.next += u64::from(self.share.count);
        self.head_due = None;
        Some((number, due))
    }

    /// First number of the phase that this engine has not used.
    pub const fn unused(&self) -> u64 {
        self.next
    }

    /// Whether operations have due times.
    pub const fn paced(&self) -> bool {
        self.schedule.is_some()
    }

    /// Current target rate over all engines, operations per second.
    pub fn rate(&self) -> Option<f64> {
        self.schedule.as_ref().map(Schedule::rate)
    }

    /// End of the phase by time, ns; `u64::MAX` without a time limit.
    pub const fn end_ns(&self) -> u64 {
        self.end_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arrivals, Limit, PhaseKind};

    fn phase(arrivals: Arrivals, operations: Option<u64>, seconds: Option<f64>) -> Phase {
        let limit = Limit {
            operations,
            seconds,
        };
        Phase {
            name: "run".into(),
            kind: PhaseKind::Run,
            in_flight: 1,
            arrivals,
            limit,
            first: 0,
        }
    }

    fn dispenser(phase: &Phase, index: u32, count: u32) -> Dispenser {
        Dispenser::new(phase, 0, EngineShare { index, count }, 1, 10, 1_000)
    }

    #[test]
    fn a_closed_loop_hands_out_at_once_and_ends_at_the_limit() {
        let mut d = dispenser(&phase(Arrivals::Closed, Some(2), None), 0, 1);
        assert_eq!(
            d.next(0),
            Next::Go {
                number: 10,
                due: None
            }
        );
        assert_eq!(
            d.next(0),
            Next::Go {
                number: 11,
                due: None
            }
        );
        assert_eq!(d.next(0), Next::End);
    }

    #[test]
    fn a_load_goes_from_its_first_record_to_the_last() {
        let mut load = phase(Arrivals::Closed, None, None);
        load.kind = PhaseKind::Load;
        load.first = 7;
        let mut d = Dispenser::new(&load, 10, EngineShare::default(), 1, 7, 0);
        let numbers = std::iter::from_fn(|| match d.next(0) {
            Next::Go { number, .. } => Some(number),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn strided_engines_share_the_numbers() {
        let p = phase(Arrivals::Closed, Some(7), None);
        let mut seen: Vec<u64> = Vec::new();
        for index in 0..3 {
            let mut d = dispenser(&p, index, 3);
            while let Next::Go { number, .. } = d.next(0) {
                assert_eq!(number % 3, u64::from(index));
                seen.push(number);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (10..17).collect::<Vec<_>>());
    }

    #[test]
    fn a_paced_operation_waits_for_its_due_time_and_a_late_one_keeps_it() {
        let mut d = dispenser(
            &phase(Arrivals::Constant { rate: 1000.0 }, None, Some(1.0)),
            0,
            1,
        );
        assert_eq!(
            d.next(1_000),
            Next::Go {
                number: 10,
                due: Some(1_000)
            }
        );
        assert_eq!(d.next(1_000), Next::Wait(1_001_000));
        assert_eq!(
            d.next(9_000_000),
            Next::Go {
                number: 11,
                due: Some(1_001_000)
            }
        );
    }

    #[test]
    fn due_and_unsent_operations_are_counted_once() {
        let mut d = dispenser(
            &phase(Arrivals::Constant { rate: 1000.0 }, None, Some(0.01)),
            0,
            1,
        );
        assert!(matches!(d.next(1_000), Next::Go { .. }));
        let mut due = 0;
        d.newly_due(5_002_000, |_| due += 1);
        d.newly_due(u64::MAX, |_| due += 1);
        assert_eq!(due, 10);
        assert_eq!(d.next(20_000_000), Next::End);
        assert_eq!(std::iter::from_fn(|| d.unsent(20_000_000)).count(), 9);
    }

    #[test]
    fn a_new_rate_moves_the_head() {
        let mut d = dispenser(&phase(Arrivals::Constant { rate: 1.0 }, None, None), 0, 1);
        assert!(matches!(d.next(1_000), Next::Go { .. }));
        assert_eq!(d.next(1_000), Next::Wait(1_000_001_000));
        assert!(d.set_rate(1_000, 1000.0));
        assert_eq!(d.next(1_000), Next::Wait(1_001_000));
    }
}
