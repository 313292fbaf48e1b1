//! What a plan says of the CQL driver.

use crate::plan::{one, yes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options of the CQL driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CqlPlan {
    /// Contact points: an address, optionally with `:port`.
    pub hosts: Vec<String>,
    /// Port of contact points that name none.
    #[serde(default = "default_cql_port")]
    pub port: u16,
    /// Only nodes of this datacenter coordinate, if given.
    #[serde(default)]
    pub local_datacenter: Option<String>,
    /// A replica of the key coordinates, where tokens can be computed; otherwise nodes take turns.
    #[serde(default = "yes")]
    pub token_aware: bool,
    /// Keyspace, created if missing.
    #[serde(default = "default_keyspace")]
    pub keyspace: String,
    /// The CQL replication map, as in `CREATE KEYSPACE ... WITH replication = {...}`.
    pub replication: BTreeMap<String, String>,
    /// `durable_writes` of a keyspace that is created.
    #[serde(default = "yes")]
    pub durable_writes: bool,
    /// Extra table options, each as CQL text after `WITH`, joined by AND.
    #[serde(default)]
    pub table_options: Vec<String>,
    /// Consistency level of reads and scans.
    pub read_consistency: String,
    /// Consistency level of writes.
    pub write_consistency: String,
    /// ... of those of the load phase, if it is another.
    #[serde(default)]
    pub load_consistency: Option<String>,
    /// Connections to each node.
    #[serde(default = "one")]
    pub connections: u32,
    /// User name; its password stands in `password_file`.
    #[serde(default)]
    pub user: Option<String>,
    /// File whose first line is the password: secrets never stand in a plan.
    #[serde(default)]
    pub password_file: Option<PathBuf>,
    /// TLS: certificate authority (PEM); its presence switches TLS on.
    #[serde(default)]
    pub tls_ca: Option<PathBuf>,
    /// TLS: client certificate (PEM).
    #[serde(default)]
    pub tls_cert: Option<PathBuf>,
    /// TLS: client key (PEM).
    #[serde(default)]
    pub tls_key: Option<PathBuf>,
    /// Drop the table first.
    #[serde(default)]
    pub fresh: bool,
}

fn default_cql_port() -> u16 {
    9042
}
fn default_keyspace() -> String {
    "ycsb".into()
}
