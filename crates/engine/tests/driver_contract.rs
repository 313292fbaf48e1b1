//! Each driver against the shared contract, and what is its own: what it keeps, what it refuses.
//!
//! The CQL tests need a server: `STEELYARD_TEST_CQL=host:port cargo test --test driver_contract -- --ignored cql`. More of
//! the driver's options may stand in `STEELYARD_TEST_CQL_OPTIONS`, as JSON.

mod contract;

use contract::{Client, FIELDS, LONGEST, all, contract, plan};
use futures::executor::block_on;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use steelyard_engine::driver::{AnyDriver, Driver, OpenError};
use steelyard_engine::operation::{FieldSet, Kind};
use steelyard_engine::plan::Plan;

fn reactor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor")
}

fn embedded(path: &Path, fields: u32, fresh: bool) -> Result<AnyDriver, OpenError> {
    let mut plan = plan(
        &json!({"kind": "embedded", "path": path, "fresh": fresh}),
        64,
        LONGEST,
    );
    plan.workload.fields.count = fields;
    block_on(AnyDriver::open(&plan))
}

#[test]
fn embedded_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let driver = embedded(folder.path(), FIELDS.into(), false).expect("a store");
    reactor().block_on(contract(driver));
}

#[test]
fn embedded_keeps_the_contract_when_it_syncs() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = json!({"kind": "embedded", "path": folder.path(), "sync": true});
    let driver = block_on(AnyDriver::open(&plan(&options, 64, LONGEST))).expect("a store");
    assert_eq!(driver.facts()["sync"], true);
    reactor().block_on(contract(driver));
}

#[test]
fn embedded_keeps_its_rows_until_they_are_not_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = |fresh: bool| {
        let driver = embedded(folder.path(), FIELDS.into(), fresh).expect("a store");
        let client = Client::new(driver);
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

/// The CQL driver's plan for the server that the environment names, with the options (a JSON object) it may add.
fn cql(change: &[(&str, Value)]) -> Plan {
    let server = std::env::var("STEELYARD_TEST_CQL").expect("STEELYARD_TEST_CQL=host:port");
    let mut driver = json!({
        "kind": "cql",
        "hosts": [server],
        "keyspace": "steelyard_contract",
        "replication": {"class": "SimpleStrategy", "replication_factor": "1"},
        "read_consistency": "ONE",
        "write_consistency": "one",
        "fresh": true,
    });
    let more = std::env::var("STEELYARD_TEST_CQL_OPTIONS").unwrap_or_else(|_| "{}".into());
    let more: serde_json::Map<_, _> = serde_json::from_str(&more).expect("a JSON object");
    for (name, value) in more {
        driver[name] = value;
    }
    for (name, value) in change {
        driver[name] = value.clone();
    }
    plan(&driver, 64, LONGEST)
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_keeps_the_contract() {
    reactor().block_on(async {
        let driver = AnyDriver::open(&cql(&[])).await.expect("a server");
        println!("{:#}", driver.facts());
        contract(driver).await;
    });
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_refuses_a_table_of_another_shape() {
    reactor().block_on(async {
        let fresh = |wanted: bool| [("fresh", json!(wanted)), ("keyspace", json!("steelyard_shape"))];
        drop(AnyDriver::open(&cql(&fresh(true))).await.expect("a server"));
        let mut more = cql(&fresh(false));
        more.workload.fields.count = 6;
        let refused = AnyDriver::open(&more).await.err().expect("a refusal");
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
        let (opened, other) = futures::join!(AnyDriver::open(&second), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            AnyDriver::open(&first).await
        });
        assert!(opened.is_ok() && other.is_ok());
    });
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_names_what_is_wrong_with_a_plan() {
    let cases = [
        ("read_consistency", json!("QUORM"), "nearest is QUORUM"),
        ("keyspace", json!("a b"), "not a name"),
        ("local_datacenter", json!("nowhere"), "no node is in"),
        (
            "table_options",
            json!(["nonsense = 1"]),
            "refuses the schema",
        ),
        ("hosts", json!([]), "contact point"),
    ];
    reactor().block_on(async {
        for (name, value, expected) in cases {
            let refused = AnyDriver::open(&cql(&[(name, value)])).await.err();
            let text = refused.expect("a refusal").to_string();
            println!("{text}");
            assert!(text.contains(expected), "{text}");
        }
    });
}

#[test]
#[ignore = "needs a CQL server: STEELYARD_TEST_CQL=host:port"]
fn cql_needs_one_contact_point_that_answers() {
    let dead = "127.0.0.1:1";
    let server = std::env::var("STEELYARD_TEST_CQL").expect("STEELYARD_TEST_CQL=host:port");
    let open = |hosts: &[&str]| {
        let plan = cql(&[("hosts", json!(hosts))]);
        reactor().block_on(AnyDriver::open(&plan)).err()
    };
    assert!(open(&[dead, &server]).is_none());
    assert!(matches!(open(&[dead]), Some(OpenError::Reach(_))));
}
