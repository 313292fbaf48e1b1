//! The series: a row for each second of a phase, of one engine or of several together.

use crate::client_state::ClientState;
use crate::distribution::Distribution;
use crate::merged::{Greatest, Merge, Same, merged};
use crate::recorder::TENTHS;
use crate::summary::{Counts, LagFacts, Saturation, Views};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

merged! {
    /// A second.
    pub struct Row {
        /// Seconds since the phase's start.
        pub second: Same<u64>,
        /// Its start, CLOCK_MONOTONIC ns.
        pub t_ns: Same<u64>,
        /// Operations that fell due in it; in a closed loop that were started.
        pub due: u64,
        /// Started in it.
        pub started: u64,
        /// Done in it.
        pub done: u64,
        /// Of those, successes.
        pub ok: u64,
        /// Of those, failures by kind.
        pub failed: Counts,
        /// Done in each tenth of it.
        pub tenths: [u64; TENTHS],
        /// Most claimed and not done.
        pub in_flight: u64,
        /// Most written and not answered; null where the driver has no sockets.
        pub on_wire: Option<u64>,
        /// Due and not started at its end.
        pub backlog: u64,
        /// CPU of the engine, ns.
        pub cpu_ns: u64,
        /// How long the engine's threads waited to run, ns of all together.
        pub run_wait_ns: u64,
        /// How often the loop's lateness was looked at.
        pub late_count: u64,
        /// Its sum, ns.
        pub late_sum_ns: u64,
        /// Its greatest, ns.
        pub late_max_ns: Greatest<u64>,
        /// How long answers that were read in it had lain unread; null where none of them had a stamp.
        pub lag: Option<LagFacts>,
        /// Whether the load was kept, and if not by whose fault.
        pub client: Greatest<ClientState>,
        /// Judgements in it.
        pub verdicts: VerdictCounts,
        /// What each coordinator did in it, by `address:port`.
        pub coordinators: BTreeMap<String, Coordinator>,
        /// Distributions of each operation that was due in it.
        pub ops: BTreeMap<String, RowOperation>,
    }

    /// Judgements in a second.
    pub struct VerdictCounts {
        /// Reads that missed an acknowledged write.
        pub stale: u64,
        /// Acknowledged records that were not found.
        pub lost: u64,
        /// Reads of records that were not acknowledged yet.
        pub not_yet: u64,
        /// Values that do not fit their own header.
        pub corrupt: u64,
        /// Values of another key, field or seed.
        pub foreign: u64,
    }

    /// Attempts of a coordinator in a second.
    pub struct Coordinator {
        /// All.
        pub attempts: u64,
        /// Successes; an absence is an answer, and one of them.
        pub ok: u64,
        /// Failures by kind.
        pub failed: Counts,
        /// Service times of all attempts; found anew in the histograms of the whole.
        pub service: Service,
    }

    /// One operation in a second.
    pub struct RowOperation {
        /// Attempts of all kinds that were due in it.
        pub count: u64,
        /// Distributions.
        #[serde(flatten)]
        pub views: Views,
    }
}

/// Mean and 99 % of service times, ns; no part's make a whole's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Mean.
    pub mean_ns: f64,
    /// 99 %.
    pub p99_ns: u64,
}

impl Merge for Service {
    fn merge(&mut self, _: &Self) {
        *self = Self::default();
    }
}

impl From<&Distribution> for Service {
    fn from(found: &Distribution) -> Self {
        Self {
            mean_ns: found.mean_ns,
            p99_ns: found.p99_ns,
        }
    }
}

impl Saturation {
    /// A second of the whole has passed.
    pub fn note(&mut self, row: &Row) {
        match row.client.0 {
            ClientState::Kept => {}
            ClientState::CapReached => self.seconds_cap_reached += 1,
            ClientState::Saturated => self.seconds_saturated += 1,
            ClientState::Starved => self.seconds_starved += 1,
        }
        self.max_backlog = self.max_backlog.max(row.backlog);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(client: ClientState, backlog: u64) -> Row {
        Row {
            second: 3.into(),
            done: 10,
            backlog,
            client: Greatest(client),
            late_max_ns: Greatest(backlog),
            coordinators: BTreeMap::from([(
                format!("n{}", backlog % 2),
                Coordinator {
                    attempts: backlog,
                    ..Coordinator::default()
                },
            )]),
            ..Row::default()
        }
    }

    #[test]
    fn a_second_of_several_engines_is_one_whose_backlogs_add_up() {
        let mut whole = Row::default();
        for part in [
            row(ClientState::CapReached, 7),
            row(ClientState::Starved, 5),
            row(ClientState::Kept, 4),
        ] {
            whole.merge(&part);
        }
        assert_eq!(
            (whole.second.0, whole.done, whole.backlog),
            (Some(3), 30, 16)
        );
        assert_eq!(
            (whole.client.0, whole.late_max_ns.0),
            (ClientState::Starved, 7)
        );
        assert_eq!(whole.coordinators["n1"].attempts, 12);
        let mut counted = Saturation::default();
        counted.note(&whole);
        counted.note(&row(ClientState::Kept, 3));
        assert_eq!(
            (
                counted.seconds_starved,
                counted.seconds_cap_reached,
                counted.max_backlog
            ),
            (1, 0, 16)
        );
    }

    #[test]
    fn a_row_that_is_written_is_read_again() {
        let row = row(ClientState::Saturated, 3);
        let text = serde_json::to_string(&row).expect("it is JSON");
        assert!(text.contains(r#""client":"saturated""#), "{text}");
        assert_eq!(serde_json::from_str::<Row>(&text).expect("a row"), row);
    }
}
