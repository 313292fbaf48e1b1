//! The CQL driver: Apache Cassandra and ScyllaDB through the scylla crate.
//!
//! The first attempt of an operation goes to a replica of its key; later ones go through a policy that is not token-aware,
//! so that another coordinator is tried. The crate itself neither retries nor speculates. Scans follow token order.

mod connect;
mod facts;
mod options;
mod outcome;
mod schema;
mod statements;

use super::{Driver, OpenError};
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome, Reply};
use crate::plan::{CqlPlan, Plan};
use facts::{Chosen, Cluster};
use options::Names;
use outcome::Failure;
use scylla::client::session::Session;
use scylla::deserialize::row::{ColumnIterator, RawColumn};
use scylla::policies::load_balancing::LoadBalancingPolicy;
use scylla::response::PagingState;
use scylla::response::query_result::QueryResult;
use scylla::statement::prepared::PreparedStatement;
use serde_json::Value;
use statements::{Bound, Statements};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an engine that creates nothing waits for the one that does.
const TABLE_TIMEOUT: Duration = Duration::from_secs(30);
/// ... and how often it looks.
const TABLE_POLL: Duration = Duration::from_millis(200);

/// A session with a cluster, its statements prepared.
pub struct Cql {
    session: Session,
    statements: Statements,
    elsewhere: Arc<dyn LoadBalancingPolicy>,
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
        check_datacenter(&session, options)?;
        let cluster = Cluster::ask(&session).await?;
        if cluster.token_aware() {
            let profile = connect::profile(connect::policy(options, true));
            let mut handle = session.get_default_execution_profile_handle().clone();
            handle.map_to_another_profile(profile);
        }
        let statements = if plan.engine.index == 0 {
            schema::create(&session, options, &names).await?;
            Statements::prepare(&session, &names, &plan.workload, chosen.read, chosen.write).await?
        } else {
            wait_for_table(&session, &names, plan, &chosen).await?
        };
        Ok(Self {
            facts: facts::gather(&session, options, &names, &cluster, &chosen).await?,
            elsewhere: connect::policy(options, false),
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
        show(result, |row| {
            fields(row, op.key.as_bytes(), first, values, reply)
        })
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
            let policy = Some(Arc::clone(&self.elsewhere));
            statement.to_mut().set_load_balancing_policy(policy);
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
            show(result, |mut row| {
                let key = row.next().transpose().map_err(client)?;
                let key = key.and_then(bytes).unwrap_or_default();
                fields(row, key, 0, values, reply)
            })?;
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
        let failure =
            match tokio::time::timeout(timeout, self.attempt(op, attempt, values, reply)).await {
                Ok(Ok(outcome)) => return outcome,
                Ok(Err(failure)) => failure,
                Err(_) => Failure {
                    outcome: Outcome::Timeout,
                    text: "no answer in time".into(),
                },
            };
        reply.error = Some(failure.text);
        failure.outcome
    }

    fn facts(&self) -> Value {
        self.facts.clone()
    }
}

/// Give every row of an answer to `row`; an answer without rows is no such record.
fn show(
    result: QueryResult,
    mut row: impl FnMut(ColumnIterator<'_, '_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let rows = result.into_rows_result().map_err(client)?;
    for columns in rows.rows::<ColumnIterator>().map_err(client)? {
        row(columns.map_err(client)?)?;
    }
    Ok(if rows.rows_num() == 0 {
        Outcome::NotFound
    } else {
        Outcome::Ok
    })
}

/// Hand a row's values to `reply`; a column without a value is a field never written.
fn fields(
    row: ColumnIterator<'_, '_>,
    key: &[u8],
    first: u16,
    values: &Values,
    reply: &mut Reply,
) -> Result<(), Failure> {
    reply.row();
    for (field, column) in (first..).zip(row) {
        if let Some(value) = bytes(column.map_err(client)?) {
            reply.field(values, key, field, value);
        }
    }
    Ok(())
}

fn bytes<'a>(column: RawColumn<'a, '_>) -> Option<&'a [u8]> {
    column.slice.map(|slice| slice.as_slice())
}

fn client(error: impl std::fmt::Display) -> Failure {
    Failure::client(error.to_string())
}

/// With a datacenter of another name no node may coordinate: say so before the first operation does.
fn check_datacenter(session: &Session, options: &CqlPlan) -> Result<(), OpenError> {
    let Some(wanted) = &options.local_datacenter else {
        return Ok(());
    };
    let state = session.get_cluster_state();
    let known: std::collections::BTreeSet<_> = state
        .get_nodes_info()
        .iter()
        .filter_map(|node| node.datacenter.as_deref())
        .collect();
    if known.contains(wanted.as_str()) {
        return Ok(());
    }
    Err(OpenError::Option(format!(
        "driver.local_datacenter: no node is in {wanted:?}; the cluster has {known:?}"
    )))
}

/// Wait until engine 0 has made the table. With `fresh` an old one may stand in its place for a while, of another shape or
/// dropped while we prepare: all of that is waited out too.
async fn wait_for_table(
    session: &Session,
    names: &Names,
    plan: &Plan,
    chosen: &Chosen,
) -> Result<Statements, OpenError> {
    let began = Instant::now();
    loop {
        let reason = match schema::check(session, names).await {
            Ok(true) => {
                let workload = &plan.workload;
                match Statements::prepare(session, names, workload, chosen.read, chosen.write).await
                {
                    Ok(statements) => {
                        // The replication of a keyspace made since we connected decides who its replicas are.
                        let refreshed = session.refresh_metadata().await;
                        return refreshed
                            .map(|()| statements)
                            .map_err(|error| OpenError::Reach(error.to_string()));
                    }
                    Err(error) => error,
                }
            }
            Ok(false) => OpenError::Reach(format!(
                "engine 0 did not create table {} within {} s",
                names.qualified(),
                TABLE_TIMEOUT.as_secs()
            )),
            Err(error) => error,
        };
        if began.elapsed() > TABLE_TIMEOUT {
            return Err(reason);
        }
        tokio::time::sleep(TABLE_POLL).await;
    }
}
