//! The prepared statements, and how an operation's bytes are bound to them without a copy of our own.
//!
//! Columns are named one by one in field order, so that the place of a column is its field's index and the metadata need
//! not travel with every answer. Writes are INSERTs, which in CQL insert or overwrite alike, as YCSB's are.

use super::connect::SCHEMA_TIMEOUT;
use super::options::{KEY, Names};
use crate::driver::OpenError;
use crate::operation::{FieldSet, Kind, Operation};
use crate::plan::Workload;
use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::client::session::Session;
use scylla::errors::{DbError, PrepareError, RequestAttemptError};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, Statement};

/// Most rows of a scan's page: larger ones have exhausted the heap of small servers.
const PAGE_ROWS: u64 = 500;
/// A page of large rows is smaller still: about this many bytes.
const PAGE_BYTES: u64 = 2 << 20;
/// Statements prepared at a time, when there is one for each field.
const PREPARED_AT_ONCE: usize = 16;

/// Everything a workload may execute, prepared before the first operation is due.
pub(super) struct Statements {
    read_all: PreparedStatement,
    read_one: Vec<PreparedStatement>,
    write_all: PreparedStatement,
    write_one: Vec<PreparedStatement>,
    delete: PreparedStatement,
    scan: PreparedStatement,
}

impl Statements {
    /// Prepare on every node that can be reached.
    pub async fn prepare(
        session: &Session,
        names: &Names,
        workload: &Workload,
        read: Consistency,
        write: Consistency,
    ) -> Result<Self, OpenError> {
        let table = names.qualified();
        let all = names.fields.as_slice();
        let one = |wanted: bool| all.chunks(1).take(if wanted { all.len() } else { 0 });
        let select = |fields: &[String]| {
            format!(
                "SELECT {} FROM {table} WHERE {KEY} = ? LIMIT 1",
                columns(fields)
            )
        };
        let insert = |fields: &[String]| {
            let marks = ", ?".repeat(fields.len());
            format!(
                "INSERT INTO {table} ({KEY}, {}) VALUES (?{marks})",
                columns(fields)
            )
        };
        let scan = format!(
            "SELECT {KEY}, {} FROM {table} WHERE token({KEY}) >= token(?) LIMIT ?",
            columns(all)
        );
        let delete = format!("DELETE FROM {table} WHERE {KEY} = ?");
        let mut scan = prepare(session, scan, read).await?;
        scan.set_page_size(page_rows(workload) as i32);
        Ok(Self {
            read_all: prepare(session, select(all), read).await?,
            write_all: prepare(session, insert(all), write).await?,
            read_one: each(session, one(!workload.read_all_fields).map(select), read).await?,
            write_one: each(session, one(!workload.write_all_fields).map(insert), write).await?,
            delete: prepare(session, delete, write).await?,
            scan,
        })
    }

    /// The statement that does `op`; none if the plan foresaw no such operation.
    pub fn of(&self, op: &Operation) -> Option<&PreparedStatement> {
        match (op.kind, op.fields) {
            (Kind::Read, FieldSet::All) => Some(&self.read_all),
            (Kind::Read, FieldSet::One(field)) => self.read_one.get(usize::from(field)),
            (Kind::Insert | Kind::Update, FieldSet::All) => Some(&self.write_all),
            (Kind::Insert | Kind::Update, FieldSet::One(field)) => {
                self.write_one.get(usize::from(field))
            }
            (Kind::Delete, _) => Some(&self.delete),
            (Kind::Scan, _) => Some(&self.scan),
            (Kind::ReadModifyWrite | Kind::Flush, _) => None,
        }
    }
}

/// Rows of one page of a scan.
pub(super) fn page_rows(workload: &Workload) -> u64 {
    let (_, longest) = workload.fields.length.bounds();
    let row = u64::from(longest) * u64::from(workload.fields.count);
    (PAGE_BYTES / row.max(1)).clamp(1, PAGE_ROWS)
}

fn columns(fields: &[String]) -> String {
    let quoted: Vec<_> = fields.iter().map(|field| format!("\"{field}\"")).collect();
    quoted.join(", ")
}

async fn each(
    session: &Session,
    texts: impl Iterator<Item = String>,
    level: Consistency,
) -> Result<Vec<PreparedStatement>, OpenError> {
    stream::iter(texts.map(|text| prepare(session, text, level)))
        .buffered(PREPARED_AT_ONCE)
        .try_collect()
        .await
}

async fn prepare(
    session: &Session,
    text: String,
    level: Consistency,
) -> Result<PreparedStatement, OpenError> {
    let mut statement = Statement::new(text);
    statement.set_consistency(level);
    statement.set_is_idempotent(true);
    // The crate puts no bound on this, so that one frozen node would hold us for ever.
    let mut prepared = tokio::time::timeout(SCHEMA_TIMEOUT, session.prepare(statement))
        .await
        .map_err(|_| OpenError::Reach("the nodes do not answer: cannot prepare".into()))?
        .map_err(|error| unprepared(&error))?;
    prepared.set_use_cached_result_metadata(true);
    Ok(prepared)
}

fn unprepared(error: &PrepareError) -> OpenError {
    let text = format!("cannot prepare: {error}");
    match error {
        PrepareError::AllAttemptsFailed {
            first_attempt: RequestAttemptError::DbError(DbError::Invalid | DbError::Unauthorized, _),
        } => OpenError::Option(text),
        _ => OpenError::Reach(text),
    }
}

/// An operation's bind values: the key, then what it writes, or a scan's limit.
pub(super) struct Bound<'a>(pub &'a Operation);

impl SerializeRow for Bound<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter,
    ) -> Result<(), SerializationError> {
        let mut cell = |bytes: &[u8]| {
            let written = writer.make_cell_writer().set_value(bytes);
            written.map(drop).map_err(SerializationError::new)
        };
        cell(self.0.key.as_bytes())?;
        match self.0.kind {
            Kind::Insert | Kind::Update => {
                for (_, value) in self.0.written() {
                    cell(value)?;
                }
            }
            Kind::Scan => cell(&scan_limit(self.0).to_be_bytes())?,
            Kind::Read | Kind::Delete | Kind::ReadModifyWrite | Kind::Flush => {}
        }
        let marks = context.columns().len();
        if writer.value_count() == marks {
            Ok(())
        } else {
            Err(SerializationError::new(WrongCount(marks)))
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// Rows a scan asks for, as CQL's LIMIT wants it: positive.
pub(super) fn scan_limit(op: &Operation) -> i32 {
    i32::try_from(op.scan_length.max(1)).unwrap_or(i32::MAX)
}

/// An operation with more or fewer values than its statement has marks.
#[derive(Debug, thiserror::Error)]
#[error("the statement takes {0} values, the operation has another number")]
struct WrongCount(usize);
