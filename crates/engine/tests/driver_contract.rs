//! Each driver against the shared contract, and what is its own: what it keeps, what it refuses.
//!
//! CQL's and HBase's run against the fakes; those with `real` in their names, and what a fake cannot refuse, need a server:
//! `STEELYARD_TEST_CQL=host:port cargo test --test driver_contract -- --ignored cql`. More of the driver's options may stand in
//! `STEELYARD_TEST_CQL_OPTIONS`, as JSON. The HBase tests likewise: `STEELYARD_TEST_HBASE` names a server that answers the
//! connection registry.

mod cluster;
mod contract;
mod fake;

use contract::{Client, FIELDS, LONGEST, Traits, all, contract, plan};
use fake::Fake;
use futures::executor::block_on;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use steelyard_engine::driver::{self, Database, OpenError};
use steelyard_engine::operation::{FieldSet, Kind};
use steelyard_engine::plan::Plan;

fn reactor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor")
}

fn embedded(path: &Path, fields: u32, fresh: bool) -> Result<Arc<dyn Database>, OpenError> {
    let mut plan = plan(
        &json!({"kind": "embedded", "path": path, "fresh": fresh}),
        64,
        LONGEST,
    );
    plan.workload.fields.count = fields;
    block_on(driver::open(&plan))
}

#[test]
fn a_driver_that_is_none_is_refused_with_those_that_are() {
    let refusal = |options: Value| {
        let refused = driver::check(&plan(&options, 64, 64));
        refused.expect_err("a refusal").to_string()
    };
    assert_eq!(
        refusal(json!({"kind": "sql"})),
        "driver.kind: \"sql\" is no driver; nearest is cql, all are null, embedded, cql, hbase"
    );
    let hosts = refusal(json!({"kind": "null", "hosts": []}));
    assert!(
        hosts.starts_with("driver (null): unknown field `hosts`"),
        "{hosts}"
    );
    let path = refusal(json!({"kind": "embedded"}));
    assert_eq!(path, "driver (embedded): missing field `path`");
    let registry = refusal(json!({"kind": "hbase"}));
    assert!(registry.starts_with("driver.registry:"), "{registry}");
}

#[test]
fn embedded_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let driver = embedded(folder.path(), FIELDS.into(), false).expect("a store");
    reactor().block_on(contract(driver, Traits::default()));
}

#[test]
fn embedded_keeps_the_contract_when_it_syncs() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = json!({"kind": "embedded", "path": folder.path(), "sync": true});
    let driver = block_on(driver::open(&plan(&options, 64, LONGEST))).expect("a store");
    assert_eq!(driver.facts()["sync"], true);
    reactor().block_on(contract(driver, Traits::default()));
}

#[test]
fn embedded_keeps_its_rows_until_they_are_not_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = |fresh: bool| {
        let driver = embedded(folder.path(), FIELDS.into(), fresh).expect("a store");
        let client = Client::new(driver, Traits::default());
        let found = block_on(client.read("one", FieldSet::All));
        block_on(client.write(Kind::Insert, "one", FieldSet::All, 1));
        found
    };
    assert_eq!(rows(false), None);
    assert_eq!(rows(false), Some(all(1)));
    assert_eq!(rows(true), None);
}

#[test]
fn embedded_refuses_a_store_in_use_and_a_table_of_another_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = embedded(folder.path(), FIELDS.into(), false).expect("a store");
    let refusal = |fields| embedded(folder.path(), fields, false).err();
    assert!(
        matches!(refusal(FIELDS.into()), Some(OpenError::Reach(text)) if text.contains("in use"))
    );
    drop(held);
    assert!(matches!(refusal(3), Some(OpenError::Shape(text)) if text.contains("4 fields")));
    assert!(embedded(folder.path(), 3, true).is_ok());
}

/// `driver` with the options (a JSON object) that the environment may add, and then with `change`.
fn changed(mut driver: Value, variable: &str, change: &[(&str, Value)]) -> Plan {
    let more = std::env::var(variable).unwrap_or_else(|_| "{}".into());
    let more: serde_json::Map<_, _> = serde_json::from_str(&more).expect("a JSON object");
    for (name, value) in more {
        driver[name] = value;
    }
    for (name, value) in change {
        driver[name] = value.clone();
    }
    plan(&driver, 64, LONGEST)
}

/// The CQL server that the environment names.
fn real_cql() -> String {
    std::env::var("STEELYARD_TEST_CQL").expect("STEELYARD_TEST_CQL=host:port")
}

