//! HBase's RPC as a region server, a master and the connection registry speak it, on one port: what our client asks when it
//! opens, and then Get and Mutate; Multi and Scan too where what is written is kept.

mod call;
mod cell;
mod cluster;
mod scanners;
mod wire;

use crate::fault::{Fate, Side};
use crate::shape::{FAMILY, FIELD, Shape, number};
use crate::store::{Request, Row};
use crate::ticket::{self, Call, Operation, Step, Taken, Ticket};
use call::Asked;
use scanners::{Scanners, Tended};
use wire::{Message, Reader};

/// Magic, version 0, SIMPLE authentication.
const PREAMBLE: &[u8; 6] = b"HBas\0\x50";
const SERVER_ERROR: Exception = ("java.io.IOException", false);
const OVERLOADED: Exception = ("org.apache.hadoop.hbase.CallQueueTooBigException", false);
const UNKNOWN: Exception = ("org.apache.hadoop.hbase.DoNotRetryIOException", true);
const NO_SCANNER: Exception = ("org.apache.hadoop.hbase.UnknownScannerException", true);

/// A class, and whether it is one of DoNotRetryIOException's.
type Exception = (&'static str, bool);

/// The server's side of HBase's RPC.
pub struct Hbase {
    port: u16,
    /// What is written is kept.
    kept: bool,
    /// Of the fields, each with its place.
    qualifiers: Vec<(Vec<u8>, usize)>,
    value: Vec<u8>,
    scanners: Scanners,
}

impl Hbase {
    /// A server of records of this shape that is reached at `port`.
    pub fn new(shape: Shape, port: u16, kept: bool) -> Self {
        // A real server's cells are in the order of their qualifiers' bytes.
        let mut qualifiers: Vec<_> = (0..shape.fields)
            .map(|i| (format!("{FIELD}{i}").into_bytes(), i))
            .collect();
        qualifiers.sort_unstable();
        Self {
            port,
            kept,
            qualifiers,
            value: vec![b'x'; shape.length],
            scanners: Scanners::default(),
        }
    }

    /// Take the message at the start of `input`; what can be answered at once is.
    pub fn take(&mut self, input: &[u8], greeted: &mut bool, out: &mut Vec<u8>) -> Taken {
        if !*greeted {
            return greet(input, greeted);
        }
        let Some((frame, bytes)) = framed(input) else {
            return Taken::Partial;
        };
        match self.serve(frame, out) {
            None => Taken::Garbage,
            Some(step) => Taken::Whole(bytes, step),
        }
    }

    fn serve(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Option<Step> {
        let mut reader = Reader(frame);
        let header = reader.delimited()?;
        let id = Reader(header).find_number(1)?;
        let method = Reader(header).find(3)?;
        let param = reader.delimited().unwrap_or_default();
        if method == b"Scan" && self.tend(id, param, out) {
            return Some(Step::Answered);
        }
        if let Some(operation) = self.operation(id, method, param, reader.0) {
            return Some(Step::Asked(operation));
        }
        match cluster::answer(method, param, self.port) {
            Some((message, cells)) => respond(out, id, &message, &cells),
            None => refuse(
                out,
                id,
                UNKNOWN,
                &format!("{} is not known here", String::from_utf8_lossy(method)),
            ),
        }
        Some(Step::Answered)
    }

    /// Answer a Scan that wants no rows of a scanner, or whose scanner is not open; false if it is another.
    fn tend(&mut self, call: u64, param: &[u8], out: &mut Vec<u8>) -> bool {
        match self.scanners.tended(param) {
            None | Some(Tended::Rows) => return false,
            Some(Tended::Done(id)) => respond(out, call, &Message::default().number(2, id), &[]),
            Some(Tended::Unknown(id)) => {
                refuse(out, call, NO_SCANNER, &format!("scanner {id} is not open"));
            }
        }
        true
    }

    /// The operation that a call is; none if it is not about records.
    fn operation(
        &mut self,
        id: u64,
        method: &[u8],
        param: &[u8],
        cells: &[u8],
    ) -> Option<Operation> {
        if !self.kept {
            return forgotten(id, method, param);
        }
        let asked = match method {
            b"Get" => call::get(param),
            b"Mutate" => call::mutate(param, cells),
            b"Multi" => call::multi(param, cells),
            b"Scan" if !cluster::is_meta(param) => self.scanners.asked(param),
            _ => None,
        };
        asked.map(|Asked { row, call, request }| operation(id, row, call, Some(request)))
    }

    /// Append the answer to an operation: what was `found` in the table, or without one the same record for all.
    pub fn answer(
        &mut self,
        ticket: &ticket::Hbase,
        fate: Fate,
        found: Option<(&Request, Vec<Row<'_>>)>,
        out: &mut Vec<u8>,
    ) {
        let mut cells = Vec::new();
        let message = match (fate, &ticket.call, found) {
            (Fate::Error, ..) => return refuse(out, ticket.id, SERVER_ERROR, "as asked for"),
            (Fate::Overloaded, ..) => return refuse(out, ticket.id, OVERLOADED, "as asked for"),
            (_, Call::Mutate, _) => Message::default().number(2, 1),
            (_, Call::Multi(indices), _) => multi(indices),
            (_, Call::Scan { id, fields }, Some((request, rows))) => {
                let written = |row: &Row<'_>| self.row(row, fields.as_deref(), &mut cells);
                let counts: Vec<_> = rows.iter().map(written).collect();
                let scanner = (*id, fields.as_ref());
                self.scanners.answer(scanner, request, &rows, &counts)
            }
            (_, Call::Get { fields, .. }, Some((_, rows))) => {
                let written = |row: &Row<'_>| self.row(row, fields.as_deref(), &mut cells);
                result(rows.iter().map(written).sum())
            }
            (_, Call::Get { row, .. }, None) => {
                for (qualifier, _) in &self.qualifiers {
                    cell::write(&mut cells, row, FAMILY.as_bytes(), qualifier, &self.value);
                }
                result(self.qualifiers.len())
            }
            (_, Call::Scan { .. }, None) => unreachable!("asked only of servers that keep"),
        };
        respond(out, ticket.id, &message, &cells);
    }

    /// Append the cells of `fields` in a row; how many.
    fn row(&self, (key, values): &Row<'_>, fields: Option<&[usize]>, out: &mut Vec<u8>) -> usize {
        let wanted = |place: &usize| fields.is_none_or(|fields| fields.contains(place));
        let mut count = 0;
        for (qualifier, place) in self.qualifiers.iter().filter(|(_, place)| wanted(place)) {
            if let Some(value) = values.get(*place).copied().flatten() {
                cell::write(out, key, FAMILY.as_bytes(), qualifier, value);
                count += 1;
            }
        }
        count
    }
}

/// The operation that a call to a server that keeps nothing is.
fn forgotten(id: u64, method: &[u8], param: &[u8]) -> Option<Operation> {
    let reads = match method {
        b"Get" => true,
        b"Mutate" => false,
        _ => return None,
    };
    let row = Reader(Reader(param).find(2)?).find(1)?;
    let call = if reads {
        Call::Get {
            row: row.into(),
            fields: None,
        }
    } else {
        Call::Mutate
    };
    Some(operation(id, row, call, None))
}

fn operation(id: u64, row: &[u8], call: Call, request: Option<Request>) -> Operation {
    let reads = matches!(call, Call::Get { .. } | Call::Scan { .. });
    Operation {
        number: number(row),
        side: if reads { Side::Reads } else { Side::Writes },
        ticket: Ticket::Hbase(ticket::Hbase { id, call }),
        request: request.map(Box::new),
    }
}

/// A GetResponse whose row has so many cells.
fn result(cells: usize) -> Message {
    let result = Message::default().number(2, cells as u64);
    Message::default().inner(1, &result)
}

/// A MultiResponse: every mutation has succeeded.
fn multi(indices: &[u64]) -> Message {
    let region = indices.iter().fold(Message::default(), |region, index| {
        let done = Message::default()
            .number(1, *index)
            .inner(2, &Message::default());
        region.inner(1, &done)
    });
    Message::default().inner(1, &region)
}

/// A length of four bytes and that many; with all bytes it takes. None while it is not whole.
fn framed(input: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = input.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length) as usize;
    Some((rest.get(..length)?, 4 + length))
}

fn greet(input: &[u8], greeted: &mut bool) -> Taken {
    let Some((preamble, rest)) = input.split_first_chunk::<6>() else {
        return Taken::Partial;
    };
    if preamble != PREAMBLE {
        return Taken::Garbage;
    }
    let Some((_header, bytes)) = framed(rest) else {
        return Taken::Partial;
    };
    *greeted = true;
    Taken::Whole(PREAMBLE.len() + bytes, Step::Answered)
}

fn respond(out: &mut Vec<u8>, call: u64, message: &Message, cells: &[u8]) {
    let mut header = Message::default().number(1, call);
    if !cells.is_empty() {
        header = header.inner(3, &Message::default().number(1, cells.len() as u64));
    }
    let body = Message::default()
        .length_delimited(&header.0)
        .length_delimited(&message.0);
    out.extend_from_slice(&((body.0.len() + cells.len()) as u32).to_be_bytes());
    out.extend_from_slice(&body.0);
    out.extend_from_slice(cells);
}

fn refuse(out: &mut Vec<u8>, call: u64, (class, do_not_retry): Exception, text: &str) {
    let exception = Message::default()
        .bytes(1, class)
        .bytes(2, format!("{class}: {text}"))
        .number(5, do_not_retry.into());
    let header = Message::default().number(1, call).inner(2, &exception);
    let body = Message::default().length_delimited(&header.0);
    out.extend_from_slice(&(body.0.len() as u32).to_be_bytes());
    out.extend_from_slice(&body.0);
}

#[cfg(test)]
mod tests;
