//! What is in effect on the servers and on our side, asked once when the driver opens.

use super::outcome::unopened;
use super::plan::HbasePlan;
use crate::driver::{OpenError, buffered};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use steelyard_hbase::{Client, Placed, Table};

/// The object for the `ready` event.
pub(super) async fn gather(
    client: &Client,
    table: &Table,
    options: &HbasePlan,
) -> Result<Value, OpenError> {
    let status = client.admin().cluster_status().await.map_err(unopened)?;
    let servers: Vec<_> = status.live.iter().map(|s| s.server.to_string()).collect();
    Ok(json!({
        "system": "hbase",
        "clocks": "kernel",
        "version": status.version,
        "cluster_id": client.cluster_id(),
        "registry": options.registry,
        "zookeeper": options.zookeeper,
        "master": status.master.map(|master| master.to_string()),
        "region_servers": servers,
        "balancer_on": status.balancer_on,
        "connections_per_server": options.connections,
        "user": options.user,
        "durability": options.durability.to_ascii_uppercase(),
        "timestamps": "client, milliseconds",
        "scan_caching": options.scan_caching,
        "scan_order": "key",
        "reads_fill_block_cache": options.block_cache,
        "buffering": buffered::facts(options.client_buffering),
        "table": describe(client, table, options).await?,
    }))
}

/// The table as the servers have it.
async fn describe(client: &Client, table: &Table, options: &HbasePlan) -> Result<Value, OpenError> {
    let admin = client.admin();
    let found = admin.describe(table.name()).await.map_err(unopened)?;
    let regions = admin.regions(table.name()).await.map_err(unopened)?;
    let family = found.families.iter().find(|f| f.name == options.family);
    Ok(json!({
        "name": table.name().to_string(),
        "family": options.family,
        "bloom": family.map(|f| f.bloom.to_string()),
        "versions": family.map(|f| f.versions),
        "compression": family.map(|f| &f.compression),
        "block_cache": family.map(|f| f.block_cache),
        "block_size_bytes": family.map(|f| f.block_size),
        "family_attributes": family.map(|f| &f.attributes),
        "attributes": found.attributes,
        "regions": regions.len(),
        "regions_by_server": by_server(&regions),
    }))
}

fn by_server(regions: &[Placed]) -> Map<String, Value> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for placed in regions {
        let server = placed.server.as_ref().map(ToString::to_string);
        *counts
            .entry(server.unwrap_or_else(|| "none".into()))
            .or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(server, n)| (server, json!(n)))
        .collect()
}
