//! Regions: listed, split, moved, flushed; and calls of the region server that has one.

use super::Admin;
use super::master::Answer;
use super::procedure::nonce;
use crate::error::{Action, Error};
use crate::names::{ServerName, TableName};
use crate::pb;
use crate::pb::admin::{FlushRegionRequest, MoveRegionRequest, SplitTableRegionRequest};
use crate::region::{Placed, Region};
use crate::rpc::Service;
use prost::Message;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Pause before a region's server is asked for anew.
const PAUSE: Duration = Duration::from_millis(200);
/// Regions of a table that are worked on at the same time: few enough to leave servers handlers for others.
const AT_ONCE: usize = 16;
/// `RegionSpecifierType.ENCODED_REGION_NAME`.
const ENCODED_NAME: i32 = 2;

impl Admin {
    /// The table's regions in the order of their rows, as `hbase:meta` has them now: no parents of a split, no replicas.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<Placed>, Error> {
        let mut placed = self.core.regions(table).await?;
        placed.retain(|at| !at.region.split && at.region.replica == 0);
        Ok(placed)
    }

    /// Splits a region at `row`, or where its server finds its middle, and waits until both halves are open.
    pub async fn split(&self, at: &Placed, row: Option<&[u8]>) -> Result<(), Error> {
        let request = SplitTableRegionRequest {
            region_info: region_info(&at.region)?,
            split_row: row.map(<[u8]>::to_vec),
            nonce_group: Some(nonce()),
            nonce: Some(nonce()),
        };
        self.procedure("SplitRegion", &request).await
    }

    /// Moves a region to `server`, or to one that the master chooses, and waits until it is open there.
    pub async fn move_region(&self, at: &Placed, server: Option<&ServerName>) -> Result<(), Error> {
        let request = MoveRegionRequest {
            region: pb::RegionSpecifier {
                r#type: ENCODED_NAME,
                value: at.region.encoded_name().into_bytes(),
            },
            dest_server_name: server.map(ServerName::to_pb),
        };
        self.ask::<pb::Empty>("MoveRegion", &request).await?;
        match server {
            Some(server) => self.moved(at, server).await,
            None => Ok(()),
        }
    }

    /// The master leaves a region where it is, without a word, if the server named is not alive.
    async fn moved(&self, at: &Placed, server: &ServerName) -> Result<(), Error> {
        match self.now(&at.region).await? {
            Some(now) if now.server.as_ref() == Some(server) => Ok(()),
            _ => Err(Error::Input(format!(
                "region {} did not move to {server}: is that a live region server, as host,port,startcode?",
                at.region.encoded_name()
            ))),
        }
    }

    /// Where the region is now; None if it is no more.
    async fn now(&self, region: &Region) -> Result<Option<Placed>, Error> {
        let regions = self.regions(&table_of(region)?).await?;
        Ok(regions
            .into_iter()
            .find(|now| now.region.name == region.name))
    }

    /// Writes the memstores of all regions of the table to files, and waits for it.
    pub async fn flush(&self, table: &TableName) -> Result<(), Error> {
        self.every_region(
            table,
            |admin, at| async move { admin.flush_region(&at).await },
        )
        .await
        .map(drop)
    }

    /// Writes the memstores of one region to files, and waits for it. One that was split meanwhile has none left.
    pub async fn flush_region(&self, at: &Placed) -> Result<(), Error> {
        let request = FlushRegionRequest {
            region: pb::RegionSpecifier::by_name(&at.region.name),
        };
        self.region_server::<pb::Empty>("FlushRegion", at, &request)
            .await
            .map(drop)
    }

    /// Does `work` for all regions of the table, for some at the same time; the results are in no order.
    pub(super) async fn every_region<T, W>(
        &self,
        table: &TableName,
        work: impl Fn(Self, Placed) -> W,
    ) -> Result<Vec<T>, Error>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut results = Vec::new();
        let mut running = JoinSet::new();
        for at in self.regions(table).await? {
            if running.len() == AT_ONCE {
                results.push(next(&mut running).await?);
            }
            running.spawn(work(self.clone(), at));
        }
        while !running.is_empty() {
            results.push(next(&mut running).await?);
        }
        Ok(results)
    }

    /// Calls the server that has the region, wherever it goes meanwhile. None if the region is no more: split, or dropped.
    pub(super) async fn region_server<A: Message + Default>(
        &self,
        method: &'static str,
        at: &Placed,
        request: &impl Message,
    ) -> Result<Option<A>, Error> {
        let deadline = self.deadline();
        let mut at = at.clone();
        loop {
            let error = match self.attempt_at(&at, method, request, deadline).await {
                Ok(answer) => return Ok(Some(answer)),
                Err(error) => error,
            };
            if error.action() == Action::GiveUp || Instant::now() + PAUSE >= deadline {
                return Err(error);
            }
            sleep(PAUSE).await;
            match self.now(&at.region).await? {
                Some(now) => at = now,
                None => return Ok(None),
            }
        }
    }

    async fn attempt_at<A: Message + Default>(
        &self,
        at: &Placed,
        method: &'static str,
        request: &impl Message,
        deadline: Instant,
    ) -> Result<A, Error> {
        let nowhere = || Error::Unassigned(String::from_utf8_lossy(&at.region.name).into_owned());
        let server = &at.server.as_ref().ok_or_else(nowhere)?.address;
        let within = deadline.saturating_duration_since(Instant::now());
        let reply = self
            .core
            .pool
            .call(server, Service::Admin, method, request, &[], within)
            .await?;
        reply.decode(server)
    }

    /// Asks the active master one question.
    pub(super) async fn ask<A: Message + Default>(
        &self,
        method: &'static str,
        request: &impl Message,
    ) -> Result<A, Error> {
        let answer: Answer<A> = self.master(method, request, self.deadline()).await?;
        Ok(answer.message)
    }
}

async fn next<T: 'static>(running: &mut JoinSet<Result<T, Error>>) -> Result<T, Error> {
    let ended = running.join_next().await.expect("one is running");
    ended.expect("the work on a region neither panics nor is aborted")
}

/// The table that a region's name begins with.
fn table_of(region: &Region) -> Result<TableName, Error> {
    let table = region
        .name
        .split(|byte| *byte == b',')
        .next()
        .unwrap_or_default();
    Ok(String::from_utf8_lossy(table).parse()?)
}

fn region_info(region: &Region) -> Result<pb::RegionInfo, Error> {
    Ok(pb::RegionInfo {
        region_id: region.id,
        table_name: table_of(region)?.to_pb(),
        start_key: Some(region.start.clone()),
        end_key: Some(region.end.clone()),
        offline: Some(region.offline),
        split: Some(region.split),
        replica_id: Some(region.replica),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_named_to_the_master_as_it_stands_in_meta() {
        let info = pb::RegionInfo {
            region_id: 7,
            table_name: "ns:t".parse::<TableName>().unwrap().to_pb(),
            start_key: Some(b"a,b".to_vec()),
            end_key: Some(b"\xff".to_vec()),
            offline: Some(false),
            split: Some(false),
            replica_id: Some(0),
        };
        let region = Region::from_pb(
            b"ns:t,a,b,7.0123456789abcdef0123456789abcdef.".to_vec(),
            info.clone(),
        );
        assert_eq!(region_info(&region).unwrap(), info);
    }
}
