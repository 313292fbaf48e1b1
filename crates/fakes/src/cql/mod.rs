//! CQL, version 4 of the binary protocol (`native_protocol_v4.spec`): a cluster with one table, as far as the scylla
//! crate asks when it opens a session, and then EXECUTE. Of several nodes each knows what was prepared with it.

mod catalogue;
mod statement;
mod wire;

use crate::arguments::Arguments;
use crate::fault::Fate;
use crate::shape::{KEYSPACE, Shape, TABLE};
use crate::store::{Request, Row};
use crate::ticket::{self, Operation, Step, Taken, Ticket};
use catalogue::{Kind, Place, Query};
use serde_json::{Value, json};
use statement::Data;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use wire::{HEADER, Header, Reader, Writer, opcode};

/// Kinds of RESULT (section 4.2.5).
mod result {
    pub(super) const VOID: i32 = 1;
    pub(super) const ROWS: i32 = 2;
    pub(super) const PREPARED: i32 = 4;
}

/// Codes of ERROR (section 9).
mod error {
    pub(super) const SERVER: i32 = 0x0000;
    pub(super) const PROTOCOL: i32 = 0x000A;
    pub(super) const OVERLOADED: i32 = 0x1001;
    pub(super) const INVALID: i32 = 0x2200;
    pub(super) const UNPREPARED: i32 = 0x2500;
}

const GLOBAL_TABLE: i32 = 0x01;
const HAS_MORE_PAGES: i32 = 0x02;
const NO_METADATA: i32 = 0x04;

/// What a prepared statement does.
enum Statement {
    /// Reads a system table.
    System(Query),
    /// About records: the columns it reads, and the RESULT with which servers that keep nothing answer it.
    Data {
        data: Data,
        columns: Vec<String>,
        answer: Vec<u8>,
    },
}

/// The server's side of CQL.
pub struct Cql {
    shape: Shape,
    /// What is bound to statements is kept.
    kept: bool,
    /// The first node's address.
    first: Ipv4Addr,
    statements: Vec<Statement>,
    by_text: HashMap<String, usize>,
    nodes: Vec<Node>,
}

/// One node.
#[derive(Default, Clone)]
struct Node {
    /// By statement, whether it was prepared here.
    knows: Vec<bool>,
    /// PREPAREs of statements about records since the case began.
    prepares: u64,
    /// EXECUTEs of known statements about records since then.
    operations: u64,
}

impl Cql {
    /// A table of this shape, which has always been there.
    pub fn new(arguments: &Arguments) -> Self {
        Self {
            shape: arguments.shape,
            kept: arguments.store,
            first: arguments.first,
            nodes: vec![Node::default(); arguments.nodes],
            statements: Vec::new(),
            by_text: HashMap::new(),
        }
    }

