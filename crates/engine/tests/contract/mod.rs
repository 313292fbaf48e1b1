//! What every driver must do, whatever database is behind it. A new driver adds one test that opens it and calls
//! [`contract`].
//!
//! Values are checked ones, so a value that is judged good is the very bytes that were written.

mod session;

use futures::executor::block_on;
use futures::future::join_all;
use serde_json::json;
use session::Sessions;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use steelyard_engine::clock::monotonic_ns;
use steelyard_engine::driver::{self, Blocking, Database};
use steelyard_engine::generate::Generator;
use steelyard_engine::generate::values::Values;
use steelyard_engine::operation::{FieldSet, KEY_MAX, Key, Kind, Operation, Outcome};
use steelyard_engine::plan::Plan;
use steelyard_engine::reply::{Reply, Stamps};

/// Fields of a record.
pub const FIELDS: u16 = 4;
/// Longest value written, bytes.
pub const LONGEST: u32 = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// A plan for `driver` with fields of `shortest` to `longest` bytes.
pub fn plan(driver: &serde_json::Value, shortest: u32, longest: u32) -> Plan {
    let plan = json!({
        "plan_format": 2,
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

fn generator(length: u32) -> Generator {
    let plan = plan(&json!({"kind": "null"}), length, length);
    Generator::new(&plan).expect("a sound plan")
}

fn values(length: u32) -> Values {
    generator(length).values
}

/// How attempts are made.
#[derive(Clone)]
enum Attempts {
    /// By calls that block.
    Blocking(Arc<dyn Blocking>),
    /// As the event loop makes them.
    Session(Sessions),
}

/// In what databases may differ.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// Timestamps this far apart are different ones, us.
    pub grain_us: i64,
    /// A read of a field that was never written tells whether the record is there.
    pub sees_empty_records: bool,
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            grain_us: 1,
            sees_empty_records: true,
        }
    }
}

/// One client of the driver under test.
#[derive(Clone)]
pub struct Client {
    driver: Arc<dyn Database>,
    attempts: Attempts,
    traits: Traits,
    values: Values,
    /// Before every timestamp of this run.
    epoch_us: i64,
}

impl Client {
    /// A client whose timestamps are later than those of any client before it.
    pub fn new(driver: Arc<dyn Database>, traits: Traits) -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a clock after 1970");
        let generator = Arc::new(generator(100));
        let attempts = match driver.attempts(&generator).expect("descriptors") {
            driver::Attempts::Session(session) => Attempts::Session(Sessions::new(session)),
            driver::Attempts::Blocking(driver) => Attempts::Blocking(driver),
        };
        Self {
            driver,
            attempts,
            traits,
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
        let values = &self.values;
        let outcome = match &self.attempts {
            Attempts::Blocking(driver) => driver.execute(op, attempt, TIMEOUT, values, reply),
            Attempts::Session(session) => {
                session.execute(op, attempt, TIMEOUT, values, reply).await
            }
        };
        assert_eq!((reply.corrupt, reply.foreign), (0, 0), "{op:?}");
        outcome
    }

    fn timestamp_us(&self, number: u32) -> i64 {
        self.epoch_us + i64::from(number) * self.traits.grain_us
    }

    /// Write `fields` of `name` as write number `number`, at that many of the database's grains after the epoch.
    pub async fn write(&self, kind: Kind, name: &str, fields: FieldSet, number: u32) -> Operation {
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
        op.timestamp_us = self.timestamp_us(number);
        let mut reply = Reply::default();
        let outcome = self.execute(&op, 1, &mut reply).await;
        assert_eq!(outcome, Outcome::Ok, "{:?}", reply.error);
        op
    }

    async fn delete(&self, name: &str, number: u32) {
        let mut op = Self::operation(Kind::Delete, name, FieldSet::All);
        op.timestamp_us = self.timestamp_us(number);
        let mut reply = Reply::default();
        assert_eq!(
            self.execute(&op, 1, &mut reply).await,
            Outcome::Ok,
            "{:?}",
            reply.error
        );
    }

