//! The CQL driver: Apache Cassandra and `ScyllaDB`.
//!
//! The scylla crate knows the cluster: contact points, topology, schema, preparation. Operations travel on connections of
//! our own: [`keeper`] makes them, [`session`] uses them in the event loop. The first attempt goes to a replica of its key, each
//! in its turn, later ones to any node but the one that failed. Scans follow token order.

mod answer;
mod connect;
mod facts;
mod keeper;
mod options;
mod outcome;
mod patience;
mod plan;
mod routes;
mod rows;
mod schema;
mod session;
mod statements;
mod wait;
mod wire;

pub use plan::CqlPlan;

use super::traffic::Counters;
use super::{Attempts, Database, OpenError, Options};
use crate::generate::Generator;
use crate::net::Notifier;
use crate::plan::Plan;
use facts::{Chosen, Cluster};
use keeper::{Dialler, Keeper};
use options::Names;
use routes::Choice;
use serde_json::Value;
use session::CqlSession;
use statements::Statements;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::establish::Access;

/// A way to a cluster, its statements prepared.
pub struct Cql {
    session: Mutex<Option<CqlSession>>,
    counters: Arc<Counters>,
    facts: Value,
    /// What having the table took.
    schema: Duration,
}

impl Cql {
    /// Connect; create keyspace and table where they are missing (engine 0 of a run; the others wait for it); prepare.
    ///
    /// # Errors
    /// [`OpenError::Option`] for a plan that no server would take, wrong credentials among them;
    /// [`OpenError::Shape`] for a table of other columns;
    /// [`OpenError::Reach`] when no contact point answers or the nodes do not agree about the schema.
    pub async fn open(options: &CqlPlan, plan: &Plan) -> Result<Self, OpenError> {
        let names = Names::new(options, &plan.workload)?;
        let write = options::consistency("driver.write_consistency", &options.write_consistency)?;
        let load = options.load_consistency.as_deref();
        let chosen = Chosen {
            read: options::read_consistency("driver.read_consistency", &options.read_consistency)?,
            write,
            load: load.map_or(Ok(write), |level| {
                options::consistency("driver.load_consistency", level)
            })?,
            page_rows: statements::page_rows(&plan.workload),
        };
        let access = Access {
            tls: connect::tls(options)?,
            credentials: connect::credentials(options)?,
        };
        let session = Arc::new(connect::session(options, &names.keyspace, &access).await?);
        let cluster = Cluster::ask(&session).await?;
        let mut schema = Duration::ZERO;
        let statements = if plan.engine.index == 0 {
            let began = Instant::now();
            schema::create(&session, options, &names).await?;
            schema = began.elapsed();
            Statements::prepare(&session, &names, &plan.workload, &chosen).await?
        } else {
            wait::for_table(&session, &names, plan, &chosen).await?
        };
        // The replication of a keyspace made since we connected decides who its replicas are.
        let refreshed = session.refresh_metadata().await;
        refreshed.map_err(|error| OpenError::Reach(error.to_string()))?;
        let choice = Choice {
            datacenter: options.local_datacenter.clone(),
            token_aware: cluster.token_aware(options),
            keyspace: names.keyspace.clone(),
            table: names.table.clone(),
        };
        let facts = facts::gather(&session, options, &names, &cluster, &chosen).await?;
        let notifier = Notifier::new().map_err(|error| OpenError::Reach(error.to_string()))?;
        let (sender, updates) = std::sync::mpsc::channel();
        let dialler = Dialler::new(access, sender, notifier.clone());
        let connections = options.connections as usize;
        let keeper = Keeper::open(session, choice, connections, dialler).await?;
        let (broken, breaks) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(keeper.keep(breaks));
        let counters = Arc::new(Counters::default());
        let session = CqlSession {
            notifier,
            updates,
            broken,
            statements: Arc::new(statements),
            counters: Arc::clone(&counters),
            state: session::State::default(),
        };
        Ok(Self {
            session: Mutex::new(Some(session)),
            counters,
            facts,
            schema,
        })
    }
}

impl Options for CqlPlan {
    async fn open(&self, plan: &Plan) -> Result<Arc<dyn Database>, OpenError> {
        Ok(Arc::new(Cql::open(self, plan).await?))
    }
}

impl Database for Cql {
    fn attempts(&self, _: &Arc<Generator>) -> io::Result<Attempts> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match session.take() {
            Some(session) => Ok(Attempts::Session(Box::new(session))),
            None => Err(io::Error::other("the session was taken")),
        }
    }

    fn facts(&self) -> Value {
        self.facts.clone()
    }

    fn schema(&self) -> Duration {
        self.schema
    }

    fn traffic(&self) -> Option<steelyard_multiplexer::Traffic> {
        Some(self.counters.traffic.now())
    }

    fn coordinators(&self) -> Vec<String> {
        self.counters.coordinators.names()
    }
}
