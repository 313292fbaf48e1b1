//! The plan: everything one engine process needs to know, as JSON. `docs/format.md` says every field.
//!
//! Parsing never touches the world: a plan is checked here as a whole before anything is opened.

use crate::operation::Kind;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The version of the plan format; a plan of another version is refused.
pub const PLAN_FORMAT: u32 = 1;

/// A plan that cannot be run; the text says which field and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

/// One engine process's orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must equal [`PLAN_FORMAT`].
    pub plan_format: u32,
    /// Every random draw of the run is a function of this seed and an operation number.
    pub seed: u64,
    /// Which of how many engines this one is.
    #[serde(default)]
    pub engine: EngineShare,
    /// Folder (existing) that receives events, histograms and series.
    pub out: PathBuf,
    /// The database driver and its options.
    pub driver: DriverPlan,
    /// Records, keys, values and the mix of operations.
    pub workload: Workload,
    /// How due times are waited for.
    #[serde(default)]
    pub pacing: Pacing,
    /// What happens when an attempt fails.
    #[serde(default)]
    pub retry: Retry,
    /// An operation's deadline from its start, over all attempts, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// One attempt's deadline, in milliseconds.
    #[serde(default = "default_attempt_timeout_ms")]
    pub attempt_timeout_ms: u64,
    /// The phases, in the order in which commands may start them.
    pub phases: Vec<Phase>,
    /// Start every phase at once, in order, without commands (for use by hand).
    #[serde(default)]
    pub autostart: bool,
}

fn default_timeout_ms() -> u64 {
    10_000
}
fn default_attempt_timeout_ms() -> u64 {
    5_000
}

/// Engine `index` of `count` takes the operation numbers n with n mod count = index.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineShare {
    /// This engine, from 0.
    pub index: u32,
    /// All engines of the run.
    pub count: u32,
}

impl Default for EngineShare {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

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
fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}

/// What is stored and what is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Records the load phase inserts: ranks 0 .. records.
    pub records: u64,
    /// Table name.
    #[serde(default = "default_table")]
    pub table: String,
    /// How a rank becomes a key.
    #[serde(default)]
    pub key: KeyPlan,
    /// A record's fields.
    #[serde(default)]
    pub fields: Fields,
    /// Weights of the operation kinds in the run phase; they need not sum to 1.
    pub mix: Mix,
    /// Which record an operation asks for.
    pub request: Request,
    /// Rows a scan asks for.
    #[serde(default = "default_scan_length")]
    pub scan_length: Length,
    /// Reads ask for every field, or for one.
    #[serde(default = "yes")]
    pub read_all_fields: bool,
    /// Updates write every field, or one.
    #[serde(default)]
    pub write_all_fields: bool,
    /// Checked values, or plain ones as YCSB's.
    #[serde(default)]
    pub values: ValueKind,
    /// Which returned values are judged.
    #[serde(default)]
    pub verify: Verify,
    /// W of DESIGN 4: a read at n knows the inserts numbered <= n - W. At least the total in-flight cap.
    #[serde(default)]
    pub insert_lag: u64,
}

fn default_table() -> String {
    "usertable".into()
}
fn default_scan_length() -> Length {
    Length::Uniform { min: 1, max: 100 }
}

/// How a record's rank becomes its key: `prefix` + zero-padded decimal, as YCSB's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPlan {
    /// Hashed (FNV-1a 64 of the rank) or ordered (the rank itself).
    #[serde(default)]
    pub order: KeyOrder,
    /// Text before the number, at most 16 bytes.
    #[serde(default = "default_prefix")]
    pub prefix: String,
    /// Least number of digits, at most 24.
    #[serde(default = "one")]
    pub zero_padding: u32,
}

fn default_prefix() -> String {
    "user".into()
}

impl Default for KeyPlan {
    fn default() -> Self {
        Self {
            order: KeyOrder::Hashed,
            prefix: default_prefix(),
            zero_padding: 1,
        }
    }
}

