//! The HBase driver: the native client's single attempts, one call for each operation.
//!
//! Cells carry the operation's own timestamp in milliseconds, HBase's unit, so that a late attempt never overwrites a write that
//! was started in a later millisecond; within one the server's order decides. (A delete hides whatever was written in its own
//! millisecond, before or after it: that is how HBase's tombstones are.) Scans follow key order, over as many regions as they touch.

mod dial;
mod facts;
mod options;
mod outcome;
mod plan;
mod rows;
mod session;
mod table;

pub use plan::HbasePlan;

use super::buffered::{self, SendsTogether, Sent};
use super::traffic::Counters;
use super::{Attempts, Database, Driver, OpenError, Options};
use crate::generate::Generator;
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome};
use crate::plan::{Plan, PlanError};
use crate::reply::{Reply, Stamps};
use options::Names;
use serde_json::Value;
use session::HbaseSession;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use steelyard_hbase::{
    Client, Delete, Direct, Durability, Error, Get, Item, Once, Place, Put, Scan, Table,
};

/// A client of a cluster, its table open.
pub struct Hbase {
    client: Client,
    direct: Direct,
    table: Table,
    names: Names,
    durability: Durability,
    block_cache: bool,
    scan_caching: u32,
    /// Puts that wait for their next use: their memory is kept.
    puts: Mutex<Vec<Put>>,
    /// Writes are collected up to so much; 0: each is sent alone.
    buffer_bytes: u64,
    facts: Value,
    /// What having the table took, and its regions served.
    schema: Duration,
    /// To each server.
    connections: u32,
    /// What the event loop's connections have done, and the region servers.
    counters: Counters,
}

impl Hbase {
    /// Connect; create the table where it is missing (engine 0 of a run; the others wait for it); learn where its regions are.
    ///
    /// # Errors
    /// [`OpenError::Option`] for what no server would take; [`OpenError::Shape`] for a table that is not as planned;
    /// [`OpenError::Reach`] when nobody answers or the table does not serve in time.
    pub async fn open(options: &HbasePlan, plan: &Plan) -> Result<Self, OpenError> {
        let durability = options::durability(&options.durability)?;
        let client = Client::connect(options::config(options, plan))
            .await
            .map_err(outcome::unopened)?;
        let table = client.table(&options.table).map_err(outcome::unopened)?;
        let began = Instant::now();
        table::prepare(&client, &table, options, plan).await?;
        Ok(Self {
            schema: began.elapsed(),
            facts: facts::gather(&client, &table, options).await?,
            names: Names::new(&options.family, &plan.workload),
            buffer_bytes: options.client_buffering,
            block_cache: options.block_cache,
            scan_caching: options.scan_caching,
            puts: Mutex::default(),
            connections: options.connections,
            counters: Counters::default(),
            durability,
            direct: client.direct(&table),
            table,
            client,
        })
    }

