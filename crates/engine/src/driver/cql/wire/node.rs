//! A node with its connections, made again when they break.

use super::connection::Connection;
use super::establish::{Access, Refused};
use crate::driver::coordinators::Coordinator;
use crate::driver::traffic::Counters;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;

/// A connection that broke is made again after the first of these, and after ever longer pauses up to the second.
pub(crate) const RECONNECT: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

type Lane = Mutex<Option<Arc<Connection>>>;

/// A node; dropped, it closes its connections.
pub(crate) struct Node {
    /// Where it answers CQL, and its index.
    pub coordinator: Coordinator,
    /// Its datacenter.
    pub datacenter: Option<String>,
    lanes: Arc<[Lane]>,
    turn: AtomicUsize,
    keepers: Vec<AbortHandle>,
}

impl Drop for Node {
    fn drop(&mut self) {
        for keeper in &self.keepers {
            keeper.abort();
        }
    }
}

impl Node {
    /// Connect `connections` times and keep it so; the first failure, if any, comes back beside the node.
    pub(crate) async fn open(
        address: SocketAddr,
        datacenter: Option<String>,
        connections: usize,
        access: &Access,
        counters: &Arc<Counters>,
    ) -> (Self, Option<Refused>) {
        let made =
            futures::future::join_all((0..connections).map(|_| access.connect(address, counters)))
                .await;
        let (mut lanes, mut refused) = (Vec::new(), None);
        for attempt in made {
            lanes.push(Mutex::new(match attempt {
                Ok(connection) => Some(Arc::new(connection)),
                Err(error) => {
                    refused.get_or_insert(error);
                    None
                }
            }));
        }
        let lanes: Arc<[Lane]> = lanes.into();
        let keepers = (0..connections).map(|lane| {
            let (lanes, access, counters) = (Arc::clone(&lanes), access.clone(), counters.clone());
            tokio::spawn(async move { keep(&lanes[lane], address, &access, &counters).await })
                .abort_handle()
        });
        let node = Self {
            coordinator: counters.coordinators.at(address),
            datacenter,
            keepers: keepers.collect(),
            lanes,
            turn: AtomicUsize::new(0),
        };
        (node, refused)
    }

    /// A connection that works, each in its turn; none if the node cannot be reached.
    pub(crate) fn connection(&self) -> Option<Arc<Connection>> {
        let lanes = self.lanes.len();
        let turn = if lanes == 1 {
            0
        } else {
            self.turn.fetch_add(1, Ordering::Relaxed)
        };
        (0..lanes).find_map(|lane| {
            let lane = &self.lanes[(turn + lane) % lanes];
            let held = lane.lock().unwrap_or_else(PoisonError::into_inner);
            held.as_ref()
                .filter(|connection| connection.alive())
                .cloned()
        })
    }

    /// Whether it can be reached.
    pub(crate) fn reachable(&self) -> bool {
        self.connection().is_some()
    }
}

/// Wait until the lane's connection breaks, make it again, and so on.
async fn keep(lane: &Lane, address: SocketAddr, access: &Access, counters: &Arc<Counters>) {
    let mut pause = RECONNECT[0];
    loop {
        let held = lane.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(connection) = held {
            connection.closed().await;
            put(lane, None);
        }
        tokio::time::sleep(pause).await;
        match access.connect(address, counters).await {
            Ok(connection) => {
                put(lane, Some(Arc::new(connection)));
                pause = RECONNECT[0];
            }
            Err(_) => pause = (pause * 2).min(RECONNECT[1]),
        }
    }
}

fn put(lane: &Lane, connection: Option<Arc<Connection>>) {
    *lane.lock().unwrap_or_else(PoisonError::into_inner) = connection;
}