    /// The (field, write number) pairs that a read brings back; none if there is no such record.
    pub async fn read(&self, name: &str, fields: FieldSet) -> Option<Vec<(u16, u64)>> {
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

/// Every field, written by `number`.
pub fn all(number: u64) -> Vec<(u16, u64)> {
    (0..FIELDS).map(|field| (field, number)).collect()
}

/// What every driver must do. Its table must be empty.
pub async fn contract(driver: Arc<dyn Database>, traits: Traits) {
    let client = Client::new(driver, traits);
    let facts = client.driver.facts();
    assert!(facts["system"].is_string());
    clocks(&client, &facts["clocks"]).await;
    single_records(&client).await;
    missing_records(&client).await;
    timestamps(&client).await;
    extremes(&client).await;
    scans(&client).await;
    concurrent_clients(&client).await;
}

async fn single_records(client: &Client) {
    client.write(Kind::Insert, "one", FieldSet::All, 1).await;
    assert_eq!(client.read("one", FieldSet::All).await, Some(all(1)));
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
    assert_eq!(client.read("one", FieldSet::All).await, Some(all(3)));
}

async fn missing_records(client: &Client) {
    assert_eq!(client.read("nobody", FieldSet::All).await, None);
    assert_eq!(client.read("nobody", FieldSet::One(1)).await, None);
    client.delete("nobody", 1).await;
    client.write(Kind::Insert, "gone", FieldSet::All, 1).await;
    client.delete("gone", 2).await;
    assert_eq!(client.read("gone", FieldSet::All).await, None);
    client.write(Kind::Insert, "gone", FieldSet::All, 3).await;
    assert_eq!(client.read("gone", FieldSet::All).await, Some(all(3)));
    // An update of a record that is not there makes it, with that field alone.
    client
        .write(Kind::Update, "partial", FieldSet::One(1), 1)
        .await;
    assert_eq!(
        client.read("partial", FieldSet::All).await,
        Some(vec![(1, 1)])
    );
    let unwritten = client.read("partial", FieldSet::One(0)).await;
    let expected = client.traits.sees_empty_records.then(Vec::new);
    assert_eq!(unwritten, expected);
}

/// The clocks are read where the facts say, and lie within the call.
async fn clocks(client: &Client, place: &serde_json::Value) {
    client
        .write(Kind::Insert, "clocked", FieldSet::All, 1)
        .await;
    let mut scan = Client::operation(Kind::Scan, "clocked", FieldSet::All);
    scan.scan_length = 3;
    let read = Client::operation(Kind::Read, "clocked", FieldSet::All);
    let nobody = Client::operation(Kind::Read, "nobody", FieldSet::All);
    for op in [scan, read, nobody] {
        let mut reply = Reply::default();
        let before = monotonic_ns();
        client.execute(&op, 1, &mut reply).await;
        let after = monotonic_ns();
        let Stamps {
            sent_ns,
            received_ns,
        } = reply.stamps;
        if place == "call" {
            assert_eq!((sent_ns, received_ns), (None, None));
            continue;
        }
        assert!(place == "socket" || place == "kernel", "{place}");
        let (sent, received) = (sent_ns.expect("sent"), received_ns.expect("received"));
        assert!(
            before <= sent && sent < received && received <= after,
            "{before} {sent} {received} {after}"
        );
    }
}

async fn timestamps(client: &Client) {
    client.write(Kind::Insert, "time", FieldSet::All, 5).await;
    client
        .write(Kind::Update, "time", FieldSet::One(0), 4)
        .await;
    assert_eq!(
        client.read("time", FieldSet::All).await,
        Some(all(5)),
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
    assert_eq!(client.read(&longest_key, FieldSet::All).await, Some(all(1)));
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
    if let Attempts::Blocking(_) = &client.attempts {
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
