//! Drivers: how an operation reaches a database. One file each, one arm in [`AnyDriver`], the shared contract test.
//!
//! A driver makes one attempt and says how it ended; deadlines, retries and clocks are the worker's.

pub mod cql;
pub mod embedded;
pub mod hbase;
pub mod null;
#[cfg(test)]
pub mod scripted;
mod traffic;

pub use traffic::Traffic;

use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};
use crate::plan::{DriverPlan, Plan};
use crate::reply::Reply;
use serde_json::Value;
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

/// One attempt at a time against one database. Shared by all clients of an engine.
#[allow(async_fn_in_trait)] // used through `AnyDriver` only: no Send bound is wanted on the reactor's thread
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

    /// A phase ends: put what was collected and not sent into `reply.batch`. Most drivers send every write alone.
    async fn drain(&self, reply: &mut Reply) {
        let _ = reply;
    }

    /// What is in effect, for the `ready` event (JSON object: consistency, durability, connections, versions ...). `clocks`
    /// says where an attempt's clocks are read: at the `socket`, or around the driver's `call`.
    fn facts(&self) -> Value;

    /// What its connections have done so far; None without sockets.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// Every driver there is: a closed set keeps results comparable.
#[derive(Clone)]
pub enum AnyDriver {
    /// See [`null`].
    Null(Arc<null::Null>),
    /// See [`embedded`].
    Embedded(Arc<embedded::Embedded>),
    /// See [`cql`].
    Cql(Arc<cql::Cql>),
    /// See [`hbase`].
    Hbase(Arc<hbase::Hbase>),
    /// For tests of what calls drivers.
    #[cfg(test)]
    Scripted(Arc<scripted::Scripted>),
}

impl AnyDriver {
    /// Open the plan's database: connect, create the table if it is missing, refuse one of another shape.
    pub async fn open(plan: &Plan) -> Result<Self, OpenError> {
        Ok(match &plan.driver {
            DriverPlan::Null => Self::Null(Arc::new(null::Null)),
            DriverPlan::Embedded(options) => {
                Self::Embedded(Arc::new(embedded::Embedded::open(options, &plan.workload)?))
            }
            DriverPlan::Cql(options) => Self::Cql(Arc::new(cql::Cql::open(options, plan).await?)),
            DriverPlan::Hbase(options) => {
                Self::Hbase(Arc::new(hbase::Hbase::open(options, plan).await?))
            }
        })
    }

    /// Its calls block: clients run on threads of their own, never in the reactor.
    pub const fn blocks(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }
}

/// The same call on whichever driver it is.
macro_rules! each {
    ($any:expr, $driver:ident => $call:expr) => {
        match $any {
            AnyDriver::Null($driver) => $call,
            AnyDriver::Embedded($driver) => $call,
            AnyDriver::Cql($driver) => $call,
            AnyDriver::Hbase($driver) => $call,
            #[cfg(test)]
            AnyDriver::Scripted($driver) => $call,
        }
    };
}

impl Driver for AnyDriver {
    async fn execute(
        &self,
        op: &Operation,
        attempt: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        each!(self, driver => driver.execute(op, attempt, timeout, values, reply).await)
    }

    async fn drain(&self, reply: &mut Reply) {
        each!(self, driver => driver.drain(reply).await);
    }

    fn facts(&self) -> Value {
        each!(self, driver => driver.facts())
    }

    fn traffic(&self) -> Option<Traffic> {
        each!(self, driver => driver.traffic())
    }
}
