//! Our client against HBase's own, on the same tables: what one writes the other reads, byte for byte.
//!
//! Needs a running cluster with at least two region servers: `STEELYARD_TEST_HBASE=host:port[,host:port...]` (masters or region
//! servers), and HBase's client: `STEELYARD_TEST_HBASE_CLASSPATH='lib/*'`; javac and java of `JAVA_HOME` or of the path.
//! Tables are named `peer_*`; each test drops and makes its own.

#[path = "../common/mod.rs"]
mod common;
mod counters;
mod deletes;
mod java;
mod scans;
mod schema;
mod values;

use common::connect;
use java::{Cell, hex};
use steelyard_hbase::admin::{Family, TableDescriptor};
use steelyard_hbase::{Client, Config, Get, Put, Row, Table};

const FAMILY: &[u8] = b"f";

/// A test's table and both ways to it.
struct Bench {
    name: &'static str,
    client: Client,
    table: Table,
}

impl Bench {
    /// The table `name`, empty, with so many versions, split at `splits`.
    async fn new(name: &'static str, versions: u32, splits: &[&[u8]]) -> Self {
        let client = connect(Config::default()).await;
        let admin = client.admin();
        let table_name = name.parse().unwrap();
        if admin.table_exists(&table_name).await.unwrap() {
            admin.drop_table(&table_name).await.unwrap();
        }
        let mut family = Family::new("f");
        family.versions = versions;
        let splits: Vec<Vec<u8>> = splits.iter().map(|key| key.to_vec()).collect();
        admin
            .create_table(&TableDescriptor::new(table_name, [family]), &splits)
            .await
            .unwrap();
        let table = client.table(name).unwrap();
        Self {
            name,
            client,
            table,
        }
    }

    async fn end(self) {
        self.client
            .admin()
            .drop_table(&self.name.parse().unwrap())
            .await
            .unwrap();
    }

    async fn put(&self, row: &[u8], qualifier: &[u8], timestamp: Option<i64>, value: &[u8]) {
        let mut put = Put::new(row);
        if let Some(timestamp) = timestamp {
            put.at(timestamp);
        }
        put.add(FAMILY, qualifier, value);
        self.client.put(&self.table, &put).await.unwrap();
    }

    /// The row as we read it.
    async fn ours(&self, row: &[u8], versions: u32) -> Vec<Cell> {
        let answer = self
            .client
            .get(&self.table, &Get::new(row).versions(versions))
            .await
            .unwrap();
        cells(&answer.value)
    }

    /// The row as HBase's client reads it.
    fn javas(&self, row: &[u8], versions: u32) -> Vec<Cell> {
        java::cells(&["get", self.name, &hex(row), &versions.to_string()])
    }

    /// The row as both read it.
    async fn both(&self, row: &[u8], versions: u32) -> Vec<Cell> {
        let ours = self.ours(row, versions).await;
        assert_eq!(ours, self.javas(row, versions), "row {row:?}");
        ours
    }

    fn java_put(&self, row: &[u8], qualifier: &[u8], timestamp: Option<i64>, value: &[u8]) {
        let timestamp = timestamp.map_or("-".to_owned(), |timestamp| timestamp.to_string());
        java::ask(&[
            "put",
            self.name,
            &hex(row),
            &hex(FAMILY),
            &hex(qualifier),
            &timestamp,
            &hex(value),
        ]);
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    let own = |cell: steelyard_hbase::Cell<'_>| Cell {
        row: cell.row.to_vec(),
        family: cell.family.to_vec(),
        qualifier: cell.qualifier.to_vec(),
        timestamp: cell.timestamp,
        value: cell.value.to_vec(),
    };
    row.cells().map(own).collect()
}

/// Bytes that look random and are the same in every run.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}
