//! What HBase keeps in ZooKeeper, below its parent node (`/hbase` unless configured otherwise).

use prost::Message;

use super::jute::Reader;
use super::{ZooKeeper, ZooKeeperError};
use crate::names::ServerName;
use crate::pb;
use crate::pb::admin::{ClusterIdNode, MasterNode, MetaRegionServerNode};

/// State of a region that serves (`RegionState.State.OPEN`).
const OPEN: i32 = 3;

impl ZooKeeper {
    /// The cluster's id, a UUID; None before the cluster first started.
    pub async fn cluster_id(&mut self, parent: &str) -> Result<Option<String>, ZooKeeperError> {
        let node: Option<ClusterIdNode> = self.message(parent, "hbaseid").await?;
        Ok(node.map(|node| node.cluster_id))
    }

    /// The active master; None while there is none.
    pub async fn active_master(
        &mut self,
        parent: &str,
    ) -> Result<Option<ServerName>, ZooKeeperError> {
        let node: Option<MasterNode> = self.message(parent, "master").await?;
        node.map(|node| server(&node.master)).transpose()
    }

    /// The region server of `hbase:meta`; None while it is not open.
    pub async fn meta_server(
        &mut self,
        parent: &str,
    ) -> Result<Option<ServerName>, ZooKeeperError> {
        let node: Option<MetaRegionServerNode> = self.message(parent, "meta-region-server").await?;
        let open = node.filter(|node| node.state.is_none_or(|state| state == OPEN));
        open.map(|node| server(&node.server)).transpose()
    }

    /// The live region servers, in no order.
    pub async fn region_servers(
        &mut self,
        parent: &str,
    ) -> Result<Vec<ServerName>, ZooKeeperError> {
        let names = self
            .children(&format!("{parent}/rs"))
            .await?
            .unwrap_or_default();
        let wrong = |_| {
            ZooKeeperError::Malformed("a region server's node is not named host,port,startcode")
        };
        names
            .iter()
            .map(|name| name.parse().map_err(wrong))
            .collect()
    }

    async fn message<M: Message + Default>(
        &mut self,
        parent: &str,
        node: &str,
    ) -> Result<Option<M>, ZooKeeperError> {
        let Some(data) = self.data(&format!("{parent}/{node}")).await? else {
            return Ok(None);
        };
        let wrong = |_| ZooKeeperError::Malformed("a node holds another message than expected");
        M::decode(payload(&data)?).map(Some).map_err(wrong)
    }
}

fn server(name: &pb::ServerName) -> Result<ServerName, ZooKeeperError> {
    ServerName::from_pb(name).ok_or(ZooKeeperError::Malformed(
        "a server is named without its port",
    ))
}

/// The protobuf message in the bytes of a node.
///
/// HBase writes `0xFF`, int32 length, so many bytes that name the writer, then `PBUF` and the message.
pub(super) fn payload(node: &[u8]) -> Result<&[u8], ZooKeeperError> {
    let value = match node {
        [0xFF, rest @ ..] => {
            let mut reader = Reader::new(rest);
            reader.buffer()?;
            reader.rest()
        }
        plain => plain,
    };
    value.strip_prefix(b"PBUF").ok_or(ZooKeeperError::Malformed(
        "a node without HBase's PBUF mark",
    ))
}