/// Order of keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// Keys are scattered by a hash.
    #[default]
    Hashed,
    /// Keys follow the rank.
    Ordered,
}

/// Fields of a record.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fields {
    /// Fields in each record, 1 ..= 4096.
    #[serde(default = "ten")]
    pub count: u32,
    /// Column names are this and the field's index.
    #[serde(default = "default_field_prefix")]
    pub prefix: String,
    /// Bytes in a field.
    #[serde(default = "default_field_length")]
    pub length: Length,
    /// Random bits in each byte of content, 1 ..= 6 (6 compresses as YCSB's values do).
    #[serde(default = "six")]
    pub bits_per_byte: u32,
}

fn ten() -> u32 {
    10
}
fn six() -> u32 {
    6
}
fn default_field_prefix() -> String {
    "field".into()
}
fn default_field_length() -> Length {
    Length::Constant { length: 100 }
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            count: 10,
            prefix: default_field_prefix(),
            length: default_field_length(),
            bits_per_byte: 6,
        }
    }
}

/// A length in bytes or rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Length {
    /// Always the same.
    Constant {
        /// That length.
        length: u32,
    },
    /// Every length of `min ..= max` equally likely.
    Uniform {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
    },
    /// Short ones most likely: `min` + a zipfian(0.99) rank over `min ..= max`.
    Zipfian {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
    },
}

impl Length {
    /// Least and most.
    pub fn bounds(self) -> (u32, u32) {
        match self {
            Self::Constant { length } => (length, length),
            Self::Uniform { min, max } | Self::Zipfian { min, max } => (min, max),
        }
    }
}

/// Weights of operation kinds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mix {
    /// Reads.
    pub read: f64,
    /// Updates.
    pub update: f64,
    /// Inserts of new records.
    pub insert: f64,
    /// Scans.
    pub scan: f64,
    /// Deletes.
    pub delete: f64,
    /// A read and an update of the same record.
    pub read_modify_write: f64,
}

impl Mix {
    /// (kind, weight) of every kind, in the fixed order in which a draw walks them.
    pub fn weights(&self) -> [(Kind, f64); 6] {
        [
            (Kind::Read, self.read),
            (Kind::Update, self.update),
            (Kind::Insert, self.insert),
            (Kind::Scan, self.scan),
            (Kind::Delete, self.delete),
            (Kind::ReadModifyWrite, self.read_modify_write),
        ]
    }
}

/// Which record is asked for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Every record equally likely.
    Uniform {
        /// Draw as a named tool does.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// Popularity falls as rank^-theta; hot records are scattered by a bijective permutation.
    Zipfian {
        /// Skew, >= 0.
        #[serde(default = "default_theta")]
        theta: f64,
        /// Draw as a named tool does (theta must then be 0.99).
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// Newest records most popular.
    Latest {
        /// Skew, >= 0.
        #[serde(default = "default_theta")]
        theta: f64,
        /// Draw as a named tool does.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// A fraction of the records gets a fraction of the operations.
    Hotspot {
        /// Share of the records that is hot.
        #[serde(default = "default_hot_data")]
        data_fraction: f64,
        /// Share of the operations the hot records get.
        #[serde(default = "default_hot_operations")]
        operation_fraction: f64,
        /// Draw as a named tool does.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// Record n mod N.
    Sequential {
        /// Draw as a named tool does.
        #[serde(default)]
        compat: Option<Compat>,
    },
    /// Popularity falls exponentially with age.
    Exponential {
        /// This percentage of the operations ...
        #[serde(default = "default_percentile")]
        percentile: f64,
        /// ... goes to this fraction of the records, the newest.
        #[serde(default = "default_fraction")]
        fraction: f64,
        /// Draw as a named tool does.
        #[serde(default)]
        compat: Option<Compat>,
    },
}

fn default_theta() -> f64 {
    0.99
}
fn default_hot_data() -> f64 {
    0.2
}
fn default_hot_operations() -> f64 {
    0.8
}
fn default_percentile() -> f64 {
    95.0
}
fn default_fraction() -> f64 {
    0.857_142_857_1
}

/// Tools whose draws can be repeated exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// YCSB 0.17.
    Ycsb,
}

/// What values hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A header that names its write, and content derived from it.
    #[default]
    Checked,
    /// Random printable bytes as YCSB's; nothing can be verified.
    Ycsb,
}

/// Which returned values are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// None.
    Off,
    /// Those of every 64th operation.
    Sample,
    /// Every one, without state: corrupt and foreign values are found.
    #[default]
    All,
    /// As `all`, plus a table of acknowledged writes: stale and lost ones are found.
    Full,
}

