//! Operations over CQL connections of our own: requests that are begun together leave in one write, answers are judged where
//! they lie. Nothing is allocated for an operation once buffers have grown.

use super::keeper::{Place, Update};
use super::outcome::Failure;
use super::patience::{PROBE_AFTER, PROBE_LIMIT};
use super::routes::Routes;
use super::rows;
use super::statements::{Prepared, Statements};
use super::wire::frame::{self, Frames, ServerError, opcode};
use crate::driver::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::driver::traffic::Counters;
use crate::generate::values::Values;
use crate::net::{self, KernelClock, Notifier, Ready, Socket};
use crate::operation::{FieldSet, Kind, Operation, Outcome};
use crate::recorder::Lag;
use crate::reply::{Reply, Stamps};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use steelyard_multiplexer::{Answer, Full};
use tokio::sync::mpsc::UnboundedSender;

/// How often connections are looked after.
const LOOK_NS: u64 = 1_000_000_000;

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// This client's operation.
    Operation(u32),
    /// The node is taught a statement: the first of [`Line::preparing`] with this number.
    Preparation(u32),
    /// A sign of life.
    Probe,
}

/// A statement that a node did not know, while it learns it.
struct Preparation {
    number: u32,
    text: String,
    /// Who executes it then.
    clients: Vec<u32>,
}

/// A connection with what waits for it.
struct Line {
    place: Place,
    /// Its node's index among coordinators.
    coordinator: u16,
    connection: net::Connection<Frames, Purpose>,
    /// Clients whose requests found no room.
    waiting: VecDeque<u32>,
    preparing: Vec<Preparation>,
    /// When it was asked for a sign of life, ns; 0 if it is not.
    probed_ns: u64,
    /// It is in the session's list of those that have something to write.
    collects: bool,
}

/// Where a client's attempt is.
#[derive(Debug, Default, Clone)]
struct Flight {
    /// Its connection, and its request's identifier there; none while it waits for room or a statement.
    at: Option<(u32, Option<u32>)>,
    /// The node that was asked last.
    node: Option<SocketAddr>,
    /// Where the next page of a scan begins.
    page: Option<Vec<u8>>,
}

/// The event loop's half of the driver.
pub struct CqlSession {
    pub(super) notifier: Notifier,
    pub(super) updates: Receiver<Update>,
    pub(super) broken: UnboundedSender<Place>,
    pub(super) statements: Arc<Statements>,
    pub(super) counters: Arc<Counters>,
    pub(super) state: State,
}

/// What changes while it runs.
#[derive(Default)]
pub(super) struct State {
    routes: Routes,
    /// Connections of each node in `routes`, as places in `lines`.
    of_node: Vec<Vec<u32>>,
    lines: Vec<Option<Line>>,
    /// Places in `lines` whose requests wait for [`Session::flush`].
    collecting: Vec<u32>,
    flights: Vec<Flight>,
    turn: usize,
    numbered: u32,
    clock: KernelClock,
    lag: Lag,
}

impl State {
    /// The connection that carries the next request for `op`, each node and each of its connections in turn.
    #[inline]
    fn route(&mut self, op: &Operation, avoided: Option<SocketAddr>) -> Option<u32> {
        self.turn = self.turn.wrapping_add(1);
        let avoided = avoided.and_then(|node| {
            let known = self.routes.nodes.iter().position(|known| *known == node);
            known.map(|place| place as u16)
        });
        let of_node = &self.of_node;
        let reachable = |node: u16| !of_node[usize::from(node)].is_empty();
        let node = self
            .routes
            .coordinator(op.key.as_bytes(), avoided, self.turn, reachable)?;
        let lines = &of_node[usize::from(node)];
        Some(lines[self.turn / self.routes.nodes.len() % lines.len()])
    }

    /// Which lines lead to which node.
    fn group_by_node(&mut self) {
        let lines = self.lines.iter().flatten();
        let placed: Vec<_> = lines
            .map(|line| (line.place.node, line.connection.token()))
            .collect();
        let of = |node: &SocketAddr| {
            let own = placed.iter().filter(|(place, _)| place == node);
            own.map(|(_, token)| *token).collect()
        };
        self.of_node = self.routes.nodes.iter().map(of).collect();
    }

