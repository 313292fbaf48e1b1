//! The system tables: what a driver that opens a session asks of a cluster of one Cassandra node.

use super::wire::Writer;
use crate::shape::{FIELD, HOST, KEYSPACE, Shape, TABLE, address};
use std::net::Ipv4Addr;

/// `varchar`, as metadata say it (section 4.2.5.2).
pub const TEXT: &[u8] = &[0, 0x0D];
const INT: &[u8] = &[0, 0x09];
const TEXTS: &[u8] = &[0, 0x20, 0, 0x0D];
const ID: [u8; 16] = *b"steelyard's fake";

/// Which node of the cluster is asked.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The first node's address.
    pub first: Ipv4Addr,
    pub node: usize,
    /// Of so many.
    pub nodes: usize,
}

impl Place {
    /// For types, which are the same everywhere.
    const ANY: Self = Self {
        first: HOST,
        node: 0,
        nodes: 1,
    };
}

/// A cell with its type.
enum Value {
    Text(String),
    Texts(Vec<String>),
    Map(Vec<(&'static str, String)>),
    /// Of the node of that place.
    Uuid(usize),
    Inet(Ipv4Addr),
    Int(i32),
    Bool(bool),
}

/// A read of a system table.
pub struct Query {
    table: String,
    columns: Vec<String>,
}

/// What a statement is about.
pub enum Kind {
    /// A system table that is there.
    System(Query),
    /// One that is not.
    Missing(String),
    /// Records, or the schema: the columns it reads, none if it writes.
    Data(Vec<String>),
}

impl Query {
    /// From CQL text, of which only `SELECT columns FROM table` is understood.
    pub fn parse(text: &str) -> Kind {
        let lower = text.trim_start().to_ascii_lowercase();
        let Some((columns, rest)) = select(&lower) else {
            return Kind::Data(Vec::new());
        };
        let table = rest
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        if !table.starts_with("system") {
            return Kind::Data(columns);
        }
        let query = Self { table, columns };
        let known = query
            .columns
            .iter()
            .all(|column| query.value(column, 0, Place::ANY).is_some());
        if known {
            Kind::System(query)
        } else {
            Kind::Missing(query.table)
        }
    }

    /// Rows of the table. What stands after FROM is not looked at: all that there is, is what is asked for.
    fn count(&self, shape: Shape, place: Place) -> usize {
        match self.table.as_str() {
            "system.local" | "system_schema.keyspaces" | "system_schema.tables" => 1,
            "system.peers" => place.nodes - 1,
            "system_schema.columns" => 1 + shape.fields,
            _ => 0,
        }
    }

    /// A cell of row `row`; None if there is no such table or column.
    fn value(&self, column: &str, row: usize, place: Place) -> Option<Value> {
        // Peers are all the others, in their order.
        let other = row + usize::from(row >= place.node);
        let node = if self.table == "system.peers" {
            other
        } else {
            place.node
        };
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        match (self.table.as_str(), column) {
            ("system.local" | "system.peers", "host_id") => Some(Value::Uuid(node)),
            // one version of the schema, whoever is asked
            ("system.local" | "system.peers", "schema_version") => Some(Value::Uuid(0)),
            ("system.local" | "system.peers", "rpc_address") => {
                Some(Value::Inet(address(place.first, node)))
            }
            ("system.local" | "system.peers", "data_center") => text("datacenter1"),
            ("system.local" | "system.peers", "rack") => text("rack1"),
            ("system.local" | "system.peers", "release_version") => text("4.0.0-fake"),
            ("system.local" | "system.peers", "tokens") => {
                Some(Value::Texts(vec![token(node, place.nodes).to_string()]))
            }
            ("system.local", "cluster_name") => text("fake"),
            ("system.local", "partitioner") => text("org.apache.cassandra.dht.Murmur3Partitioner"),
            ("system_schema.keyspaces", "replication") => Some(Value::Map(vec![
                (
                    "class",
                    "org.apache.cassandra.locator.SimpleStrategy".to_owned(),
                ),
                ("replication_factor", place.nodes.to_string()),
            ])),
            ("system_schema.keyspaces", "durable_writes") => Some(Value::Bool(true)),
            ("system_schema.tables", "compaction" | "compression" | "caching") => {
                Some(Value::Map(Vec::new()))
            }
            ("system_schema.tables", "gc_grace_seconds") => Some(Value::Int(0)),
            ("system_schema.columns", "column_name") => match row {
                0 => text("y_id"),
                field => Some(Value::Text(format!("{FIELD}{}", field - 1))),
            },
            ("system_schema.columns", "kind") => {
                text(if row == 0 { "partition_key" } else { "regular" })
            }
            ("system_schema.columns", "type") => text("text"),
            (
                "system_schema.keyspaces"
                | "system_schema.tables"
                | "system_schema.columns"
                | "system_schema.views",
                "keyspace_name",
            ) => text(KEYSPACE),
            ("system_schema.tables" | "system_schema.columns", "table_name") => text(TABLE),
            ("system_schema.views", "view_name" | "base_table_name") => text(""),
            _ => None,
        }
    }

    /// A cell of a row that is there, of a column that was known when the query was parsed.
    fn cell(&self, column: &str, row: usize, place: Place) -> Value {
        self.value(column, row, place).expect("checked by parse")
    }

    /// Metadata of the answer.
    pub fn metadata(&self, w: &mut Writer<'_>) {
        let (keyspace, table) = self
            .table
            .split_once('.')
            .unwrap_or(("system", &self.table));
        w.i32(super::GLOBAL_TABLE).i32(self.columns.len() as i32);
        w.text(keyspace).text(table);
        for column in &self.columns {
            w.text(column).raw(self.cell(column, 0, Place::ANY).kind());
        }
    }

    /// The rows, with their count.
    pub fn rows(&self, shape: Shape, place: Place, w: &mut Writer<'_>) {
        let count = self.count(shape, place);
        w.i32(count as i32);
        for row in 0..count {
            for column in &self.columns {
                w.bytes(&self.cell(column, row, place).encode());
            }
        }
    }
}

impl Value {
    fn kind(&self) -> &'static [u8] {
        match self {
            Self::Text(_) => TEXT,
            Self::Texts(_) => &[0, 0x22, 0, 0x0D],
            Self::Map(_) => &[0, 0x21, 0, 0x0D, 0, 0x0D],
            Self::Uuid(_) => &[0, 0x0C],
            Self::Inet(_) => &[0, 0x10],
            Self::Int(_) => INT,
            Self::Bool(_) => &[0, 0x04],
        }
    }

    /// The bytes of the cell (section 6).
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut w = Writer(&mut bytes);
        match self {
            Self::Text(text) => {
                w.raw(text.as_bytes());
            }
            Self::Texts(texts) => {
                w.i32(texts.len() as i32);
                for text in texts {
                    w.bytes(text.as_bytes());
                }
            }
            Self::Map(pairs) => {
                w.i32(pairs.len() as i32);
                for (key, value) in pairs {
                    w.bytes(key.as_bytes()).bytes(value.as_bytes());
                }
            }
            Self::Uuid(node) => {
                let mut id = ID;
                id[0] = id[0].wrapping_add(*node as u8);
                w.raw(&id);
            }
            Self::Inet(address) => {
                w.raw(&address.octets());
            }
            Self::Int(value) => {
                w.i32(*value);
            }
            Self::Bool(value) => bytes.push(u8::from(*value)),
        }
        bytes
    }
}

