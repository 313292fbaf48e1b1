//! Who coordinates an attempt: a replica of the key at first, after a failure some node other than the one that failed.
//!
//! The crate tells which node it chose only with an answer. Its policies are asked on the thread that polls the request, so
//! [`Noting`] leaves the choice there and [`noting`] picks it up.

use scylla::cluster::{ClusterState, NodeRef};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;
use std::cell::Cell;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

/// Failures remembered at most: an operation that is given up never comes back for its own.
const REMEMBERED: usize = 16_384;

thread_local! {
    /// The node chosen during the current poll.
    static CHOSEN: Cell<Option<SocketAddr>> = const { Cell::new(None) };
}

/// Run `request`; its output, and the node that was last chosen for it.
pub(super) async fn noting<F: Future>(request: F) -> (F::Output, Option<SocketAddr>) {
    let mut request = pin!(request);
    let mut last = None;
    let output = poll_fn(|context| {
        CHOSEN.set(None);
        let polled = request.as_mut().poll(context);
        last = CHOSEN.take().or(last);
        polled
    })
    .await;
    (output, last)
}

fn address(node: NodeRef<'_>) -> SocketAddr {
    SocketAddr::new(node.address.ip(), node.address.port())
}

/// The policy inside, with its choice noted.
#[derive(Debug)]
pub(super) struct Noting(pub Arc<dyn LoadBalancingPolicy>);

impl LoadBalancingPolicy for Noting {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let picked = self.0.pick(request, cluster);
        CHOSEN.set(picked.map(|(node, _)| address(node)));
        picked
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        self.0.fallback(request, cluster)
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

/// The policy inside, but not the node that failed while another one is connected.
#[derive(Debug)]
pub(super) struct Elsewhere {
    /// Chooses among the others.
    pub inner: Arc<dyn LoadBalancingPolicy>,
    /// Who failed, if that is known.
    pub avoided: Option<SocketAddr>,
}

impl LoadBalancingPolicy for Elsewhere {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let picked = self
            .inner
            .fallback(request, cluster)
            .find(|(node, _)| node.is_connected() && Some(address(node)) != self.avoided)
            .or_else(|| self.inner.pick(request, cluster));
        CHOSEN.set(picked.map(|(node, _)| address(node)));
        picked
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        self.inner.fallback(request, cluster)
    }

    fn name(&self) -> String {
        format!("{} elsewhere", self.inner.name())
    }
}

/// Which node failed an operation last, by the operation's number. Only failures and what follows them come here.
#[derive(Debug, Default)]
pub(super) struct Failed(Mutex<HashMap<u64, SocketAddr>>);

impl Failed {
    /// `node` failed operation `number`.
    pub fn note(&self, number: u64, node: SocketAddr) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= REMEMBERED {
            map.clear();
        }
        map.insert(number, node);
    }

    /// Who failed operation `number`; forgotten by asking.
    pub fn take(&self, number: u64) -> Option<SocketAddr> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        map.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn a_choice_belongs_to_the_request_that_was_polled() {
        let node = SocketAddr::from(([10, 0, 0, 1], 9042));
        let (output, chosen) = block_on(noting(async {
            CHOSEN.set(Some(node));
            7
        }));
        assert_eq!((output, chosen), (7, Some(node)));
        assert_eq!(block_on(noting(async {})).1, None);
    }

    #[test]
    fn failures_are_forgotten_when_asked_for_and_when_too_many() {
        let node = SocketAddr::from(([10, 0, 0, 1], 9042));
        let failed = Failed::default();
        for number in 0..=REMEMBERED as u64 {
            failed.note(number, node);
        }
        assert_eq!(failed.take(0), None);
        assert_eq!(failed.take(REMEMBERED as u64), Some(node));
        assert_eq!(failed.take(REMEMBERED as u64), None);
    }
}
