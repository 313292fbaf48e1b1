//! Gets, puts and deletes over connections of our own in the event loop. Everything else, and whatever goes to a region or a
//! server that is not known yet, is handed to the native client's futures, which learn both.

use super::dial::Dialler;
use super::{Hbase, failed, milliseconds, rows, stamps};
use crate::driver::connections::{Connections, Open, Protocol};
use crate::driver::deferred::Deferred;
use crate::driver::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::driver::traffic::Counters;
use crate::generate::Generator;
use crate::net::{self, Notifier, Ready, Socket};
use crate::operation::{Kind, Outcome};
use crate::recorder::Lag;
use crate::reply::Reply;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use steelyard_hbase::{Address, Call, Delete, Error, Frames, Get, Place, Put};
use steelyard_multiplexer::{Answer, Full};

/// Where a connection leads.
pub struct Kept {
    server: Address,
    /// The server's index among coordinators.
    coordinator: u16,
}

/// Where a client's attempt is.
#[derive(Default)]
struct Flight {
    /// Its connection, and its request's identifier there.
    at: Option<(u32, u32)>,
    place: Option<Place>,
}

/// The event loop's half of the driver.
pub struct HbaseSession {
    driver: Arc<Hbase>,
    deferred: Deferred,
    put: Put,
    connections: Connections<HbaseSession>,
    /// Connections of each server, as tokens.
    of_server: BTreeMap<Address, Vec<u32>>,
    flights: Vec<Flight>,
    turn: usize,
    dialler: Dialler,
}

impl HbaseSession {
    /// Connections are made, and futures run, on the current LocalSet.
    pub fn new(driver: Arc<Hbase>, generator: Arc<Generator>) -> io::Result<Self> {
        let deferred = Deferred::new(Arc::clone(&driver), generator)?;
        let notifier = deferred.notifier().clone();
        Ok(Self {
            dialler: Dialler::new(driver.direct.clone(), driver.connections, notifier),
            driver,
            deferred,
            put: Put::new(b""),
            connections: Connections::default(),
            of_server: BTreeMap::new(),
            flights: Vec::new(),
            turn: 0,
        })
    }

    /// A connection to the server of `place`, each in its turn; one is made if there is none.
    fn route(&mut self, place: &Place) -> Option<u32> {
        self.turn = self.turn.wrapping_add(1);
        let tokens = self.of_server.get(place.server());
        if let Some(tokens) = tokens.filter(|tokens| !tokens.is_empty()) {
            return Some(tokens[self.turn % tokens.len()]);
        }
        self.dialler.dial(place.server());
        None
    }

    /// Send the request of `client`, if its region and a connection to its server are known and take it.
    fn send(
        &mut self,
        client: u32,
        Exchange { op, reply }: &mut Exchange,
        timeout: Duration,
    ) -> Option<Result<(), Error>> {
        let place = self.driver.direct.place(op.key.as_bytes())?;
        let token = self.route(&place)?;
        let Self {
            driver,
            put,
            connections,
            flights,
            ..
        } = self;
        let open = connections.sending(token)?;
        let get = Get::new(op.key.as_bytes())
            .columns(driver.names.columns(op.fields))
            .cache_blocks(driver.block_cache);
        let mut delete;
        let call = match op.kind {
            Kind::Read => Call::Get(&get),
            Kind::Delete => {
                delete = Delete::new(op.key.as_bytes());
                delete.durability(driver.durability).at(milliseconds(op));
                Call::Delete(&delete)
            }
            _ => {
                driver.fill(put, op);
                Call::Put(put)
            }
        };
        let mut written = Ok(());
        let sent = open.request(client, |id, out| {
            written = driver.direct.write(call, &place, id, timeout, out);
        });
        let id = match sent {
            Ok(id) => id,
            Err(Full) => return None,
        };
        if let Err(error) = written {
            open.connection.requests.cancel(id);
            return Some(Err(error));
        }
        reply.coordinator = Some(open.kept.coordinator);
        let client = client as usize;
        if client >= flights.len() {
            flights.resize_with(client + 1, Flight::default);
        }
        flights[client] = Flight {
            at: Some((token, id)),
            place: Some(place),
        };
        Some(Ok(()))
    }

