//! Keyspace and table: created where missing, checked where found, never changed.

use super::connect::SCHEMA_TIMEOUT;
use super::options::{self, KEY, Names};
use super::plan::CqlPlan;
use crate::driver::OpenError;
use scylla::client::session::Session;
use scylla::deserialize::row::DeserializeRow;
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::response::query_result::QueryRowsResult;
use scylla::serialize::row::SerializeRow;
use scylla::statement::{Consistency, Statement};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A keyspace as the server has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keyspace {
    /// Its replication map.
    pub replication: BTreeMap<String, String>,
    /// Whether its writes go to the commit log.
    pub durable_writes: bool,
}

/// Create keyspace and table if they are missing; `fresh` drops the table first.
pub(super) async fn create(
    session: &Session,
    options: &CqlPlan,
    names: &Names,
) -> Result<(), OpenError> {
    let replication = options::replication(&options.replication)?;
    let (table, durable) = (names.qualified(), options.durable_writes);
    if keyspace(session, names).await?.is_none() {
        let keyspace = &names.keyspace;
        let text = format!(
            "CREATE KEYSPACE IF NOT EXISTS \"{keyspace}\" \
             WITH replication = {replication} AND durable_writes = {durable}"
        );
        change(session, text).await?;
    }
    if options.fresh {
        change(session, format!("DROP TABLE IF EXISTS {table}")).await?;
    }
    if !check(session, names).await? {
        change(session, create_table(options, names)).await?;
    }
    let agreed = session.await_schema_agreement().await;
    agreed.map(drop).map_err(reach)
}

fn create_table(options: &CqlPlan, names: &Names) -> String {
    let mut columns = format!("{KEY} varchar PRIMARY KEY");
    for field in &names.fields {
        columns += ", \"";
        columns += field;
        columns += "\" varchar";
    }
    let with = if options.table_options.is_empty() {
        String::new()
    } else {
        format!(" WITH {}", options.table_options.join(" AND "))
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {} ({columns}){with}",
        names.qualified()
    )
}

/// Whether the table is there; an error if it has another shape.
pub(super) async fn check(session: &Session, names: &Names) -> Result<bool, OpenError> {
    let found = rows::<(String, String, String)>(
        session,
        "SELECT column_name, kind, type FROM system_schema.columns \
         WHERE keyspace_name = ? AND table_name = ?",
        (names.keyspace.as_str(), names.table.as_str()),
    )
    .await?;
    let columns: BTreeMap<_, _> = found
        .into_iter()
        .map(|(name, kind, data)| (name, (kind, data)))
        .collect();
    if columns.is_empty() {
        return Ok(false);
    }
    match differences(&columns, names) {
        wrong if wrong.is_empty() => Ok(true),
        wrong => Err(OpenError::Shape(format!(
            "table {} has another shape: {}; `--fresh` drops it",
            names.qualified(),
            wrong.join("; ")
        ))),
    }
}

/// What a table's columns (name -> kind, type) lack or have too much; at most a handful are named.
fn differences(columns: &BTreeMap<String, (String, String)>, names: &Names) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |name: &str, kind: &str| match columns.get(name) {
        None => wrong.push(format!("no column {name:?}")),
        Some((found, data)) if found != kind || data != "text" => wrong.push(format!(
            "column {name:?} is {found} of type {data}, not {kind} of type text"
        )),
        Some(_) => {}
    };
    expect(KEY, "partition_key");
    for field in &names.fields {
        expect(field, "regular");
    }
    for (name, (kind, _)) in columns {
        if name != KEY && (kind == "partition_key" || kind == "clustering") {
            wrong.push(format!("column {name:?} is part of the primary key"));
        }
    }
    let all = wrong.len();
    if all > 4 {
        wrong.truncate(3);
        wrong.push(format!("{} more", all - 3));
    }
    wrong
}

/// The keyspace, if it is there.
pub(super) async fn keyspace(
    session: &Session,
    names: &Names,
) -> Result<Option<Keyspace>, OpenError> {
    let found = rows::<(BTreeMap<String, String>, bool)>(
        session,
        "SELECT replication, durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?",
        (names.keyspace.as_str(),),
    )
    .await?;
    Ok(found
        .into_iter()
        .next()
        .map(|(replication, durable_writes)| Keyspace {
            replication,
            durable_writes,
        }))
}

/// All rows of a small question to a system table.
pub(super) async fn rows<R>(
    session: &Session,
    text: impl Into<Statement>,
    values: impl SerializeRow,
) -> Result<Vec<R>, OpenError>
where
    R: for<'a> DeserializeRow<'a, 'a>,
{
    let mut statement = text.into();
    statement.set_consistency(Consistency::One);
    statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
    let result = session
        .query_unpaged(statement, values)
        .await
        .map_err(reach)?
        .into_rows_result()
        .map_err(reach)?;
    collect(&result)
}

fn collect<R>(result: &QueryRowsResult) -> Result<Vec<R>, OpenError>
where
    R: for<'a> DeserializeRow<'a, 'a>,
{
    let rows = result.rows::<R>().map_err(reach)?;
    rows.collect::<Result<_, _>>().map_err(reach)
}

async fn change(session: &Session, text: String) -> Result<(), OpenError> {
    let mut statement = Statement::new(text);
    statement.set_request_timeout(Some(SCHEMA_TIMEOUT));
    match session.query_unpaged(statement, ()).await {
        Ok(_) => Ok(()),
        Err(ExecutionError::LastAttemptError(RequestAttemptError::DbError(
            DbError::SyntaxError | DbError::Invalid | DbError::ConfigError | DbError::Unauthorized,
            message,
        ))) => Err(OpenError::Option(format!(
            "the server refuses the schema: {message}"
        ))),
        Err(error) => Err(reach(error)),
    }
}

fn reach(error: impl Display) -> OpenError {
    OpenError::Reach(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            keyspace: "ks".into(),
            table: "t".into(),
            fields: vec!["field0".into(), "field1".into()],
        }
    }

    fn columns(of: &[(&str, &str, &str)]) -> BTreeMap<String, (String, String)> {
        of.iter()
            .map(|&(name, kind, data)| (name.into(), (kind.into(), data.into())))
            .collect()
    }

    #[test]
    fn the_expected_shape_has_no_differences() {
        let found = columns(&[
            ("y_id", "partition_key", "text"),
            ("field0", "regular", "text"),
            ("field1", "regular", "text"),
            ("other", "regular", "int"),
        ]);
        assert!(differences(&found, &names()).is_empty());
    }

    #[test]
    fn every_difference_is_named() {
        let found = columns(&[
            ("y_id", "partition_key", "blob"),
            ("c", "clustering", "int"),
            ("field0", "regular", "text"),
        ]);
        assert_eq!(
            differences(&found, &names()),
            [
                "column \"y_id\" is partition_key of type blob, not partition_key of type text",
                "no column \"field1\"",
                "column \"c\" is part of the primary key",
            ]
        );
    }
}