    fn flight(&mut self, client: u32) -> &mut Flight {
        let client = client as usize;
        if client >= self.flights.len() {
            self.flights.resize_with(client + 1, Flight::default);
        }
        &mut self.flights[client]
    }
}

impl CqlSession {
    /// Append the request of `client` to connection `token`, or let it wait there for room.
    #[inline]
    fn send(&mut self, token: u32, client: u32, exchange: &mut Exchange) -> Result<(), Failure> {
        let Exchange { op, reply } = exchange;
        let op = &*op;
        let unforeseen = "no statement was prepared for this operation";
        let statement = self
            .statements
            .of(op)
            .ok_or_else(|| Failure::client(unforeseen))?;
        let State {
            lines,
            flights,
            collecting,
            ..
        } = &mut self.state;
        let broke = Failure::from(net::Ended("the connection broke"));
        let line = lines[token as usize].as_mut().ok_or(broke)?;
        let flight = &mut flights[client as usize];
        flight.node = Some(line.place.node);
        reply.coordinator = Some(line.coordinator);
        let purpose = Purpose::Operation(client);
        let sent = line.request(purpose, |id, out| {
            frame::append(out, id as u16, opcode::EXECUTE, |out| {
                statement.execute(op, flight.page.as_deref(), out);
            });
        });
        flight.at = Some((token, sent.ok()));
        if sent.is_err() {
            line.waiting.push_back(client);
        }
        if !std::mem::replace(&mut line.collects, true) {
            collecting.push(token);
        }
        Ok(())
    }

    /// Give out every whole answer that connection `line` has received.
    fn deliver(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        let malformed = |error: steelyard_multiplexer::Malformed| net::Ended(error.0);
        while let Some(answer) = line.connection.requests.next_answer().map_err(malformed)? {
            match answer.tag {
                None | Some(Purpose::Probe) => {}
                Some(Purpose::Preparation(number)) => self.prepared(line, number, turn),
                Some(Purpose::Operation(client)) => self.answered(line, client, &answer, turn),
            }
        }
        Ok(())
    }

    #[inline]
    fn answered(
        &mut self,
        line: &mut Line,
        client: u32,
        answer: &Answer<Purpose>,
        turn: &mut Turn<'_>,
    ) {
        let flight = &mut self.state.flights[client as usize];
        flight.at = None;
        let Exchange { op, reply } = &mut turn.exchanges[client as usize];
        // Of several requests of an attempt when the first left and when the last was answered.
        reply.stamps = Stamps {
            sent_ns: reply.stamps.sent_ns.or(Some(answer.sent_ns)),
            received_ns: Some(answer.received_ns),
        };
        let failure = match read(line.connection.requests.frame(), op, turn.values, reply) {
            Ok(Read::Done(outcome)) => return turn.ended.push(Ended { client, outcome }),
            Ok(Read::Page(page)) => {
                flight.page = Some(page);
                self.again(line, client, op)
            }
            Ok(Read::Unprepared) => match self.statements.of(op) {
                Some(statement) => self.prepare(line, client, statement.text.clone()),
                None => Ok(()),
            },
            Err(failure) => Err(failure),
        };
        if let Err(failure) = failure {
            fail(client, failure, turn);
        }
    }

    /// The next request of an attempt, on the connection of the last.
    fn again(&mut self, line: &mut Line, client: u32, op: &Operation) -> Result<(), Failure> {
        let statement: &Prepared = self
            .statements
            .of(op)
            .ok_or_else(|| Failure::client("no statement was prepared for this operation"))?;
        let token = line.connection.token();
        let flight = &mut self.state.flights[client as usize];
        let sent = line.request(Purpose::Operation(client), |id, out| {
            frame::append(out, id as u16, opcode::EXECUTE, |out| {
                statement.execute(op, flight.page.as_deref(), out);
            });
        });
        flight.at = Some((token, sent.ok()));
        if sent.is_err() {
            line.waiting.push_back(client);
        }
        Ok(())
    }