/// The columns that a SELECT (in lower case) names, and what follows on FROM.
pub fn select(text: &str) -> Option<(Vec<String>, &str)> {
    let (columns, rest) = text.strip_prefix("select ")?.split_once(" from ")?;
    Some((names(columns), rest))
}

/// The names of a list of columns.
pub fn names(columns: &str) -> Vec<String> {
    let name = |column: &str| column.trim().trim_matches('"').to_owned();
    columns.split(',').map(name).collect()
}

/// The token of a node: the ring in equal parts.
const fn token(node: usize, nodes: usize) -> i64 {
    ((u64::MAX / nodes as u64) * node as u64)
        .wrapping_add(1 << 63)
        .cast_signed()
}

/// The types of a statement's markers, by the words before each.
pub fn markers(text: &str) -> Vec<&'static [u8]> {
    let lower = text.to_ascii_lowercase();
    let mut before: Vec<&str> = lower.split('?').collect();
    before.pop();
    let kind = |words: &&str| match words.trim_end() {
        words if words.ends_with(" in") => TEXTS,
        words if words.ends_with(" limit") => INT,
        _ => TEXT,
    };
    before.iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        let kind = |text: &str| match Query::parse(text) {
            Kind::System(query) => format!("{} {}", query.table, query.columns.len()),
            Kind::Missing(table) => format!("no {table}"),
            Kind::Data(columns) => format!("data {}", columns.len()),
        };
        assert_eq!(
            kind("SELECT host_id, tokens FROM system.peers"),
            "system.peers 2"
        );
        assert_eq!(
            kind(
                "SELECT keyspace_name, initial_tablets FROM system_schema.scylla_keyspaces where keyspace_name in ?"
            ),
            "no system_schema.scylla_keyspaces"
        );
        assert_eq!(
            kind("SELECT \"field0\", \"field1\" FROM \"ycsb\".\"usertable\" WHERE y_id = ?"),
            "data 2"
        );
        assert_eq!(kind("INSERT INTO t (a) VALUES (?)"), "data 0");
    }

    #[test]
    fn markers_have_the_types_that_their_places_ask_for() {
        let text = "SELECT a FROM t WHERE keyspace_name in ? AND k = ? LIMIT ?";
        assert_eq!(markers(text), [TEXTS, TEXT, INT]);
    }
}
