//! Gets, puts and deletes over connections of our own in the event loop. Everything else, and whatever goes to a region or a
//! server that is not known yet, is handed to the native client's futures, which learn both.

use super::{Hbase, failed, milliseconds, rows, stamps};
use crate::driver::deferred::Deferred;
use crate::driver::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::generate::Generator;
use crate::net::{self, KernelClock, Notifier, Ready, Socket};
use crate::operation::{Kind, Operation, Outcome};
use crate::recorder::Lag;
use crate::reply::Reply;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use steelyard_hbase::{Address, Call, Delete, Direct, Error, Frames, Get, Place, Put};
use steelyard_multiplexer::{Answer, Full};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A server that refused a connection is asked again after this long.
const REDIAL: Duration = Duration::from_millis(50);

/// A connection to a server; its requests are tagged with their clients.
struct Line {
    server: Address,
    connection: net::Connection<Frames, u32>,
    /// It is in the session's list of those that have something to write.
    collects: bool,
}

/// Where a client's attempt is.
#[derive(Default)]
struct Flight {
    /// Its connection, and its request's identifier there.
    at: Option<(u32, u32)>,
    place: Option<Place>,
}

/// A connection that was asked for, if it was made.
type Dialled = (Address, Option<Socket>);

/// The event loop's half of the driver.
pub struct HbaseSession {
    driver: Arc<Hbase>,
    direct: Direct,
    deferred: Deferred,
    put: Put,
    lines: Vec<Option<Line>>,
    /// Connections of each server, as places in `lines`.
    of_server: HashMap<Address, Vec<u32>>,
    collecting: Vec<u32>,
    flights: Vec<Flight>,
    turn: usize,
    /// Servers to which connections are being made.
    dialling: HashSet<Address>,
    dials: UnboundedSender<Address>,
    dialled: mpsc::Receiver<Dialled>,
    clock: KernelClock,
    lag: Lag,
}

/// Make connections that are asked for, until nobody asks.
async fn dial(
    direct: Direct,
    connections: u32,
    mut asked: UnboundedReceiver<Address>,
    made: mpsc::Sender<Dialled>,
    notifier: Notifier,
) {
    while let Some(server) = asked.recv().await {
        let (direct, made, notifier) = (direct.clone(), made.clone(), notifier.clone());
        tokio::task::spawn_local(async move {
            for _ in 0..connections.max(1) {
                let stream = direct.connect(&server).await.ok();
                let socket = stream.and_then(|stream| Socket::new(stream, None).ok());
                if socket.is_none() {
                    tokio::time::sleep(REDIAL).await;
                }
                if made.send((server.clone(), socket)).is_ok() {
                    notifier.notify();
                }
            }
        });
    }
}

impl HbaseSession {
    /// Connections are made, and futures run, on the current LocalSet.
    pub fn new(driver: Arc<Hbase>, generator: Arc<Generator>) -> io::Result<Self> {
        let deferred = Deferred::new(Arc::clone(&driver), generator)?;
        let direct = driver.client.direct(&driver.table);
        let (dials, asked) = unbounded_channel();
        let (made, dialled) = mpsc::channel();
        let notifier = deferred.notifier().clone();
        let connections = driver.connections;
        tokio::task::spawn_local(dial(direct.clone(), connections, asked, made, notifier));
        Ok(Self {
            driver,
            direct,
            deferred,
            put: Put::new(b""),
            lines: Vec::new(),
            of_server: HashMap::new(),
            collecting: Vec::new(),
            flights: Vec::new(),
            turn: 0,
            dialling: HashSet::new(),
            dials,
            dialled,
            clock: KernelClock::default(),
            lag: Lag::default(),
        })
    }

    /// A connection to the server of `place`, each in its turn; one is made if there is none.
    fn line(&mut self, place: &Place) -> Option<u32> {
        self.turn = self.turn.wrapping_add(1);
        let lines = self
            .of_server
            .get(place.server())
            .filter(|lines| !lines.is_empty());
        if let Some(lines) = lines {
            return Some(lines[self.turn % lines.len()]);
        }
        if self.dialling.insert(place.server().clone()) {
            let _ = self.dials.send(place.server().clone()); // without the runtime nothing is made
        }
        None
    }

    /// Send the request of `client`, if its region and a connection to its server are known and take it.
    fn send(
        &mut self,
        client: u32,
        op: &Operation,
        timeout: Duration,
    ) -> Option<Result<(), Error>> {
        let place = self.direct.place(op.key.as_bytes())?;
        let token = self.line(&place)?;
        let Self {
            driver,
            direct,
            put,
            lines,
            flights,
            collecting,
            ..
        } = self;
        let line = lines[token as usize].as_mut()?;
        let get = Get::new(op.key.as_bytes())
            .columns(driver.names.columns(op.fields))
            .cache_blocks(driver.block_cache);
        let mut delete = Delete::new(op.key.as_bytes());
        let call = match op.kind {
            Kind::Read => Call::Get(&get),
            Kind::Delete => {
                delete.durability(driver.durability).at(milliseconds(op));
                Call::Delete(&delete)
            }
            _ => {
                driver.fill(put, op);
                Call::Put(put)
            }
        };
        let mut written = Ok(());
        let sent = line.connection.requests.request(client, |id, out| {
            written = direct.write(call, &place, id, timeout, out);
        });
        let id = match sent {
            Ok(id) => id,
            Err(Full) => return None,
        };
        if let Err(error) = written {
            line.connection.requests.abandon(id);
            return Some(Err(error));
        }
        let client = client as usize;
        if client >= flights.len() {
            flights.resize_with(client + 1, Flight::default);
        }
        flights[client] = Flight {
            at: Some((token, id)),
            place: Some(place),
        };
        if !std::mem::replace(&mut line.collects, true) {
            collecting.push(token);
        }
        Some(Ok(()))
    }