    /// The node does not know the statement (it joined, or restarted): it learns it once, however many wait for that.
    #[cold]
    fn prepare(&mut self, line: &mut Line, client: u32, text: String) -> Result<(), Failure> {
        self.state.flights[client as usize].at = Some((line.connection.token(), None));
        if let Some(under_way) = line.preparing.iter_mut().find(|known| known.text == text) {
            under_way.clients.push(client);
            return Ok(());
        }
        self.state.numbered = self.state.numbered.wrapping_add(1);
        let number = self.state.numbered;
        let sent = line.request(Purpose::Preparation(number), |id, out| {
            frame::append(out, id as u16, opcode::PREPARE, |out| {
                frame::bytes(out, text.as_bytes());
            });
        });
        sent.map_err(|Full| Failure::client("the connection takes no request"))?;
        let clients = vec![client];
        line.preparing.push(Preparation {
            number,
            text,
            clients,
        });
        Ok(())
    }

    /// A node has learnt a statement, or refuses it.
    #[cold]
    fn prepared(&mut self, line: &mut Line, number: u32, turn: &mut Turn<'_>) {
        let Some(at) = line
            .preparing
            .iter()
            .position(|known| known.number == number)
        else {
            return;
        };
        let preparation = line.preparing.swap_remove(at);
        let refused = match frame::take_apart(line.connection.requests.frame()) {
            Ok((header, message)) if header.opcode == opcode::ERROR => {
                ServerError::read(message).ok()
            }
            _ => None,
        };
        for client in preparation.clients {
            if !self.waits_at(client, line.connection.token()) {
                continue; // it was given up meanwhile
            }
            let again = if let Some(error) = &refused {
                Err(Failure::from(error.clone()))
            } else {
                let Exchange { op, .. } = &turn.exchanges[client as usize];
                self.again(line, client, op)
            };
            if let Err(failure) = again {
                fail(client, failure, turn);
            }
        }
    }

    /// Whether `client` waits at connection `token` without a request of its own.
    fn waits_at(&self, client: u32, token: u32) -> bool {
        let flight = self.state.flights.get(client as usize);
        flight.is_some_and(|flight| flight.at == Some((token, None)))
    }