    /// All nodes forget what was prepared.
    pub fn forget(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.knows.clear());
    }

    /// Begin to count anew.
    pub fn count_anew(&mut self) {
        for node in &mut self.nodes {
            (node.prepares, node.operations) = (0, 0);
        }
    }

    /// What has come to each node since: PREPAREs and EXECUTEs of statements about records.
    pub fn counts(&self) -> Value {
        let counts =
            |node: &Node| json!({"prepares": node.prepares, "operations": node.operations});
        self.nodes.iter().map(counts).collect()
    }

    /// Take the message at the start of `input`, which came to `node`; what can be answered at once is.
    pub fn take(&mut self, node: usize, input: &[u8], out: &mut Vec<u8>) -> Taken {
        let Some(header) = Header::read(input) else {
            return Taken::Partial;
        };
        if header.version != wire::REQUEST {
            return Taken::Garbage;
        }
        let Some(body) = input.get(HEADER..HEADER + header.length) else {
            return Taken::Partial;
        };
        let bytes = HEADER + header.length;
        let step = self.serve(node, &header, body, out).unwrap_or_else(|| {
            refuse(
                header.stream,
                error::PROTOCOL,
                "the request is malformed",
                out,
            );
            Step::Answered
        });
        Taken::Whole(bytes, step)
    }

    /// Answer, or give back the operation that is to be answered later; None if the request cannot be read.
    fn serve(
        &mut self,
        node: usize,
        header: &Header,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<Step> {
        let mut reader = Reader(body);
        match header.opcode {
            opcode::STARTUP | opcode::REGISTER => {
                Writer::frame(out, header.stream, opcode::READY, |_| {});
            }
            opcode::OPTIONS => Writer::frame(out, header.stream, opcode::SUPPORTED, |w| {
                w.u16(2).text("CQL_VERSION").u16(1).text("3.4.5");
                w.text("COMPRESSION").u16(0);
            }),
            opcode::QUERY => self.query(node, header.stream, reader.long_text()?, out),
            opcode::PREPARE => self.prepare(node, header.stream, reader.long_text()?, out),
            opcode::EXECUTE => return self.execute(node, header.stream, &mut reader, out),
            _ => refuse(
                header.stream,
                error::PROTOCOL,
                "no such request is known here",
                out,
            ),
        }
        Some(Step::Answered)
    }

    fn query(&self, node: usize, stream: i16, text: &str, out: &mut Vec<u8>) {
        match Query::parse(text) {
            Kind::System(query) => self.rows(node, stream, &query, out),
            Kind::Missing(table) => missing(stream, &table, out),
            // a change of the schema: the table is there already
            Kind::Data(_) => Writer::frame(out, stream, opcode::RESULT, |w| {
                w.i32(result::VOID);
            }),
        }
    }

    fn rows(&self, node: usize, stream: i16, query: &Query, out: &mut Vec<u8>) {
        Writer::frame(out, stream, opcode::RESULT, |w| {
            w.i32(result::ROWS);
            query.metadata(w);
            let nodes = self.nodes.len();
            query.rows(
                self.shape,
                Place {
                    first: self.first,
                    node,
                    nodes,
                },
                w,
            );
        });
    }

    fn prepare(&mut self, node: usize, stream: i16, text: &str, out: &mut Vec<u8>) {
        let statement = match Query::parse(text) {
            Kind::Missing(table) => return missing(stream, &table, out),
            Kind::System(query) => Statement::System(query),
            Kind::Data(columns) => Statement::Data {
                data: Data::parse(text),
                answer: answer(&columns, self.shape),
                columns,
            },
        };
        let about_records = matches!(statement, Statement::Data { .. });
        let next = self.statements.len();
        let id = *self.by_text.entry(text.to_owned()).or_insert(next);
        if id == next {
            self.statements.push(statement);
        }
        let node = &mut self.nodes[node];
        node.prepares += u64::from(about_records);
        node.knows
            .resize(self.statements.len().max(node.knows.len()), false);
        node.knows[id] = true;
        let markers = catalogue::markers(text);
        Writer::frame(out, stream, opcode::RESULT, |w| {
            w.i32(result::PREPARED)
                .short_bytes(&(id as u64).to_be_bytes());
            w.i32(GLOBAL_TABLE).i32(markers.len() as i32).i32(0);
            w.text(KEYSPACE).text(TABLE);
            for (place, kind) in markers.iter().enumerate() {
                w.text(&format!("marker{place}")).raw(kind);
            }
            match &self.statements[id] {
                Statement::System(query) => query.metadata(w),
                Statement::Data { columns, .. } => {
                    w.i32(GLOBAL_TABLE)
                        .i32(columns.len() as i32)
                        .text(KEYSPACE)
                        .text(TABLE);
                    for column in columns {
                        w.text(column).raw(catalogue::TEXT);
                    }
                }
            }
        });
    }

    fn execute(
        &mut self,
        node: usize,
        stream: i16,
        reader: &mut Reader<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Step> {
        let given = reader.short_bytes()?;
        let id = given
            .try_into()
            .map_or(usize::MAX, |id| u64::from_be_bytes(id) as usize);
        let known = self.nodes[node].knows.get(id).copied().unwrap_or(false);
        match self.statements.get(id).filter(|_| known) {
            None => Writer::frame(out, stream, opcode::ERROR, |w| {
                w.i32(error::UNPREPARED)
                    .text("not prepared here")
                    .short_bytes(given);
            }),
            Some(Statement::System(query)) => self.rows(node, stream, query, out),
            Some(Statement::Data { data, .. }) => {
                let bound = data.bind(reader, self.kept)?;
                self.nodes[node].operations += 1;
                let statement = id;
                return Some(Step::Asked(Operation {
                    number: bound.number,
                    side: bound.side,
                    ticket: Ticket::Cql(ticket::Cql { stream, statement }),
                    request: bound.request,
                }));
            }
        }
        Some(Step::Answered)
    }

    /// Append the answer to an operation: what was `found` in the table, or without one the same record for all.
    pub fn answer(
        &self,
        ticket: &ticket::Cql,
        fate: Fate,
        found: Option<(&Request, Vec<Row<'_>>)>,
        out: &mut Vec<u8>,
    ) {
        match (fate, &self.statements[ticket.statement]) {
            (Fate::Error, _) => refuse(ticket.stream, error::SERVER, "an error, as asked for", out),
            (Fate::Overloaded, _) => refuse(
                ticket.stream,
                error::OVERLOADED,
                "overloaded, as asked for",
                out,
            ),
            (_, Statement::Data { data, answer, .. }) => {
                Writer::frame(out, ticket.stream, opcode::RESULT, |w| match found {
                    Some((request, rows)) if data.reads() => page(data, request, &rows, w),
                    _ => {
                        w.raw(answer);
                    }
                });
            }
            (_, Statement::System(_)) => unreachable!("answered at once"),
        }
    }
}

/// The RESULT of a statement about records: the one row if it reads, else nothing.
fn answer(columns: &[String], shape: Shape) -> Vec<u8> {
    let mut body = Vec::new();
    let mut w = Writer(&mut body);
    if columns.is_empty() {
        w.i32(result::VOID);
        return body;
    }
    w.i32(result::ROWS)
        .i32(NO_METADATA)
        .i32(columns.len() as i32)
        .i32(1);
    let value = vec![b'x'; shape.length];
    for _ in columns {
        w.bytes(&value);
    }
    body
}

/// The RESULT of a read: the rows found, and where the next page begins if there is one.
fn page(data: &Data, request: &Request, rows: &[Row<'_>], w: &mut Writer<'_>) {
    let last = match request {
        Request::Scan {
            rows: most, left, ..
        } if *left > 0 && rows.len() == *most => rows.last().map(|(key, _)| (*left as u32, *key)),
        _ => None,
    };
    let more = if last.is_some() { HAS_MORE_PAGES } else { 0 };
    w.i32(result::ROWS).i32(NO_METADATA | more);
    w.i32(data.columns.len() as i32);
    if let Some((left, key)) = last {
        w.bytes(&[&left.to_be_bytes(), key].concat());
    }
    w.i32(rows.len() as i32);
    for (key, values) in rows {
        for column in &data.columns {
            let field = |place: usize| values.get(place).copied().flatten();
            w.value(column.map_or(Some(*key), field));
        }
    }
}

fn refuse(stream: i16, code: i32, text: &str, out: &mut Vec<u8>) {
    Writer::frame(out, stream, opcode::ERROR, |w| {
        w.i32(code).text(text);
    });
}

fn missing(stream: i16, table: &str, out: &mut Vec<u8>) {
    refuse(
        stream,
        error::INVALID,
        &format!("unconfigured table {table}"),
        out,
    );
}
