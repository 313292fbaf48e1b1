//! Administration: tables, regions, servers.
//!
//! Requests go to the active master, whichever that is at the moment ([`master`]), or to the region server that has the region
//! ([`regions`]). What the master does in the background is waited for ([`procedure`]). Every operation tries again while
//! trying again can help, within the time that [`Admin::within`] gives it.

mod cluster;
mod compact;
mod descriptor;
mod master;
mod procedure;
mod regions;
mod tables;

pub use cluster::{Balance, ClusterStatus, RegionLoad, ServerLoad, Transition};
pub use compact::Compaction;
pub use descriptor::{Bloom, Family, TableDescriptor};
pub use tables::TableState;

use crate::shared::Core;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an operation may take unless told otherwise: a big table is disabled, or created with many regions, in minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Administration of a cluster. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Admin {
    core: Arc<Core>,
    patience: Duration,
}

impl Admin {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            patience: PATIENCE,
        }
    }

    /// The same, with so much time for each operation (otherwise 5 minutes).
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }
}
