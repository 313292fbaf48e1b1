//! The kernel's receive stamps on our clock.

use crate::clock::{monotonic_ns, realtime_ns};
use crate::recorder::SECOND;

/// Pairs of readings of which the least disturbed is taken.
const READINGS: usize = 3;

/// Turns CLOCK_REALTIME, in which the kernel stamps what it receives, into CLOCK_MONOTONIC. The difference of the two changes
/// when the clock is set or slewed, so that it is measured anew every second.
#[derive(Debug, Default)]
pub struct KernelClock {
    /// CLOCK_REALTIME - CLOCK_MONOTONIC, ns.
    offset_ns: u64,
    measured_ns: u64,
}

impl KernelClock {
    /// The time on CLOCK_MONOTONIC of a stamp that was read at `now_ns`, which it is not after.
    #[inline]
    pub fn monotonic(&mut self, stamp_ns: u64, now_ns: u64) -> u64 {
        if now_ns.saturating_sub(self.measured_ns) >= SECOND {
            self.measure(now_ns);
        }
        stamp_ns.saturating_sub(self.offset_ns).min(now_ns)
    }

    #[cold]
    fn measure(&mut self, now_ns: u64) {
        self.measured_ns = now_ns;
        let mut best = u64::MAX;
        for _ in 0..READINGS {
            let (before, wall, after) = (monotonic_ns(), realtime_ns(), monotonic_ns());
            if after - before < best {
                best = after - before;
                self.offset_ns = wall - (before + best / 2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_told_on_the_clock_that_everything_else_goes_by() {
        let mut clock = KernelClock::default();
        let (before, stamp, after) = (monotonic_ns(), realtime_ns(), monotonic_ns());
        let told = clock.monotonic(stamp, after + SECOND);
        assert!(
            told + 50_000 >= before && told <= after + 50_000,
            "{before} {told} {after}"
        );
        assert_eq!(
            clock.monotonic(stamp + 3 * SECOND, after),
            after,
            "not after it was read"
        );
    }
}
