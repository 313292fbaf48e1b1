//! The loop: requests come, answers wait in a heap until they are due, and leave.

use crate::arguments::Arguments;
use crate::burn::Burn;
use crate::command::{Case, Command, Lines};
use crate::connection::{Connection, Dialect};
use crate::cql::Cql;
use crate::fault::{Asked, Fate};
use crate::hbase::Hbase;
use crate::nodes;
use crate::pending::{Answer, Pending};
use crate::poll::{Event, Poll, Timer};
use crate::stamp::{self, Stamp};
use crate::store::{Store, View};
use crate::ticket::{Operation, Step, Taken, Ticket};
use crate::{monotonic_ns, say};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::TcpListener;
use std::time::Duration;

const COMMANDS: u64 = 0;
const TIMER: u64 = 1;
const HBASE_DOOR: u64 = 2;
/// Of the first CQL node; those of the others follow.
const CQL_DOOR: u64 = 3;
const FIRST_CLIENT: u64 = 1 << 16;

/// The servers.
pub struct Server {
    poll: Poll,
    timer: Timer,
    hbase_door: TcpListener,
    cql_doors: Vec<TcpListener>,
    commands: Lines,
    cql: Cql,
    hbase: Hbase,
    case: Case,
    burn: Option<Burn>,
    connections: HashMap<u64, Connection>,
    next_client: u64,
    pending: Pending,
    /// What was written, if it is kept.
    store: Option<Store>,
    /// Nodes on which a connection has ended as the case asks for.
    ended: HashSet<usize>,
    /// Connections with something to write.
    filled: Vec<u64>,
    failed_once: HashSet<u64>,
    stamps: Vec<Stamp>,
}

