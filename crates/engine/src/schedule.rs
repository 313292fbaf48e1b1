//! When operations are due: a pure sequence of absolute times. Nothing here sleeps; only the timer waits.
//!
//! Arrivals are a unit process (operation i at position i, or at the sum of i exponential gaps) mapped through the integral
//! of the rate. A change of rate adds a segment, so every engine that is told the same change computes the same times.

use crate::generate::random::{Draw, Stream};
use crate::plan::Arrivals;

/// A stretch of constant rate.
#[derive(Debug, Clone, Copy)]
struct Segment {
    from_ns: u64,
    position: f64,
    per_ns: f64,
}

/// The due times of one phase, walked in increasing order of operation index (number - first).
#[derive(Debug, Clone)]
pub struct Schedule {
    seed: u64,
    poisson: bool,
    segments: Vec<Segment>,
    /// The next index whose gap has not been added to `position` yet, and the position so far (Poisson).
    walked: u64,
    position: f64,
}

impl Schedule {
    /// The schedule of `arrivals` from `start_ns`; None for a closed loop, where due = started.
    pub fn new(seed: u64, arrivals: Arrivals, start_ns: u64) -> Option<Self> {
        let (rate, poisson) = match arrivals {
            Arrivals::Closed => return None,
            Arrivals::Constant { rate } => (rate, false),
            Arrivals::Poisson { rate } => (rate, true),
        };
        let first = Segment {
            from_ns: start_ns,
            position: 0.0,
            per_ns: rate / 1e9,
        };
        Some(Self {
            seed,
            poisson,
            segments: vec![first],
            walked: 0,
            position: 0.0,
        })
    }

    /// Operations per second in force at the end of the segments known so far.
    pub fn rate(&self) -> f64 {
        self.segments.last().map_or(0.0, |s| s.per_ns * 1e9)
    }

    /// Change the rate from `at_ns` on (not before the last change).
    pub fn set_rate(&mut self, at_ns: u64, rate: f64) {
        let last = self.segments[self.segments.len() - 1];
        let from_ns = at_ns.max(last.from_ns);
        let position = (from_ns - last.from_ns) as f64 * last.per_ns + last.position;
        self.segments.push(Segment {
            from_ns,
            position,
            per_ns: rate / 1e9,
        });
    }

    /// Due time, in ns, of operation `index`; indices must not decrease from call to call.
    pub fn due(&mut self, index: u64) -> u64 {
        if !self.poisson {
            return self.time_of(index as f64);
        }
        while self.walked <= index {
            let unit = Draw::new(self.seed, Stream::Arrival, self.walked).unit_f64();
            self.position -= (1.0 - unit).ln();
            self.walked += 1;
        }
        self.time_of(self.position)
    }

    /// The absolute time at which the unit process reaches `position`.
    fn time_of(&self, position: f64) -> u64 {
        let segment = self
            .segments
            .iter()
            .rev()
            .find(|s| s.position <= position)
            .unwrap_or(&self.segments[0]);
        segment.from_ns + ((position - segment.position) / segment.per_ns).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_are_evenly_spaced() {
        let mut s = Schedule::new(1, Arrivals::Constant { rate: 1000.0 }, 5_000).unwrap();
        assert_eq!(
            (0..4).map(|i| s.due(i)).collect::<Vec<_>>(),
            [5_000, 1_005_000, 2_005_000, 3_005_000]
        );
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        assert!(Schedule::new(1, Arrivals::Closed, 0).is_none());
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let mut s = Schedule::new(7, Arrivals::Poisson { rate: 10_000.0 }, 0).unwrap();
        let due: Vec<f64> = (0..200_000).map(|i| s.due(i) as f64).collect();
        let gaps: Vec<f64> = due.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "mean gap {mean}");
        assert!(
            (var.sqrt() / mean - 1.0).abs() < 0.02,
            "coefficient of variation {}",
            var.sqrt() / mean
        );
    }

    #[test]
    fn strided_engines_make_the_same_times_as_one() {
        let one = Schedule::new(7, Arrivals::Poisson { rate: 500.0 }, 9).unwrap();
        let (mut all, mut even, mut odd) = (one.clone(), one.clone(), one);
        for i in 0..1000 {
            let of_two = if i % 2 == 0 { even.due(i) } else { odd.due(i) };
            assert_eq!(all.due(i), of_two);
        }
    }

    #[test]
    fn a_change_of_rate_moves_only_what_comes_after() {
        let mut s = Schedule::new(1, Arrivals::Constant { rate: 1000.0 }, 0).unwrap();
        s.set_rate(10_000_000, 2000.0);
        assert_eq!(s.due(9), 9_000_000);
        assert_eq!(s.due(10), 10_000_000);
        assert_eq!(s.due(12), 11_000_000);
    }
}
