//! Faults of a real cluster under load: no acknowledged write is lost, no operation fails, the run goes on.
//!
//! Needs a cluster of its own with three region servers, and for the last test two masters:
//! `STEELYARD_TEST_HBASE=host:port[,...]`; shell commands that end and bring back a region server with kill -9,
//! `STEELYARD_TEST_HBASE_KILL`, `STEELYARD_TEST_HBASE_RESTART`, and the active master,
//! `STEELYARD_TEST_HBASE_KILL_MASTER`, `STEELYARD_TEST_HBASE_RESTART_MASTER`. Run with `--nocapture` to see what each fault cost.

#[path = "../common/mod.rs"]
mod common;
mod load;

use common::needed;
use load::Load;
use std::process::Command;
use std::time::Duration;
use steelyard_hbase::admin::{Admin, Family, TableDescriptor};
use steelyard_hbase::{Client, Config, Placed, ServerName, TableName};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// One fault at a time.
static TURN: Mutex<()> = Mutex::const_new(());
/// Longer than the cluster needs to notice that a server died and to replay its log.
const OPERATION: Duration = Duration::from_secs(120);
/// Puts that every client must get through before and after a fault.
const STEADY: u64 = 50;

#[tokio::test]
#[ignore = "needs an HBase of its own: STEELYARD_TEST_HBASE"]
async fn regions_move_under_load() {
    let _turn = TURN.lock().await;
    let bench = Bench::new("faults_moves").await;
    let load = Load::start(&bench.client, &bench.table);
    load.everybody_advances(STEADY).await;
    for round in 0..2 {
        for region in bench.regions().await {
            let target = bench.another_server(&region).await;
            bench.move_to(&region, &target).await;
            load.everybody_advances(STEADY).await;
        }
        assert!(
            bench.regions().await.iter().all(|at| at.server.is_some()),
            "round {round}"
        );
    }
    let cost = load.stop("8 moves").await;
    assert!(cost.retried > 0, "no put met a region on its way");
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs an HBase of its own: STEELYARD_TEST_HBASE"]
async fn regions_split_under_load() {
    let _turn = TURN.lock().await;
    let bench = Bench::new("faults_splits").await;
    let load = Load::start(&bench.client, &bench.table);
    load.everybody_advances(STEADY).await;
    for (region, row) in bench.regions().await.iter().zip(["2", "6", "a", "e"]) {
        bench
            .admin
            .split(region, Some(row.as_bytes()))
            .await
            .unwrap();
        load.everybody_advances(STEADY).await;
    }
    assert_eq!(bench.regions().await.len(), 8);
    let cost = load.stop("4 splits").await;
    assert!(cost.retried > 0, "no put met a region on its way");
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs an HBase of its own: STEELYARD_TEST_HBASE, _KILL, _RESTART"]
async fn a_region_server_dies_under_load() {
    let _turn = TURN.lock().await;
    let bench = Bench::new("faults_server").await;
    let servers = bench.admin.servers().await.unwrap().len();
    let load = Load::start(&bench.client, &bench.table);
    load.everybody_advances(STEADY).await;
    shell("STEELYARD_TEST_HBASE_KILL").await;
    load.everybody_advances(STEADY).await;
    shell("STEELYARD_TEST_HBASE_RESTART").await;
    until("the server is back", async || {
        bench.admin.servers().await.unwrap().len() == servers
    })
    .await;
    load.everybody_advances(STEADY).await;
    let cost = load.stop("kill -9 of a region server").await;
    assert!(cost.retried > 0, "the server had no region of the table");
    bench.end().await;
}

#[tokio::test]
#[ignore = "needs an HBase of its own: STEELYARD_TEST_HBASE, _KILL_MASTER, _RESTART_MASTER"]
async fn the_active_master_dies_under_load() {
    let _turn = TURN.lock().await;
    let bench = Bench::new("faults_master").await;
    let before = bench.admin.cluster_status().await.unwrap().master;
    let load = Load::start(&bench.client, &bench.table);
    load.everybody_advances(STEADY).await;
    shell("STEELYARD_TEST_HBASE_KILL_MASTER").await;
    load.everybody_advances(STEADY).await;
    // Asked at once: this waits for the other master to take over.
    let region = bench.regions().await.swap_remove(0);
    let target = bench.another_server(&region).await;
    bench.move_to(&region, &target).await;
    assert_eq!(bench.regions().await[0].server, Some(target));
    assert_ne!(bench.admin.cluster_status().await.unwrap().master, before);
    load.everybody_advances(STEADY).await;
    load.stop("kill -9 of the active master").await;
    shell("STEELYARD_TEST_HBASE_RESTART_MASTER").await;
    bench.end().await;
}

/// A table of four regions for this test.
struct Bench {
    client: Client,
    admin: Admin,
    table: TableName,
}

impl Bench {
    async fn new(name: &str) -> Self {
        let client = connect().await;
        let admin = client.admin();
        let table: TableName = name.parse().unwrap();
        if admin.table_exists(&table).await.unwrap() {
            admin.drop_table(&table).await.unwrap();
        }
        let descriptor = TableDescriptor::new(table.clone(), [Family::new("f")]);
        let splits = ["4", "8", "c"].map(|key| key.as_bytes().to_vec());
        admin.create_table(&descriptor, &splits).await.unwrap();
        Self {
            client,
            admin,
            table,
        }
    }

    async fn regions(&self) -> Vec<Placed> {
        self.admin.regions(&self.table).await.unwrap()
    }

    async fn move_to(&self, region: &Placed, target: &ServerName) {
        self.admin.move_region(region, Some(target)).await.unwrap();
    }

    /// A live server that does not have the region. A master that just took over knows none before they report.
    async fn another_server(&self, at: &Placed) -> ServerName {
        let others = async || {
            let mut servers = self.admin.servers().await.unwrap();
            servers.retain(|server| Some(server) != at.server.as_ref());
            servers
        };
        until("the master knows two region servers", async || {
            !others().await.is_empty()
        })
        .await;
        others().await.swap_remove(0)
    }

    async fn end(self) {
        self.admin.drop_table(&self.table).await.unwrap();
    }
}

async fn connect() -> Client {
    let config = Config {
        operation_timeout: OPERATION,
        ..Config::default()
    };
    common::connect(config).await
}

async fn shell(variable: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", &needed(variable)]);
    let status = tokio::task::spawn_blocking(move || command.status().expect("sh starts"))
        .await
        .unwrap();
    assert!(status.success(), "the command of {variable} failed");
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + OPERATION;
    while !holds().await {
        assert!(
            Instant::now() < deadline,
            "waited {OPERATION:?} in vain: {what}"
        );
        sleep(Duration::from_millis(100)).await;
    }
}
