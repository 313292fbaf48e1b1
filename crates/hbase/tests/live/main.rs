//! The client against a real cluster: `STEELYARD_TEST_HBASE=host:port[,host:port]` names masters or region servers.
//! Every test makes a table of its own and drops it.

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod scans;
mod tables;
mod values;

use std::future::Future;
use std::time::{SystemTime, UNIX_EPOCH};
use steelyard_hbase::admin::{Family, TableDescriptor};
use steelyard_hbase::{
    Action, Append, Check, Client, Columns, Compare, Config, Delete, Durability, Error, Get,
    Increment, Item, Put, Row, Scan, Table,
};

const F: &[u8] = b"f";
const Q: &[u8] = b"q";

/// Run `test` with a fresh table of two families, `f` (5 versions) and `g`, split at `splits`.
fn with_table<T: Future<Output = ()>>(
    name: &str,
    splits: &[&[u8]],
    test: impl FnOnce(Client, Table) -> T,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = common::connect(Config::default()).await;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_millis();
        let table = client.table(&format!("live_{name}_{now}")).unwrap();
        let mut f = Family::new("f");
        f.versions = 5;
        let descriptor = TableDescriptor::new(table.name().clone(), [f, Family::new("g")]);
        let splits: Vec<Vec<u8>> = splits.iter().map(|row| row.to_vec()).collect();
        client
            .admin()
            .create_table(&descriptor, &splits)
            .await
            .unwrap();
        test(client.clone(), table.clone()).await;
        client.admin().disable(table.name()).await.unwrap();
        client.admin().drop_table(table.name()).await.unwrap();
    });
}

async fn put(client: &Client, table: &Table, row: &[u8], qualifier: &[u8], value: &[u8]) {
    let mut put = Put::new(row);
    put.add(F, qualifier, value);
    client.put(table, &put).await.unwrap();
}

async fn get(client: &Client, table: &Table, row: &[u8]) -> Row {
    client.get(table, &Get::new(row)).await.unwrap().value
}
