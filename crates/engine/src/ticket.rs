//! What a client is given to do, and what it gives back.

use crate::generate::Draft;
use crate::ledger::Known;
use crate::operation::Outcome;

/// One operation handed to a client, who reuses its ticket for the next: it is filled where it lies.
#[derive(Debug, Default, Clone)]
pub struct Ticket {
    /// What to do.
    pub draft: Draft,
    /// Due time, ns; in a closed loop None: due = started.
    pub due: Option<u64>,
    /// Write timestamp, us.
    pub timestamp_us: i64,
    /// Lowest number whose write has the same timestamp in the database's unit.
    pub peer: u64,
    /// Judge returned values.
    pub judge: bool,
    /// What was known of the record.
    pub known: Known,
    /// Least acceptable version of each field (full verification only).
    pub floors: Vec<u64>,
}

/// What a client is told.
pub enum Claim {
    /// Do what the ticket says.
    Go,
    /// Nothing before this time, ns.
    Wait(u64),
    /// Nothing more.
    End,
}

/// How an operation went.
#[derive(Debug, Clone, Copy)]
pub struct Performed {
    /// Outcome of the last attempt.
    pub outcome: Outcome,
    /// When the first attempt was issued, ns.
    pub started: u64,
    /// When the last answer was there, ns.
    pub done: u64,
    /// Attempts made.
    pub attempts: u32,
    /// Of a read-modify-write whose read was done: its clocks in the middle.
    pub turn: Option<Turn>,
}

/// Where a read-modify-write turns from reading to writing.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// When the read's answer was there, ns: the update is due.
    pub read_done: u64,
    /// When the update's first attempt was issued, ns.
    pub update_started: u64,
}