/// Pacing of due times.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// Do not wake for due times sooner than this after the last turn; 0 = exact. None = 50 us, 100 us above 20 k/s.
    #[serde(default)]
    pub quantum_us: Option<u64>,
    /// Run the worker under SCHED_FIFO.
    #[serde(default)]
    pub realtime: bool,
}

/// The retry policy, one for all systems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// Try again, elsewhere, until the operation's deadline; the clock is never restarted.
    #[default]
    UntilDeadline,
    /// One attempt.
    None,
}

/// One phase.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name: file names and commands use it.
    pub name: String,
    /// What it does.
    pub kind: PhaseKind,
    /// Most operations in flight at once, over all engines; in a closed loop the number of clients.
    pub in_flight: u32,
    /// When operations are due.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// When it ends.
    pub limit: Limit,
}

/// What a phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Insert records 0 .. records.
    Load,
    /// Operations of the mix.
    Run,
}

/// When operations are due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// As soon as a client is free: due = started.
    #[default]
    Closed,
    /// Evenly spaced.
    Constant {
        /// Operations per second over all engines.
        rate: f64,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean operations per second over all engines.
        rate: f64,
    },
}

/// When a phase ends: whichever comes first.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Operations over all engines.
    #[serde(default)]
    pub operations: Option<u64>,
    /// Seconds.
    #[serde(default)]
    pub seconds: Option<f64>,
}

impl Plan {
    /// Check the plan as a whole, before anything is opened.
    pub fn check(&self) -> Result<(), PlanError> {
        let refuse = |text: String| Err(PlanError(text));
        if self.plan_format != PLAN_FORMAT {
            return refuse(format!(
                "plan_format is {}, this engine speaks {PLAN_FORMAT}",
                self.plan_format
            ));
        }
        if self.engine.count == 0 || self.engine.index >= self.engine.count {
            return refuse(format!(
                "engine.index {} of engine.count {}",
                self.engine.index, self.engine.count
            ));
        }
        if self.timeout_ms == 0 || self.attempt_timeout_ms == 0 {
            return refuse("timeout_ms and attempt_timeout_ms must be above 0".into());
        }
        for (i, phase) in self.phases.iter().enumerate() {
            phase
                .check()
                .map_err(|e| PlanError(format!("phases[{i}]: {}", e.0)))?;
        }
        crate::generate::check(&self.workload)
    }
}

impl Phase {
    fn check(&self) -> Result<(), PlanError> {
        let refuse = |text: &str| Err(PlanError(text.into()));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return refuse("name must be letters, digits, - and _: files are called by it");
        }
        if self.in_flight == 0 {
            return refuse("in_flight must be above 0");
        }
        if let Arrivals::Constant { rate } | Arrivals::Poisson { rate } = self.arrivals
            && !(rate.is_finite() && rate > 0.0)
        {
            return refuse("arrivals.rate must be above 0");
        }
        if self
            .limit
            .seconds
            .is_some_and(|s| !(s.is_finite() && s > 0.0))
        {
            return refuse("limit.seconds must be above 0");
        }
        if self.kind == PhaseKind::Run
            && self.limit.operations.is_none()
            && self.limit.seconds.is_none()
        {
            return refuse("limit needs operations or seconds: the phase would never end");
        }
        Ok(())
    }
}
