//! Scanners that are open: where each goes on.

use super::call::{self, Asked};
use super::wire::{Message, Reader};
use crate::store::{Request, Row};
use crate::ticket::Call;
use std::collections::HashMap;

/// What a call about a scanner that was opened before wants of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Tended {
    /// Further rows.
    Rows,
    /// That it stays open, or is closed: the answer has no rows.
    Done(u64),
    /// It is not open.
    Unknown(u64),
}

/// One that goes on behind the last row returned.
struct Scanner {
    last: Vec<u8>,
    fields: Option<Vec<usize>>,
}

/// All of them.
#[derive(Default)]
pub struct Scanners {
    open: HashMap<u64, Scanner>,
    last: u64,
}

impl Scanners {
    /// Read a Scan that names a scanner; none if it opens one.
    pub fn tended(&mut self, param: &[u8]) -> Option<Tended> {
        let number = |field| Reader(param).find_number(field);
        let (id, says) = (number(3)?, |field| number(field) == Some(1));
        if !self.open.contains_key(&id) {
            return Some(Tended::Unknown(id));
        }
        let (closes, renews) = (says(5), says(10));
        if closes {
            self.close(id);
        }
        Some(if closes || renews {
            Tended::Done(id)
        } else {
            Tended::Rows
        })
    }

    /// Read a Scan: one that opens a scanner, or one that goes on.
    pub fn asked<'a>(&'a mut self, param: &'a [u8]) -> Option<Asked<'a>> {
        let number = |field| Reader(param).find_number(field);
        let caching = number(4)? as usize;
        let limit = number(11).map_or(usize::MAX, |rows| rows as usize);
        let rows = caching.min(limit);
        let (id, from, behind, fields) = if let Some(id) = number(3) {
            let scanner = self.open.get(&id)?;
            (id, &*scanner.last, true, scanner.fields.clone())
        } else {
            let scan = Reader(param).find(2)?;
            self.last += 1;
            let start = Reader(scan).find(3).unwrap_or_default();
            let behind = Reader(scan).find_number(21) == Some(0);
            let fields = call::fields(Reader(scan).all(1));
            (self.last, start, behind, fields)
        };
        Some(Asked {
            row: from,
            call: Call::Scan { id, fields },
            request: Request::Scan {
                from: from.to_vec(),
                behind,
                rows,
                left: limit - rows,
            },
        })
    }

    /// Scanner `id` is not wanted any more.
    fn close(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// The answer to a `request` that found `rows`, each of so many `cells`; the scanner is closed if there is no more.
    pub fn answer(
        &mut self,
        (id, fields): (u64, Option<&Vec<usize>>),
        request: &Request,
        rows: &[Row<'_>],
        cells: &[usize],
    ) -> Message {
        let more = matches!(request, Request::Scan { rows: most, left, .. } if *left > 0 && rows.len() == *most);
        match rows.last() {
            Some((last, _)) if more => {
                let (last, fields) = (last.to_vec(), fields.cloned());
                self.open.insert(id, Scanner { last, fields });
            }
            _ => self.close(id),
        }
        let counts = cells.iter().map(|count| *count as u64);
        counts
            .fold(Message::default(), |message, count| {
                message.number(1, count)
            })
            .number(2, id)
            .number(3, more.into())
            .number(8, more.into())
    }
}
