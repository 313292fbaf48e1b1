//! The CQL driver: Apache Cassandra and `ScyllaDB`.
//!
//! The scylla crate knows the cluster: contact points, topology, schema, preparation. Operations travel on connections of
//! our own ([`wire`]). The first attempt goes to a replica of its key, each in its turn, later ones to any node but the one
//! that failed. Scans follow token order.

mod connect;
mod coordinator;
mod facts;
mod options;
mod outcome;
mod routes;
mod rows;
mod schema;
mod statements;
mod wait;
mod wire;

use super::traffic::Counters;
use super::{Driver, OpenError, Traffic};
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome};
use crate::plan::{CqlPlan, Plan};
use crate::reply::{Reply, Stamps};
use coordinator::Failed;
use facts::{Chosen, Cluster};
use options::Names;
use outcome::Failure;
use routes::{Choice, Routes};
use serde_json::Value;
use statements::{Prepared, Statements};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use wire::connection::Connection;
use wire::establish::Access;
use wire::frame::{self, ServerError, opcode};
use wire::streams::Answer;

/// A way to a cluster, its statements prepared.
pub struct Cql {
    routes: Routes,
    statements: Statements,
    failed: Failed,
    counters: Arc<Counters>,
    facts: Value,
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
        let chosen = Chosen {
            read: options::read_consistency("driver.read_consistency", &options.read_consistency)?,
            write: options::consistency("driver.write_consistency", &options.write_consistency)?,
            page_rows: statements::page_rows(&plan.workload),
        };
        let access = Access {
            tls: connect::tls(options)?,
            credentials: connect::credentials(options)?,
        };
        let session = Arc::new(connect::session(options, &names.keyspace, &access).await?);
        let cluster = Cluster::ask(&session).await?;
        let statements = if plan.engine.index == 0 {
            schema::create(&session, options, &names).await?;
            Statements::prepare(&session, &names, &plan.workload, chosen.read, chosen.write).await?
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
            connections: options.connections as usize,
            access,
        };
        let counters = Arc::new(Counters::default());
        Ok(Self {
            facts: facts::gather(&session, options, &names, &cluster, &chosen).await?,
            routes: Routes::open(&session, choice, &counters).await?,
            counters,
            failed: Failed::default(),
            statements,
        })
    }

    async fn attempt(
        &self,
        op: &Operation,
        connection: &Connection,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Failure> {
        let statement = self
            .statements
            .of(op)
            .ok_or_else(|| Failure::client("no statement was prepared for this operation"))?;
        if op.kind == Kind::Scan {
            return scan(connection, statement, op, values, reply).await;
        }
        let answer = execute(connection, statement, op, None, reply).await?;
        let message = answer.message()?;
        if op.kind != Kind::Read {
            return Ok(Outcome::Ok);
        }
        let first = match op.fields {
            FieldSet::All => 0,
            FieldSet::One(field) => field,
        };
        rows::record(message, op.key.as_bytes(), first, values, reply)
    }

    fn route(&self, op: &Operation, attempt: u32) -> Option<(Arc<Connection>, SocketAddr)> {
        let avoided = if attempt > 1 {
            self.failed.take(op.number)
        } else {
            None
        };
        self.routes.connection(op.key.as_bytes(), avoided)
    }
}

async fn scan(
    connection: &Connection,
    statement: &Prepared,
    op: &Operation,
    values: &Values,
    reply: &mut Reply,
) -> Result<Outcome, Failure> {
    let mut state: Option<Vec<u8>> = None;
    loop {
        let answer = execute(connection, statement, op, state.as_deref(), reply).await?;
        match rows::page(answer.message()?, values, reply)? {
            Some(next) => state = Some(next.to_vec()),
            None => return Ok(Outcome::Ok),
        }
    }
}

/// The answer to a prepared statement; a node that does not know it (one that joined, or restarted) learns it first.
async fn execute(
    connection: &Connection,
    statement: &Prepared,
    op: &Operation,
    page: Option<&[u8]>,
    reply: &mut Reply,
) -> Result<Answer, Failure> {
    let ask = || connection.call(opcode::EXECUTE, |out| statement.execute(op, page, out));
    match result(ask().await?, reply) {
        Err(error) if error.code == ServerError::UNPREPARED => {
            let prepare = connection.call(opcode::PREPARE, |out| {
                frame::bytes(out, statement.text.as_bytes());
            });
            result(prepare.await?, reply)?;
            Ok(result(ask().await?, reply)?)
        }
        other => Ok(other?),
    }
}

/// The answer if it is no error. Its clocks go to `reply`: of several requests of an attempt when the first left and when
/// the last was answered.
fn result(answer: Answer, reply: &mut Reply) -> Result<Answer, ServerError> {
    reply.stamps = Stamps {
        sent_ns: reply.stamps.sent_ns.or(Some(answer.sent_ns)),
        received_ns: Some(answer.received_ns),
    };
    if answer.opcode() == opcode::RESULT {
        return Ok(answer);
    }
    let read = answer.message().and_then(ServerError::read);
    Err(read.unwrap_or_else(|malformed| ServerError {
        code: 0,
        message: malformed.to_string(),
    }))
}

impl Driver for Cql {
    async fn execute(
        &self,
        op: &Operation,
        attempt: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        reply.stamps = Stamps::default();
        let Some((connection, node)) = self.route(op, attempt) else {
            let failure = Failure::unreachable();
            reply.error = Some(failure.text);
            return failure.outcome;
        };
        let attempted = self.attempt(op, &connection, values, reply);
        let failure = match tokio::time::timeout(timeout, attempted).await {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(failure)) => failure,
            Err(_) => {
                reply.stamps.received_ns = None; // it ended with our patience, not with an answer
                Failure::timeout()
            }
        };
        if failure.outcome.retryable() {
            self.failed.note(op.number, node);
        }
        reply.error = Some(failure.text);
        failure.outcome
    }

    fn facts(&self) -> Value {
        self.facts.clone()
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.counters.traffic())
    }
}
