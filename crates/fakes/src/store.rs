//! A table that keeps what is written, each field with its timestamp, and what a server that has lost data answers from it.

use crate::draw::{Use, unit};
use crate::fault::Loss;
use crate::shape::number;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A request as the table understands it. Timestamps decide what is newest; their unit is the client's.
#[derive(Debug)]
pub enum Request {
    /// The record of a key.
    Read { key: Vec<u8> },
    /// At most `rows` records in the order of their keys, from `from` on (or behind it); the client wants `left` more.
    Scan {
        from: Vec<u8>,
        behind: bool,
        rows: usize,
        left: usize,
    },
    /// Values of fields, by their places. `whole` also makes a record whose fields may all be without a value, as CQL's INSERT does.
    Write {
        key: Vec<u8>,
        timestamp: i64,
        whole: bool,
        values: Vec<(usize, Vec<u8>)>,
    },
    /// What was written until then is gone.
    Delete { key: Vec<u8>, timestamp: i64 },
    /// Writes that came in one message.
    Together(Vec<Self>),
}

/// A record found: its key, and its fields' values by their places.
pub type Row<'a> = (&'a [u8], Vec<Option<&'a [u8]>>);

/// What is wrong with the table as one client sees it.
pub struct View<'a> {
    /// Of the draws.
    pub seed: u64,
    /// What is missing.
    pub loss: &'a Loss,
}

/// The table.
#[derive(Default)]
pub struct Store(BTreeMap<Vec<u8>, Record>);

struct Record {
    cells: Vec<Option<Cell>>,
    /// When it was last written as a whole.
    made: i64,
    deleted: i64,
}

struct Cell {
    timestamp: i64,
    value: Vec<u8>,
    before: Option<(i64, Vec<u8>)>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            made: i64::MIN,
            deleted: i64::MIN,
        }
    }
}

impl Store {
    /// Do what `request` says; the records that it finds, as `view` shows them.
    pub fn perform(&mut self, request: &Request, view: &View<'_>) -> Vec<Row<'_>> {
        match request {
            Request::Read { key } => {
                let found = self.0.get_key_value(key);
                found
                    .and_then(|found| shown(found, view))
                    .into_iter()
                    .collect()
            }
            Request::Scan {
                from, behind, rows, ..
            } => {
                let from = if *behind {
                    Bound::Excluded(from)
                } else {
                    Bound::Included(from)
                };
                let records = self.0.range::<Vec<u8>, _>((from, Bound::Unbounded));
                records
                    .filter_map(|found| shown(found, view))
                    .take(*rows)
                    .collect()
            }
            Request::Write {
                key,
                timestamp,
                whole,
                values,
            } => {
                let record = self.0.entry(key.clone()).or_default();
                if *whole {
                    record.made = record.made.max(*timestamp);
                }
                for (field, value) in values {
                    record.write(*field, *timestamp, value);
                }
                Vec::new()
            }
            Request::Delete { key, timestamp } => {
                let record = self.0.entry(key.clone()).or_default();
                record.deleted = record.deleted.max(*timestamp);
                Vec::new()
            }
            Request::Together(requests) => {
                for request in requests {
                    self.perform(request, view);
                }
                Vec::new()
            }
        }
    }
}

impl Record {
    fn write(&mut self, field: usize, timestamp: i64, value: &[u8]) {
        if self.cells.len() <= field {
            self.cells.resize_with(field + 1, || None);
        }
        let place = &mut self.cells[field];
        if place
            .as_ref()
            .is_some_and(|cell| cell.timestamp > timestamp)
        {
            return;
        }
        *place = Some(Cell {
            timestamp,
            value: value.to_vec(),
            before: place.take().map(|cell| (cell.timestamp, cell.value)),
        });
    }
}

/// The record as a client sees it; none if it is not there, for this client or at all.
fn shown<'a>((key, record): (&'a Vec<u8>, &'a Record), view: &View<'_>) -> Option<Row<'a>> {
    let drawn = unit(view.seed, Use::Loss, number(key));
    if drawn < view.loss.vanished {
        return None;
    }
    let older = drawn < view.loss.vanished + view.loss.older;
    let value = |(field, cell): (usize, &'a Option<Cell>)| {
        let cell = cell.as_ref()?;
        let newest = (cell.timestamp, &cell.value);
        let before = cell.before.as_ref().filter(|_| older);
        let (timestamp, value) = before.map_or(newest, |(timestamp, value)| (*timestamp, value));
        let there = timestamp > record.deleted && !view.loss.fields.contains(&field);
        there.then_some(value.as_slice())
    };
    let values: Vec<_> = record.cells.iter().enumerate().map(value).collect();
    let there = record.made > record.deleted || values.iter().any(Option::is_some);
    there.then_some((key.as_slice(), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"user1";

    fn write(store: &mut Store, timestamp: i64, values: &[(usize, &str)]) {
        let request = Request::Write {
            key: KEY.to_vec(),
            timestamp,
            whole: false,
            values: values
                .iter()
                .map(|(field, value)| (*field, value.as_bytes().to_vec()))
                .collect(),
        };
        store.perform(&request, &view(&Loss::default()));
    }

    fn view(loss: &Loss) -> View<'_> {
        View { seed: 1, loss }
    }

    fn read(store: &mut Store, loss: &Loss) -> Option<Vec<Option<String>>> {
        let request = Request::Read { key: KEY.to_vec() };
        let rows = store.perform(&request, &view(loss));
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let values = |(_, values): &Row<'_>| values.iter().map(|v| v.map(text)).collect();
        rows.first().map(values)
    }

    fn texts(values: &[&str]) -> Vec<Option<String>> {
        let some = |value: &&str| (!value.is_empty()).then(|| (*value).to_owned());
        values.iter().map(some).collect()
    }

    #[test]
    fn the_newest_timestamp_wins_whatever_comes_last() {
        let (mut store, whole) = (Store::default(), Loss::default());
        assert_eq!(read(&mut store, &whole), None);
        write(&mut store, 5, &[(0, "a"), (1, "b")]);
        write(&mut store, 4, &[(0, "late")]);
        write(&mut store, 6, &[(1, "c")]);
        assert_eq!(read(&mut store, &whole), Some(texts(&["a", "c"])));
        let (key, timestamp) = (KEY.to_vec(), 5);
        store.perform(&Request::Delete { key, timestamp }, &view(&whole));
        assert_eq!(read(&mut store, &whole), Some(texts(&["", "c"])));
    }

    #[test]
    fn a_server_that_lost_data_shows_less_or_older() {
        let mut store = Store::default();
        write(&mut store, 5, &[(0, "a"), (1, "b")]);
        write(&mut store, 6, &[(1, "c")]);
        let loss = |text: &str| serde_json::from_str::<Loss>(text).expect("a loss");
        assert_eq!(
            read(&mut store, &loss(r#"{"fields":[0]}"#)),
            Some(texts(&["", "c"]))
        );
        assert_eq!(
            read(&mut store, &loss(r#"{"older":1}"#)),
            Some(texts(&["a", "b"]))
        );
        assert_eq!(read(&mut store, &loss(r#"{"vanished":1}"#)), None);
    }
}
