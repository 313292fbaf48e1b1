//! Which nodes may coordinate a request: the key's replicas first. The crate knows the cluster; what it knows is laid out
//! here for the hot path and made anew when the cluster changes.

use super::wire::connection::Connection;
use super::wire::establish::{Access, Refused};
use super::wire::node::Node;
use crate::driver::OpenError;
use crate::driver::coordinators::Coordinator;
use crate::driver::traffic::Counters;
use scylla::client::session::Session;
use scylla::cluster::ClusterState;
use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;

/// How often the crate's knowledge is looked at for a change of the cluster.
const LOOK: Duration = Duration::from_millis(200);

/// What decides who coordinates, and how nodes are reached.
pub(super) struct Choice {
    /// Only nodes of this datacenter coordinate, if given.
    pub datacenter: Option<String>,
    /// Whether tokens can be computed.
    pub token_aware: bool,
    /// The table whose replicas are meant.
    pub keyspace: String,
    pub table: String,
    /// Connections to each node.
    pub connections: usize,
    pub access: Access,
}

/// The cluster at one time. Nodes are named by their place in `nodes`.
struct Map {
    seen: Arc<ClusterState>,
    nodes: Vec<Arc<Node>>,
    /// Ends of the token ranges, ascending, and the nodes that hold each.
    ring: Vec<(i64, Box<[u16]>)>,
    /// Every node that may coordinate.
    all: Box<[u16]>,
}

impl Map {
    /// The replicas of `key` that may coordinate; all that may, if replicas are unknown or in other datacenters.
    fn replicas(&self, key: &[u8]) -> &[u16] {
        if self.ring.is_empty() {
            return &self.all;
        }
        let token = Murmur3Partitioner.hash_one(key).value();
        let place = self.ring.partition_point(|(end, _)| *end < token);
        let (_, replicas) = &self.ring[place % self.ring.len()];
        if replicas.is_empty() {
            &self.all
        } else {
            replicas
        }
    }
}

/// The way to the cluster; kept up to date by a task of its own.
pub(super) struct Routes {
    map: Arc<Mutex<Arc<Map>>>,
    turn: AtomicUsize,
    keeper: AbortHandle,
}

impl Drop for Routes {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Routes {
    /// Connect to every node the crate knows; one that can be reached is enough.
    pub(super) async fn open(
        session: &Arc<Session>,
        choice: Choice,
        counters: &Arc<Counters>,
    ) -> Result<Self, OpenError> {
        let (first, refused) = chart(session.get_cluster_state(), None, &choice, counters).await;
        if !first.nodes.iter().any(|node| node.reachable()) {
            let why = refused.map_or_else(|| "no node may coordinate".into(), |e| e.to_string());
            return Err(OpenError::Reach(why));
        }
        let map = Arc::new(Mutex::new(Arc::new(first)));
        let keeper = keep(
            Arc::clone(&map),
            Arc::clone(session),
            choice,
            counters.clone(),
        );
        Ok(Self {
            map,
            turn: AtomicUsize::new(0),
            keeper: tokio::spawn(keeper).abort_handle(),
        })
    }

    /// A connection to a replica of `key`, each in its turn, or, where none can be reached, to any node; not to the one that
    /// is `avoided` while there is another. With the node.
    pub(super) fn connection(
        &self,
        key: &[u8],
        avoided: Option<SocketAddr>,
    ) -> Option<(Arc<Connection>, Coordinator)> {
        let map = Arc::clone(&self.map.lock().unwrap_or_else(PoisonError::into_inner));
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let first = if avoided.is_none() {
            map.replicas(key)
        } else {
            &map.all
        };
        reach(&map, first, turn, avoided)
            .or_else(|| reach(&map, &map.all, turn, avoided))
            .or_else(|| reach(&map, &map.all, turn, None))
    }
}

fn reach(
    map: &Map,
    places: &[u16],
    turn: usize,
    avoided: Option<SocketAddr>,
) -> Option<(Arc<Connection>, Coordinator)> {
    (0..places.len()).find_map(|step| {
        let node = &map.nodes[usize::from(places[(turn + step) % places.len()])];
        if avoided == Some(node.coordinator.address) {
            return None;
        }
        node.connection()
            .map(|connection| (connection, node.coordinator))
    })
}

/// Lay out what the crate knows; nodes that were there keep their connections.
async fn chart(
    seen: Arc<ClusterState>,
    old: Option<&Map>,
    choice: &Choice,
    counters: &Arc<Counters>,
) -> (Map, Option<Refused>) {
    let known: HashMap<SocketAddr, &Arc<Node>> = old
        .iter()
        .flat_map(|map| &map.nodes)
        .map(|node| (node.coordinator.address, node))
        .collect();
    let opened = seen.get_nodes_info().iter().map(|node| {
        let address = SocketAddr::new(node.address.ip(), node.address.port());
        let kept = known.get(&address).map(|node| Arc::clone(node));
        async move {
            if let Some(node) = kept {
                return (node, None);
            }
            let (dc, n) = (node.datacenter.clone(), choice.connections);
            let (node, refused) = Node::open(address, dc, n, &choice.access, counters).await;
            (Arc::new(node), refused)
        }
    });
    let opened = futures::future::join_all(opened).await;
    let (nodes, refused): (Vec<_>, Vec<_>) = opened.into_iter().unzip();
    let may = |place: &u16| {
        let datacenter = nodes[usize::from(*place)].datacenter.as_deref();
        choice.datacenter.is_none() || choice.datacenter.as_deref() == datacenter
    };
    let all = (0..nodes.len() as u16).filter(may).collect();
    let ring = if choice.token_aware {
        ring(&seen, choice, &may)
    } else {
        Vec::new()
    };
    let map = Map {
        seen,
        nodes,
        ring,
        all,
    };
    (map, refused.into_iter().flatten().next())
}

fn ring(
    seen: &ClusterState,
    choice: &Choice,
    may: &impl Fn(&u16) -> bool,
) -> Vec<(i64, Box<[u16]>)> {
    let places: HashMap<_, u16> = seen
        .get_nodes_info()
        .iter()
        .map(|node| node.host_id)
        .zip(0..)
        .collect();
    let tokens = seen.replica_locator().ring();
    tokens
        .iter()
        .map(|(token, _)| {
            let replicas = seen.get_token_endpoints(&choice.keyspace, &choice.table, *token);
            let replicas = replicas
                .iter()
                .filter_map(|(node, _)| places.get(&node.host_id).copied());
            (token.value(), replicas.filter(may).collect())
        })
        .collect()
}

async fn keep(
    map: Arc<Mutex<Arc<Map>>>,
    session: Arc<Session>,
    choice: Choice,
    counters: Arc<Counters>,
) {
    loop {
        tokio::time::sleep(LOOK).await;
        let seen = session.get_cluster_state();
        let old = Arc::clone(&map.lock().unwrap_or_else(PoisonError::into_inner));
        if !Arc::ptr_eq(&old.seen, &seen) {
            let (new, _) = chart(seen, Some(&old), &choice, &counters).await;
            *map.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        }
    }
}
