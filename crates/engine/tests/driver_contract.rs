//! What every driver must do, whatever database is behind it. A new driver adds one test that opens it and calls
//! [`contract`].
//!
//! Values are checked ones, so a value that is judged good is the very bytes that were written.

use futures::executor::block_on;
use futures::future::join_all;
use serde_json::json;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use steelyard_engine::driver::{AnyDriver, Driver, OpenError};
use steelyard_engine::generate::Generator;
use steelyard_engine::generate::values::Values;
use steelyard_engine::operation::{FieldSet, KEY_MAX, Key, Kind, Operation, Outcome, Reply};
use steelyard_engine::plan::Plan;

const FIELDS: u16 = 4;
const LONGEST: u32 = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// A plan for `driver` with fields of `shortest` to `longest` bytes.
fn plan(driver: &serde_json::Value, shortest: u32, longest: u32) -> Plan {
    let plan = json!({
        "plan_format": 1,
        "seed": 7,
        "out": "/nowhere",
        "driver": driver,
        "workload": {
            "records": 1000,
            "table": "contract",
            "fields": {"count": FIELDS, "length": {"kind": "uniform", "min": shortest, "max": longest}},
            "mix": {"read": 1.0},
            "request": {"kind": "uniform"},
            "read_all_fields": false,
            "write_all_fields": false,
        },
        "phases": [],
    });
    serde_json::from_value(plan).expect("a plan")
}

fn values(length: u32) -> Values {
    let plan = plan(&json!({"kind": "null"}), length, length);
    Generator::new(&plan).expect("a sound plan").values
}

/// One client of the driver under test.
#[derive(Clone)]
struct Client {
    driver: AnyDriver,
    values: Values,
    /// Before every timestamp of this run.
    epoch_us: i64,
}

impl Client {
    fn new(driver: AnyDriver) -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock after 1970");
        Self {
            driver,
            values: values(100),
            epoch_us: now.as_micros() as i64,
        }
    }

    fn operation(kind: Kind, name: &str, fields: FieldSet) -> Operation {
        let mut key = Key::default();
        key.bytes[..name.len()].copy_from_slice(name.as_bytes());
        key.len = name.len() as u8;
        Operation {
            kind,
            key,
            fields,
            ..Operation::default()
        }
    }

    async fn execute(&self, op: &Operation, attempt: u32, reply: &mut Reply) -> Outcome {
        reply.reset(true, true);
        let outcome = self
            .driver
            .execute(op, attempt, TIMEOUT, &self.values, reply)
            .await;
        assert_eq!((reply.corrupt, reply.foreign), (0, 0), "{op:?}");
        outcome
    }

    /// Write `fields` of `name` as write number `number`, at that many microseconds after the epoch.
    async fn write(&self, kind: Kind, name: &str, fields: FieldSet, number: u32) -> Operation {
        let mut op = Self::operation(kind, name, fields);
        let indices = match fields {
            FieldSet::All => 0..FIELDS,
            FieldSet::One(field) => field..field + 1,
        };
        for field in indices {
            self.values
                .write(name.as_bytes(), field, number.into(), &mut op.values);
            op.ends.push(op.values.len() as u32);
        }
        op.timestamp_us = self.epoch_us + i64::from(number);
        let mut reply = Reply::default();
        let outcome = self.execute(&op, 1, &mut reply).await;
        assert_eq!(outcome, Outcome::Ok, "{:?}", reply.error);
        op
    }

    async fn delete(&self, name: &str, number: u32) {
        let mut op = Self::operation(Kind::Delete, name, FieldSet::All);
        op.timestamp_us = self.epoch_us + i64::from(number);
        let mut reply = Reply::default();
        assert_eq!(
            self.execute(&op, 1, &mut reply).await,
            Outcome::Ok,
            "{:?}",
            reply.error
        );
    }

    /// The (field, write number) pairs that a read brings back; none if there is no such record.
    async fn read(&self, name: &str, fields: FieldSet) -> Option<Vec<(u16, u64)>> {
        let op = Self::operation(Kind::Read, name, fields);
        let mut reply = Reply::default();
        match self.execute(&op, 1, &mut reply).await {
            Outcome::NotFound => {
                assert_eq!((reply.rows, reply.fields), (0, 0));
                None
            }
            outcome => {
                assert_eq!((outcome, reply.rows), (Outcome::Ok, 1), "{:?}", reply.error);
                reply.versions.sort_unstable();
                Some(reply.versions)
            }
        }
    }

    async fn scan(&self, name: &str, limit: u32) -> Reply {
        let mut op = Self::operation(Kind::Scan, name, FieldSet::All);
        op.scan_length = limit;
        let mut reply = Reply::default();
        assert_eq!(
            self.execute(&op, 1, &mut reply).await,
            Outcome::Ok,
            "{:?}",
            reply.error
        );
        reply
    }
}

fn all(number: u64) -> Option<Vec<(u16, u64)>> {
    Some((0..FIELDS).map(|field| (field, number)).collect())
}

/// What every driver must do. Its table must be empty.
async fn contract(driver: AnyDriver) {
    let client = Client::new(driver);
    assert!(client.driver.facts()["system"].is_string());
    single_records(&client).await;
    missing_records(&client).await;
    timestamps(&client).await;
    extremes(&client).await;
    scans(&client).await;
    concurrent_clients(&client).await;
}

