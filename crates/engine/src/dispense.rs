//! Hands out operation numbers in order, each when it is due: one shared schedule for all clients of an engine.
//!
//! A pure state machine: it is told the time and answers; waiting is the worker's.

use crate::plan::{EngineShare, Phase};
use crate::recorder::SECOND;
use crate::schedule::Schedule;
use std::collections::VecDeque;

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
    head_due: Option<u64>,
    stopped_at: Option<u64>,
    /// Numbers handed out.
    handed: u64,
    /// The end of the second whose due operations have not been told yet, ns.
    boundary: u64,
    /// How many were due by the end of seconds that a handed number has passed already.
    passed: VecDeque<u64>,
    /// Runs ahead of what is handed out, to count what is due and waits.
    ahead: Option<Lookahead>,
}

/// A walk over due times beyond those handed out.
#[derive(Debug, Clone)]
struct Lookahead {
    schedule: Schedule,
    /// Numbers of this engine walked over, from the phase's first.
    count: u64,
    /// Due time of the one it stands at, if it is known.
    head_due: Option<u64>,
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
        let schedule = Schedule::new(seed, &phase.arrivals, start_ns);
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
            head_due: None,
            stopped_at: None,
            handed: 0,
            boundary: start_ns + SECOND,
            passed: VecDeque::new(),
            ahead: None,
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
        // What was due by the end of a second is known exactly when a number of the next one is handed out.
        while due.is_some_and(|due| due >= self.boundary) {
            self.passed.push_back(self.handed);
            self.boundary += SECOND;
        }
        let number = self.hand_out();
        Next::Go { number, due }
    }

    #[inline]
    fn hand_out(&mut self) -> u64 {
        let number = self.next;
        self.next += u64::from(self.share.count);
        self.handed += 1;
        self.head_due = None;
        number
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
        let Some(schedule) = self.schedule.as_mut() else {
            return false;
        };
        schedule.set_rate(at_ns, rate);
        self.head_due = None;
        if let Some(ahead) = self.ahead.as_mut() {
            ahead.schedule.set_rate(at_ns, rate);
            ahead.head_due = None;
        }
        true
    }

    /// Have the phase's time over at `at_ns`, unless it is sooner.
    pub const fn end_at(&mut self, at_ns: u64) {
        if at_ns < self.end_ns {
            self.end_ns = at_ns;
        }
    }

    /// Hand out nothing more from `now` on.
    pub fn stop(&mut self, now: u64) {
        self.stopped_at.get_or_insert(now);
    }

    /// Whether it was stopped by command, and not by its own limit.
    pub const fn stopped(&self) -> bool {
        self.stopped_at.is_some()
    }

    /// Nothing falls due from then on, ns, as far as time and commands say; nor is anything more handed out.
    pub fn until(&self) -> u64 {
        self.end_ns.min(self.stopped_at.unwrap_or(u64::MAX))
    }

    /// Count what has fallen due up to `now` in the second that is running and waits still, so that little is left to count
    /// at its end: called often, each call walks over what is new only.
    pub fn look_ahead(&mut self, now: u64) {
        if self.passed.is_empty() {
            self.due_before(now.min(self.boundary));
        }
    }

    /// How many operations of this engine have fallen due since the phase's start, up to the end of the next second that was
    /// not asked for; of a stopped phase, up to its end. 0 in a closed loop.
    pub fn due_by_next_second(&mut self) -> u64 {
        if let Some(passed) = self.passed.pop_front() {
            return passed;
        }
        let due = self.due_before(self.boundary);
        self.boundary += SECOND;
        due
    }

    /// The same up to `now`, within a second.
    pub fn due_by(&mut self, now: u64) -> u64 {
        self.due_before(now)
    }

    /// Numbers of this engine that are due before `time`, at least those handed out.
    fn due_before(&mut self, time: u64) -> u64 {
        let until = time.min(self.until());
        let Some(schedule) = self.schedule.as_ref() else {
            return 0;
        };
        let behind = self.ahead.as_ref().is_none_or(|a| a.count < self.handed);
        if behind {
            self.ahead = Some(Lookahead {
                schedule: schedule.clone(),
                count: self.handed,
                head_due: self.head_due,
            });
        }
        let stride = u64::from(self.share.count);
        let most = self.handed + self.limit.saturating_sub(self.next).div_ceil(stride);
        let ahead = self.ahead.as_mut().expect("made above");
        while ahead.count < most {
            let index = self.next - self.first + (ahead.count - self.handed) * stride;
            let due = *ahead
                .head_due
                .get_or_insert_with(|| ahead.schedule.due(index));
            if due >= until {
                break;
            }
            ahead.count += 1;
            ahead.head_due = None;
        }
        ahead.count
    }

    /// When the last operation has fallen due, ns: the time at which the next one would. None while that is not known.
    pub fn offered_until(&mut self) -> Option<u64> {
        let timed = self.until();
        if self.limit == u64::MAX || self.schedule.is_none() {
            return (timed < u64::MAX).then_some(timed);
        }
        let index = self.limit - self.first;
        let last = match (&mut self.schedule, self.ahead.as_mut()) {
            (Some(schedule), _) if schedule.due_alone(index).is_some() => schedule.due_alone(index),
            (Some(schedule), _) if self.next >= self.limit => Some(schedule.clone().due(index)),
            (_, Some(ahead)) if ahead.head_due.is_none() => Some(ahead.schedule.clone().due(index)),
            _ => None,
        };
        last.map(|last| last.min(timed))
            .or((timed < u64::MAX && self.stopped_at.is_some()).then_some(timed))
    }

    /// The next operation (number, due time) that was due before the end and handed to nobody: to be counted as censored.
    pub fn unsent(&mut self, now: u64) -> Option<(u64, u64)> {
        if self.next >= self.limit {
            return None;
        }
        let due = self.head()?;
        if due >= now.min(self.until()) {
            return None;
        }
        Some((self.hand_out(), due))
    }

    /// First number of the phase that this engine has not used.
    pub const fn unused(&self) -> u64 {
        self.next
    }

    /// The `index`th number this engine was handed, counted over its own only: what samples of them go by.
    #[inline]
    pub fn own(&self, number: u64) -> u64 {
        match self.share.count {
            1 => number, // the common case needs no division
            count => number / u64::from(count),
        }
    }

    /// Whether operations have due times.
    pub const fn paced(&self) -> bool {
        self.schedule.is_some()
    }

    /// End of the phase by time, ns; `u64::MAX` without a time limit.
    pub const fn end_ns(&self) -> u64 {
        self.end_ns
    }
}

#[cfg(test)]
mod tests;
