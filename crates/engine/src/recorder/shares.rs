//! What each coordinator did in a second: what a node that joins or dies does to users is visible only there.

use super::Buckets;
use crate::operation::Outcome;

/// Attempts of one coordinator in one second.
#[derive(Debug, Clone, Default)]
pub struct Share {
    /// Its index in the driver's `coordinators`.
    pub coordinator: u16,
    /// Attempts by how they ended.
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Service times of all of them, as (ns, count).
    pub service: Vec<(u64, u64)>,
}

/// Counts for every coordinator, in the second that is running. Nothing here allocates once a coordinator is known.
#[derive(Default)]
pub struct Shares(Vec<Counted>);

struct Counted {
    outcomes: [u64; Outcome::ALL.len()],
    /// Two digits: shares are compared with each other, not with a limit.
    service: Buckets<7>,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            outcomes: [0; Outcome::ALL.len()],
            service: Buckets::default(),
        }
    }
}

impl Shares {
    /// An attempt of `coordinator` ended after `service_ns`.
    #[inline]
    pub fn count(&mut self, coordinator: u16, outcome: Outcome, service_ns: u64) {
        let place = usize::from(coordinator);
        if place >= self.0.len() {
            self.0.resize_with(place + 1, Counted::default);
        }
        let counted = &mut self.0[place];
        counted.outcomes[outcome as usize] += 1;
        counted.service.record(service_ns);
    }

    /// What was counted, of those that were asked at all; counting begins anew.
    pub fn take(&mut self) -> Vec<Share> {
        let asked = self.0.iter_mut().zip(0..);
        let asked = asked.filter(|(counted, _)| counted.outcomes.iter().any(|n| *n > 0));
        asked
            .map(|(counted, coordinator)| Share {
                coordinator,
                outcomes: std::mem::take(&mut counted.outcomes),
                service: counted.service.drain().collect(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_coordinator_is_told_apart_and_counted_anew_every_second() {
        let mut shares = Shares::default();
        shares.count(2, Outcome::Ok, 1_000_000);
        shares.count(2, Outcome::Timeout, 5_000_000);
        shares.count(0, Outcome::Ok, 10);
        let told = shares.take();
        let counts: Vec<_> = told
            .iter()
            .map(|s| {
                (
                    s.coordinator,
                    s.outcomes[0],
                    s.outcomes[Outcome::Timeout as usize],
                )
            })
            .collect();
        assert_eq!(counts, [(0, 1, 0), (2, 1, 1)]);
        assert_eq!(told[0].service, [(10, 1)]);
        assert_eq!(told[1].service.len(), 2);
        assert!(shares.take().is_empty());
    }
}
