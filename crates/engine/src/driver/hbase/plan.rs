//! Options of the HBase driver, and what they must be.

use crate::plan::{PlanError, one, words, yes};
use serde::Deserialize;

/// Which durability a write asks for: words of HBase's `Durability`.
pub const DURABILITIES: [&str; 5] = [
    "USE_DEFAULT",
    "SKIP_WAL",
    "ASYNC_WAL",
    "SYNC_WAL",
    "FSYNC_WAL",
];
/// Bloom filters of a family: words of HBase's `BloomType` that need no further setting.
pub const BLOOMS: [&str; 3] = ["NONE", "ROW", "ROWCOL"];
/// Compressions of a family: words of HBase's `Compression.Algorithm`. Which of them a server has, it says itself.
pub const COMPRESSIONS: [&str; 9] = [
    "NONE", "GZ", "SNAPPY", "LZ4", "ZSTD", "LZO", "LZMA", "BZIP2", "BROTLI",
];

/// Options of the HBase driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HbasePlan {
    /// `host:port` of masters and region servers that answer the connection registry.
    #[serde(default)]
    pub registry: Vec<String>,
    /// `host:port` of the ZooKeeper quorum, used instead of the registry when not empty.
    #[serde(default)]
    pub zookeeper: Vec<String>,
    /// HBase's node in ZooKeeper.
    #[serde(default = "default_parent")]
    pub zookeeper_parent: String,
    /// `table` or `namespace:table`.
    #[serde(default = "default_table")]
    pub table: String,
    /// The one column family.
    #[serde(default = "default_family")]
    pub family: String,
    /// One of [`DURABILITIES`].
    #[serde(default = "default_durability")]
    pub durability: String,
    /// Rows asked for by one call of a scan.
    #[serde(default = "default_caching")]
    pub scan_caching: u32,
    /// Reads may fill the block cache.
    #[serde(default = "yes")]
    pub block_cache: bool,
    /// One of [`BLOOMS`], of a table that is created.
    #[serde(default = "default_bloom")]
    pub bloom: String,
    /// Versions kept, of a table that is created.
    #[serde(default = "one")]
    pub versions: u32,
    /// One of [`COMPRESSIONS`], of a table that is created.
    #[serde(default = "default_compression")]
    pub compression: String,
    /// A table that is created is split into so many regions, by the distribution of the workload's keys.
    #[serde(default = "one")]
    pub regions: u32,
    /// Nobody asked for just so many: where records are fewer, regions are no more than these.
    #[serde(default)]
    pub regions_fit: bool,
    /// Bytes of puts collected before they are sent; 0: every put is sent alone.
    #[serde(default)]
    pub client_buffering: u64,
    /// Connections to each server.
    #[serde(default = "one")]
    pub connections: u32,
    /// Effective user; without one, the process's.
    #[serde(default)]
    pub user: Option<String>,
    /// Drop the table first.
    #[serde(default)]
    pub fresh: bool,
}

fn default_parent() -> String {
    "/hbase".into()
}
fn default_table() -> String {
    "usertable".into()
}
fn default_family() -> String {
    "family".into()
}
fn default_durability() -> String {
    "USE_DEFAULT".into()
}
fn default_caching() -> u32 {
    100
}
fn default_bloom() -> String {
    "ROW".into()
}
fn default_compression() -> String {
    "NONE".into()
}

impl HbasePlan {
    /// Whether these options make sense, for a workload of keys no fewer than `keys`.
    pub(super) fn sound(&self, keys: u64) -> Result<(), PlanError> {
        if self.registry.is_empty() && self.zookeeper.is_empty() {
            return refuse(
                "driver.registry: at least one master or region server (host:port) is needed, \
                 or the quorum in driver.zookeeper",
            );
        }
        addresses("driver.registry", &self.registry)?;
        addresses("driver.zookeeper", &self.zookeeper)?;
        if !self.zookeeper_parent.starts_with('/') {
            return refuse(format!(
                "driver.zookeeper_parent: {:?} is no node of ZooKeeper; it begins with /, like /hbase",
                self.zookeeper_parent
            ));
        }
        table(&self.table)?;
        family(&self.family)?;
        let word = |field, what, text, words| {
            words::position(field, what, text, words)
                .map(drop)
                .map_err(PlanError)
        };
        word(
            "driver.durability",
            "durability",
            &self.durability,
            &DURABILITIES,
        )?;
        word("driver.bloom", "Bloom filter", &self.bloom, &BLOOMS)?;
        word(
            "driver.compression",
            "compression",
            &self.compression,
            &COMPRESSIONS,
        )?;
        for (field, found) in [
            ("scan_caching", self.scan_caching),
            ("versions", self.versions),
            ("regions", self.regions),
            ("connections", self.connections),
        ] {
            if found == 0 {
                return refuse(format!("driver.{field}: found 0, expected at least 1"));
            }
        }
        if u64::from(self.regions) > keys && !self.regions_fit {
            return refuse(format!(
                "driver.regions: {} regions for {keys} records: some would stay empty",
                self.regions
            ));
        }
        Ok(())
    }