    /// The attempt of `client` is answered by `frame`.
    fn ends(&mut self, frame: &[u8], client: u32, answer: &Answer<u32>, turn: &mut Turn<'_>) {
        let flight = std::mem::take(&mut self.flights[client as usize]);
        let Some(place) = flight.place else {
            return;
        };
        let Exchange { op, reply } = &mut turn.exchanges[client as usize];
        let when = steelyard_hbase::Stamps {
            sent_ns: answer.sent_ns,
            received_ns: answer.received_ns,
        };
        reply.stamps = stamps(when);
        let outcome = match self.driver.direct.read(frame, &place, when) {
            Ok(row) if op.kind == Kind::Read => {
                if row.is_empty() {
                    Outcome::NotFound
                } else {
                    rows::record(
                        row.cells(),
                        op.key.as_bytes(),
                        &self.driver.names,
                        turn.values,
                        reply,
                    );
                    Outcome::Ok
                }
            }
            Ok(_) => Outcome::Ok,
            Err(error) => failed(&error, reply),
        };
        turn.ended.push(Ended { client, outcome });
    }

    fn connected(&mut self, server: Address, socket: Socket, turn: &Turn<'_>) {
        let coordinators = &self.driver.counters.coordinators;
        let kept = Kept {
            coordinator: coordinators.index(&server.to_string()),
            server: server.clone(),
        };
        let made = self.connections.add(socket, kept, turn.poller);
        if let Ok(token) = made {
            self.of_server.entry(server).or_default().push(token);
        }
    }
}

impl Protocol for HbaseSession {
    type Frames = Frames;
    /// The client whose request it is.
    type Tag = u32;
    type Kept = Kept;

    #[inline]
    fn connections(&mut self) -> &mut Connections<Self> {
        &mut self.connections
    }

    fn counters(&self) -> &Counters {
        &self.driver.counters
    }

    #[inline]
    fn answered(
        &mut self,
        open: &mut Open<Self>,
        answer: &Answer<u32>,
        turn: &mut Turn<'_>,
    ) -> Result<(), net::Ended> {
        let refused = net::Ended("the server refuses the connection");
        let client = answer.tag.ok_or(refused)?;
        self.ends(open.connection.requests.frame(), client, answer, turn);
        Ok(())
    }

    #[cold]
    fn ended(&mut self, mut open: Open<Self>, why: net::Ended, turn: &mut Turn<'_>) {
        let token = open.token();
        if let Some(tokens) = self.of_server.get_mut(&open.kept.server) {
            tokens.retain(|other| *other != token);
        }
        for client in open.connection.requests.close() {
            let flight = std::mem::take(&mut self.flights[client as usize]);
            let Some(place) = flight.place else {
                continue;
            };
            let error = self.driver.direct.lost(&place, why.0);
            let outcome = failed(&error, &mut turn.exchanges[client as usize].reply);
            turn.ended.push(Ended { client, outcome });
        }
    }
}

impl Session for HbaseSession {
    fn notifier(&self) -> &Notifier {
        self.deferred.notifier()
    }

    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun {
        let exchange = &mut turn.exchanges[client as usize];
        let single = matches!(
            exchange.op.kind,
            Kind::Read | Kind::Insert | Kind::Update | Kind::Delete
        );
        let timeout = Duration::from_nanos(attempt.timeout_ns);
        let sent = if single {
            self.send(client, exchange, timeout)
        } else {
            None
        };
        match sent {
            None => self.deferred.begin(client, attempt, turn),
            Some(Ok(())) => Begun::InFlight,
            Some(Err(error)) => Begun::Ended(failed(&error, &mut exchange.reply)),
        }
    }

    fn give_up(&mut self, client: u32, reply: &mut Reply) {
        let Flight { at, place } = std::mem::take(&mut self.flights[client as usize]);
        if let (Some((token, id)), Some(place)) = (at, place) {
            self.driver.direct.doubt(&place);
            reply.stamps.sent_ns = self.connections.abandon(token, id);
        }
    }

    fn forget_all(&mut self) {
        for client in 0..self.flights.len() {
            self.give_up(client as u32, &mut Reply::default());
        }
        self.flights = Vec::new();
        self.deferred.forget_all();
    }

    fn flush(&mut self, turn: &mut Turn<'_>) {
        self.write_collected(turn);
    }

    fn ready(&mut self, ready: Ready, turn: &mut Turn<'_>) {
        self.serve(ready, turn);
    }

    fn woken(&mut self, turn: &mut Turn<'_>) {
        self.deferred.woken(turn);
        while let Some((server, socket)) = self.dialler.made() {
            self.connected(server, socket, turn);
        }
    }

    /// The kernel looks after the connections: keep-alive, and a limit on what is not acknowledged.
    fn look_after(&mut self, _: u64, _: &mut Turn<'_>) -> u64 {
        u64::MAX
    }

    fn take_lag(&mut self) -> Option<Lag> {
        self.connections.take_lag()
    }

    fn unanswered(&self) -> Option<usize> {
        self.connections.unanswered()
    }
}
