//! The engine against HBase: what it wrote it reads, whatever happens to the regions meanwhile. On a fake, and on a real cluster:
//! `STEELYARD_TEST_HBASE=host:port` (a server of the connection registry) `cargo test --test hbase -- --ignored`. The tables are
//! dropped afterwards.

mod cluster;
mod engine;
mod fake;

use cluster::{beside, dropped, server};
use engine::Engine;
use fake::Fake;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use steelyard_hbase::{Client, Placed, Table};

const RECORDS: u64 = 5000;

/// The driver for a table of its own on the cluster that the environment names.
fn real(table: &str) -> Value {
    json!({"kind": "hbase", "registry": [server()], "table": table, "regions": 6, "fresh": true})
}

/// A plan that loads a table and runs `mix` on it.
fn plan(out: &Path, driver: &Value, mix: &Value, verify: &str, run: &Value) -> Value {
    json!({
        "plan_format": 2, "seed": 11, "out": out, "timeout_ms": 60_000,
        "driver": driver,
        "workload": {
            "records": RECORDS, "mix": mix, "request": {"kind": "zipfian"}, "verify": verify, "insert_lag": 64,
            "scan_length": {"kind": "uniform", "min": 1, "max": 100},
        },
        "phases": [
            {"name": "load", "kind": "load", "in_flight": 64, "limit": {}},
            {"name": "run", "kind": "run", "in_flight": 32, "limit": run["limit"], "arrivals": run["arrivals"]},
        ],
    })
}

fn closed(operations: u64) -> Value {
    json!({"limit": {"operations": operations}, "arrivals": {"kind": "closed"}})
}

fn begin(engine: &mut Engine, phase: &str) {
    engine.tell(&json!({"cmd": "phase", "id": 1, "name": phase}));
    assert_eq!(engine.until("ack")["ok"], true);
}

fn end(engine: &Engine) -> Value {
    engine.until("phase_end")["summary"].clone()
}

/// Load, then run while `meanwhile` goes on beside it; the run's summary.
fn loaded_and_run(plan: &Value, meanwhile: impl FnOnce()) -> Value {
    let mut engine = Engine::start(plan);
    let ready = engine.until("ready");
    assert_eq!(ready["driver"]["clocks"], "kernel");
    begin(&mut engine, "load");
    assert_eq!(end(&engine)["ok"], RECORDS);
    begin(&mut engine, "run");
    meanwhile();
    let summary = end(&engine);
    println!("{summary:#}");
    assert_eq!(engine.exit(), 0);
    summary
}

/// Nothing failed for good, and nothing that was read back was wrong.
fn sound(summary: &Value) {
    assert_eq!(summary["operations"], summary["ok"]);
    assert_eq!(summary["failed"], json!({}));
    for fault in ["corrupt", "foreign", "stale", "lost"] {
        assert_eq!(summary["verify"][fault], 0, "{fault}");
    }
    assert!(summary["verify"]["checked"].as_u64() > Some(1000));
    assert_eq!(summary["censored"], json!({"unsent": 0, "unanswered": 0}));
    let traffic = |field: &str| summary["traffic"][field].as_u64().expect("a count");
    assert!(traffic("requests") >= traffic("answers") && traffic("writes") <= traffic("requests"));
    assert!(traffic("reads") > 0 && traffic("answers") > 1000);
}

/// The attempts of each coordinator that the series of the run in `out` names, all its seconds together.
fn shares(out: &Path) -> BTreeMap<String, u64> {
    let series = std::fs::read_to_string(out.join("run.series.ndjson")).expect("a series");
    let mut shares = BTreeMap::new();
    for line in series.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        for (name, share) in row["coordinators"].as_object().into_iter().flatten() {
            assert_eq!(share["attempts"], share["ok"]);
            *shares.entry(name.clone()).or_default() +=
                share["attempts"].as_u64().expect("a count");
        }
    }
    shares
}

fn reads_and_updates(driver: &Value) -> BTreeMap<String, u64> {
    let out = tempfile::tempdir().unwrap();
    let mix = json!({"read": 0.5, "update": 0.5});
    let plan = plan(out.path(), driver, &mix, "full", &closed(10_000));
    sound(&loaded_and_run(&plan, || {}));
    shares(out.path())
}

