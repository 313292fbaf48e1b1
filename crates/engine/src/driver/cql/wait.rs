//! Engines after the first create nothing: they wait for the table.

use super::facts::Chosen;
use super::options::Names;
use super::schema;
use super::statements::Statements;
use crate::driver::OpenError;
use crate::plan::Plan;
use scylla::client::session::Session;
use std::time::{Duration, Instant};

/// How long an engine that creates nothing waits for the one that does.
const TABLE_TIMEOUT: Duration = Duration::from_secs(30);
/// ... and how often it looks.
const TABLE_POLL: Duration = Duration::from_millis(200);

/// Wait until engine 0 has made the table. With `fresh` an old one may stand in its place for a while, of another shape or
/// dropped while we prepare: all of that is waited out too.
pub(super) async fn for_table(
    session: &Session,
    names: &Names,
    plan: &Plan,
    chosen: &Chosen,
) -> Result<Statements, OpenError> {
    let began = Instant::now();
    loop {
        let reason = match schema::check(session, names).await {
            Ok(true) => match Statements::prepare(session, names, &plan.workload, chosen).await {
                Ok(statements) => return Ok(statements),
                Err(error) => error,
            },
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