    async fn attempt(
        &self,
        op: &Operation,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Error> {
        let once = self.client.once().within(timeout);
        match op.kind {
            Kind::Read => self.read(once, op, values, reply).await,
            Kind::Insert | Kind::Update => self.write(once, op, reply).await,
            Kind::Delete => self.delete(once, op, reply).await,
            Kind::Scan => self.scan(once, op, values, reply).await,
            other => Err(Error::Input(format!(
                "{} is not one row's operation",
                other.name()
            ))),
        }
    }

    async fn read(
        &self,
        once: Once<'_>,
        op: &Operation,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Error> {
        let get = Get::new(op.key.as_bytes())
            .columns(self.names.columns(op.fields))
            .cache_blocks(self.block_cache);
        let answer = once.get(&self.table, &get).await?;
        reply.stamps = stamps(answer.stamps);
        if answer.value.is_empty() {
            return Ok(Outcome::NotFound);
        }
        rows::record(
            answer.value.cells(),
            op.key.as_bytes(),
            &self.names,
            values,
            reply,
        );
        Ok(Outcome::Ok)
    }

    async fn write(
        &self,
        once: Once<'_>,
        op: &Operation,
        reply: &mut Reply,
    ) -> Result<Outcome, Error> {
        let kept = self.shelf().pop();
        let mut put = kept.unwrap_or_else(|| Put::new(b""));
        self.fill(&mut put, op);
        let answer = once.put(&self.table, &put).await;
        self.shelf().push(put);
        reply.stamps = stamps(answer?.stamps);
        Ok(Outcome::Ok)
    }

    async fn delete(
        &self,
        once: Once<'_>,
        op: &Operation,
        reply: &mut Reply,
    ) -> Result<Outcome, Error> {
        let mut delete = Delete::new(op.key.as_bytes());
        delete.durability(self.durability).at(milliseconds(op));
        let answer = once.delete(&self.table, &delete).await?;
        reply.stamps = stamps(answer.stamps);
        Ok(Outcome::Ok)
    }

    async fn scan(
        &self,
        once: Once<'_>,
        op: &Operation,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Error> {
        let rows = op.scan_length.max(1);
        let scan = Scan::new()
            .start(op.key.as_bytes())
            .limit(rows.into())
            .caching(self.scan_caching.min(rows))
            .columns(self.names.columns(FieldSet::All).clone())
            .cache_blocks(self.block_cache);
        let mut scanner = once.scan(&self.table, scan);
        while let Some(batch) = scanner.next_batch().await? {
            let call = stamps(batch.stamps);
            reply.stamps.sent_ns = reply.stamps.sent_ns.or(call.sent_ns);
            reply.stamps.received_ns = call.received_ns;
            for row in &batch.rows {
                rows::record(row.cells(), row.key(), &self.names, values, reply);
            }
        }
        Ok(Outcome::Ok)
    }

    /// Make `put` what `op` writes.
    fn fill(&self, put: &mut Put, op: &Operation) {
        put.reset(op.key.as_bytes())
            .durability(self.durability)
            .at(milliseconds(op));
        for (field, value) in op.written() {
            put.add(self.names.family(), self.names.qualifier(field), value);
        }
    }

    /// The index of the server that all `ops` go to, as far as is known where their regions are; none if they go to several.
    fn coordinator(&self, ops: &[Operation]) -> Option<u16> {
        let mut places = (ops.iter()).map(|op| self.direct.place(op.key.as_bytes()));
        let first = places.next()??;
        let alike = |place: Option<Place>| place.is_some_and(|it| it.server() == first.server());
        let coordinators = &self.counters.coordinators;
        places
            .all(alike)
            .then(|| coordinators.index(&first.server().to_string()))
    }

    /// Wait for an attempt at `ops` no longer than `timeout`: the server that it went to, if it was one, and what it brought.
    async fn asked<T>(
        &self,
        ops: &[Operation],
        timeout: Duration,
        attempt: impl Future<Output = Result<T, Error>>,
    ) -> (Option<u16>, Result<T, Error>) {
        let known = self.coordinator(ops);
        let brought = within(timeout, attempt).await;
        // Where a region is may be learnt by the attempt, and forgotten after it failed.
        (known.or_else(|| self.coordinator(ops)), brought)
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Vec<Put>> {
        self.puts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The timestamp of the cells that `op` writes.
const fn milliseconds(op: &Operation) -> i64 {
    op.timestamp_us / 1000
}

fn stamps(stamps: steelyard_hbase::Stamps) -> Stamps {
    Stamps {
        sent_ns: Some(stamps.sent_ns),
        received_ns: Some(stamps.received_ns),
    }
}

impl Options for HbasePlan {
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        self.sound(plan.workload.records)
    }

    async fn open(&self, plan: &Plan) -> Result<Arc<dyn Database>, OpenError> {
        Ok(Arc::new(Opened(Arc::new(Hbase::open(self, plan).await?))))
    }
}

/// The client as its session shares it.
struct Opened(Arc<Hbase>);

impl Database for Opened {
    fn attempts(&self, generator: &Arc<Generator>) -> io::Result<Attempts> {
        let session = HbaseSession::new(Arc::clone(&self.0), Arc::clone(generator))?;
        let collected = buffered::around(session, &self.0, self.0.buffer_bytes, generator);
        Ok(Attempts::Session(collected))
    }

    fn facts(&self) -> Value {
        self.0.facts.clone()
    }

    fn schema(&self) -> Duration {
        self.0.schema
    }

    fn traffic(&self) -> Option<steelyard_multiplexer::Traffic> {
        let mut all = self.0.counters.traffic.now();
        all += self.0.client.traffic();
        Some(all)
    }

    fn coordinators(&self) -> Vec<String> {
        self.0.counters.coordinators.names()
    }

    fn timestamp_grain_us(&self) -> i64 {
        1000
    }

    fn buffers(&self) -> bool {
        self.0.buffer_bytes > 0
    }
}

impl Driver for Hbase {
    async fn execute(
        &self,
        op: &Operation,
        _: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        let attempt = self.attempt(op, timeout, values, reply);
        let (coordinator, attempted) = self.asked(std::slice::from_ref(op), timeout, attempt).await;
        reply.coordinator = coordinator;
        attempted.unwrap_or_else(|error| failed(&error, reply))
    }
}

impl SendsTogether for Hbase {
    /// A call to each region server concerned.
    async fn send(
        &self,
        writes: &[Operation],
        timeout: Duration,
        reply: &mut Reply,
    ) -> Result<Vec<Sent>, Outcome> {
        let puts: Vec<Put> = writes
            .iter()
            .map(|op| {
                let mut put = Put::new(b"");
                self.fill(&mut put, op);
                put
            })
            .collect();
        let items: Vec<Item<'_>> = puts.iter().map(Item::Put).collect();
        let multi = self
            .client
            .once()
            .within(timeout)
            .multi(&self.table, &items);
        let (coordinator, answer) = self.asked(writes, timeout, multi).await;
        reply.coordinator = coordinator;
        let answer = answer.map_err(|error| failed(&error, reply))?;
        reply.stamps = stamps(answer.stamps);
        let rows = answer.value.into_iter();
        Ok(rows
            .map(|row| row.map(drop).map_err(|error| outcome::failure(&error)))
            .collect())
    }
}

/// Wait for `attempted` no longer than `timeout`.
async fn within<T>(
    timeout: Duration,
    attempted: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = |_| {
        Err(Error::Timeout {
            what: "the cluster".to_owned(),
            after: timeout,
        })
    };
    tokio::time::timeout(timeout, attempted)
        .await
        .unwrap_or_else(late)
}

/// How an attempt that failed by `error` ended; its text, and its clocks if it has any, go to `reply`.
#[cold]
fn failed(error: &Error, reply: &mut Reply) -> Outcome {
    if let Some(known) = error.stamps() {
        reply.stamps = stamps(known);
    }
    let (outcome, text) = outcome::failure(error);
    reply.error = Some(text);
    outcome
}