async fn single_records(client: &Client) {
    client.write(Kind::Insert, "one", FieldSet::All, 1).await;
    assert_eq!(client.read("one", FieldSet::All).await, all(1));
    client.write(Kind::Update, "one", FieldSet::One(2), 2).await;
    assert_eq!(
        client.read("one", FieldSet::All).await,
        Some(vec![(0, 1), (1, 1), (2, 2), (3, 1)])
    );
    for (field, number) in [(0, 1), (2, 2), (3, 1)] {
        assert_eq!(
            client.read("one", FieldSet::One(field)).await,
            Some(vec![(field, number)])
        );
    }
    client.write(Kind::Update, "one", FieldSet::All, 3).await;
    assert_eq!(client.read("one", FieldSet::All).await, all(3));
}

async fn missing_records(client: &Client) {
    assert_eq!(client.read("nobody", FieldSet::All).await, None);
    assert_eq!(client.read("nobody", FieldSet::One(1)).await, None);
    client.delete("nobody", 1).await;
    client.write(Kind::Insert, "gone", FieldSet::All, 1).await;
    client.delete("gone", 2).await;
    assert_eq!(client.read("gone", FieldSet::All).await, None);
    client.write(Kind::Insert, "gone", FieldSet::All, 3).await;
    assert_eq!(client.read("gone", FieldSet::All).await, all(3));
    // An update of a record that is not there makes it, with that field alone.
    client
        .write(Kind::Update, "partial", FieldSet::One(1), 1)
        .await;
    assert_eq!(
        client.read("partial", FieldSet::All).await,
        Some(vec![(1, 1)])
    );
    assert_eq!(client.read("partial", FieldSet::One(0)).await, Some(vec![]));
}

async fn timestamps(client: &Client) {
    client.write(Kind::Insert, "time", FieldSet::All, 5).await;
    client
        .write(Kind::Update, "time", FieldSet::One(0), 4)
        .await;
    assert_eq!(
        client.read("time", FieldSet::All).await,
        all(5),
        "an older write overwrote a newer"
    );
    let again = client
        .write(Kind::Update, "time", FieldSet::One(0), 6)
        .await;
    client
        .write(Kind::Update, "time", FieldSet::One(0), 7)
        .await;
    let mut reply = Reply::default();
    assert_eq!(client.execute(&again, 2, &mut reply).await, Outcome::Ok);
    let newest = Some(vec![(0, 7)]);
    assert_eq!(
        client.read("time", FieldSet::One(0)).await,
        newest,
        "a late attempt overwrote a newer write"
    );
}

async fn extremes(client: &Client) {
    let longest_key = "k".repeat(KEY_MAX);
    client
        .write(Kind::Insert, &longest_key, FieldSet::All, 1)
        .await;
    assert_eq!(client.read(&longest_key, FieldSet::All).await, all(1));
    let large = Client {
        values: values(LONGEST),
        ..client.clone()
    };
    large
        .write(Kind::Update, "large", FieldSet::One(0), 1)
        .await;
    assert_eq!(
        large.read("large", FieldSet::One(0)).await,
        Some(vec![(0, 1)])
    );
    large.delete("large", 2).await;
}

async fn scans(client: &Client) {
    for row in 0..20 {
        client
            .write(Kind::Insert, &format!("row{row:02}"), FieldSet::All, 1)
            .await;
    }
    for limit in [1, 5, 1000] {
        let reply = client.scan("row00", limit).await;
        assert!(
            (1..=u64::from(limit)).contains(&reply.rows),
            "{} rows of {limit}",
            reply.rows
        );
        assert_eq!(reply.checked, reply.fields);
        assert!(reply.fields >= reply.rows);
    }
}

/// Clients that write one record at once, each field from several of them, in no order of their timestamps.
async fn concurrent_clients(client: &Client) {
    const CLIENTS: u32 = 8;
    const WRITES: u32 = 25;
    let numbers = |first: u32| (0..WRITES).map(move |i| first + CLIENTS * ((i * 7) % WRITES));
    let one = |client: Client, first: u32| async move {
        for number in numbers(first) {
            let field = FieldSet::One(number as u16 % FIELDS);
            client.write(Kind::Update, "shared", field, number).await;
        }
    };
    if client.driver.blocks() {
        thread::scope(|scope| {
            for first in 1..=CLIENTS {
                let client = client.clone();
                scope.spawn(move || block_on(one(client, first)));
            }
        });
    } else {
        join_all((1..=CLIENTS).map(|first| one(client.clone(), first))).await;
    }
    let most = CLIENTS * WRITES;
    let newest = |field: u32| (most - 3..=most).find(|n| n % u32::from(FIELDS) == field);
    let expected: Vec<_> = (0..FIELDS)
        .map(|field| (field, newest(field.into()).expect("one in four").into()))
        .collect();
    assert_eq!(client.read("shared", FieldSet::All).await, Some(expected));
}

fn reactor() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor")
}

fn embedded(path: &std::path::Path, fields: u32, fresh: bool) -> Result<AnyDriver, OpenError> {
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
    assert_eq!(rows(false), all(1));
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
fn cql(change: &[(&str, serde_json::Value)]) -> Plan {
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
