//! When the event loop wakes for what is due: exactly then, or at the multiples of a quantum. Every wake-up costs some twenty
//! microseconds of a core that the database may need; a quantum lets one serve several operations, and makes them late.

use crate::merged::Greatest;
use crate::plan::{Pacing, Quantum};
use crate::recorder::{Buckets, SECOND};
use crate::summary::{LagFacts, PacingFacts};

/// Bounds of a quantum that is chosen here, ns.
const FINEST_NS: u64 = 50_000;
const COARSEST_NS: u64 = 1_000_000;
/// An operation is late by half a quantum at the median: this many quanta in a median response keep lateness below 5 % of it.
const QUANTA_IN_RESPONSE: u64 = 10;
/// The one answer that is in flight may lie unread for so long, ns: bounded, so that the end of its connection is seen.
const LINGER_NS: u64 = 1_000_000;
/// Responses from which a median is taken.
const ENOUGH: u64 = 100;
/// The first look at them comes so soon, ns; the second after twice that time, and so on up to a second: what a phase begins
/// with costs a busy server little that way.
const FIRST_LOOK_NS: u64 = SECOND / 32;

/// Decides when to wake.
pub struct Pacer {
    asked: Pacing,
    start_ns: u64,
    quantum_ns: u64,
    responses: Buckets<7>,
    count: u64,
    next_look_ns: u64,
    looks_every_ns: u64,
    /// (second, quantum from then on, ns).
    changes: Vec<(u64, u64)>,
}

impl Pacer {
    /// For a phase that starts at `start_ns`.
    pub fn new(asked: Pacing, start_ns: u64) -> Self {
        let quantum_ns = match asked.quantum_us {
            Quantum::Exact => 0,
            Quantum::Auto => FINEST_NS,
            Quantum::Microseconds(us) => us * 1000,
        };
        Self {
            asked,
            start_ns,
            quantum_ns,
            responses: Buckets::default(),
            count: 0,
            next_look_ns: start_ns + FIRST_LOOK_NS,
            looks_every_ns: FIRST_LOOK_NS,
            changes: vec![(0, quantum_ns)],
        }
    }

    /// When to wake for what is due at `due_ns`.
    #[inline]
    pub fn wakes_at(&self, due_ns: u64) -> u64 {
        if self.quantum_ns == 0 {
            return due_ns;
        }
        let since = due_ns.saturating_sub(self.start_ns);
        self.start_ns + since.div_ceil(self.quantum_ns) * self.quantum_ns
    }

    /// Until when answers, which the kernel stamps, may lie unread, ns, if there is nothing to do before `until_ns`; none: they
    /// must wake the loop. A read has one stamp, so that answers which are read together have the last one's: where several may
    /// come (of operations `in_flight`, or of requests `unanswered`, those that were given up included) they lie there for a
    /// quantum at most, and are told too late by no more than that.
    pub fn sleeps_until(
        &self,
        now_ns: u64,
        until_ns: u64,
        in_flight: usize,
        unanswered: usize,
    ) -> Option<u64> {
        if self.quantum_ns == 0 {
            return None;
        }
        match in_flight {
            0 => Some(until_ns),
            1 if unanswered <= 1 => Some(until_ns.min(now_ns + LINGER_NS)),
            _ => (until_ns - now_ns <= self.quantum_ns).then_some(until_ns),
        }
    }

    /// An operation due at `due_ns` was done at `done_ns`.
    #[inline]
    pub fn responded(&mut self, due_ns: u64, done_ns: u64) {
        if self.asked.quantum_us != Quantum::Auto {
            return;
        }
        self.responses.record(done_ns.saturating_sub(due_ns));
        self.count += 1;
        if done_ns >= self.next_look_ns {
            self.choose(done_ns);
        }
    }

    /// The coarsest quantum by which operations are late by less than 5 % of the median response so far.
    fn choose(&mut self, now_ns: u64) {
        self.looks_every_ns = SECOND.min(self.looks_every_ns * 2);
        self.next_look_ns = now_ns + self.looks_every_ns;
        if self.count < ENOUGH {
            return;
        }
        let median = self.responses.value_at_quantile(0.5);
        let quantum_ns = (median / QUANTA_IN_RESPONSE).clamp(FINEST_NS, COARSEST_NS);
        if quantum_ns != self.quantum_ns {
            self.quantum_ns = quantum_ns;
            self.changes
                .push(((now_ns - self.start_ns) / SECOND, quantum_ns));
        }
    }

