//! The connection registry: who is the master, where is meta, which cluster is this. Asked from HBase's own servers, or read
//! from ZooKeeper where servers do not answer it.

use crate::error::Error;
use crate::names::{Address, ServerName};
use crate::pb;
use crate::rpc::{Endpoint, Plain, Pool, Service};
use crate::zookeeper::{ZooKeeper, ZooKeeperError};
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Where a cluster is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registry {
    /// Masters (HBase 2.3 and later) and region servers (2.5 and later), as `host:port`. They are asked in turn until one
    /// answers; servers met later are asked too when none of these does.
    Servers(Vec<String>),
    /// ZooKeeper, for any version.
    ZooKeeper {
        /// `host:port` of its servers.
        quorum: Vec<String>,
        /// HBase's node in it, usually `/hbase`.
        parent: String,
    },
}

/// The registry in use.
#[derive(Debug)]
pub(crate) enum Directory {
    Servers {
        given: Vec<Address>,
        turn: AtomicUsize,
    },
    ZooKeeper {
        quorum: Vec<String>,
        parent: String,
    },
}

impl Directory {
    pub(crate) fn new(registry: &Registry) -> Result<Self, Error> {
        match registry {
            Registry::Servers(servers) if servers.is_empty() => Err(Error::Input(
                "the registry names no server: give `host:port` of a master or region server"
                    .to_owned(),
            )),
            Registry::Servers(servers) => Ok(Self::Servers {
                given: servers
                    .iter()
                    .map(|server| server.parse())
                    .collect::<Result<_, _>>()?,
                turn: AtomicUsize::new(0),
            }),
            Registry::ZooKeeper { quorum, parent } => Ok(Self::ZooKeeper {
                quorum: quorum.clone(),
                parent: parent.clone(),
            }),
        }
    }

    /// The region server of `hbase:meta`.
    pub(crate) async fn meta_server(
        &self,
        pool: &Pool,
        within: Duration,
    ) -> Result<ServerName, Error> {
        if let Self::ZooKeeper { quorum, parent } = self {
            let mut session = ZooKeeper::connect(quorum, within).await?;
            let found = session.meta_server(parent).await;
            return end(session, found).await?.ok_or_else(meta_unassigned);
        }
        let response: pb::GetMetaRegionLocationsResponse =
            self.ask(pool, "GetMetaRegionLocations", within).await?;
        let primary = response
            .meta_locations
            .iter()
            .find(|place| place.region_info.replica_id.unwrap_or(0) == 0);
        primary
            .and_then(|place| ServerName::from_pb(place.server_name.as_ref()?))
            .ok_or_else(meta_unassigned)
    }

    /// The active master.
    pub(crate) async fn master(&self, pool: &Pool, within: Duration) -> Result<ServerName, Error> {
        if let Self::ZooKeeper { quorum, parent } = self {
            let mut session = ZooKeeper::connect(quorum, within).await?;
            let found = session.active_master(parent).await;
            return end(session, found).await?.ok_or_else(no_master);
        }
        let response: pb::GetActiveMasterResponse =
            self.ask(pool, "GetActiveMaster", within).await?;
        response
            .server_name
            .as_ref()
            .and_then(ServerName::from_pb)
            .ok_or_else(no_master)
    }

    /// The cluster's id.
    pub(crate) async fn cluster_id(&self, pool: &Pool, within: Duration) -> Result<String, Error> {
        if let Self::ZooKeeper { quorum, parent } = self {
            let mut session = ZooKeeper::connect(quorum, within).await?;
            let found = session.cluster_id(parent).await;
            let none = || Error::Registry(format!("ZooKeeper has no HBase cluster at {parent}"));
            return end(session, found).await?.ok_or_else(none);
        }
        let response: pb::GetClusterIdResponse = self.ask(pool, "GetClusterId", within).await?;
        Ok(response.cluster_id.unwrap_or_default())
    }

    /// Ask one server after another, beginning with the one that answered last.
    async fn ask<M: Message + Default>(
        &self,
        pool: &Pool,
        method: &'static str,
        within: Duration,
    ) -> Result<M, Error> {
        let Self::Servers { given, turn } = self else {
            unreachable!("ZooKeeper is read, not asked");
        };
        let mut reasons = Vec::new();
        let first = turn.load(Ordering::Relaxed);
        for (i, server) in candidates(pool, given, first).into_iter().enumerate() {
            turn.store((first + i + 1) % given.len(), Ordering::Relaxed); // should we be dropped while this one is silent
            match ask_one(&server, method, within).await {
                Ok(answer) => {
                    turn.store((first + i) % given.len(), Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(Error::Registry(reasons.join("; ")))
    }
}

fn meta_unassigned() -> Error {
    Error::Unassigned("hbase:meta".to_owned())
}

fn no_master() -> Error {
    Error::Registry("there is no active master just now".to_owned())
}

/// End the session that brought this.
async fn end<T>(session: ZooKeeper, found: Result<T, ZooKeeperError>) -> Result<T, Error> {
    let _ended_by_its_timeout_else = session.close().await;
    Ok(found?)
}

/// The servers given, from number `first` on, and then the others that are known.
fn candidates(pool: &Pool, given: &[Address], first: usize) -> Vec<Arc<Endpoint>> {
    let (before, after) = given.split_at(first % given.len());
    let mut all: Vec<_> = after
        .iter()
        .chain(before)
        .map(|address| pool.server(address))
        .collect();
    let others = pool
        .known()
        .into_iter()
        .filter(|server| !given.contains(&server.address));
    all.extend(others);
    all
}

async fn ask_one<M: Message + Default>(
    server: &Endpoint,
    method: &'static str,
    within: Duration,
) -> Result<M, Error> {
    let request = Plain {
        method,
        message: &pb::Empty {},
        cells: &[],
    };
    let reply = server
        .call_within(Service::Registry, &request, within)
        .await?;
    reply.decode(&server.address)
}
