//! Drivers: how an operation reaches a database. One file or folder each, one line in [`DRIVERS`], the shared contract test.
//!
//! A driver makes one attempt and says how it ended; deadlines and retries are `perform`'s. Attempts are made by a [`Session`]
//! in the event loop; where a driver's calls block, on a thread for each client ([`Blocking`]).

pub(crate) mod buffered;
mod connections;
mod coordinators;
mod cql;
pub(crate) mod deferred;
mod embedded;
mod hbase;
mod null;
#[cfg(test)]
pub mod scripted;
pub mod session;
mod traffic;

pub use session::{Attempt, Begun, Ended, Exchange, Session, Turn};
pub use traffic::Traffic;

use crate::generate::Generator;
use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};
use crate::plan::{Plan, PlanError, words};
use crate::reply::Reply;
use futures::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A database that could not be opened. The process exits with 3 ([`OpenError::Reach`]) or 2 (the rest).
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database cannot be reached.
    #[error("cannot reach the database: {0}")]
    Reach(String),
    /// The table exists with another shape.
    #[error("{0}")]
    Shape(String),
    /// An option makes no sense.
    #[error("{0}")]
    Option(String),
}

impl From<PlanError> for OpenError {
    fn from(error: PlanError) -> Self {
        Self::Option(error.0)
    }
}

/// Every driver there is, by the name that a plan's `driver.kind` gives it.
const DRIVERS: &[Kind] = &[
    kind::<null::NullPlan>("null"),
    kind::<embedded::EmbeddedPlan>("embedded"),
    kind::<cql::CqlPlan>("cql"),
    kind::<hbase::HbasePlan>("hbase"),
];

/// What the section `driver` of a plan says to one kind of driver.
#[allow(async_fn_in_trait)] // its futures stay on the thread that polls them: no Send bound is wanted
pub trait Options: DeserializeOwned {
    /// What can be known without opening anything.
    ///
    /// # Errors
    /// A text that names the field and the way out.
    fn check(&self, plan: &Plan) -> Result<(), PlanError> {
        let _ = plan;
        Ok(())
    }

    /// Connect; create the table if it is missing; refuse one of another shape.
    async fn open(&self, plan: &Plan) -> Result<Arc<dyn Database>, OpenError>;
}

/// What [`open`] promises.
type Opening<'a> = LocalBoxFuture<'a, Result<Arc<dyn Database>, OpenError>>;

/// A kind of driver.
struct Kind {
    name: &'static str,
    check: fn(&Plan) -> Result<(), PlanError>,
    open: fn(&Plan) -> Opening<'_>,
}

const fn kind<T: Options>(name: &'static str) -> Kind {
    Kind {
        name,
        check: |plan| plan.driver.options::<T>()?.check(plan),
        open: |plan| Box::pin(async move { plan.driver.options::<T>()?.open(plan).await }),
    }
}

fn kind_of(plan: &Plan) -> Result<&'static Kind, PlanError> {
    let names: Vec<_> = DRIVERS.iter().map(|kind| kind.name).collect();
    words::position("driver.kind", "driver", &plan.driver.kind, &names)
        .map(|index| &DRIVERS[index])
        .map_err(PlanError)
}

/// Whether the plan names a driver that there is, with options that make sense.
///
/// # Errors
/// A text that names the field and the way out; the drivers that there are, if it is none of them.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    (kind_of(plan)?.check)(plan)
}

/// Open the plan's database.
///
/// # Errors
/// See [`OpenError`].
pub async fn open(plan: &Plan) -> Result<Arc<dyn Database>, OpenError> {
    (kind_of(plan)?.open)(plan).await
}

/// A database that is open, shared by all clients of an engine.
pub trait Database: Send + Sync {
    /// How attempts are made. `generator` makes the operations of all phases.
    ///
    /// # Errors
    /// If the system gives no descriptor, or this was asked before.
    fn attempts(&self, generator: &Arc<Generator>) -> io::Result<Attempts>;

    /// What is in effect, for the `ready` event (JSON object: consistency, durability, connections, versions ...). `clocks`
    /// says where an attempt's clocks are read: `call` around the driver's call, `socket` at the write that carried the request and
    /// the read that brought the answer, `kernel` likewise, with the kernel's stamp of the answer's arrival.
    fn facts(&self) -> Value;

    /// Time spent on having the table, which is none of connecting: YCSB's client finds one.
    fn schema(&self) -> Duration {
        Duration::ZERO
    }

    /// What its connections have done so far; None without sockets.
    fn traffic(&self) -> Option<steelyard_multiplexer::Traffic> {
        None
    }

    /// Names of the nodes seen so far, by the index that [`Reply::coordinator`] gives.
    fn coordinators(&self) -> Vec<String> {
        Vec::new()
    }

    /// The database's unit of timestamps, us: writes within one are in the server's order.
    fn timestamp_grain_us(&self) -> i64 {
        1
    }

    /// Whether writes are collected before they are sent.
    fn buffers(&self) -> bool {
        false
    }
}

/// How a driver's attempts are made.
pub enum Attempts {
    /// In the event loop.
    Session(Box<dyn Session>),
    /// By calls that block, on a thread for each client: a stalled store must not stop the loop.
    Blocking(Arc<dyn Blocking>),
}

/// One attempt at a time, by a call that blocks.
pub trait Blocking: Send + Sync {
    /// Make attempt number `attempt` (from 1) of `op`, giving up after `timeout`. Every value received goes to `reply`.
    fn execute(
        &self,
        op: &Operation,
        attempt: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome;
}

/// One attempt at a time, as a future: for what a session leaves to others.
#[allow(async_fn_in_trait)] // its futures stay on the thread that polls them: no Send bound is wanted
pub trait Driver {
    /// Make attempt number `attempt` (from 1) of `op`, giving up after `timeout`. Every value received goes to `reply`.
    async fn execute(
        &self,
        op: &Operation,
        attempt: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome;
}
