//! Whether a second's load was kept, and if not whose fault that was: the client's, for want of CPU or of speed, or the server's.
//!
//! Operations in flight are no proof against the server: a client that is late claims what is due, and what it has claimed and
//! not sent, or what was answered and not read, is in flight as well.

use serde::{Deserialize, Serialize};
use std::fs;

/// A backlog below this share of a second's operations is the granularity of the tick, not lateness.
const BACKLOG_SHARE: f64 = 0.01;
/// As few operations are never a backlog.
const BACKLOG_LEAST: f64 = 10.0;
/// Threads that waited this share of a second for a processor did not have what they needed.
const WAITED_SHARE: f64 = 0.1;
/// Lateness of the loop that makes up this share of the mean response changes what is measured.
const LATE_SHARE: f64 = 0.1;
/// What the thread of the event loop is called.
pub const EVENT_LOOP: &str = "event-loop";
/// The cap is the server's doing when this share of it is on the wire ...
const WIRE_SHARE: f64 = 0.5;
/// ... or when the loop, which was not late, ran for less than this share of the second: the others pause between two attempts, or
/// wait to learn which server has their region now.
const IDLE_SHARE: f64 = 0.5;

/// What one second of an engine says of its client. The worst comes last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientState {
    /// What was due was sent.
    #[default]
    Kept,
    /// Operations wait while as many as allowed are with the server: the server is slow.
    CapReached,
    /// Operations wait although more were allowed, and the engine's threads had a processor: the client is slow.
    Saturated,
    /// The engine's threads waited for a processor, and operations were late by that, or wait no longer than that: nothing is said
    /// about the server.
    Starved,
}

/// What is known of a second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Second {
    /// Operations that fell due.
    pub due: u64,
    /// Due and not claimed at its end.
    pub backlog: u64,
    /// It began when the phase's time was over: what is unsent stays so, whoever made it late.
    pub over: bool,
    /// Most claimed and not done.
    pub in_flight: u64,
    /// Most written and not answered; None where nobody knows.
    pub on_wire: Option<u64>,
    /// Most that may be in flight.
    pub cap: u64,
    /// How long the thread of the loop waited to run, ns. Of a driver whose calls block it says nothing: 0.
    pub loop_wait_ns: u64,
    /// How long it ran, ns. None of a driver whose calls block, or where nobody tells.
    pub loop_ran_ns: Option<u64>,
    /// Mean lateness of the loop, ns.
    pub late_mean_ns: f64,
    /// Mean response of what was done, ns; where nothing was, a second: what was in flight took as long at least.
    pub response_mean_ns: f64,
}

impl Second {
    /// Whose fault it was, if any.
    pub fn judge(&self) -> ClientState {
        if self.over {
            return ClientState::Kept;
        }
        let backlogged = self.backlog as f64 > (self.due as f64 * BACKLOG_SHARE).max(BACKLOG_LEAST);
        let waited = self.loop_wait_ns as f64 >= WAITED_SHARE * 1e9;
        let late = self.late_mean_ns > LATE_SHARE * self.response_mean_ns;
        if waited && (backlogged || late) {
            return ClientState::Starved;
        }
        if !backlogged {
            return ClientState::Kept;
        }
        let with_server = self.on_wire.unwrap_or(self.in_flight) as f64;
        let idle = !late && (self.loop_ran_ns).is_some_and(|ran| (ran as f64) < IDLE_SHARE * 1e9);
        if self.in_flight >= self.cap && (idle || with_server >= WIRE_SHARE * self.cap as f64) {
            ClientState::CapReached
        } else if self.waited_as_long_as_the_backlog_is_old() {
            ClientState::Starved
        } else {
            ClientState::Saturated
        }
    }

    /// A short wait at the second's edge leaves a backlog, too, and it is none of the client's speed.
    fn waited_as_long_as_the_backlog_is_old(&self) -> bool {
        self.due > 0 && self.loop_wait_ns as f64 >= self.backlog as f64 / self.due as f64 * 1e9
    }
}

/// How long threads of this process have run, and waited to run (the scheduler's run delay), ns. 0 where /proc does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// All that are there waited.
    pub waited_ns: u64,
    /// The event loop's thread waited; 0 where a driver's clients are threads.
    pub loop_waited_ns: u64,
    /// It ran; None where there is none, or /proc does not tell.
    pub loop_ran_ns: Option<u64>,
}

impl Scheduled {
    /// So far.
    pub fn now() -> Self {
        let mut found = Self::default();
        for thread in fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten()
        {
            let told = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            let mut numbers = told.split(' ').map_while(|number| number.parse().ok());
            let (ran, waited) = (numbers.next(), numbers.next().unwrap_or(0));
            found.waited_ns += waited;
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            if name.trim_end() == EVENT_LOOP {
                (found.loop_ran_ns, found.loop_waited_ns) = (ran, waited);
            }
        }
        found
    }

