//! The HBase cluster that the environment names, for tests that look at it or change it beside the engine.
#![allow(dead_code)] // each test program uses its part

use std::future::Future;
use steelyard_hbase::{Client, Config, Registry, Table};

/// A server of its connection registry.
pub fn server() -> String {
    std::env::var("STEELYARD_TEST_HBASE").expect("STEELYARD_TEST_HBASE=host:port")
}

/// Do something with the cluster besides the engine.
pub fn beside<F: Future>(table: &str, work: impl FnOnce(Client, Table) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor");
    runtime.block_on(async {
        let config = Config {
            registry: Registry::Servers(vec![server()]),
            ..Config::default()
        };
        let client = Client::connect(config).await.expect("a cluster");
        let table = client.table(table).expect("a name");
        work(client, table).await
    })
}

/// Drop `table`.
pub fn dropped(table: &str) {
    beside(table, |client, table| async move {
        let admin = client.admin();
        admin.drop_table(table.name()).await.expect("it is there");
    });
}
