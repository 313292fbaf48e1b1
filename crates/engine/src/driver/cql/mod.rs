//! The CQL driver: Apache Cassandra and `ScyllaDB` through the scylla crate.
//!
//! The first attempt of an operation goes to a replica of its key, later ones to any node but the one that failed. The
//! crate itself neither retries nor speculates. Scans follow token order.

mod connect;
mod coordinator;
mod facts;
mod options;
mod outcome;
mod rows;
mod schema;
mod statements;
mod wait;

use super::{Driver, OpenError};
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome, Reply};
use crate::plan::{CqlPlan, Plan};
use coordinator::{Elsewhere, Failed};
use facts::{Chosen, Cluster};
use options::Names;
use outcome::Failure;
use scylla::client::session::Session;
use scylla::policies::load_balancing::LoadBalancingPolicy;
use scylla::response::PagingState;
use scylla::statement::prepared::PreparedStatement;
use serde_json::Value;
use statements::{Bound, Statements};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// A session with a cluster, its statements prepared.
pub struct Cql {
    session: Session,
    statements: Statements,
    /// Chooses among all nodes, for attempts after the first.
    any_node: Arc<dyn LoadBalancingPolicy>,
    failed: Failed,
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
        let session = connect::session(options, &names.keyspace).await?;
        let cluster = Cluster::ask(&session).await?;
        connect::route(&session, options, cluster.token_aware());
        let statements = if plan.engine.index == 0 {
            schema::create(&session, options, &names).await?;
            Statements::prepare(&session, &names, &plan.workload, chosen.read, chosen.write).await?
        } else {
            wait::for_table(&session, &names, plan, &chosen).await?
        };
        Ok(Self {
            facts: facts::gather(&session, options, &names, &cluster, &chosen).await?,
            any_node: connect::policy(options, false),
            failed: Failed::default(),
            statements,
            session,
        })
    }

    async fn attempt(
        &self,
        op: &Operation,
        attempt: u32,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Failure> {
        let statement = self.statement(op, attempt)?;
        if op.kind == Kind::Scan {
            return self.scan(&statement, op, values, reply).await;
        }
        let result = self.session.execute_unpaged(&statement, Bound(op)).await?;
        if op.kind != Kind::Read {
            return Ok(Outcome::Ok);
        }
        let first = match op.fields {
            FieldSet::All => 0,
            FieldSet::One(field) => field,
        };
        rows::record(result, op.key.as_bytes(), first, values, reply)
    }

    /// The prepared statement, as it is or, where this attempt needs something of its own, a shallow copy.
    fn statement(
        &self,
        op: &Operation,
        attempt: u32,
    ) -> Result<Cow<'_, PreparedStatement>, Failure> {
        let prepared = self
            .statements
            .of(op)
            .ok_or_else(|| Failure::client("no statement was prepared for this operation"))?;
        let mut statement = Cow::Borrowed(prepared);
        if matches!(op.kind, Kind::Insert | Kind::Update | Kind::Delete) {
            // The operation's own, so that a late attempt never overwrites a newer write.
            statement.to_mut().set_timestamp(Some(op.timestamp_us));
        }
        if attempt > 1 {
            let elsewhere = Elsewhere {
                inner: Arc::clone(&self.any_node),
                avoided: self.failed.take(op.number),
            };
            let statement = statement.to_mut();
            statement.set_load_balancing_policy(Some(Arc::new(elsewhere)));
        }
        Ok(statement)
    }

    async fn scan(
        &self,
        statement: &PreparedStatement,
        op: &Operation,
        values: &Values,
        reply: &mut Reply,
    ) -> Result<Outcome, Failure> {
        let mut state = PagingState::start();
        loop {
            let page = self
                .session
                .execute_single_page(statement, Bound(op), state);
            let (result, next) = page.await?;
            rows::page(result, values, reply)?;
            match next.into_paging_control_flow() {
                ControlFlow::Continue(more) => state = more,
                ControlFlow::Break(()) => return Ok(Outcome::Ok),
            }
        }
    }
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
        let attempted = self.attempt(op, attempt, values, reply);
        let (ended, node) = coordinator::noting(tokio::time::timeout(timeout, attempted)).await;
        let failure = match ended {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(failure)) => failure,
            Err(_) => Failure::timeout(),
        };
        if let Some(node) = node.filter(|_| failure.outcome.retryable()) {
            self.failed.note(op.number, node);
        }
        reply.error = Some(failure.text);
        failure.outcome
    }

    fn facts(&self) -> Value {
        self.facts.clone()
    }
}
