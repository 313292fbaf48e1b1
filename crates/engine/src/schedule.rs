//! When operations are due: a pure sequence of absolute times. Nothing here sleeps; only the timer waits.
//!
//! Arrivals are a unit process (operation i at position i, or at the sum of i exponential gaps) mapped through the integral
//! of the rate, which is a line between the points of its curve. Every engine that is told the same curve and the same
//! changes computes the same times.

use crate::generate::random::{Draw, Stream};
use crate::plan::{Arrivals, Rate};

/// A due time that never comes: the rate is zero from there on.
pub const NEVER: u64 = u64::MAX;

/// A stretch in which the rate is a straight line.
#[derive(Debug, Clone, Copy)]
struct Segment {
    from_ns: u64,
    /// Integral of the rate up to its start: operations.
    position: f64,
    /// Operations per ns at its start.
    per_ns: f64,
    /// How much that grows with each ns.
    slope: f64,
}

impl Segment {
    /// Operations from its start until `ns` later.
    fn gained(&self, ns: f64) -> f64 {
        (self.per_ns + self.slope * ns / 2.0) * ns
    }

    /// After how many ns `gain` operations have been gained; None if they never are.
    fn after(&self, gain: f64) -> Option<f64> {
        if gain <= 0.0 && (self.per_ns > 0.0 || self.slope > 0.0) {
            return Some(0.0);
        }
        // The root of slope/2 t^2 + per_ns t = gain that loses no digits where the slope is nearly none.
        let inside = (self.per_ns * self.per_ns + 2.0 * self.slope * gain).max(0.0);
        let divisor = self.per_ns + inside.sqrt();
        (divisor > 0.0).then(|| 2.0 * gain / divisor)
    }
}

/// The due times of one phase, walked in increasing order of operation index (number - first).
#[derive(Debug, Clone)]
pub struct Schedule {
    seed: u64,
    poisson: bool,
    segments: Vec<Segment>,
    /// When the last change by command was made, ns: what was due before stays.
    changed_ns: u64,
    /// The next index whose gap has not been added to `position` yet, and the position so far (Poisson).
    walked: u64,
    position: f64,
}

impl Schedule {
    /// The schedule of `arrivals` from `start_ns`; None for a closed loop, where due = started.
    pub fn new(seed: u64, arrivals: &Arrivals, start_ns: u64) -> Option<Self> {
        let (rate, poisson) = match arrivals {
            Arrivals::Closed => return None,
            Arrivals::Constant { rate } => (rate, false),
            Arrivals::Poisson { rate } => (rate, true),
        };
        Some(Self {
            seed,
            poisson,
            segments: segments(rate, start_ns),
            changed_ns: start_ns,
            walked: 0,
            position: 0.0,
        })
    }

    /// From `at_ns` on (not before the last change) the rate is `rate`, whatever the curve says; 0 pauses.
    pub fn set_rate(&mut self, at_ns: u64, rate: f64) {
        let at_ns = at_ns.max(self.changed_ns);
        self.changed_ns = at_ns;
        let mut position = 0.0;
        while let Some(last) = self.segments.last() {
            if last.from_ns <= at_ns {
                position = last.position + last.gained((at_ns - last.from_ns) as f64);
                break;
            }
            self.segments.pop();
        }
        self.segments.push(Segment {
            from_ns: at_ns,
            position,
            per_ns: rate / 1e9,
            slope: 0.0,
        });
    }

    /// Due time, in ns, of operation `index`; indices must not decrease from call to call. [`NEVER`] where the rate stays 0.
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

    /// Due time of any operation where it depends on no other's, that is, of evenly spaced ones.
    pub fn due_alone(&self, index: u64) -> Option<u64> {
        (!self.poisson).then(|| self.time_of(index as f64))
    }

    /// The absolute time at which the unit process reaches `position`.
    fn time_of(&self, position: f64) -> u64 {
        let found = self.segments.iter().rev().find(|s| s.position <= position);
        let segment = found.unwrap_or(&self.segments[0]);
        let after = segment.after(position - segment.position);
        after.map_or(NEVER, |ns| segment.from_ns + ns.round() as u64)
    }
}

/// The stretches of a curve; after its last point the rate stays.
fn segments(rate: &Rate, start_ns: u64) -> Vec<Segment> {
    let points = rate.points();
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    let mut made: Vec<Segment> = Vec::with_capacity(points.len());
    let mut position = 0.0;
    for (at, point) in points.iter().enumerate() {
        let (from_ns, per_ns) = (ns(point.0), point.1 / 1e9);
        let next = points.get(at + 1);
        let length = next.map_or(0, |next| ns(next.0) - from_ns);
        let slope = match next {
            Some(next) if length > 0 => (next.1 / 1e9 - per_ns) / length as f64,
            Some(_) => continue, // a step: the next point begins at the same time
            None => 0.0,
        };
        let segment = Segment {
            from_ns: start_ns + from_ns,
            position,
            per_ns,
            slope,
        };
        position += segment.gained(length as f64);
        made.push(segment);
    }
    made
}

#[cfg(test)]
mod tests;
