//! The loop: requests come, answers wait in a heap until they are due, and leave.

use crate::burn::Burn;
use crate::command::{Case, Command, Lines};
use crate::connection::{Connection, Dialect};
use crate::cql::Cql;
use crate::fault::Fate;
use crate::hbase::Hbase;
use crate::poll::{Event, Poll, Timer};
use crate::shape::{HOST, Shape};
use crate::stamp::{self, Stamp};
use crate::ticket::{Operation, Step, Taken, Ticket};
use crate::{monotonic_ns, say};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

const COMMANDS: u64 = 0;
const TIMER: u64 = 1;
const CQL_DOOR: u64 = 2;
const HBASE_DOOR: u64 = 3;
const FIRST_CLIENT: u64 = 4;

/// An answer that waits.
struct Pending {
    connection: u64,
    ticket: Ticket,
    stamp: Stamp,
}

/// When it is due, the order of arrival, and its place among the pending.
type Due = Reverse<(u64, u64)>;

/// The servers.
pub struct Server {
    poll: Poll,
    timer: Timer,
    doors: [TcpListener; 2],
    commands: Lines,
    cql: Cql,
    hbase: Hbase,
    case: Case,
    burn: Option<Burn>,
    connections: HashMap<u64, Connection>,
    next_client: u64,
    due: BinaryHeap<Due>,
    pending: HashMap<u64, Pending>,
    next_pending: u64,
    /// Connections with something to write.
    filled: Vec<u64>,
    failed_once: HashSet<u64>,
    stamps: Vec<Stamp>,
}

impl Server {
    /// Listen on two free ports.
    pub fn open(shape: Shape) -> io::Result<Self> {
        let listen = || TcpListener::bind(SocketAddr::from((HOST, 0)));
        let doors = [listen()?, listen()?];
        let poll = Poll::new()?;
        let timer = Timer::new()?;
        poll.add(&io::stdin(), COMMANDS)?;
        poll.add(&timer, TIMER)?;
        for (door, token) in doors.iter().zip([CQL_DOOR, HBASE_DOOR]) {
            door.set_nonblocking(true)?;
            poll.add(door, token)?;
        }
        Ok(Self {
            hbase: Hbase::new(shape, doors[1].local_addr()?.port()),
            cql: Cql::new(shape),
            poll,
            timer,
            doors,
            commands: Lines::default(),
            case: Case::default(),
            burn: None,
            connections: HashMap::new(),
            next_client: FIRST_CLIENT,
            due: BinaryHeap::new(),
            pending: HashMap::new(),
            next_pending: 0,
            filled: Vec::new(),
            failed_once: HashSet::new(),
            stamps: Vec::new(),
        })
    }

    /// The first line: where it listens.
    pub fn ready(&self) -> Value {
        let place = |door: &TcpListener| {
            door.local_addr()
                .map_or_else(|_| String::new(), |a| a.to_string())
        };
        json!({"event": "ready", "cql": place(&self.doors[0]), "hbase": place(&self.doors[1]), "pid": std::process::id()})
    }

    /// Serve until standard input ends.
    pub fn serve(&mut self) -> io::Result<()> {
        loop {
            for event in self.poll.wait()? {
                match event.token {
                    COMMANDS => match self.commands.read()? {
                        Some(lines) => lines.iter().for_each(|line| self.obey(line)),
                        None => return Ok(()),
                    },
                    TIMER => self.timer.clear(),
                    CQL_DOOR => self.admit(0, Dialect::Cql)?,
                    HBASE_DOOR => self.admit(1, Dialect::Hbase)?,
                    client => self.attend(client, event),
                }
            }
            self.answer(monotonic_ns());
            for client in std::mem::take(&mut self.filled) {
                self.send(client);
            }
            self.timer
                .set(self.due.peek().map_or(0, |Reverse((at, _))| *at))?;
        }
    }

    fn obey(&mut self, line: &str) {
        let outcome = serde_json::from_str::<Command>(line)
            .map_err(|e| e.to_string())
            .and_then(|command| self.carry_out(command));
        say(&match outcome {
            Ok(count) => json!({"event": "ack", "ok": true, "stamps": count}),
            Err(text) => json!({"event": "ack", "ok": false, "error": text}),
        });
    }

    fn carry_out(&mut self, command: Command) -> Result<usize, String> {
        match command {
            Command::Case(case) => {
                if let Some(fault) = case.law.fault() {
                    return Err(fault.to_owned());
                }
                self.burn = (case.burn_us > 0).then(Burn::start);
                self.case = case;
                self.due.clear();
                self.pending.clear();
                self.failed_once.clear();
                self.stamps.clear();
                Ok(0)
            }
            Command::Stamps { path } => {
                let stamps = std::mem::take(&mut self.stamps);
                stamp::write(&path, &stamps).map_err(|e| format!("{}: {e}", path.display()))?;
                Ok(stamps.len())
            }
        }
    }