    /// Regions of a new table of so many records: no more than these.
    pub(super) fn regions_of(&self, keys: u64) -> u32 {
        self.regions.min(u32::try_from(keys).unwrap_or(u32::MAX))
    }
}

fn refuse(text: impl Into<String>) -> Result<(), PlanError> {
    Err(PlanError(text.into()))
}

fn addresses(field: &str, list: &[String]) -> Result<(), PlanError> {
    let port = |text: &String| {
        let (host, port) = text.rsplit_once(':')?;
        let plain = !host.is_empty() && (!host.contains(':') || host.starts_with('['));
        plain.then(|| port.parse::<u16>().ok()).flatten()
    };
    match list.iter().find(|text| port(text).is_none()) {
        Some(text) => refuse(format!("{field}: {text:?} is not host:port")),
        None => Ok(()),
    }
}

/// HBase's own rules for names (`TableName`): word characters; in a table also `-` and `.`, but not first.
fn table(name: &str) -> Result<(), PlanError> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (namespace, table) = name.split_once(':').unwrap_or(("default", name));
    let fits = !namespace.is_empty()
        && namespace.chars().all(word)
        && table.starts_with(word)
        && table.chars().all(|c| word(c) || c == '-' || c == '.');
    if fits {
        return Ok(());
    }
    refuse(format!(
        "driver.table: {name:?} is no name of a table: letters, digits, _, - and ., with `namespace:` before them or not"
    ))
}

/// HBase's own rules for a family's name (`ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName`).
fn family(name: &str) -> Result<(), PlanError> {
    let illegal = |c: char| c.is_control() || c == ':' || c == '/' || c == '\\';
    if name.is_empty() || name.starts_with('.') || name.len() > 127 || name.contains(illegal) {
        return refuse(format!(
            "driver.family: {name:?} is no name of a column family: 1 to 127 bytes, no : / \\ and no . at its start"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn verdict(field: &str, value: Value) -> String {
        let mut options = json!({"registry": ["127.0.0.1:16000"]});
        options[field] = value;
        let plan: HbasePlan = serde_json::from_value(options).unwrap();
        plan.sound(1000).map_or_else(|e| e.0, |()| String::new())
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(verdict("registry", json!(["h:1", "[::1]:2"])), "");
        assert_eq!(verdict("table", json!("ns:user-table.1")), "");
        assert_eq!(verdict("durability", json!("skip_wal")), "");
        assert_eq!(verdict("regions", json!(1000)), "");
    }

    #[test]
    fn regions_that_nobody_asked_for_are_no_more_than_the_records() {
        for (fit, verdict) in [(true, true), (false, false)] {
            let options = json!({"registry": ["h:1"], "regions": 9, "regions_fit": fit});
            let plan: HbasePlan = serde_json::from_value(options).unwrap();
            assert_eq!(plan.sound(1).is_ok(), verdict);
            assert_eq!(
                [1, 8, 9, u64::MAX].map(|keys| plan.regions_of(keys)),
                [1, 8, 9, 9]
            );
        }
    }

    #[test]
    fn every_fault_names_its_field_and_the_way_out() {
        for (field, value, hint) in [
            ("registry", json!([]), "driver.zookeeper"),
            ("registry", json!(["host"]), "host:port"),
            ("registry", json!(["::1"]), "host:port"),
            ("zookeeper", json!(["host:port"]), "host:port"),
            ("zookeeper_parent", json!("hbase"), "/hbase"),
            ("table", json!("a:b:c"), "namespace:"),
            ("table", json!("-a"), "letters"),
            ("table", json!(":a"), "letters"),
            ("family", json!("a:b"), "127 bytes"),
            ("durability", json!("SYNCWAL"), "nearest is SYNC_WAL"),
            ("bloom", json!("ROWS"), "nearest is ROW,"),
            ("compression", json!("SNAPY"), "nearest is SNAPPY"),
            ("regions", json!(0), "at least 1"),
            ("regions", json!(1001), "1000 records"),
            ("connections", json!(0), "at least 1"),
            ("scan_caching", json!(0), "at least 1"),
            ("versions", json!(0), "at least 1"),
        ] {
            let verdict = verdict(field, value);
            assert!(
                verdict.contains(&format!("driver.{field}")),
                "{field}: {verdict}"
            );
            assert!(verdict.contains(hint), "{field}: {verdict}");
        }
    }
}
