//! What goes wrong, as data: requests that fail by shares of the operation numbers, a black hole in time, connections that end,
//! requests that are not read, records that are lost.

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

/// What goes wrong on a node.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
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
    /// Only these fail so; else all do.
    pub only: Option<Side>,
    /// When nothing at all is answered, not even a sign of life: requests that come then are [`Fate::Silent`].
    pub black_hole: Option<BlackHole>,
    /// A connection that ends, once in a case.
    pub closing: Option<Closing>,
    /// Nothing is read from any socket, so that what clients send piles up with them.
    pub unread: bool,
    /// What reads do not find; only for servers that keep what is written.
    pub loss: Loss,
}

/// Reads, scans among them, or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Reads,
    Writes,
}

/// A connection's end: answers that are due are withheld until there are so many, then all leave with the end.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// Answers that are waited for.
    pub answers: usize,
    /// How it ends.
    pub how: End,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The answers and the FIN arrive in one segment.
    Fin,
    /// In the middle of the last answer it is reset.
    Reset,
}

/// What a server has lost of what it acknowledged.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Loss {
    /// Fields without a value, by their places.
    pub fields: Vec<usize>,
    /// Share of the records that are not there.
    pub vanished: f64,
    /// Share of the records whose fields are as before their last write.
    pub older: f64,
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

/// What decides about an operation.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Its number.
    pub number: u64,
    /// Whether it reads or writes.
    pub side: Side,
}

impl Faults {
    /// What becomes of an operation whose request came `arrived` ns after the epoch. `before` are those that failed already.
    pub fn fate(&self, seed: u64, asked: Asked, arrived: u64, before: &mut HashSet<u64>) -> Fate {
        if self.swallows(arrived) {
            return Fate::Silent;
        }
        let Asked { number, side } = asked;
        if self.only.is_some_and(|only| only != side) {
            return Fate::Answered;
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
        let read = |number| Asked {
            number,
            side: Side::Reads,
        };
        let fates: Vec<Fate> = (0..10_000)
            .map(|n| faults.fate(1, read(n), 0, &mut seen))
            .collect();
        let count = |fate| fates.iter().filter(|f| **f == fate).count();
        assert!((900..1100).contains(&count(Fate::Error)));
        assert!((420..580).contains(&count(Fate::Silent)));
        assert!((0..10_000).all(|n| faults.fate(1, read(n), 0, &mut seen) == Fate::Answered));
    }

    #[test]
    fn writes_fail_alone_when_asked_to() {
        let faults: Faults =
            serde_json::from_str(r#"{"error":1,"only":"writes"}"#).expect("faults");
        let fate = |side| faults.fate(1, Asked { number: 1, side }, 0, &mut HashSet::new());
        let fates = [Side::Reads, Side::Writes].map(fate);
        assert_eq!(fates, [Fate::Answered, Fate::Error]);
    }

    #[test]
    fn a_black_hole_swallows_for_its_time() {
        let faults: Faults =
            serde_json::from_str(r#"{"black_hole":{"at_ms":10,"for_ms":5}}"#).expect("faults");
        let at = [9, 10, 14, 15].map(|ms: u64| faults.swallows(ms * 1_000_000));
        assert_eq!(at, [false, true, true, false]);
    }
}
