//! HBase's RPC as a region server, a master and the connection registry speak it, on one port: what our client asks when it
//! opens, and then Get and Mutate.

mod cell;
mod cluster;
mod wire;

use crate::fault::{Fate, Side};
use crate::shape::{FAMILY, FIELD, Shape, number};
use crate::ticket::{self, Operation, Step, Taken, Ticket};
use wire::{Message, Reader};

/// Magic, version 0, SIMPLE authentication.
const PREAMBLE: &[u8; 6] = b"HBas\0\x50";
const SERVER_ERROR: &str = "java.io.IOException";
const OVERLOADED: &str = "org.apache.hadoop.hbase.CallQueueTooBigException";
const UNKNOWN: &str = "org.apache.hadoop.hbase.DoNotRetryIOException";

/// The server's side of HBase's RPC.
pub struct Hbase {
    port: u16,
    qualifiers: Vec<Vec<u8>>,
    value: Vec<u8>,
}

impl Hbase {
    /// A server of records of this shape that is reached at `port`.
    pub fn new(shape: Shape, port: u16) -> Self {
        // A real server's cells are in the order of their qualifiers' bytes.
        let mut qualifiers: Vec<_> = (0..shape.fields)
            .map(|i| format!("{FIELD}{i}").into_bytes())
            .collect();
        qualifiers.sort_unstable();
        Self {
            port,
            qualifiers,
            value: vec![b'x'; shape.length],
        }
    }

    /// Take the message at the start of `input`; what can be answered at once is.
    pub fn take(&self, input: &[u8], greeted: &mut bool, out: &mut Vec<u8>) -> Taken {
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

    fn serve(&self, frame: &[u8], out: &mut Vec<u8>) -> Option<Step> {
        let mut reader = Reader(frame);
        let header = reader.delimited()?;
        let call = Reader(header).find_number(1)?;
        let method = Reader(header).find(3)?;
        let param = reader.delimited().unwrap_or_default();
        if let b"Get" | b"Mutate" = method {
            let row = Reader(Reader(param).find(2)?).find(1)?;
            let reads = method == b"Get";
            let ticket = Ticket::Hbase(ticket::Hbase {
                call,
                row: reads.then(|| row.into()),
            });
            return Some(Step::Asked(Operation {
                number: number(row),
                side: if reads { Side::Reads } else { Side::Writes },
                ticket,
                request: None,
            }));
        }
        match cluster::answer(method, param, self.port) {
            Some((message, cells)) => respond(out, call, &message, &cells),
            None => refuse(
                out,
                call,
                UNKNOWN,
                &format!("{} is not known here", String::from_utf8_lossy(method)),
            ),
        }
        Some(Step::Answered)
    }

    /// Append the answer to an operation.
    pub fn answer(&self, ticket: &ticket::Hbase, fate: Fate, out: &mut Vec<u8>) {
        match (fate, &ticket.row) {
            (Fate::Error, _) => refuse(out, ticket.call, SERVER_ERROR, "as asked for"),
            (Fate::Overloaded, _) => refuse(out, ticket.call, OVERLOADED, "as asked for"),
            (_, None) => respond(out, ticket.call, &Message::default().number(2, 1), &[]),
            (_, Some(row)) => {
                let mut cells = Vec::new();
                for qualifier in &self.qualifiers {
                    cell::write(&mut cells, row, FAMILY.as_bytes(), qualifier, &self.value);
                }
                let result = Message::default().number(2, self.qualifiers.len() as u64);
                respond(
                    out,
                    ticket.call,
                    &Message::default().inner(1, &result),
                    &cells,
                );
            }
        }
    }
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

fn refuse(out: &mut Vec<u8>, call: u64, class: &str, text: &str) {
    let exception = Message::default()
        .bytes(1, class)
        .bytes(2, format!("{class}: {text}"));
    let header = Message::default().number(1, call).inner(2, &exception);
    let body = Message::default().length_delimited(&header.0);
    out.extend_from_slice(&(body.0.len() as u32).to_be_bytes());
    out.extend_from_slice(&body.0);
}
