//! Operations over CQL connections of our own: requests that are begun together leave in one write, answers are judged where
//! they lie. Nothing is allocated for an operation once buffers have grown.

mod kept;
mod preparation;
mod topology;

use super::answer::{self, Answer as Said};
use super::keeper::{Place, Update};
use super::outcome::Failure;
use super::routes::Routes;
use super::statements::Statements;
use super::wire::frame::{self, Frames, opcode};
use crate::driver::connections::{Connections, Open, Protocol};
use crate::driver::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::driver::traffic::Counters;
use crate::net::{self, Notifier, Ready};
use crate::operation::Operation;
use crate::recorder::Lag;
use crate::reply::{Reply, Stamps};
use kept::Kept;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use steelyard_multiplexer::Answer;
use tokio::sync::mpsc::UnboundedSender;

/// How often connections are looked after.
const LOOK_NS: u64 = 1_000_000_000;

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// This client's operation.
    Operation(u32),
    /// The node is taught a statement: the first of [`Kept::preparing`] with this number.
    Preparation(u32),
    /// A sign of life.
    Probe,
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
    /// Connections of each node in `routes`, as tokens.
    of_node: Vec<Vec<u32>>,
    connections: Connections<CqlSession>,
    flights: Vec<Flight>,
    turn: usize,
    numbered: u32,
}

impl State {
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
        let State {
            connections,
            flights,
            ..
        } = &mut self.state;
        let broke = || Failure::from(net::Ended("the connection broke"));
        let open = connections.sending(token).ok_or_else(broke)?;
        let flight = &mut flights[client as usize];
        flight.node = Some(open.kept.place.node);
        reply.coordinator = Some(open.kept.coordinator);
        execute(&self.statements, open, client, flight, op)
    }

    /// The next request of an attempt, on the connection of the last.
    fn again(&mut self, open: &mut Open<Self>, client: u32, op: &Operation) -> Result<(), Failure> {
        let flight = &mut self.state.flights[client as usize];
        execute(&self.statements, open, client, flight, op)
    }

    #[inline]
    fn executed(
        &mut self,
        open: &mut Open<Self>,
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
        let frame = open.connection.requests.frame();
        let failure = match answer::read(frame, op, turn.values, reply) {
            Ok(Said::Done(outcome)) => return turn.ended.push(Ended { client, outcome }),
            Ok(Said::Page(page)) => {
                flight.page = Some(page);
                self.again(open, client, op)
            }
            Ok(Said::Unprepared) => match self.statements.of(op) {
                Some(statement) => self.prepare(open, client, statement.text.clone()),
                None => Ok(()),
            },
            Err(failure) => Err(failure),
        };
        if let Err(failure) = failure {
            fail(client, failure, turn);
        }
    }

    /// Whether `client` waits at connection `token` without a request of its own.
    fn waits_at(&self, client: u32, token: u32) -> bool {
        let flight = self.state.flights.get(client as usize);
        flight.is_some_and(|flight| flight.at == Some((token, None)))
    }
}

/// Append an EXECUTE for the operation of `client`, or let it wait for room.
#[inline]
fn execute(
    statements: &Statements,
    open: &mut Open<CqlSession>,
    client: u32,
    flight: &mut Flight,
    op: &Operation,
) -> Result<(), Failure> {
    let unforeseen = "no statement was prepared for this operation";
    let statement = statements
        .of(op)
        .ok_or_else(|| Failure::client(unforeseen))?;
    let sent = open.request(Purpose::Operation(client), |id, out| {
        frame::append(out, id as u16, opcode::EXECUTE, |out| {
            statement.execute(op, flight.page.as_deref(), out);
        });
    });
    flight.at = Some((open.token(), sent.ok()));
    if sent.is_err() {
        open.kept.waiting.push_back(client);
    }
    Ok(())
}

#[cold]
fn fail(client: u32, failure: Failure, turn: &mut Turn<'_>) {
    turn.exchanges[client as usize].reply.error = Some(failure.text);
    turn.ended.push(Ended {
        client,
        outcome: failure.outcome,
    });
}

impl Protocol for CqlSession {
    type Frames = Frames;
    type Tag = Purpose;
    type Kept = Kept;

    #[inline]
    fn connections(&mut self) -> &mut Connections<Self> {
        &mut self.state.connections
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    fn answered(
        &mut self,
        open: &mut Open<Self>,
        answer: &Answer<Purpose>,
        turn: &mut Turn<'_>,
    ) -> Result<(), net::Ended> {
        match answer.tag {
            None | Some(Purpose::Probe) => {}
            Some(Purpose::Preparation(number)) => self.prepared(open, number, turn),
            Some(Purpose::Operation(client)) => self.executed(open, client, answer, turn),
        }
        Ok(())
    }

    #[inline]
    fn take_up(&mut self, open: &mut Open<Self>, turn: &mut Turn<'_>) -> bool {
        let before = open.kept.waiting.len();
        if before == 0 {
            return false;
        }
        for client in std::mem::take(&mut open.kept.waiting) {
            if !self.waits_at(client, open.token()) {
                continue; // it was given up meanwhile
            }
            let Exchange { op, .. } = &turn.exchanges[client as usize];
            if let Err(failure) = self.again(open, client, op) {
                fail(client, failure, turn);
            }
        }
        open.kept.waiting.len() < before
    }

    /// Its clients are told, and it is made anew.
    #[cold]
    fn ended(&mut self, mut open: Open<Self>, why: net::Ended, turn: &mut Turn<'_>) {
        let token = open.token();
        let unanswered = open.connection.requests.close().into_iter();
        let asked = unanswered.filter_map(|purpose| match purpose {
            Purpose::Operation(client) => Some(client),
            Purpose::Preparation(_) | Purpose::Probe => None,
        });
        let preparing = open.kept.preparing.into_iter().flat_map(|it| it.clients);
        let waiting: Vec<_> = (open.kept.waiting.into_iter().chain(preparing))
            .filter(|client| self.waits_at(*client, token))
            .collect();
        for client in asked.chain(waiting) {
            self.state.flights[client as usize].at = None;
            fail(client, Failure::from(why), turn);
        }
        let _ = self.broken.send(open.kept.place); // the keeper outlives the loop
        self.state.group_by_node();
    }
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
        let at = self.state.flights[client as usize].at.take();
        let Some((token, Some(id))) = at else {
            return;
        };
        if let Some(sent_ns) = self.state.connections.abandon(token, id) {
            reply.stamps.sent_ns.get_or_insert(sent_ns);
        }
    }

    fn forget_all(&mut self) {
        for client in 0..self.state.flights.len() {
            self.give_up(client as u32, &mut Reply::default());
        }
        self.state.flights = Vec::new();
        for open in self.state.connections.iter_mut() {
            open.kept.waiting.clear();
            open.kept.preparing.clear();
        }
    }

    fn flush(&mut self, turn: &mut Turn<'_>) {
        self.write_collected(turn);
    }

    fn ready(&mut self, ready: Ready, turn: &mut Turn<'_>) {
        self.serve(ready, turn);
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
        for token in 0..self.state.connections.tokens() {
            self.with(token, turn, |session, open, turn| {
                kept::probe(open, now_ns)?;
                session.write(open, turn)
            });
        }
        now_ns + LOOK_NS
    }

    fn take_lag(&mut self) -> Option<Lag> {
        self.state.connections.take_lag()
    }

    fn unanswered(&self) -> Option<usize> {
        self.state.connections.unanswered()
    }
}
