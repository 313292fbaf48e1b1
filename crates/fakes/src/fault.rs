//! What becomes of a request instead of an answer in time: shares of the operation numbers, and a black hole in time.

use crate::draw::{Use, unit};
use serde::Deserialize;
use std::collections::HashSet;

/// How a request ended; the code stands in the stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Fate {
    /// Answered as asked.
    Answered = 0,
    /// An error answer, when the answer would have been due.
    Error = 1,
    /// An answer that says the server sheds load, then too.
    Overloaded = 2,
    /// Its connection was closed as soon as it came.
    Dropped = 3,
    /// Never answered.
    Silent = 4,
    /// Its connection was gone before its answer was due.
    Lost = 5,
}

/// Which operations fail, and when nobody is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Share of the operations that end as [`Fate::Error`].
    pub error: f64,
    /// As [`Fate::Overloaded`].
    pub overloaded: f64,
    /// As [`Fate::Dropped`].
    pub dropped: f64,
    /// As [`Fate::Silent`].
    pub silent: f64,
    /// Only an operation's first attempt fails.
    pub first_only: bool,
    /// When nothing at all is answered, not even a sign of life: requests that come then are [`Fate::Silent`].
    pub black_hole: Option<BlackHole>,
}

/// A time without answers, since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlackHole {
    /// Its beginning.
    pub at_ms: f64,
    /// Its length.
    pub for_ms: f64,
}

impl Faults {
    /// What becomes of operation `number`, whose request came `arrived` ns after the epoch. `before` are those that failed already.
    pub fn fate(&self, seed: u64, number: u64, arrived: u64, before: &mut HashSet<u64>) -> Fate {
        if self.swallows(arrived) {
            return Fate::Silent;
        }
        let shares = [
            (self.error, Fate::Error),
            (self.overloaded, Fate::Overloaded),
            (self.dropped, Fate::Dropped),
            (self.silent, Fate::Silent),
        ];
        let drawn = unit(seed, Use::Fault, number);
        let mut below = 0.0;
        for (share, fate) in shares {
            below += share;
            if drawn < below {
                let again = self.first_only && !before.insert(number);
                return if again { Fate::Answered } else { fate };
            }
        }
        Fate::Answered
    }

    /// Whether nobody is answered at that time, ns since the epoch.
    pub fn swallows(&self, at: u64) -> bool {
        self.black_hole.is_some_and(|hole| {
            let at_ms = at as f64 / 1e6;
            (hole.at_ms..hole.at_ms + hole.for_ms).contains(&at_ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_have_their_shares_and_heal_when_asked_to() {
        let faults = Faults {
            error: 0.1,
            silent: 0.05,
            first_only: true,
            ..Faults::default()
        };
        let mut seen = HashSet::new();
        let fates: Vec<Fate> = (0..10_000)
            .map(|n| faults.fate(1, n, 0, &mut seen))
            .collect();
        let count = |fate| fates.iter().filter(|f| **f == fate).count();
        assert!((900..1100).contains(&count(Fate::Error)));
        assert!((420..580).contains(&count(Fate::Silent)));
        assert!((0..10_000).all(|n| faults.fate(1, n, 0, &mut seen) == Fate::Answered));
    }

    #[test]
    fn a_black_hole_swallows_for_its_time() {
        let faults: Faults =
            serde_json::from_str(r#"{"black_hole":{"at_ms":10,"for_ms":5}}"#).expect("faults");
        let at = [9, 10, 14, 15].map(|ms: u64| faults.swallows(ms * 1_000_000));
        assert_eq!(at, [false, true, true, false]);
    }
}