    /// What the summary says of it, after so many `turns`.
    pub fn facts(&self, turns: u64, lag: Option<LagFacts>) -> PacingFacts {
        let us = |ns: u64| ns as f64 / 1000.0;
        PacingFacts {
            asked: self.asked.quantum_us.into(),
            quantum_us: Greatest(us(self.quantum_ns)),
            quanta_us: self
                .changes
                .iter()
                .map(|(second, ns)| (*second, us(*ns)))
                .collect::<Vec<_>>()
                .into(),
            realtime: self.asked.realtime.into(),
            turns,
            lag,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1000;

    fn pacer(quantum_us: Quantum) -> Pacer {
        Pacer::new(
            Pacing {
                quantum_us,
                ..Pacing::default()
            },
            7,
        )
    }

    /// The quantum after a second of responses of `us`.
    fn chosen(us: u64) -> u64 {
        let mut pacer = pacer(Quantum::Auto);
        for number in 0..=3 * ENOUGH {
            let due = 7 + number * SECOND / ENOUGH;
            pacer.responded(due, due + us * US);
        }
        pacer.quantum_ns
    }

    #[test]
    fn exact_wakes_when_it_is_due_and_a_quantum_at_its_next_multiple() {
        assert_eq!(pacer(Quantum::Exact).wakes_at(12_345), 12_345);
        let quantum = pacer(Quantum::Microseconds(100));
        assert_eq!(quantum.wakes_at(8), 100 * US + 7);
        assert_eq!(quantum.wakes_at(100 * US + 7), 100 * US + 7);
        assert_eq!(quantum.wakes_at(100 * US + 8), 200 * US + 7);
    }

    #[test]
    fn lateness_stays_below_a_twentieth_of_the_median_response_between_its_bounds() {
        assert_eq!(chosen(100), FINEST_NS);
        assert_eq!(chosen(100_000), COARSEST_NS);
        let quantum = chosen(4000);
        assert!((395 * US..=405 * US).contains(&quantum), "{quantum}");
        // Evenly spread over a quantum, half of all are late by less than its half.
        assert!(quantum / 2 <= 4000 * US / 20 + 3 * US);
    }

    #[test]
    fn a_busy_phase_need_not_wait_a_second_for_its_quantum() {
        let mut pacer = pacer(Quantum::Auto);
        for number in 0..=4 * ENOUGH {
            let due = 7 + number * FIRST_LOOK_NS / ENOUGH;
            pacer.responded(due, due + 5000 * US);
        }
        assert!(pacer.quantum_ns > 490 * US, "{}", pacer.quantum_ns);
    }

    #[test]
    fn several_answers_lie_unread_for_a_quantum_at_most() {
        let quantum = pacer(Quantum::Microseconds(100));
        let (now, until) = (7, 7 + 5000 * US);
        let linger = now + LINGER_NS;
        assert_eq!(quantum.sleeps_until(now, until, 0, 0), Some(until));
        assert_eq!(quantum.sleeps_until(now, until, 1, 1), Some(linger));
        assert_eq!(quantum.sleeps_until(now, now + 10, 1, 1), Some(now + 10));
        assert_eq!(quantum.sleeps_until(now, until, 2, 2), None);
        let next = now + 100 * US;
        assert_eq!(quantum.sleeps_until(now, next, 2, 2), Some(next));
        assert_eq!(quantum.sleeps_until(now, next + 1, 2, 2), None);
        let exact = pacer(Quantum::Exact);
        assert_eq!(exact.sleeps_until(now, until, 1, 1), None);
    }

    #[test]
    fn the_answer_to_a_request_that_was_given_up_is_one_of_several() {
        let quantum = pacer(Quantum::Microseconds(100));
        let (now, until) = (7, 7 + 5000 * US);
        assert_eq!(quantum.sleeps_until(now, until, 1, 2), None);
        let next = now + 100 * US;
        assert_eq!(quantum.sleeps_until(now, next, 1, 2), Some(next));
        assert_eq!(quantum.sleeps_until(now, until, 0, 2), Some(until));
    }

    #[test]
    fn every_change_is_told_with_its_second() {
        let mut pacer = pacer(Quantum::Auto);
        for number in 0..=3 * ENOUGH {
            let due = 7 + number * SECOND / ENOUGH;
            pacer.responded(due, due + 2000 * US);
        }
        let facts = pacer.facts(5, None);
        assert_eq!((facts.asked, facts.turns), (Quantum::Auto.into(), 5));
        let changes = facts.quanta_us.0.expect("changes");
        assert_eq!((changes.len(), changes[0], changes[1].0), (2, (0, 50.0), 1));
        assert!((facts.quantum_us.0 - changes[1].1).abs() < 1e-9);
    }
}
