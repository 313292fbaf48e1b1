//! Which nodes may coordinate a request: the key's replicas first. The crate knows the cluster; what it knows is laid out
//! here for the hot path, anew when the cluster changes.

use scylla::cluster::ClusterState;
use scylla::routing::partitioner::{Murmur3Partitioner, Partitioner};
use std::collections::HashMap;
use std::net::SocketAddr;

/// What decides who coordinates.
pub(super) struct Choice {
    /// Only nodes of this datacenter coordinate, if given.
    pub datacenter: Option<String>,
    /// Whether tokens can be computed.
    pub token_aware: bool,
    /// The table whose replicas are meant.
    pub keyspace: String,
    pub table: String,
}

/// The cluster at one time. Nodes are named by their place in `nodes`.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// Where each node answers CQL.
    pub nodes: Vec<SocketAddr>,
    /// Ends of the token ranges, ascending, and the nodes that hold each.
    ring: Vec<(i64, Box<[u16]>)>,
    /// Every node that may coordinate.
    all: Box<[u16]>,
}

impl Routes {
    /// Lay out what the crate knows.
    pub(super) fn of(seen: &ClusterState, choice: &Choice) -> Self {
        let known = seen.get_nodes_info();
        let may = |place: &u16| {
            let datacenter = known[usize::from(*place)].datacenter.as_deref();
            choice.datacenter.is_none() || choice.datacenter.as_deref() == datacenter
        };
        Self {
            nodes: known
                .iter()
                .map(|node| SocketAddr::new(node.address.ip(), node.address.port()))
                .collect(),
            all: (0..known.len() as u16).filter(may).collect(),
            ring: if choice.token_aware {
                ring(seen, choice, &may)
            } else {
                Vec::new()
            },
        }
    }

    /// The node that coordinates a request for `key`, the first of which `reachable` holds: a replica, each in its `turn`; where
    /// none can be reached, any node. After a failure any node but the one that failed, which is `avoided` while there is another.
    #[inline]
    pub(super) fn coordinator(
        &self,
        key: &[u8],
        avoided: Option<u16>,
        turn: usize,
        reachable: impl Fn(u16) -> bool,
    ) -> Option<u16> {
        let find = |places: &[u16], avoided: Option<u16>| {
            (0..places.len())
                .map(|step| places[(turn + step) % places.len()])
                .find(|place| Some(*place) != avoided && reachable(*place))
        };
        if avoided.is_none()
            && let Some(replica) = find(self.replicas(key), None)
        {
            return Some(replica);
        }
        find(&self.all, avoided).or_else(|| find(&self.all, None))
    }

    /// The replicas of `key` that may coordinate; all that may, if replicas are unknown or in other datacenters.
    #[inline]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Routes {
        Routes {
            ring: vec![(0, [1, 2].into()), (i64::MAX, [1, 2].into())],
            all: [0, 1, 2].into(),
            ..Routes::default()
        }
    }

    #[test]
    fn replicas_coordinate_in_turn_and_others_where_none_can_be_reached() {
        let routes = three();
        let of = |turn| routes.coordinator(b"key", None, turn, |_| true);
        assert_eq!([of(0), of(1), of(2)], [Some(1), Some(2), Some(1)]);
        assert_eq!(
            routes.coordinator(b"key", None, 0, |node| node == 2),
            Some(2)
        );
        assert_eq!(
            routes.coordinator(b"key", None, 0, |node| node == 0),
            Some(0)
        );
        assert_eq!(routes.coordinator(b"key", None, 0, |_| false), None);
    }

    #[test]
    fn whoever_failed_is_asked_again_only_where_there_is_nobody_else() {
        let routes = three();
        for turn in 0..6 {
            assert_ne!(routes.coordinator(b"key", Some(1), turn, |_| true), Some(1));
        }
        assert_eq!(
            routes.coordinator(b"key", Some(1), 0, |node| node == 1),
            Some(1)
        );
    }
}