    fn answered(&mut self, line: &Line, client: u32, answer: &Answer<u32>, turn: &mut Turn<'_>) {
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
        let outcome = match self
            .direct
            .read(line.connection.requests.frame(), &place, when)
        {
            Ok(row) if op.kind == Kind::Read => {
                if row.is_empty() {
                    Outcome::NotFound
                } else {
                    rows::record(
                        &row,
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

    /// Do `work` with a connection; if it ends, its clients are told.
    fn with_line(
        &mut self,
        token: u32,
        turn: &mut Turn<'_>,
        work: impl FnOnce(&mut Self, &mut Line, &mut Turn<'_>) -> Result<(), net::Ended>,
    ) {
        let Some(mut line) = self.lines.get_mut(token as usize).and_then(Option::take) else {
            return; // it ended since the poller saw it
        };
        let before = line.connection.requests.traffic();
        let done = work(self, &mut line, turn);
        self.driver
            .counters
            .count(before, line.connection.requests.traffic());
        match done {
            Ok(()) => self.lines[token as usize] = Some(line),
            Err(why) => self.end(line, why, turn),
        }
    }

    #[cold]
    fn end(&mut self, mut line: Line, why: net::Ended, turn: &mut Turn<'_>) {
        let token = line.connection.token();
        if let Some(lines) = self.of_server.get_mut(&line.server) {
            lines.retain(|other| *other != token);
        }
        for client in line.connection.requests.close() {
            let flight = std::mem::take(&mut self.flights[client as usize]);
            let Some(place) = flight.place else {
                continue;
            };
            let error = self.direct.lost(&place, why.0);
            let outcome = failed(&error, &mut turn.exchanges[client as usize].reply);
            turn.ended.push(Ended { client, outcome });
        }
    }

    fn receive(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        let malformed = |error: steelyard_multiplexer::Malformed| net::Ended(error.0);
        let mut more = line.connection.receive(&mut self.clock, &mut self.lag)?;
        while more {
            while let Some(answer) = line.connection.requests.next_answer().map_err(malformed)? {
                let Some(client) = answer.tag else {
                    return Err(net::Ended("the server refuses the connection"));
                };
                self.answered(line, client, &answer, turn);
            }
            more = line.connection.reads_on()
                && line.connection.receive(&mut self.clock, &mut self.lag)?;
        }
        Ok(())
    }

    /// Write what waits. What was delivered before a write failed is given out first.
    fn write(&mut self, line: &mut Line, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        if let Err(ended) = line.connection.flush(turn.poller) {
            self.receive(line, turn)?;
            return Err(ended);
        }
        Ok(())
    }

    fn connected(&mut self, server: Address, socket: Socket, turn: &Turn<'_>) {
        let free = self.lines.iter().position(Option::is_none);
        let token = free.unwrap_or(self.lines.len());
        if free.is_none() {
            self.lines.push(None);
        }
        if let Ok(connection) = net::Connection::new(socket, token as u32, turn.poller) {
            self.of_server
                .entry(server.clone())
                .or_default()
                .push(token as u32);
            self.lines[token] = Some(Line {
                server,
                connection,
                collects: false,
            });
        }
    }
}

impl Session for HbaseSession {
    fn notifier(&self) -> &Notifier {
        self.deferred.notifier()
    }

    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun {
        let op = &turn.exchanges[client as usize].op;
        let single = matches!(
            op.kind,
            Kind::Read | Kind::Insert | Kind::Update | Kind::Delete
        );
        let timeout = Duration::from_nanos(attempt.timeout_ns);
        let sent = if single {
            self.send(client, op, timeout)
        } else {
            None
        };
        match sent {
            None => self.deferred.begin(client, attempt, turn),
            Some(Ok(())) => Begun::InFlight,
            Some(Err(error)) => {
                let reply = &mut turn.exchanges[client as usize].reply;
                Begun::Ended(failed(&error, reply))
            }
        }
    }

    fn give_up(&mut self, client: u32, reply: &mut Reply) {
        let Flight { at, place } = std::mem::take(&mut self.flights[client as usize]);
        if let (Some((token, id)), Some(place)) = (at, place) {
            self.direct.doubt(&place);
            if let Some(line) = &mut self.lines[token as usize] {
                let sent_ns = line.connection.requests.abandon(id);
                reply.stamps.sent_ns = (sent_ns > 0).then_some(sent_ns);
            }
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
        while let Some(token) = self.collecting.pop() {
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
            if ready.writable {
                session.write(line, turn)?;
            }
            Ok(())
        });
    }

    fn woken(&mut self, turn: &mut Turn<'_>) {
        self.deferred.woken(turn);
        while let Ok((server, socket)) = self.dialled.try_recv() {
            self.dialling.remove(&server);
            if let Some(socket) = socket {
                self.connected(server, socket, turn);
            }
        }
    }

    /// The kernel looks after the connections: keep-alive, and a limit on what is not acknowledged.
    fn look_after(&mut self, _: u64, _: &mut Turn<'_>) -> u64 {
        u64::MAX
    }

    fn take_lag(&mut self) -> Option<Lag> {
        Some(std::mem::take(&mut self.lag))
    }
}
