//! The cluster as the active master sees it, and its balancer.

use super::Admin;
use crate::error::Error;
use crate::names::ServerName;
use crate::pb;
use crate::pb::admin::{
    BalanceRequest, BalanceResponse, ClusterStatus as Status, GetClusterStatusRequest,
    GetClusterStatusResponse, LiveServerInfo, RegionInTransition, SetBalancerRunningRequest,
    SetBalancerRunningResponse,
};

/// The cluster at one moment.
#[derive(Debug, Clone)]
pub struct ClusterStatus {
    /// Version of HBase.
    pub version: String,
    /// The active master.
    pub master: Option<ServerName>,
    /// Masters that wait for their turn.
    pub backup_masters: Vec<ServerName>,
    /// Region servers that are alive, and their load as of their last report (every 3 s unless configured otherwise).
    pub live: Vec<ServerLoad>,
    /// Region servers that died since the master started, unless they came back.
    pub dead: Vec<ServerName>,
    /// Regions that are open nowhere, or on their way.
    pub in_transition: Vec<Transition>,
    /// Whether the balancer runs by itself.
    pub balancer_on: bool,
}

/// What a live region server reports of itself.
#[derive(Debug, Clone)]
pub struct ServerLoad {
    /// Which.
    pub server: ServerName,
    /// Requests since it started.
    pub requests: u64,
    /// Heap in use, MiB.
    pub used_heap_mib: u32,
    /// Heap at most, MiB.
    pub max_heap_mib: u32,
    /// Its regions.
    pub regions: Vec<RegionLoad>,
}

/// What a region server reports of a region.
#[derive(Debug, Clone)]
pub struct RegionLoad {
    /// The region's full name.
    pub region: Vec<u8>,
    /// Store files.
    pub store_files: u32,
    /// Their size, MiB.
    pub store_files_mib: u32,
    /// Size of its memstores, MiB.
    pub memstore_mib: u32,
    /// Rows read since it was opened.
    pub reads: u64,
    /// Rows written since it was opened.
    pub writes: u64,
}

/// A region in transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Its name as the master gives it: the encoded name.
    pub region: String,
    /// Its state as HBase names it, like `OPENING`.
    pub state: &'static str,
}

/// What a run of the balancer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// False if it was refused: switched off, or regions are in transition.
    pub ran: bool,
    /// Moves that it planned; None from versions that do not say.
    pub planned: Option<u32>,
    /// Moves that were begun.
    pub executed: Option<u32>,
}

/// `RegionState.State` of ClusterStatus.proto, by number.
const STATES: [&str; 16] = [
    "OFFLINE",
    "PENDING_OPEN",
    "OPENING",
    "OPEN",
    "PENDING_CLOSE",
    "CLOSING",
    "CLOSED",
    "SPLITTING",
    "SPLIT",
    "FAILED_OPEN",
    "FAILED_CLOSE",
    "MERGING",
    "MERGED",
    "SPLITTING_NEW",
    "MERGING_NEW",
    "ABNORMALLY_CLOSED",
];

impl Admin {
    /// Servers, their load, regions in transition.
    pub async fn cluster_status(&self) -> Result<ClusterStatus, Error> {
        let everything = GetClusterStatusRequest {
            options: Vec::new(),
        };
        let answer: GetClusterStatusResponse = self.ask("GetClusterStatus", &everything).await?;
        Ok(ClusterStatus::from_pb(answer.cluster_status))
    }

    /// The live region servers.
    pub async fn servers(&self) -> Result<Vec<ServerName>, Error> {
        let status = self.cluster_status().await?;
        Ok(status.live.into_iter().map(|load| load.server).collect())
    }

    /// Runs the balancer once; answers when its moves are begun or, within the master's limits, done.
    pub async fn balance(&self) -> Result<Balance, Error> {
        let answer: BalanceResponse = self.ask("Balance", &BalanceRequest {}).await?;
        Ok(Balance {
            ran: answer.balancer_ran,
            planned: answer.moves_calculated,
            executed: answer.moves_executed,
        })
    }

    /// Switches the balancer on or off, and waits for a run in progress; whether it was on.
    pub async fn set_balancer(&self, on: bool) -> Result<bool, Error> {
        let request = SetBalancerRunningRequest {
            on,
            synchronous: Some(true),
        };
        let answer: SetBalancerRunningResponse = self.ask("SetBalancerRunning", &request).await?;
        Ok(answer.prev_balance_value.unwrap_or(false))
    }
}

impl ClusterStatus {
    fn from_pb(status: Status) -> Self {
        let names = |all: &[pb::ServerName]| all.iter().filter_map(ServerName::from_pb).collect();
        Self {
            version: status
                .hbase_version
                .map(|version| version.version)
                .unwrap_or_default(),
            master: status.master.as_ref().and_then(ServerName::from_pb),
            backup_masters: names(&status.backup_masters),
            live: status
                .live_servers
                .iter()
                .filter_map(ServerLoad::from_pb)
                .collect(),
            dead: names(&status.dead_servers),
            in_transition: status
                .regions_in_transition
                .iter()
                .map(Transition::from_pb)
                .collect(),
            balancer_on: status.balancer_on.unwrap_or(false),
        }
    }
}

impl ServerLoad {
    fn from_pb(info: &LiveServerInfo) -> Option<Self> {
        let load = &info.server_load;
        Some(Self {
            server: ServerName::from_pb(&info.server)?,
            requests: load.total_number_of_requests.unwrap_or(0),
            used_heap_mib: load.used_heap_mib.unwrap_or(0),
            max_heap_mib: load.max_heap_mib.unwrap_or(0),
            regions: load.region_loads.iter().map(RegionLoad::from_pb).collect(),
        })
    }
}

impl RegionLoad {
    fn from_pb(load: &pb::admin::RegionLoad) -> Self {
        Self {
            region: load.region_specifier.value.clone(),
            store_files: load.storefiles.unwrap_or(0),
            store_files_mib: load.storefile_size_mib.unwrap_or(0),
            memstore_mib: load.mem_store_size_mib.unwrap_or(0),
            reads: load.read_requests_count.unwrap_or(0),
            writes: load.write_requests_count.unwrap_or(0),
        }
    }
}

impl Transition {
    fn from_pb(transition: &RegionInTransition) -> Self {
        let state = usize::try_from(transition.region_state.state).ok();
        Self {
            region: String::from_utf8_lossy(&transition.spec.value).into_owned(),
            state: state
                .and_then(|number| STATES.get(number))
                .copied()
                .unwrap_or("UNKNOWN"),
        }
    }
}
