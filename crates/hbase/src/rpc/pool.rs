//! The servers known, and the connections to each.

use super::connection::Connection;
use super::link::PoolConfig;
use super::request::{Plain, Request};
use super::{Reply, Service, hello, link};
use crate::error::Error;
use crate::names::Address;
use prost::Message;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use steelyard_multiplexer::{Counters, Traffic};

/// The servers known. Cheap to share; connections are made when they are first needed, and end with the pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) config: Arc<PoolConfig>,
    counters: Arc<Counters>,
    servers: Mutex<HashMap<Address, Arc<Endpoint>>>,
}

impl Pool {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self {
            config: Arc::new(config),
            counters: Arc::default(),
            servers: Mutex::default(),
        }
    }

    /// The server at `address`; nothing is connected yet.
    pub(crate) fn server(&self, address: &Address) -> Arc<Endpoint> {
        let mut servers = lock(&self.servers);
        if let Some(known) = servers.get(address) {
            return known.clone();
        }
        let config = (self.config.clone(), self.counters.clone());
        let server = Arc::new(Endpoint::new(address.clone(), config));
        servers.insert(address.clone(), server.clone());
        server
    }

    /// Every server that was ever named.
    pub(crate) fn known(&self) -> Vec<Arc<Endpoint>> {
        lock(&self.servers).values().cloned().collect()
    }

    /// Call `method` of `service` at `server` and wait for the answer, at most for `within`.
    pub(crate) async fn call<M: Message>(
        &self,
        server: &Address,
        service: Service,
        method: &'static str,
        message: &M,
        cells: &[u8],
        within: Duration,
    ) -> Result<Reply, Error> {
        let request = Plain {
            method,
            message,
            cells,
        };
        self.server(server)
            .call_within(service, &request, within)
            .await
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.counters.now()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics under this lock")
}

/// One server, by its address.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: Address,
    config: Arc<PoolConfig>,
    counters: Arc<Counters>,
    lines: [Lines; Service::COUNT],
}

/// The connections to one service, used in turn.
#[derive(Debug)]
struct Lines {
    slots: Box<[Mutex<Option<Arc<Connection>>>]>,
    turn: AtomicUsize,
}

impl Lines {
    fn new(count: usize) -> Self {
        Self {
            slots: (0..count.max(1)).map(|_| Mutex::default()).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    fn slot(&self) -> &Mutex<Option<Arc<Connection>>> {
        match &*self.slots {
            [only] => only,
            many => &many[self.turn.fetch_add(1, Ordering::Relaxed) % many.len()],
        }
    }
}

impl Endpoint {
    fn new(address: Address, (config, counters): (Arc<PoolConfig>, Arc<Counters>)) -> Self {
        let lines = |service| match service {
            Service::Client => Lines::new(config.connections),
            _ => Lines::new(1),
        };
        let lines = [
            Service::Client,
            Service::Registry,
            Service::Admin,
            Service::Master,
        ]
        .map(lines);
        Self {
            address,
            config,
            counters,
            lines,
        }
    }

    /// A connection that has not ended as far as is known.
    fn connection(&self, service: Service) -> Arc<Connection> {
        let mut slot = lock(self.lines[service as usize].slot());
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.is_closed()) {
            return connection.clone();
        }
        let connection = Arc::new(Connection::new(self.address.clone()));
        tokio::spawn(link::run(
            connection.clone(),
            hello::bytes(service, &self.config.user),
            self.config.connect_timeout,
            self.counters.clone(),
        ));
        *slot = Some(connection.clone());
        connection
    }

    /// One call. `timeout` is told to the server, so that it does not work for nobody; to give up here, drop the future.
    pub(crate) async fn call(
        &self,
        service: Service,
        request: &impl Request,
        timeout: Duration,
    ) -> Result<Reply, Error> {
        let connection = self.connection(service);
        connection.call(request, millis(timeout)).await
    }

    /// One call that gives up after `within`.
    pub(crate) async fn call_within(
        &self,
        service: Service,
        request: &impl Request,
        within: Duration,
    ) -> Result<Reply, Error> {
        let call = self.call(service, request, within);
        tokio::time::timeout(within, call)
            .await
            .unwrap_or_else(|_| {
                Err(Error::Timeout {
                    what: self.address.to_string(),
                    after: within,
                })
            })
    }

    /// Send `request` if there is a connection, and do not wait for its answer.
    pub(crate) fn tell(&self, service: Service, request: &impl Request) {
        let slot = lock(self.lines[service as usize].slot()).clone();
        if let Some(connection) = slot {
            connection.tell(request, millis(TOLD));
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        for slot in self.lines.iter().flat_map(|lines| &lines.slots) {
            if let Some(connection) = lock(slot).take() {
                connection.close(Error::Lost {
                    server: self.address.clone(),
                    reason: "the client was closed".into(),
                });
            }
        }
    }
}

/// As the header says it, at least 1.
pub(super) fn millis(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis())
        .unwrap_or(u32::MAX)
        .max(1)
}

/// What the server is told of calls whose answer nobody waits for.
const TOLD: Duration = Duration::from_secs(10);
