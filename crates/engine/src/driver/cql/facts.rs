//! What is in effect on the servers and on our side, asked once when the driver opens.

use super::keeper::RECONNECT;
use super::options::{Names, level_name};
use super::patience::{PROBE_AFTER, PROBE_LIMIT};
use super::plan::CqlPlan;
use super::schema::{self, Keyspace};
use crate::driver::OpenError;
use futures::future::join_all;
use scylla::client::session::Session;
use scylla::cluster::Node;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::{Consistency, Statement};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The crate and our own connections speak this version of the native protocol and no other.
const PROTOCOL_VERSION: u32 = 4;
/// A node that does not tell its version within this is listed without one.
const NODE_TIMEOUT: Duration = Duration::from_secs(2);

/// The cluster's name and partitioner.
pub(super) struct Cluster {
    /// Name.
    pub name: String,
    /// Class of the partitioner, without its package.
    pub partitioner: String,
}

impl Cluster {
    /// Ask any node.
    pub async fn ask(session: &Session) -> Result<Self, OpenError> {
        let text = "SELECT cluster_name, partitioner FROM system.local WHERE key = 'local'";
        let found = schema::rows::<(String, String)>(session, text, ()).await?;
        let (name, class) = found
            .into_iter()
            .next()
            .ok_or_else(|| OpenError::Reach("system.local is empty".into()))?;
        let partitioner = class.rsplit('.').next().unwrap_or_default().to_owned();
        Ok(Self { name, partitioner })
    }

    /// Whether a replica of the key coordinates: if that is wanted, and the crate can compute this cluster's tokens. For other
    /// partitioners it makes them up at random, and would send requests to nodes that are no replicas.
    pub fn token_aware(&self, options: &CqlPlan) -> bool {
        options.token_aware && self.partitioner == "Murmur3Partitioner"
    }
}

/// What the driver chose.
pub(super) struct Chosen {
    /// Level of reads and scans.
    pub read: Consistency,
    /// Level of writes.
    pub write: Consistency,
    /// Level of the load phase's writes.
    pub load: Consistency,
    /// Rows of a scan's page.
    pub page_rows: u64,
}

/// The object for the `ready` event.
pub(super) async fn gather(
    session: &Session,
    options: &CqlPlan,
    names: &Names,
    cluster: &Cluster,
    chosen: &Chosen,
) -> Result<Value, OpenError> {
    let keyspace = schema::keyspace(session, names)
        .await?
        .ok_or_else(|| OpenError::Reach(format!("keyspace {:?} is gone", names.keyspace)))?;
    let state = session.get_cluster_state();
    let nodes = state.get_nodes_info();
    let sharded = nodes.iter().any(|node| node.sharder().is_some());
    Ok(json!({
        "system": if sharded { "scylladb" } else { "cassandra" },
        "cluster_name": cluster.name,
        "partitioner": cluster.partitioner,
        "token_aware": cluster.token_aware(options),
        "local_datacenter": options.local_datacenter,
        "nodes": join_all(nodes.iter().map(|node| describe(session, node))).await,
        "protocol_version": PROTOCOL_VERSION,
        "connections_per_node": options.connections,
        "keepalive_interval_ms": PROBE_AFTER.as_millis(),
        "keepalive_timeout_ms": PROBE_LIMIT.as_millis(),
        "reconnect_backoff_ms": RECONNECT.map(|delay| delay.as_millis()),
        "clocks": "kernel",
        "compression": Value::Null,
        "tls": options.tls_ca.is_some(),
        "user": options.user,
        "read_consistency": level_name(chosen.read),
        "write_consistency": level_name(chosen.write),
        "load_consistency": level_name(chosen.load),
        "scan_page_rows": chosen.page_rows,
        "scan_order": "token",
        "table": table(session, names).await?,
        "replication_in_effect": keyspace.replication,
        "replication_as_planned": as_planned(options, &keyspace),
        "durable_writes": keyspace.durable_writes,
    }))
}

async fn describe(session: &Session, node: &Arc<Node>) -> Value {
    let mut ask = Statement::new("SELECT release_version FROM system.local WHERE key = 'local'");
    ask.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(
        NodeIdentifier::Node(Arc::clone(node)),
        None,
    )));
    let answer = schema::rows::<(String,)>(session, ask, ());
    let version = match tokio::time::timeout(NODE_TIMEOUT, answer).await {
        Ok(Ok(found)) => found.into_iter().next().map(|(version,)| version),
        Ok(Err(_)) | Err(_) => None,
    };
    json!({
        "address": format!("{}:{}", node.address.ip(), node.address.port()),
        "host_id": node.host_id.to_string(),
        "datacenter": node.datacenter,
        "rack": node.rack,
        "connected": node.is_connected(),
        "release_version": version,
    })
}

/// The options of the table that decide what a read or write costs, as the server has them.
async fn table(session: &Session, names: &Names) -> Result<Value, OpenError> {
    type Options = std::collections::BTreeMap<String, String>;
    let found = schema::rows::<(
        Option<Options>,
        Option<Options>,
        Option<Options>,
        Option<i32>,
    )>(
        session,
        "SELECT compaction, compression, caching, gc_grace_seconds FROM system_schema.tables \
         WHERE keyspace_name = ? AND table_name = ?",
        (names.keyspace.as_str(), names.table.as_str()),
    )
    .await?;
    let (compaction, compression, caching, gc_grace_s) =
        found.into_iter().next().unwrap_or_default();
    Ok(json!({
        "keyspace": names.keyspace,
        "name": names.table,
        "fields": names.fields.len(),
        "compaction": compaction,
        "compression": compression,
        "caching": caching,
        "gc_grace_s": gc_grace_s,
    }))
}

/// Whether a keyspace that may have been there before is as the plan would have made it.
fn as_planned(options: &CqlPlan, keyspace: &Keyspace) -> bool {
    let short = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
    let plain = |map: &std::collections::BTreeMap<String, String>| {
        let mut map = map.clone();
        if let Some(class) = map.get_mut("class") {
            *class = short(class);
        }
        map
    };
    options.durable_writes == keyspace.durable_writes
        && plain(&options.replication) == plain(&keyspace.replication)
}