    /// Since `before`. (Of threads that have ended nothing is told any more.)
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let earlier = before.loop_ran_ns.unwrap_or(0);
        Self {
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            loop_waited_ns: self.loop_waited_ns.saturating_sub(before.loop_waited_ns),
            loop_ran_ns: self.loop_ran_ns.and_then(|ran| ran.checked_sub(earlier)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    /// A second of 1000/s with a cap of 100 that was kept.
    fn kept() -> Second {
        Second {
            due: 1000,
            backlog: 0,
            over: false,
            in_flight: 5,
            on_wire: Some(5),
            cap: 100,
            loop_wait_ns: 2_000_000,
            loop_ran_ns: Some(950_000_000),
            late_mean_ns: 0.05 * MS,
            response_mean_ns: MS,
        }
    }

    #[test]
    fn a_second_that_was_kept_is_nobodys_fault() {
        assert_eq!(kept().judge(), ClientState::Kept);
        let grain = Second {
            backlog: 10,
            ..kept()
        };
        assert_eq!(grain.judge(), ClientState::Kept, "the grain of a tick");
        let shared = Second {
            loop_wait_ns: 300_000_000,
            ..kept()
        };
        assert_eq!(
            shared.judge(),
            ClientState::Kept,
            "it waited and was not late by it"
        );
    }

    #[test]
    fn a_full_cap_is_the_servers_doing_only_if_it_is_on_the_wire() {
        let full = Second {
            backlog: 500,
            in_flight: 100,
            on_wire: Some(100),
            ..kept()
        };
        assert_eq!(full.judge(), ClientState::CapReached);
        let unsent = Second {
            on_wire: Some(3),
            ..full
        };
        assert_eq!(
            unsent.judge(),
            ClientState::Saturated,
            "claimed and not written"
        );
        let unknown = Second {
            on_wire: None,
            ..full
        };
        assert_eq!(
            unknown.judge(),
            ClientState::CapReached,
            "no sockets: as claimed"
        );
        let room = Second {
            in_flight: 40,
            on_wire: Some(40),
            ..full
        };
        assert_eq!(room.judge(), ClientState::Saturated);
    }

    #[test]
    fn a_full_cap_is_the_servers_doing_while_the_loop_has_nothing_to_do() {
        let moved = Second {
            backlog: 500,
            in_flight: 100,
            on_wire: Some(3), // the others pause before another attempt
            loop_ran_ns: Some(50_000_000),
            ..kept()
        };
        assert_eq!(moved.judge(), ClientState::CapReached);
        let others = [
            (
                Second {
                    late_mean_ns: 0.4 * MS,
                    ..moved
                },
                "it was late",
            ),
            (
                Second {
                    loop_ran_ns: Some(600_000_000),
                    ..moved
                },
                "it was busy",
            ),
            (
                Second {
                    loop_ran_ns: None,
                    ..moved
                },
                "nobody knows",
            ),
            (
                Second {
                    in_flight: 99,
                    ..moved
                },
                "more were allowed",
            ),
        ];
        for (second, why) in others {
            assert_eq!(second.judge(), ClientState::Saturated, "{why}");
        }
    }

    #[test]
    fn what_is_unsent_when_the_time_is_over_is_not_the_fault_of_the_seconds_after_it() {
        let tail = Second {
            due: 0,
            backlog: 500,
            in_flight: 40,
            on_wire: Some(40),
            ..kept()
        };
        assert_eq!(tail.judge(), ClientState::Saturated);
        let over = Second { over: true, ..tail };
        assert_eq!(over.judge(), ClientState::Kept);
    }

    #[test]
    fn who_waits_for_a_processor_is_starved_however_full_the_cap_is() {
        let full = Second {
            backlog: 500,
            in_flight: 100,
            on_wire: Some(100),
            loop_wait_ns: 800_000_000,
            ..kept()
        };
        assert_eq!(full.judge(), ClientState::Starved);
        let late = Second {
            loop_wait_ns: 150_000_000,
            late_mean_ns: 0.4 * MS,
            ..kept()
        };
        assert_eq!(
            late.judge(),
            ClientState::Starved,
            "no backlog, but a tenth of the response is ours"
        );
    }

    #[test]
    fn a_backlog_that_is_no_older_than_the_loop_waited_is_no_slow_client() {
        let edge = Second {
            due: 510,
            backlog: 13, // 25 ms old
            loop_wait_ns: 67_000_000,
            ..kept()
        };
        assert_eq!(edge.judge(), ClientState::Starved);
        let had_a_processor = Second {
            loop_wait_ns: 20_000_000,
            ..edge
        };
        assert_eq!(had_a_processor.judge(), ClientState::Saturated);
        let full = Second {
            in_flight: 100,
            on_wire: Some(100),
            ..edge
        };
        assert_eq!(
            full.judge(),
            ClientState::CapReached,
            "the server has all it may have"
        );
    }

    #[test]
    fn threads_that_want_more_processors_than_there_are_wait() {
        let spin = || (0..200_000_000_u64).fold(0, |a, b| std::hint::black_box(a ^ b));
        let before = Scheduled::now();
        let threads: Vec<_> = (0..64).map(|_| std::thread::spawn(spin)).collect();
        // Seen while they run: it is not told of threads that have ended.
        let waited = std::iter::repeat_with(|| Scheduled::now().since(before).waited_ns)
            .find(|ns| *ns > 0 || threads.iter().all(std::thread::JoinHandle::is_finished));
        assert!(waited > Some(0));
    }
}
