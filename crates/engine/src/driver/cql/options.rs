//! From the plan's words to values the driver can use. Nothing here touches the network.

use super::plan::CqlPlan;
use crate::driver::OpenError;
use crate::plan::{Workload, words};
use scylla::statement::Consistency;
use std::collections::BTreeMap;

/// The partition key's column, as YCSB's schema has it.
pub(super) const KEY: &str = "y_id";
/// Longest name of a keyspace or table in Cassandra.
const NAME_MAX: usize = 48;

/// Levels a read or write may ask for. SERIAL ones belong to conditional statements, which no workload has.
const LEVELS: [(&str, Consistency); 9] = [
    ("ANY", Consistency::Any),
    ("ONE", Consistency::One),
    ("TWO", Consistency::Two),
    ("THREE", Consistency::Three),
    ("QUORUM", Consistency::Quorum),
    ("ALL", Consistency::All),
    ("LOCAL_QUORUM", Consistency::LocalQuorum),
    ("EACH_QUORUM", Consistency::EachQuorum),
    ("LOCAL_ONE", Consistency::LocalOne),
];

/// The table's names, each checked.
#[derive(Debug)]
pub(super) struct Names {
    /// Keyspace.
    pub keyspace: String,
    /// Table.
    pub table: String,
    /// The columns that hold values, in field order.
    pub fields: Vec<String>,
}

impl Names {
    /// From the plan, or which name cannot be one.
    pub fn new(options: &CqlPlan, workload: &Workload) -> Result<Self, OpenError> {
        let prefix = identifier("workload.fields.prefix", &workload.fields.prefix)?;
        Ok(Self {
            keyspace: identifier("driver.keyspace", &options.keyspace)?,
            table: identifier("workload.table", &workload.table)?,
            fields: (0..workload.fields.count)
                .map(|index| format!("{prefix}{index}"))
                .collect(),
        })
    }

    /// `"keyspace"."table"`, quoted so that case and reserved words stay as they are.
    pub fn qualified(&self) -> String {
        format!("\"{}\".\"{}\"", self.keyspace, self.table)
    }
}

fn identifier(place: &str, text: &str) -> Result<String, OpenError> {
    let mut bytes = text.bytes();
    let fits = text.len() <= NAME_MAX
        && bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    fits.then(|| text.to_owned()).ok_or_else(|| {
        OpenError::Option(format!(
            "{place}: {text:?} is not a name: a letter, then at most {} letters, digits and underscores",
            NAME_MAX - 1
        ))
    })
}

/// The level named `text` in any case, or which one was probably meant.
pub(super) fn consistency(place: &str, text: &str) -> Result<Consistency, OpenError> {
    words::position(
        place,
        "consistency level",
        text,
        &LEVELS.map(|(name, _)| name),
    )
    .map(|index| LEVELS[index].1)
    .map_err(OpenError::Option)
}

/// As [`consistency`], for reads: no replica can answer one at ANY.
pub(super) fn read_consistency(place: &str, text: &str) -> Result<Consistency, OpenError> {
    match consistency(place, text)? {
        Consistency::Any => Err(OpenError::Option(format!(
            "{place}: ANY is for writes only; the weakest level of a read is ONE"
        ))),
        level => Ok(level),
    }
}

/// The name of a level, as CQL writes it.
pub(super) fn level_name(level: Consistency) -> &'static str {
    LEVELS
        .iter()
        .find(|(_, known)| *known == level)
        .map_or("unknown", |(name, _)| name)
}

/// The replication map as a CQL literal.
pub(super) fn replication(map: &BTreeMap<String, String>) -> Result<String, OpenError> {
    if !map.contains_key("class") {
        return Err(OpenError::Option(
            "driver.replication: \"class\" is missing, for example \
             {\"class\": \"NetworkTopologyStrategy\", \"replication_factor\": \"3\"}"
                .into(),
        ));
    }
    let entries: Vec<_> = map
        .iter()
        .map(|(key, value)| format!("{}: {}", literal(key), literal(value)))
        .collect();
    Ok(format!("{{{}}}", entries.join(", ")))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Contact points as `host:port`, IPv6 addresses in brackets.
pub(super) fn contact_points(options: &CqlPlan) -> Result<Vec<String>, OpenError> {
    if options.hosts.is_empty() {
        return Err(OpenError::Option(
            "driver.hosts: at least one contact point is needed".into(),
        ));
    }
    Ok(options
        .hosts
        .iter()
        .map(|host| with_port(host, options.port))
        .collect())
}

fn with_port(host: &str, port: u16) -> String {
    let colons = host.bytes().filter(|&b| b == b':').count();
    match (host.starts_with('['), colons) {
        (true, _) if host.ends_with(']') => format!("{host}:{port}"),
        (true, _) | (false, 1) => host.to_owned(),
        (false, 0) => format!("{host}:{port}"),
        (false, _) => format!("[{host}]:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert!(identifier("x", "usertable").is_ok());
        for bad in ["", "1a", "a-b", "a\"b", "a b", &"a".repeat(49)] {
            assert!(identifier("x", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_are_found_in_any_case_and_misspellings_named() {
        assert_eq!(
            consistency("x", "local_quorum").unwrap(),
            Consistency::LocalQuorum
        );
        let error = consistency("x", "qorum").unwrap_err().to_string();
        assert!(error.contains("nearest is QUORUM"), "{error}");
        assert!(read_consistency("x", "any").is_err());
    }

    #[test]
    fn quotes_in_a_replication_map_stay_inside_it() {
        let map = BTreeMap::from([("class".into(), "S'}; DROP".into())]);
        assert_eq!(replication(&map).unwrap(), "{'class': 'S''}; DROP'}");
        assert!(replication(&BTreeMap::new()).is_err());
    }

    #[test]
    fn ports_are_added_where_none_is_given() {
        let cases = [
            ("db1", "db1:9042"),
            ("db1:9142", "db1:9142"),
            ("::1", "[::1]:9042"),
            ("[::1]", "[::1]:9042"),
            ("[::1]:9142", "[::1]:9142"),
        ];
        for (given, expected) in cases {
            assert_eq!(with_port(given, 9042), expected);
        }
    }
}