#[test]
fn reads_and_updates_bring_back_what_was_acknowledged() {
    let fake = Fake::start(&["--store"]);
    let shares = reads_and_updates(&fake.driver("hbase"));
    assert_eq!(shares, BTreeMap::from([(fake.hbase().to_owned(), 10_000)]));
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn reads_and_updates_bring_back_what_was_acknowledged_by_a_real_cluster() {
    let table = "steelyard_engine_a";
    let shares = reads_and_updates(&real(table));
    assert!(shares.len() > 1, "several region servers: {shares:?}");
    assert_eq!(shares.values().sum::<u64>(), 10_000);
    dropped(table);
}

fn scans_and_inserts(driver: &Value) -> BTreeMap<String, u64> {
    let out = tempfile::tempdir().unwrap();
    let mix = json!({"scan": 0.95, "insert": 0.05});
    let plan = plan(out.path(), driver, &mix, "all", &closed(3000));
    let summary = loaded_and_run(&plan, || {});
    sound(&summary);
    let scans = &summary["ops"]["SCAN"];
    let mean = scans["rows"].as_f64().unwrap() / scans["count"].as_f64().unwrap();
    // Uniform lengths of 1 to 100 rows; a scan that begins in the last rows of the table finds fewer.
    assert!((47.0..=52.0).contains(&mean), "{mean} rows a scan");
    shares(out.path())
}

#[test]
fn scans_see_inserts_and_count_for_their_server() {
    let fake = Fake::start(&["--store"]);
    let mut driver = fake.driver("hbase");
    driver["scan_caching"] = json!(30);
    let shares = scans_and_inserts(&driver);
    assert_eq!(shares, BTreeMap::from([(fake.hbase().to_owned(), 3000)]));
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn scans_cross_regions_of_a_real_cluster_and_see_inserts() {
    let table = "steelyard_engine_e";
    let shares = scans_and_inserts(&real(table));
    assert!(shares.len() > 1, "several region servers: {shares:?}");
    dropped(table);
}

fn collected_writes(mut driver: Value) -> BTreeMap<String, u64> {
    let out = tempfile::tempdir().unwrap();
    let mix = json!({"update": 1});
    driver["client_buffering"] = json!(1 << 20);
    let mut plan = plan(out.path(), &driver, &mix, "full", &closed(10_000));
    plan["workload"]["write_all_fields"] = json!(true);
    let summary = loaded_and_run(&plan, || {});
    assert_eq!(summary["unflushed"], 0);
    let flushes = &summary["ops"]["FLUSH"];
    assert_eq!(flushes["rows"], 10_000);
    // 10 fields of 100 bytes and a key of some 23 each.
    let count = flushes["count"].as_u64().unwrap();
    assert!((10..=12).contains(&count), "{flushes}");
    let middle = |op: &Value| op["service"]["p50_ns"].as_u64().unwrap();
    assert!(middle(flushes) > 10 * middle(&summary["ops"]["UPDATE"]));
    assert_eq!(summary["ops"]["TOTAL"]["service"]["count"], 10_000);
    shares(out.path())
}

#[test]
fn collected_writes_are_all_acknowledged_at_the_end() {
    let fake = Fake::start(&["--store"]);
    let shares = collected_writes(fake.driver("hbase"));
    let flushes = shares[fake.hbase()];
    assert!(
        (10..=12).contains(&flushes),
        "{flushes} flushes, to one server"
    );
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn collected_writes_are_all_acknowledged_by_a_real_cluster() {
    let table = "steelyard_engine_buffer";
    collected_writes(real(table));
    dropped(table);
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn moved_and_split_regions_lose_nothing() {
    let out = tempfile::tempdir().unwrap();
    let table = "steelyard_engine_move";
    let mix = json!({"read": 0.5, "update": 0.4, "insert": 0.1});
    let run = json!({"limit": {"seconds": 15}, "arrivals": {"kind": "constant", "rate": 300}});
    let plan = plan(out.path(), &real(table), &mix, "full", &run);
    let summary = loaded_and_run(&plan, || beside(table, move_and_split));
    sound(&summary);
    let again = summary["attempts"].as_object().unwrap().len();
    assert!(again > 1, "no operation met a region on its way");
    dropped(table);
}

/// Move one region to another server, split another one, and wait until both serve again.
async fn move_and_split(client: Client, table: Table) {
    tokio::time::sleep(Duration::from_secs(2)).await; // so that the run has begun
    let admin = client.admin();
    let before = admin.regions(table.name()).await.expect("regions");
    let servers = admin.servers().await.expect("servers");
    let other = servers
        .iter()
        .find(|s| Some(*s) != before[0].server.as_ref());
    let other = other.expect("at least two region servers");
    admin
        .move_region(&before[0], Some(other))
        .await
        .expect("a move");
    // The rows are few: the server would find no middle in files that are not written yet.
    let within = [before[1].region.start.as_slice(), b"5"].concat();
    let split = admin.split(&before[1], Some(&within)).await;
    split.expect("a split");
    let serving = |p: &Placed| p.server.is_some() && !p.region.offline;
    for _ in 0..600 {
        let now = admin.regions(table.name()).await.expect("regions");
        if now.len() > before.len()
            && now.iter().all(serving)
            && now[0].server.as_ref() == Some(other)
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the split did not happen");
}
