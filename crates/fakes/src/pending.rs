//! Answers that wait until they are due.

use crate::stamp::Stamp;
use crate::ticket::Operation;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// An answer that waits.
pub struct Answer {
    /// Who gets it.
    pub connection: u64,
    /// What it answers.
    pub operation: Operation,
    /// What will be written down of it.
    pub stamp: Stamp,
}

/// All of them, by when they are due.
#[derive(Default)]
pub struct Pending {
    /// When, the order of arrival.
    due: BinaryHeap<Reverse<(u64, u64)>>,
    answers: HashMap<u64, Answer>,
    next: u64,
}

impl Pending {
    /// One more, due at `at` ns.
    pub fn push(&mut self, at: u64, answer: Answer) {
        self.answers.insert(self.next, answer);
        self.due.push(Reverse((at, self.next)));
        self.next += 1;
    }

    /// The next one that is due by `now`.
    pub fn pop(&mut self, now: u64) -> Option<Answer> {
        if self.next_due() > now {
            return None;
        }
        let Reverse((_, place)) = self.due.pop()?;
        self.answers.remove(&place)
    }

    /// When the next is due; 0 if there is none.
    pub fn next_due(&self) -> u64 {
        self.due.peek().map_or(0, |Reverse((at, _))| *at)
    }

    /// Forget all.
    pub fn clear(&mut self) {
        self.due.clear();
        self.answers.clear();
    }
}