    /// Do `work` with a connection; if it ends, its clients are told and it is made anew.
    fn with_line(
        &mut self,
        token: u32,
        turn: &mut Turn<'_>,
        work: impl FnOnce(&mut Self, &mut Line, &mut Turn<'_>) -> Result<(), net::Ended>,
    ) {
        let Some(mut line) = self
            .state
            .lines
            .get_mut(token as usize)
            .and_then(Option::take)
        else {
            return; // it ended since the poller saw it
        };
        let before = line.connection.requests.traffic();
        let done = work(self, &mut line, turn);
        self.counters
            .count(before, line.connection.requests.traffic());
        match done {
            Ok(()) => self.state.lines[token as usize] = Some(line),
            Err(why) => self.end(line, why, turn),
        }
    }

    #[cold]
    fn end(&mut self, mut line: Line, why: net::Ended, turn: &mut Turn<'_>) {
        let token = line.connection.token();
        let unanswered = line.connection.requests.close().into_iter();
        let asked = unanswered.filter_map(|purpose| match purpose {
            Purpose::Operation(client) => Some(client),
            Purpose::Preparation(_) | Purpose::Probe => None,
        });
        let preparing = line.preparing.drain(..).flat_map(|known| known.clients);
        let waiting: Vec<_> = line.waiting.drain(..).chain(preparing).collect();
        let waiting = waiting
            .into_iter()
            .filter(|client| self.waits_at(*client, token));
        for client in asked.chain(waiting.collect::<Vec<_>>()) {
            self.state.flights[client as usize].at = None;
            fail(client, Failure::from(why), turn);
        }
        let _ = self.broken.send(line.place); // the keeper outlives the loop
        self.state.group_by_node();
    }

    fn connected(&mut self, place: Place, socket: Socket, turn: &Turn<'_>) {
        let state = &mut self.state;
        let free = state.lines.iter().position(Option::is_none);
        let token = free.unwrap_or(state.lines.len());
        if free.is_none() {
            state.lines.push(None);
        }
        match net::Connection::new(socket, token as u32, turn.poller) {
            Ok(connection) => {
                state.lines[token] = Some(Line {
                    place,
                    coordinator: self.counters.coordinators.at(place.node).index,
                    connection,
                    waiting: VecDeque::new(),
                    preparing: Vec::new(),
                    probed_ns: 0,
                    collects: false,
                });
                state.group_by_node();
            }
            Err(_) => drop(self.broken.send(place)),
        }
    }

    /// Connections to nodes that have left are closed.
    fn follow(&mut self, routes: Routes, turn: &mut Turn<'_>) {
        self.state.routes = routes;
        let nodes = &self.state.routes.nodes;
        let gone: Vec<_> = (self.state.lines.iter().flatten())
            .filter(|line| !nodes.contains(&line.place.node))
            .map(|line| line.connection.token())
            .collect();
        for token in gone {
            let left = net::Ended("the connection is not wanted any more");
            self.with_line(token, turn, |_, _, _| Err(left));
        }
        self.state.group_by_node();
    }
}

impl Line {
    fn request(
        &mut self,
        purpose: Purpose,
        encode: impl FnOnce(u32, &mut Vec<u8>),
    ) -> Result<u32, Full> {
        self.connection.requests.request(purpose, encode)
    }

    /// Ask for a sign of life when nothing has been received for a while.
    fn probe(&mut self, now_ns: u64) -> Result<(), net::Ended> {
        let received = self.connection.requests.received_ns();
        if received > self.probed_ns {
            self.probed_ns = 0;
        }
        let since = |then: u64| Duration::from_nanos(now_ns.saturating_sub(then));
        if self.probed_ns == 0 {
            if since(received) >= PROBE_AFTER {
                let options = |id: u32, out: &mut Vec<u8>| {
                    frame::append(out, id as u16, opcode::OPTIONS, |_| ());
                };
                // One that takes no request has others to be answered.
                let _ = self.request(Purpose::Probe, options);
                self.probed_ns = now_ns;
            }
        } else if since(self.probed_ns) >= PROBE_LIMIT {
            return Err(net::Ended("the connection gave no sign of life"));
        }
        Ok(())
    }
}

/// What an answer to an EXECUTE says.
enum Read {
    Done(Outcome),
    /// A scan goes on here.
    Page(Vec<u8>),
    Unprepared,
}

#[inline]
fn read(
    received: &[u8],
    op: &Operation,
    values: &Values,
    reply: &mut Reply,
) -> Result<Read, Failure> {
    let (header, message) = frame::take_apart(received)?;
    if header.opcode != opcode::RESULT {
        let error = ServerError::read(message)?;
        if error.code == ServerError::UNPREPARED {
            return Ok(Read::Unprepared);
        }
        return Err(error.into());
    }
    match op.kind {
        Kind::Read => {
            let first = match op.fields {
                FieldSet::All => 0,
                FieldSet::One(field) => field,
            };
            rows::record(message, op.key.as_bytes(), first, values, reply).map(Read::Done)
        }
        Kind::Scan => {
            let next = rows::page(message, values, reply)?;
            Ok(next.map_or(Read::Done(Outcome::Ok), |page| Read::Page(page.to_vec())))
        }
        _ => Ok(Read::Done(Outcome::Ok)),
    }
}

#[cold]
fn fail(client: u32, failure: Failure, turn: &mut Turn<'_>) {
    turn.exchanges[client as usize].reply.error = Some(failure.text);
    turn.ended.push(Ended {
        client,
        outcome: failure.outcome,
    });
}

impl Session for CqlSession {
    fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    #[inline]
    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun {
        let exchange = &mut turn.exchanges[client as usize];
        let flight = self.state.flight(client);
        flight.page = None;
        let avoided = if attempt.number > 1 {
            flight.node
        } else {
            None
        };
        let begun = match self.state.route(&exchange.op, avoided) {
            Some(token) => self.send(token, client, exchange),
            None => Err(Failure::unreachable()),
        };
        match begun {
            Ok(()) => Begun::InFlight,
            Err(failure) => {
                exchange.reply.error = Some(failure.text);
                Begun::Ended(failure.outcome)
            }
        }
    }

