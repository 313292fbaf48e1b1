//! The side of the connections that waits: makes them, makes them again when they break, and follows the cluster as it changes.
//! Sockets and routes go to the session in the event loop; it says what broke.

use super::routes::{Choice, Routes};
use super::wire::establish::{Access, Refused};
use crate::driver::OpenError;
use crate::net::{Notifier, Socket};
use scylla::client::session::Session;
use scylla::cluster::ClusterState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::AbortHandle;

/// A connection that broke is made again after the first of these, and after ever longer pauses up to the second.
pub(super) const RECONNECT: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How often the crate's knowledge is looked at for a change of the cluster.
const LOOK: Duration = Duration::from_millis(200);

/// One of the connections to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub node: SocketAddr,
    /// Which of the node's connections.
    pub number: usize,
}

/// What the session is told.
pub(super) enum Update {
    /// The cluster is like this now. Connections to nodes that are not in it any more are to be closed.
    Routes(Routes),
    /// A connection was made.
    Connected(Place, Socket),
}

/// Makes connections.
#[derive(Clone)]
pub(super) struct Dialler {
    access: Access,
    updates: mpsc::Sender<Update>,
    notifier: Notifier,
}

impl Dialler {
    pub(super) const fn new(
        access: Access,
        updates: mpsc::Sender<Update>,
        notifier: Notifier,
    ) -> Self {
        Self {
            access,
            updates,
            notifier,
        }
    }

    fn tell(&self, update: Update) {
        if self.updates.send(update).is_ok() {
            self.notifier.notify();
        }
    }

    async fn connect(&self, place: Place) -> Result<(), Refused> {
        let socket = self.access.connect(place.node).await?;
        self.tell(Update::Connected(place, socket));
        Ok(())
    }

    /// Connect after a pause, and after longer ones until it succeeds.
    async fn reconnect(self, place: Place) {
        let mut pause = RECONNECT[0];
        loop {
            tokio::time::sleep(pause).await;
            if self.connect(place).await.is_ok() {
                return;
            }
            pause = (pause * 2).min(RECONNECT[1]);
        }
    }
}

/// Keeps the session's connections.
pub(super) struct Keeper {
    session: Arc<Session>,
    choice: Choice,
    /// Connections to each node.
    connections: usize,
    dialler: Dialler,
    seen: Arc<ClusterState>,
    /// Connections that are wanted, and who is making each again.
    places: HashMap<Place, Option<AbortHandle>>,
}

impl Keeper {
    /// Connect to every node the crate knows; one that can be reached is enough.
    pub(super) async fn open(
        session: Arc<Session>,
        choice: Choice,
        connections: usize,
        dialler: Dialler,
    ) -> Result<Self, OpenError> {
        let seen = session.get_cluster_state();
        let routes = Routes::of(&seen, &choice);
        let places = places(&routes, connections);
        dialler.tell(Update::Routes(routes));
        let made = places.iter().map(|place| dialler.connect(*place));
        let made = futures::future::join_all(made).await;
        if !made.iter().any(Result::is_ok) {
            let refused = made.into_iter().find_map(Result::err);
            let why = refused.map_or_else(|| "no node may coordinate".into(), |e| e.to_string());
            return Err(OpenError::Reach(why));
        }
        let mut keeper = Self {
            session,
            choice,
            connections,
            dialler,
            seen,
            places: HashMap::new(),
        };
        for (place, made) in places.into_iter().zip(made) {
            keeper.places.insert(place, None);
            if made.is_err() {
                keeper.reconnect(place);
            }
        }
        Ok(keeper)
    }

    /// Follow the cluster, and make again what broke, until the session is gone.
    pub(super) async fn keep(mut self, mut broken: UnboundedReceiver<Place>) {
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                place = broken.recv() => match place {
                    Some(place) => self.reconnect(place),
                    None => return,
                },
                _ = look.tick() => self.look(),
            }
        }
    }

    fn reconnect(&mut self, place: Place) {
        if let Some(maker) = self.places.get_mut(&place) {
            let again = tokio::spawn(self.dialler.clone().reconnect(place));
            if let Some(old) = maker.replace(again.abort_handle()) {
                old.abort();
            }
        }
    }

    fn look(&mut self) {
        let seen = self.session.get_cluster_state();
        if Arc::ptr_eq(&self.seen, &seen) {
            return;
        }
        let routes = Routes::of(&seen, &self.choice);
        self.seen = seen;
        let wanted: HashSet<_> = places(&routes, self.connections).into_iter().collect();
        self.dialler.tell(Update::Routes(routes));
        self.places.retain(|place, maker| {
            let stays = wanted.contains(place);
            if let Some(maker) = maker.take_if(|_| !stays) {
                maker.abort();
            }
            stays
        });
        for place in wanted {
            if let Entry::Vacant(free) = self.places.entry(place) {
                free.insert(None);
                self.reconnect(place);
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        for maker in self.places.values().flatten() {
            maker.abort();
        }
    }
}

fn places(routes: &Routes, connections: usize) -> Vec<Place> {
    let nodes = routes.nodes.iter();
    nodes
        .flat_map(|node| {
            (0..connections).map(|number| Place {
                node: *node,
                number,
            })
        })
        .collect()
}