impl Server {
    /// Listen on free ports.
    pub fn open(arguments: &Arguments) -> io::Result<Self> {
        let (hbase_door, cql_doors) = (
            nodes::hbase()?,
            nodes::cql(arguments.first, arguments.nodes)?,
        );
        let poll = Poll::new()?;
        let timer = Timer::new()?;
        poll.add(&io::stdin(), COMMANDS)?;
        poll.add(&timer, TIMER)?;
        poll.add(&hbase_door, HBASE_DOOR)?;
        for (door, token) in cql_doors.iter().zip(CQL_DOOR..) {
            poll.add(door, token)?;
        }
        Ok(Self {
            hbase: Hbase::new(
                arguments.shape,
                hbase_door.local_addr()?.port(),
                arguments.store,
            ),
            cql: Cql::new(arguments),
            store: arguments.store.then(Store::default),
            ended: HashSet::new(),
            poll,
            timer,
            hbase_door,
            cql_doors,
            commands: Lines::default(),
            case: Case::default(),
            burn: None,
            connections: HashMap::new(),
            next_client: FIRST_CLIENT,
            pending: Pending::default(),
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
        json!({"event": "ready", "cql": place(&self.cql_doors[0]), "hbase": place(&self.hbase_door), "pid": std::process::id()})
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
                    HBASE_DOOR => self.admit(Dialect::Hbase, 0)?,
                    client if client >= FIRST_CLIENT => self.attend(client, event),
                    door => self.admit(Dialect::Cql, (door - CQL_DOOR) as usize)?,
                }
            }
            self.answer(monotonic_ns());
            for client in std::mem::take(&mut self.filled) {
                self.send(client);
            }
            self.timer.set(self.pending.next_due())?;
        }
    }

    fn obey(&mut self, line: &str) {
        let outcome = serde_json::from_str::<Command>(line)
            .map_err(|e| e.to_string())
            .and_then(|command| self.carry_out(command));
        say(&match outcome {
            Ok(said) => said,
            Err(text) => json!({"event": "ack", "ok": false, "error": text}),
        });
    }

    fn carry_out(&mut self, command: Command) -> Result<Value, String> {
        let done = |stamps: usize| json!({"event": "ack", "ok": true, "stamps": stamps});
        match command {
            Command::Case(case) => {
                if let Some(fault) = case.law.fault() {
                    return Err(fault.to_owned());
                }
                if case.loses() && self.store.is_none() {
                    return Err("servers lose only what they keep: --store".to_owned());
                }
                self.burn = (case.burn_us > 0).then(Burn::start);
                self.case = case;
                self.pending.clear();
                self.failed_once.clear();
                self.ended.clear();
                self.stamps.clear();
                self.cql.count_anew();
                self.listen_or_not();
                Ok(done(0))
            }
            Command::Stamps { path } => {
                let stamps = std::mem::take(&mut self.stamps);
                stamp::write(&path, &stamps).map_err(|e| format!("{}: {e}", path.display()))?;
                Ok(done(stamps.len()))
            }
            Command::Restart => {
                self.connections.clear();
                self.cql.forget();
                Ok(done(0))
            }
            Command::Counts => Ok(json!({"event": "ack", "ok": true, "cql": self.cql.counts()})),
        }
    }

    fn admit(&mut self, dialect: Dialect, node: usize) -> io::Result<()> {
        let door = match dialect {
            Dialect::Cql => &self.cql_doors[node],
            Dialect::Hbase => &self.hbase_door,
        };
        while let Ok((socket, _)) = door.accept() {
            let connection = Connection::new(socket, dialect, node)?;
            self.poll.add(&connection.socket, self.next_client)?;
            self.want(self.next_client, &connection);
            self.connections.insert(self.next_client, connection);
            self.next_client += 1;
        }
        Ok(())
    }

    /// Read from connections, or leave them alone, as the case says.
    fn listen_or_not(&self) {
        for (client, connection) in &self.connections {
            self.want(*client, connection);
        }
    }

    /// Wait for what is wanted of a connection now.
    fn want(&self, client: u64, connection: &Connection) {
        let reads = !self.case.faults(connection.node).unread;
        let writes = connection.full;
        let _its_end_comes_as_an_event = self.poll.want(&connection.socket, client, reads, writes);
    }

    fn attend(&mut self, client: u64, event: Event) {
        if event.writable {
            self.filled.push(client);
        }
        let Some(mut connection) = self.connections.remove(&client) else {
            return;
        };
        if event.readable && !self.receive(client, &mut connection) {
            return; // dropped, and with it the socket; its answers are lost when they are due
        }
        self.connections.insert(client, connection);
    }

    /// Read once and take what has come; false if the connection is to be closed.
    fn receive(&mut self, client: u64, connection: &mut Connection) -> bool {
        let open = connection.read();
        if connection.ended {
            connection.input.clear();
            return open;
        }
        open && self.understand(client, connection)
    }

    /// Take all whole messages; false if the connection is to be closed.
    fn understand(&mut self, client: u64, connection: &mut Connection) -> bool {
        let arrived_ns = monotonic_ns();
        let since = arrived_ns.saturating_sub(self.case.epoch_ns);
        let hole = self.case.faults(connection.node).swallows(since);
        let mut at = 0;
        loop {
            let before = connection.output.len();
            let taken = match connection.dialect {
                Dialect::Cql => self.cql.take(
                    connection.node,
                    &connection.input[at..],
                    &mut connection.output,
                ),
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
                    if !self.ask((client, connection.node), operation, arrived_ns, since) {
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
    fn ask(
        &mut self,
        (connection, node): (u64, usize),
        operation: Operation,
        arrived_ns: u64,
        since: u64,
    ) -> bool {
        let Operation { number, side, .. } = operation;
        let case = &self.case;
        let asked = Asked { number, side };
        let faults = case.faults(node);
        let fate = faults.fate(case.seed, asked, since, &mut self.failed_once);
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
        let answer = Answer {
            connection,
            operation,
            stamp,
        };
        self.pending.push(due, answer);
        true
    }

    /// Make the answers that are due by now.
    fn answer(&mut self, now: u64) {
        while let Some(mut answer) = self.pending.pop(now) {
            let client = answer.connection;
            let Some(mut connection) = self.connections.remove(&client) else {
                answer.stamp.fate = Fate::Lost;
                self.stamps.push(answer.stamp);
                continue;
            };
            self.hand_over(client, &mut connection, &answer);
            connection.leaving.push(answer.stamp);
            self.connections.insert(client, connection);
        }
    }

    /// Put an answer where it leaves from, or withhold it until the connection ends.
    fn hand_over(&mut self, client: u64, connection: &mut Connection, answer: &Answer) {
        let node = connection.node;
        let closing = self.case.faults(node).closing;
        let Some(closing) = closing.filter(|_| !self.ended.contains(&node)) else {
            self.encode(node, answer, &mut connection.output);
            self.filled.push(client);
            return;
        };
        let withheld = connection.withhold(|out| self.encode(node, answer, out));
        if withheld < closing.answers {
            return;
        }
        connection.end(closing.how);
        self.filled.push(client);
        self.ended.insert(node);
        for (other, connection) in &mut self.connections {
            if connection.node == node && connection.release() {
                self.filled.push(*other);
            }
        }
    }

    /// Do what an operation asks for, unless it fails, and append its answer.
    fn encode(&mut self, node: usize, answer: &Answer, out: &mut Vec<u8>) {
        let (operation, fate) = (&answer.operation, answer.stamp.fate);
        let view = View {
            seed: self.case.seed,
            loss: &self.case.faults(node).loss,
        };
        let found = match (&mut self.store, &operation.request) {
            (Some(store), Some(request)) if fate == Fate::Answered => {
                Some((&**request, store.perform(request, &view)))
            }
            _ => None,
        };
        match &operation.ticket {
            Ticket::Cql(ticket) => self.cql.answer(ticket, fate, found, out),
            Ticket::Hbase(ticket) => self.hbase.answer(ticket, fate, found, out),
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
                let connection = &self.connections[&client];
                self.want(client, connection);
            }
            Err(_) => drop(self.connections.remove(&client)),
        }
    }
}
