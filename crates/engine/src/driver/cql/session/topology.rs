//! Which connection a request takes, while nodes and connections come and go.

use super::super::keeper::Place;
use super::super::routes::Routes;
use super::kept::Kept;
use super::{CqlSession, State};
use crate::driver::connections::{Open, Protocol};
use crate::driver::session::Turn;
use crate::net::{self, Socket};
use crate::operation::Operation;
use std::net::SocketAddr;

impl State {
    /// The connection that carries the next request for `op`, each node and each of its connections in turn.
    #[inline]
    pub(super) fn route(&mut self, op: &Operation, avoided: Option<SocketAddr>) -> Option<u32> {
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
        let tokens = &of_node[usize::from(node)];
        Some(tokens[self.turn / self.routes.nodes.len() % tokens.len()])
    }

    /// Which connections lead to which node.
    pub(super) fn group_by_node(&mut self) {
        let placed: Vec<_> = (self.connections.iter())
            .map(|open| (open.kept.place.node, open.token()))
            .collect();
        let of = |node: &SocketAddr| {
            let own = placed.iter().filter(|(place, _)| place == node);
            own.map(|(_, token)| *token).collect()
        };
        self.of_node = self.routes.nodes.iter().map(of).collect();
    }
}

impl CqlSession {
    /// A connection was made.
    pub(super) fn connected(&mut self, place: Place, socket: Socket, turn: &Turn<'_>) {
        let coordinator = self.counters.coordinators.index(&place.node.to_string());
        let kept = Kept::new(place, coordinator);
        match self.state.connections.add(socket, kept, turn.poller) {
            Ok(_) => self.state.group_by_node(),
            Err(_) => drop(self.broken.send(place)),
        }
    }

    /// Connections to nodes that have left are closed.
    pub(super) fn follow(&mut self, routes: Routes, turn: &mut Turn<'_>) {
        self.state.routes = routes;
        let nodes = &self.state.routes.nodes;
        let gone: Vec<_> = (self.state.connections.iter())
            .filter(|open| !nodes.contains(&open.kept.place.node))
            .map(Open::token)
            .collect();
        for token in gone {
            let left = net::Ended("the connection is not wanted any more");
            self.with(token, turn, |_, _, _| Err(left));
        }
        self.state.group_by_node();
    }
}