    fn admit(&mut self, door: usize, dialect: Dialect) -> io::Result<()> {
        while let Ok((socket, _)) = self.doors[door].accept() {
            let connection = Connection::new(socket, dialect)?;
            self.poll.add(&connection.socket, self.next_client)?;
            self.connections.insert(self.next_client, connection);
            self.next_client += 1;
        }
        Ok(())
    }

    fn attend(&mut self, client: u64, event: Event) {
        if event.writable {
            self.filled.push(client);
        }
        let Some(mut connection) = self.connections.remove(&client) else {
            return;
        };
        if event.readable && !(connection.read() && self.understand(client, &mut connection)) {
            return; // dropped, and with it the socket; its answers are lost when they are due
        }
        self.connections.insert(client, connection);
    }

    /// Take all whole messages; false if the connection is to be closed.
    fn understand(&mut self, client: u64, connection: &mut Connection) -> bool {
        let arrived_ns = monotonic_ns();
        let since = arrived_ns.saturating_sub(self.case.epoch_ns);
        let hole = self.case.faults.swallows(since);
        let mut at = 0;
        loop {
            let before = connection.output.len();
            let taken = match connection.dialect {
                Dialect::Cql => self
                    .cql
                    .take(&connection.input[at..], &mut connection.output),
                Dialect::Hbase => {
                    let greeted = &mut connection.greeted;
                    self.hbase
                        .take(&connection.input[at..], greeted, &mut connection.output)
                }
            };
            match taken {
                Taken::Partial => break,
                Taken::Garbage => return false,
                Taken::Whole(bytes, Step::Answered) => {
                    at += bytes;
                    if hole {
                        connection.output.truncate(before);
                    }
                }
                Taken::Whole(bytes, Step::Asked(operation)) => {
                    at += bytes;
                    if !self.ask(client, operation, arrived_ns, since) {
                        return false;
                    }
                }
            }
        }
        connection.input.drain(..at);
        if !connection.output.is_empty() {
            self.filled.push(client);
        }
        true
    }

    /// Decide what becomes of a request; false if its connection is to be closed.
    fn ask(&mut self, connection: u64, operation: Operation, arrived_ns: u64, since: u64) -> bool {
        let Operation { number, ticket } = operation;
        let case = &self.case;
        let fate = case
            .faults
            .fate(case.seed, number, since, &mut self.failed_once);
        let stamp = Stamp {
            number,
            arrived_ns,
            left_ns: 0,
            fate,
        };
        if matches!(fate, Fate::Silent | Fate::Dropped) {
            self.stamps.push(stamp);
            return fate != Fate::Dropped;
        }
        if let Some(burn) = &self.burn {
            burn.request(Duration::from_micros(case.burn_us));
        }
        let due = case.law.due(case.seed, number, since) - since + arrived_ns;
        let pending = Pending {
            connection,
            ticket,
            stamp,
        };
        self.pending.insert(self.next_pending, pending);
        self.due.push(Reverse((due, self.next_pending)));
        self.next_pending += 1;
        true
    }

    /// Make the answers that are due by now.
    fn answer(&mut self, now: u64) {
        while let Some(Reverse((at, place))) = self.due.peek().copied() {
            if at > now {
                return;
            }
            self.due.pop();
            let Some(mut pending) = self.pending.remove(&place) else {
                continue;
            };
            let Some(connection) = self.connections.get_mut(&pending.connection) else {
                pending.stamp.fate = Fate::Lost;
                self.stamps.push(pending.stamp);
                continue;
            };
            let (fate, out) = (pending.stamp.fate, &mut connection.output);
            match &pending.ticket {
                Ticket::Cql(ticket) => self.cql.answer(ticket, fate, out),
                Ticket::Hbase(ticket) => self.hbase.answer(ticket, fate, out),
            }
            connection.leaving.push(pending.stamp);
            self.filled.push(pending.connection);
        }
    }

    fn send(&mut self, client: u64) {
        let Some(connection) = self.connections.get_mut(&client) else {
            return;
        };
        let now = monotonic_ns();
        for mut stamp in connection.leaving.drain(..) {
            stamp.left_ns = now;
            self.stamps.push(stamp);
        }
        match connection.write() {
            Ok(all) if all != connection.full => {}
            Ok(all) => {
                connection.full = !all;
                let _its_end_comes_as_an_event =
                    self.poll.want_write(&connection.socket, client, !all);
            }
            Err(_) => drop(self.connections.remove(&client)),
        }
    }
}
