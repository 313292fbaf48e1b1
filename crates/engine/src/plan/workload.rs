//! Records, keys, values, the mix of operations, and which record each asks for.

use super::{one, yes};
use crate::operation::Kind;
use serde::{Deserialize, Serialize};

/// What is stored and what is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Records there are when a load has ended: ranks 0 .. records.
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
    /// Checked values, or YCSB's.
    #[serde(default)]
    pub values: ValueKind,
    /// Which returned values are judged.
    #[serde(default)]
    pub verify: Verify,
    /// W of DESIGN 4: a read at n knows the inserts numbered <= n - W. At least the total in-flight cap.
    #[serde(default)]
    pub insert_lag: u64,
}

/// Records a workload has less than.
pub const RECORDS_MAX: u64 = 1 << 63;

/// The only skew that YCSB draws with.
pub const YCSB_THETA: f64 = 0.99;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// By weights: YCSB's `fieldlengthdistribution=histogram`.
    Histogram {
        /// (length, weight >= 1) of each length there is.
        weights: Vec<(u32, u64)>,
    },
}

impl Length {
    /// Least and most.
    pub fn bounds(&self) -> (u32, u32) {
        match self {
            Self::Constant { length } => (*length, *length),
            Self::Uniform { min, max } | Self::Zipfian { min, max } => (*min, *max),
            Self::Histogram { weights } => {
                let lengths = weights.iter().map(|(length, _)| *length);
                let least = lengths.clone().min().unwrap_or(0);
                (least, lengths.max().unwrap_or(0))
            }
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
    YCSB_THETA
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
    /// As YCSB's `dataintegrity`: derived from key and field alone, so that either tool verifies what the other wrote.
    YcsbIntegrity,
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
