//! Which database is driven, and how it is reached.

use super::hbase::HbasePlan;
use super::{PlanError, Workload, one, yes};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which driver, with its options.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant)] // there is one of it
pub enum DriverPlan {
    /// Answers at once; measures the engine itself.
    Null,
    /// A fjall store in a directory of this host.
    Embedded(EmbeddedPlan),
    /// Apache Cassandra or ScyllaDB over CQL.
    Cql(CqlPlan),
    /// Apache HBase over its own protocol.
    Hbase(HbasePlan),
}

impl DriverPlan {
    /// Whether writes are collected before they are sent.
    pub const fn buffers(&self) -> bool {
        matches!(self, Self::Hbase(options) if options.client_buffering > 0)
    }

    /// The database's unit of timestamps, us: writes within one are in the server's order.
    pub const fn timestamp_grain_us(&self) -> i64 {
        match self {
            Self::Hbase(_) => 1000,
            Self::Null | Self::Embedded(_) | Self::Cql(_) => 1,
        }
    }

    /// What can be known of the options without opening anything. (CQL's are checked when it opens.)
    pub(super) fn check(&self, workload: &Workload) -> Result<(), PlanError> {
        match self {
            Self::Hbase(options) => options.check(workload.records),
            Self::Null | Self::Embedded(_) | Self::Cql(_) => Ok(()),
        }
    }
}

/// Options of the embedded driver.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddedPlan {
    /// The store's directory; created if missing.
    pub path: PathBuf,
    /// fsync after every write.
    #[serde(default)]
    pub sync: bool,
    /// Empty the store first.
    #[serde(default)]
    pub fresh: bool,
}

/// Options of the CQL driver.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    pub replication: std::collections::BTreeMap<String, String>,
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
