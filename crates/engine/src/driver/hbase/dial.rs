//! Connections for the event loop, made on the runtime's thread when they are first needed.

use crate::net::{Notifier, Socket};
use std::collections::HashSet;
use std::sync::mpsc;
use std::time::Duration;
use steelyard_hbase::{Address, Direct};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A server that refused a connection is asked again after this long.
const REDIAL: Duration = Duration::from_millis(50);

/// A connection that was asked for, if it was made.
type Dialled = (Address, Option<Socket>);

/// Makes connections that are asked for.
pub(super) struct Dialler {
    /// Servers to which connections are being made.
    under_way: HashSet<Address>,
    asked: UnboundedSender<Address>,
    dialled: mpsc::Receiver<Dialled>,
}

impl Dialler {
    /// So many `connections` to each server, made on the current LocalSet; `notifier` tells when one was.
    pub fn new(direct: Direct, connections: u32, notifier: Notifier) -> Self {
        let (asked, servers) = unbounded_channel();
        let (made, dialled) = mpsc::channel();
        tokio::task::spawn_local(serve(direct, connections, servers, made, notifier));
        Self {
            under_way: HashSet::new(),
            asked,
            dialled,
        }
    }

    /// Make connections to `server`, unless that is under way.
    pub fn dial(&mut self, server: &Address) {
        if self.under_way.insert(server.clone()) {
            let _ = self.asked.send(server.clone()); // without the runtime nothing is made
        }
    }

    /// A connection that was made, if there is one that was not taken yet.
    pub fn made(&mut self) -> Option<(Address, Socket)> {
        while let Ok((server, socket)) = self.dialled.try_recv() {
            self.under_way.remove(&server);
            if let Some(socket) = socket {
                return Some((server, socket));
            }
        }
        None
    }
}

/// Make connections that are asked for, until nobody asks.
async fn serve(
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
