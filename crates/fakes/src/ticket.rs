//! What the loop and the protocols hand each other: what a message was, and what its answer will need.

use crate::fault::Side;
use crate::store::Request;

/// How an answer finds its call, and what it says.
#[derive(Debug)]
pub struct Cql {
    pub stream: i16,
    /// Place of the statement among the prepared ones.
    pub statement: usize,
}

/// How an answer finds its call, and what it says.
#[derive(Debug)]
pub struct Hbase {
    pub id: u64,
    pub call: Call,
}

/// A call of HBase. Fields are named by their places; none: all.
#[derive(Debug)]
pub enum Call {
    /// Of one row.
    Get {
        row: Box<[u8]>,
        fields: Option<Vec<usize>>,
    },
    /// One put or delete.
    Mutate,
    /// Several, under these indices.
    Multi(Vec<u64>),
    /// Rows, for the scanner of that number.
    Scan { id: u64, fields: Option<Vec<usize>> },
}

/// A request about a record.
#[derive(Debug)]
pub struct Operation {
    /// Its number.
    pub number: u64,
    /// Whether it reads or writes.
    pub side: Side,
    /// How its answer finds the call.
    pub ticket: Ticket,
    /// What is asked of the table; none from servers that keep nothing.
    pub request: Option<Box<Request>>,
}

/// What a protocol needs to answer.
#[derive(Debug)]
pub enum Ticket {
    /// Of CQL.
    Cql(Cql),
    /// Of HBase.
    Hbase(Hbase),
}

/// What became of a whole message.
#[derive(Debug)]
pub enum Step {
    /// It has been answered, or needs no answer.
    Answered,
    /// Its answer is due when the law says so.
    Asked(Operation),
}

/// What came of reading a message.
#[derive(Debug)]
pub enum Taken {
    /// It is not whole yet.
    Partial,
    /// It was, so many bytes.
    Whole(usize, Step),
    /// No such protocol.
    Garbage,
}