/// Servers that keep records of the contract's shape.
fn fake() -> Fake {
    Fake::start(&["--store", "--fields", &FIELDS.to_string()])
}

/// The CQL driver's plan for the server that the environment names.
fn cql(change: &[(&str, Value)]) -> Plan {
    cql_at(&real_cql(), change)
}

/// The CQL driver's plan for `server`.
fn cql_at(server: &str, change: &[(&str, Value)]) -> Plan {
    let driver = json!({
        "kind": "cql",
        "hosts": [server],
        "keyspace": "steelyard_contract",
        "replication": {"class": "SimpleStrategy", "replication_factor": "1"},
        "read_consistency": "ONE",
        "write_consistency": "one",
        "fresh": true,
    });
    changed(driver, "STEELYARD_TEST_CQL_OPTIONS", change)
}

fn keeps_the_contract(server: &str) {
    reactor().block_on(async {
        let driver = driver::open(&cql_at(server, &[])).await.expect("a server");
        println!("{:#}", driver.facts());
        contract(driver, Traits::default()).await;
    });
}

#[test]
fn cql_keeps_the_contract() {
    keeps_the_contract(fake().cql());
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_keeps_the_contract_on_a_real_server() {
    keeps_the_contract(&real_cql());
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_refuses_a_table_of_another_shape() {
    reactor().block_on(async {
        let fresh = |wanted: bool| [("fresh", json!(wanted)), ("keyspace", json!("steelyard_shape"))];
        drop(driver::open(&cql(&fresh(true))).await.expect("a server"));
        let mut more = cql(&fresh(false));
        more.workload.fields.count = 6;
        let refused = driver::open(&more).await.err().expect("a refusal");
        println!("{refused}");
        assert!(matches!(&refused, OpenError::Shape(text) if text.contains("field4") && text.contains("--fresh")));
    });
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_engines_after_the_first_wait_for_the_table() {
    reactor().block_on(async {
        let keyspace = ("keyspace", json!("steelyard_wait"));
        let first = cql(std::slice::from_ref(&keyspace));
        let mut second = first.clone();
        second.engine.index = 1;
        second.engine.count = 2;
        let (opened, other) = futures::join!(driver::open(&second), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            driver::open(&first).await
        });
        assert!(opened.is_ok() && other.is_ok());
    });
}

/// Open with each change; the refusal must hold the text beside it.
fn refused(server: &str, cases: &[(&str, Value, &str)]) {
    reactor().block_on(async {
        for (name, value, expected) in cases {
            let plan = cql_at(server, &[(name, value.clone())]);
            let refused = driver::open(&plan).await.err();
            let text = refused.expect("a refusal").to_string();
            println!("{text}");
            assert!(text.contains(expected), "{text}");
        }
    });
}

#[test]
fn cql_names_what_is_wrong_with_a_plan() {
    let cases = [
        ("read_consistency", json!("QUORM"), "nearest is QUORUM"),
        ("load_consistency", json!("ALLL"), "nearest is ALL"),
        ("keyspace", json!("a b"), "not a name"),
        ("local_datacenter", json!("nowhere"), "no node is in"),
        ("hosts", json!([]), "contact point"),
    ];
    refused(fake().cql(), &cases);
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_says_what_a_real_server_refuses() {
    let options = json!(["nonsense = 1"]);
    refused(
        &real_cql(),
        &[("table_options", options, "refuses the schema")],
    );
}

#[test]
fn cql_says_whether_replicas_coordinate() {
    let fake = fake();
    reactor().block_on(async {
        for wanted in [true, false] {
            let plan = cql_at(fake.cql(), &[("token_aware", json!(wanted))]);
            let driver = driver::open(&plan).await.expect("a server");
            assert_eq!(driver.facts()["token_aware"], json!(wanted));
        }
    });
}

#[test]
fn cql_needs_one_contact_point_that_answers() {
    let dead = "127.0.0.1:1";
    let fake = fake();
    let open = |hosts: &[&str]| {
        let plan = cql_at(fake.cql(), &[("hosts", json!(hosts))]);
        reactor().block_on(driver::open(&plan)).err()
    };
    assert!(open(&[dead, fake.cql()]).is_none());
    assert!(matches!(open(&[dead]), Some(OpenError::Reach(_))));
}

/// The HBase driver's plan for the cluster that the environment names, with a table of its own.
fn hbase(table: &str, change: &[(&str, Value)]) -> Plan {
    let driver = json!({
        "kind": "hbase",
        "registry": [cluster::server()],
        "table": format!("steelyard_{table}"),
        "fresh": true,
    });
    changed(driver, "STEELYARD_TEST_HBASE_OPTIONS", change)
}

/// The HBase driver's plan for `fake`, whose table is always there.
fn hbase_at(fake: &Fake, change: &[(&str, Value)]) -> Plan {
    changed(fake.driver("hbase"), "STEELYARD_TEST_HBASE_OPTIONS", change)
}

async fn hbase_contract(driver: Arc<dyn Database>) {
    tokio::task::LocalSet::new()
        .run_until(contract(driver, HBASE))
        .await;
}

const HBASE: Traits = Traits {
    grain_us: 1000,
    sees_empty_records: false,
};

#[test]
fn hbase_keeps_the_contract() {
    let fake = fake();
    // A scan takes several calls.
    let plan = hbase_at(&fake, &[("scan_caching", json!(3))]);
    reactor().block_on(async {
        let driver = driver::open(&plan).await.expect("the fake");
        hbase_contract(Arc::clone(&driver)).await;
        assert_eq!(driver.coordinators(), [fake.hbase()]);
    });
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn hbase_keeps_the_contract_on_a_real_cluster() {
    reactor().block_on(async {
        // Splits between the contract's keys, so that scans cross them.
        let plan = hbase("contract", &[("regions", json!(4))]);
        let driver = driver::open(&plan).await.expect("a cluster");
        let facts = driver.facts();
        println!("{facts:#}");
        assert_eq!(facts["table"]["regions"], 4);
        hbase_contract(driver).await;
    });
    cluster::dropped("steelyard_contract");
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn hbase_refuses_a_table_of_another_shape_and_fresh_replaces_it() {
    reactor().block_on(async {
        let open = async |change: &[(&str, Value)]| driver::open(&hbase("shape", change)).await;
        drop(open(&[]).await.expect("a cluster"));
        for (name, value, expected) in [
            ("family", json!("other"), "no family \"other\""),
            ("versions", json!(3), "versions is 1, not 3"),
            ("bloom", json!("rowcol"), "bloom is ROW, not ROWCOL"),
        ] {
            let kept = ("fresh", json!(false));
            let refused = open(&[kept, (name, value.clone())]).await.err();
            let refused = refused.expect("a refusal");
            println!("{refused}");
            let OpenError::Shape(text) = &refused else {
                panic!("{refused}")
            };
            assert!(
                text.contains(expected) && text.contains("--fresh"),
                "{text}"
            );
            let replaced = open(&[(name, value)]).await.expect("a new table");
            drop(replaced);
            drop(open(&[]).await.expect("the old shape again"));
        }
    });
    cluster::dropped("steelyard_shape");
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn hbase_engines_after_the_first_wait_for_the_table() {
    reactor().block_on(async {
        let first = hbase("wait", &[]);
        let mut dropped = first.clone();
        dropped.engine.count = 3;
        let engine = |index: u32| {
            let mut plan = dropped.clone();
            plan.engine.index = index;
            async move { driver::open(&plan).await }
        };
        let (second, third, other) = futures::join!(engine(1), engine(2), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            engine(0).await
        });
        assert!(second.is_ok() && third.is_ok() && other.is_ok());
    });
    cluster::dropped("steelyard_wait");
}

#[test]
#[ignore = "needs an HBase cluster: STEELYARD_TEST_HBASE=host:port"]
fn hbase_names_what_the_cluster_refuses() {
    reactor().block_on(async {
        for (name, value, expected) in [
            ("table", json!("nowhere_at_all:t"), "nowhere_at_all"),
            ("compression", json!("LZO"), "LZO"),
        ] {
            let refused = driver::open(&hbase("refused", &[(name, value)])).await;
            let refused = refused.err().expect("a refusal");
            println!("{refused}");
            assert!(matches!(refused, OpenError::Option(_)), "{refused}");
            let text = refused.to_string().to_uppercase();
            assert!(text.contains(&expected.to_uppercase()), "{text}");
        }
    });
}

#[test]
fn hbase_needs_one_server_of_the_registry_that_answers() {
    let dead = "127.0.0.1:1";
    let fake = fake();
    let open = |servers: &[&str]| {
        let plan = hbase_at(&fake, &[("registry", json!(servers))]);
        reactor().block_on(driver::open(&plan)).err()
    };
    assert!(open(&[dead, fake.hbase()]).is_none());
    assert!(matches!(open(&[dead]), Some(OpenError::Reach(_))));
}