    fn give_up(&mut self, client: u32, reply: &mut Reply) {
        let State { flights, lines, .. } = &mut self.state;
        let Some((token, Some(id))) = flights[client as usize].at.take() else {
            return;
        };
        if let Some(line) = &mut lines[token as usize] {
            let sent_ns = line.connection.requests.abandon(id);
            if sent_ns > 0 {
                reply.stamps.sent_ns.get_or_insert(sent_ns);
            }
        }
    }

    fn forget_all(&mut self) {
        for client in 0..self.state.flights.len() {
            self.give_up(client as u32, &mut Reply::default());
        }
        self.state.flights = Vec::new();
        for line in self.state.lines.iter_mut().flatten() {
            line.waiting.clear();
            line.preparing.clear();
        }
    }

    fn flush(&mut self, turn: &mut Turn<'_>) {
        while let Some(token) = self.state.collecting.pop() {
            self.with_line(token, turn, |session, line, turn| {
                line.collects = false;
                session.write(line, turn)
            });
        }
    }

    fn ready(&mut self, ready: Ready, turn: &mut Turn<'_>) {
        self.with_line(ready.token, turn, |session, line, turn| {
            if ready.readable {
                session.receive(line, turn)?;
            }
            if ready.writable || line.connection.requests.waiting() > 0 {
                session.write(line, turn)?;
            }
            Ok(())
        });
    }

    fn woken(&mut self, turn: &mut Turn<'_>) {
        while let Ok(update) = self.updates.try_recv() {
            match update {
                Update::Routes(routes) => self.follow(routes, turn),
                Update::Connected(place, socket) => self.connected(place, socket, turn),
            }
        }
    }

    fn look_after(&mut self, now_ns: u64, turn: &mut Turn<'_>) -> u64 {
        for token in 0..self.state.lines.len() as u32 {
            self.with_line(token, turn, |session, line, turn| {
                line.probe(now_ns)?;
                session.write(line, turn)
            });
        }
        now_ns + LOOK_NS
    }

    fn take_lag(&mut self) -> Option<Lag> {
        Some(std::mem::take(&mut self.state.lag))
    }
}

impl CqlSession {
    /// Read once, and give out what came.
    #[inline]
    fn receive(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        let State { clock, lag, .. } = &mut self.state;
        let mut more = line.connection.receive(clock, lag)?;
        while more {
            self.deliver(line, turn)?;
            let State { clock, lag, .. } = &mut self.state;
            more = line.connection.reads_on() && line.connection.receive(clock, lag)?;
        }
        Ok(())
    }

    /// Write what waits, and take up requests that waited for room. What was delivered before a write failed is given out first.
    #[inline]
    fn write(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        loop {
            if let Err(ended) = line.connection.flush(turn.poller) {
                self.receive(line, turn)?;
                return Err(ended);
            }
            if line.waiting.is_empty() || !self.take_up(line, turn) {
                return Ok(());
            }
        }
    }

    /// Let requests in that waited for room; whether any was.
    #[cold]
    fn take_up(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> bool {
        let token = line.connection.token();
        let before = line.waiting.len();
        for client in std::mem::take(&mut line.waiting) {
            if !self.waits_at(client, token) {
                continue; // it was given up meanwhile
            }
            let Exchange { op, .. } = &turn.exchanges[client as usize];
            if let Err(failure) = self.again(line, client, op) {
                fail(client, failure, turn);
            }
        }
        line.waiting.len() < before
    }
}
