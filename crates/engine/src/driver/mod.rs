//! Drivers: how an operation reaches a database. One file each, one arm in [`AnyDriver`], the shared contract test.
//!
//! A driver makes one attempt and says how it ended; deadlines and retries are `perform`'s. Attempts are made by a [`Session`]
//! in the event loop, or, where a driver's calls are futures or block, by [`Driver::execute`].

mod coordinators;
pub mod cql;
mod deferred;
pub mod embedded;
pub mod hbase;
pub mod null;
#[cfg(test)]
pub mod scripted;
pub mod session;
mod traffic;

pub use session::{Attempt, Begun, Ended, Exchange, Session, Turn};
pub use traffic::Traffic;

use crate::generate::Generator;
use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};
use crate::plan::{DriverPlan, Plan};
use crate::reply::Reply;
#[cfg(test)]
use deferred::Deferred;
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

/// One attempt at a time against one database, as a future. Shared by all clients of an engine.
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

    /// A phase ends: put what was collected and not sent into `reply.batch`. Most drivers send every write alone.
    async fn drain(&self, reply: &mut Reply) {
        let _ = reply;
    }
}

/// Every driver there is: a closed set keeps results comparable.
#[derive(Clone)]
pub enum AnyDriver {
    /// See [`null`].
    Null(null::Null),
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
            DriverPlan::Null => Self::Null(null::Null),
            DriverPlan::Embedded(options) => {
                Self::Embedded(Arc::new(embedded::Embedded::open(options, &plan.workload)?))
            }
            DriverPlan::Cql(options) => Self::Cql(Arc::new(cql::Cql::open(options, plan).await?)),
            DriverPlan::Hbase(options) => {
                Self::Hbase(Arc::new(hbase::Hbase::open(options, plan).await?))
            }
        })
    }

    /// Its attempts for the event loop; none for a driver whose calls block, since a stalled store must not stop the loop.
    ///
    /// # Errors
    /// If the system gives no descriptor, or this was asked before.
    pub fn session(&self, generator: &Arc<Generator>) -> io::Result<Option<Box<dyn Session>>> {
        Ok(match self {
            Self::Null(_) => Some(Box::new(null::NullSession::new()?)),
            Self::Embedded(_) => None,
            Self::Cql(driver) => {
                let session = driver.take_session();
                Some(Box::new(
                    session.ok_or_else(|| io::Error::other("the session was taken"))?,
                ))
            }
            Self::Hbase(driver) => {
                let generator = Arc::clone(generator);
                Some(Box::new(hbase::HbaseSession::new(
                    driver.clone(),
                    generator,
                )?))
            }
            #[cfg(test)]
            Self::Scripted(driver) => Some(Box::new(Deferred::new(
                driver.clone(),
                Arc::clone(generator),
            )?)),
        })
    }

    /// What is in effect, for the `ready` event (JSON object: consistency, durability, connections, versions ...). `clocks`
    /// says where an attempt's clocks are read: `call` around the driver's call, `socket` at the write that carried the request and
    /// the read that brought the answer, `kernel` likewise, with the kernel's stamp of the answer's arrival.
    pub fn facts(&self) -> Value {
        match self {
            Self::Null(_) => null::facts(),
            Self::Embedded(driver) => driver.facts(),
            Self::Cql(driver) => driver.facts(),
            Self::Hbase(driver) => driver.facts(),
            #[cfg(test)]
            Self::Scripted(_) => Value::Null,
        }
    }

    /// What its connections have done so far; None without sockets.
    pub fn traffic(&self) -> Option<Traffic> {
        match self {
            Self::Cql(driver) => Some(driver.traffic()),
            Self::Hbase(driver) => Some(driver.traffic()),
            _ => None,
        }
    }

    /// Names of the nodes seen so far, by the index that [`crate::reply::Reply::coordinator`] gives.
    pub fn coordinators(&self) -> Vec<String> {
        match self {
            Self::Cql(driver) => driver.coordinators(),
            _ => Vec::new(),
        }
    }
}
