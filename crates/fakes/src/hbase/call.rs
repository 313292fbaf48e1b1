//! Calls about records: what they ask of a table that keeps what is written.

use super::cell;
use super::wire::Reader;
use crate::shape::FIELD;
use crate::store::Request;
use crate::ticket::Call;

/// Of MutationProto: a delete; the other kind that our driver sends is a put.
const DELETE: u64 = 3;

/// What a call asks for, and of which row first.
pub struct Asked<'a> {
    pub row: &'a [u8],
    pub call: Call,
    pub request: Request,
}

/// Read a Get.
pub fn get(param: &[u8]) -> Option<Asked<'_>> {
    let get = Reader(param).find(2)?;
    let row = Reader(get).find(1)?;
    let fields = fields(Reader(get).all(2));
    Some(Asked {
        row,
        call: Call::Get {
            row: row.into(),
            fields,
        },
        request: Request::Read { key: row.to_vec() },
    })
}

/// Read a Mutate, a put or a delete, whose cells are in `block`.
pub fn mutate<'a>(param: &'a [u8], mut block: &[u8]) -> Option<Asked<'a>> {
    let (row, request) = mutation(Reader(param).find(2)?, &mut block)?;
    Some(Asked {
        row,
        call: Call::Mutate,
        request,
    })
}

/// Read a Multi of mutations, all of them in the one region there is.
pub fn multi<'a>(param: &'a [u8], mut block: &[u8]) -> Option<Asked<'a>> {
    let actions = Reader(Reader(param).find(1)?).all(3);
    let (mut indices, mut requests, mut first) = (Vec::new(), Vec::new(), None);
    for action in actions {
        let (row, request) = mutation(Reader(action).find(2)?, &mut block)?;
        indices.push(Reader(action).find_number(1).unwrap_or(0));
        requests.push(request);
        first = first.or(Some(row));
    }
    Some(Asked {
        row: first?,
        call: Call::Multi(indices),
        request: Request::Together(requests),
    })
}

/// A MutationProto, whose cells are taken from `block`.
fn mutation<'a>(message: &'a [u8], block: &mut &[u8]) -> Option<(&'a [u8], Request)> {
    let row = Reader(message).find(1)?;
    let number = |field| Reader(message).find_number(field);
    let key = row.to_vec();
    if number(2) == Some(DELETE) {
        let timestamp = number(4)? as i64;
        return Some((row, Request::Delete { key, timestamp }));
    }
    let (mut values, mut timestamp) = (Vec::new(), 0);
    for _ in 0..number(8)? {
        let cell = cell::read(block)?;
        timestamp = cell.timestamp;
        values.push((place(cell.qualifier)?, cell.value.to_vec()));
    }
    let request = Request::Write {
        key,
        timestamp,
        whole: false,
        values,
    };
    Some((row, request))
}

/// The places of the fields that columns name; none: all.
pub fn fields<'a>(columns: impl Iterator<Item = &'a [u8]>) -> Option<Vec<usize>> {
    let qualifiers = columns.flat_map(|column| Reader(column).all(2));
    let places: Vec<_> = qualifiers.filter_map(place).collect();
    (!places.is_empty()).then_some(places)
}

fn place(qualifier: &[u8]) -> Option<usize> {
    let name = std::str::from_utf8(qualifier).ok()?;
    name.strip_prefix(FIELD)?.parse().ok()
}
