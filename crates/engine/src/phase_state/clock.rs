//! Timestamps of writes: strictly increasing over all phases of a run, as near to the time as that allows.

use crate::clock::{monotonic_ns, realtime_ns};

/// Gives each operation its timestamp.
#[derive(Debug, Clone, Copy)]
pub struct WriteClock {
    /// CLOCK_REALTIME - CLOCK_MONOTONIC, us.
    offset_us: i64,
    /// The database's unit of timestamps, us.
    grain_us: i64,
    last_us: i64,
    /// The first number with the newest timestamp in the database's unit ...
    peer: u64,
    /// ... and where that ends, us.
    peers_until: i64,
}

impl WriteClock {
    /// Of a database whose timestamps have this unit in us, with `offset_us` from monotonic to real time.
    pub const fn new(grain_us: i64, offset_us: i64) -> Self {
        Self {
            offset_us,
            grain_us,
            last_us: 0,
            peer: 0,
            peers_until: 0,
        }
    }

    /// In real time.
    pub fn real(grain_us: i64) -> Self {
        let offset_us = (realtime_ns() as i64 - monotonic_ns() as i64) / 1000;
        Self::new(grain_us, offset_us)
    }

    /// Operation numbers begin anew with a phase: none of an earlier one is a peer.
    pub const fn begin_phase(&mut self) {
        self.peers_until = self.end_of_grain(self.last_us);
        self.last_us = self.peers_until - 1;
    }

    /// The timestamp in us of operation `number`, claimed at `now` ns, and the lowest number whose write has the same one in
    /// the database's unit.
    #[inline]
    pub fn next(&mut self, now: u64, number: u64) -> (i64, u64) {
        self.last_us = (now as i64 / 1000 + self.offset_us).max(self.last_us + 1);
        if self.last_us >= self.peers_until {
            self.peer = number;
            self.peers_until = self.end_of_grain(self.last_us);
        }
        (self.last_us, self.peer)
    }

    /// The first time that differs from `us` in the database's unit.
    #[inline]
    const fn end_of_grain(&self, us: i64) -> i64 {
        match self.grain_us {
            1 => us + 1, // the common one, and each operation would wait for a division
            grain => us - us % grain + grain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_go_on_where_the_phase_before_has_ended_however_fast_it_wrote() {
        let mut clock = WriteClock::new(1, 0);
        let last = (0..5000).map(|n| clock.next(1_000_000, n).0).last();
        assert_eq!(last, Some(1000 + 4999));
        clock.begin_phase();
        let (first, peer) = clock.next(2_000_000, 0);
        assert!(
            first > 5999,
            "{first} would lose against what was written before"
        );
        assert_eq!(peer, 0);
    }

    #[test]
    fn writes_of_two_phases_are_never_peers() {
        let mut clock = WriteClock::new(1000, 0);
        assert_eq!(clock.next(10_100_000, 7), (10_100, 7));
        clock.begin_phase();
        let (us, peer) = clock.next(10_200_000, 0);
        assert_eq!((us / 1000, peer), (11, 0));
    }
}
