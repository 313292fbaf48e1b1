//! Compactions: asked for, and whether they are done.

use super::Admin;
use crate::error::Error;
use crate::names::TableName;
use crate::pb;
use crate::pb::admin::{CompactRegionRequest, GetRegionInfoRequest, GetRegionInfoResponse};
use crate::region::Placed;

/// What compactions run or wait for a region, or for any region of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Compaction {
    /// A minor one.
    pub minor: bool,
    /// A major one.
    pub major: bool,
}

impl Compaction {
    /// Whether none is left.
    pub fn done(self) -> bool {
        self == Self::default()
    }
}

impl Admin {
    /// Asks the servers to compact all regions of the table; a `major` compaction makes one file of each store. Does not wait:
    /// see [`Self::compaction`].
    pub async fn compact(&self, table: &TableName, major: bool) -> Result<(), Error> {
        self.every_region(table, move |admin, at| async move {
            admin.compact_region(&at, major).await
        })
        .await
        .map(drop)
    }

    /// Asks the region's server to compact it; does not wait. Nothing happens if the region was split meanwhile.
    pub async fn compact_region(&self, at: &Placed, major: bool) -> Result<(), Error> {
        let request = CompactRegionRequest {
            region: pb::RegionSpecifier::by_name(&at.region.name),
            major: Some(major),
        };
        self.region_server::<pb::Empty>("CompactRegion", at, &request)
            .await
            .map(drop)
    }

    /// What compactions of the table run or wait, over all its regions.
    pub async fn compaction(&self, table: &TableName) -> Result<Compaction, Error> {
        let states = self
            .every_region(table, |admin, at| async move {
                admin.region_compaction(&at).await
            })
            .await?;
        Ok(Compaction {
            minor: states.iter().any(|state| state.minor),
            major: states.iter().any(|state| state.major),
        })
    }

    /// What compactions of one region run or wait.
    pub async fn region_compaction(&self, at: &Placed) -> Result<Compaction, Error> {
        let request = GetRegionInfoRequest {
            region: pb::RegionSpecifier::by_name(&at.region.name),
            compaction_state: Some(true),
        };
        let answer: Option<GetRegionInfoResponse> =
            self.region_server("GetRegionInfo", at, &request).await?;
        let state = answer.and_then(|info| info.compaction_state).unwrap_or(0);
        Ok(Compaction {
            minor: matches!(state, 1 | 3),
            major: matches!(state, 2 | 3),
        })
    }
}
