//! The prepared statements, and the EXECUTE frames that carry an operation's bytes to them.
//!
//! Columns are named one by one in field order, so that the place of a column is its field's index and the metadata need
//! not travel with every answer. Writes are INSERTs, which in CQL insert or overwrite alike, as YCSB's are.

use super::connect::SCHEMA_TIMEOUT;
use super::facts::Chosen;
use super::options::{KEY, Names};
use super::wire::frame;
use crate::driver::OpenError;
use crate::operation::{FieldSet, Kind, Operation};
use crate::plan::Workload;
use futures::stream::{self, StreamExt, TryStreamExt};
use scylla::client::session::Session;
use scylla::errors::{DbError, PrepareError, RequestAttemptError};
use scylla::statement::{Consistency, Statement};

/// Most rows of a scan's page: larger ones have exhausted the heap of small servers.
const PAGE_ROWS: u64 = 500;
/// A page of large rows is smaller still: about this many bytes.
const PAGE_BYTES: u64 = 2 << 20;
/// Statements prepared at a time, when there is one for each field.
const PREPARED_AT_ONCE: usize = 16;

/// Everything a workload may execute, prepared before the first operation is due.
pub(super) struct Statements {
    read_all: Prepared,
    read_one: Vec<Prepared>,
    write_all: Prepared,
    write_one: Vec<Prepared>,
    load: Prepared,
    delete: Prepared,
    scan: Prepared,
}

/// A statement the servers know, ready to be executed.
pub(super) struct Prepared {
    /// Its text, for a node that has forgotten it.
    pub text: String,
    /// The EXECUTE's body up to its flags: the statement's id and the consistency level.
    head: Vec<u8>,
    /// Rows of a page, of statements that are answered in pages.
    page_rows: Option<i32>,
}

/// Flags of an EXECUTE's parameters (native_protocol_v4.spec, section 4.1.4).
mod flag {
    pub(super) const VALUES: u8 = 0x01;
    pub(super) const NO_METADATA: u8 = 0x02;
    pub(super) const PAGE_SIZE: u8 = 0x04;
    pub(super) const PAGING_STATE: u8 = 0x08;
    pub(super) const TIMESTAMP: u8 = 0x20;
}

impl Prepared {
    fn new(text: String, id: &[u8], level: Consistency, page_rows: Option<i32>) -> Self {
        let mut head = Vec::with_capacity(id.len() + 4);
        head.extend_from_slice(&(id.len() as u16).to_be_bytes());
        head.extend_from_slice(id);
        head.extend_from_slice(&(level as u16).to_be_bytes());
        Self {
            text,
            head,
            page_rows,
        }
    }

    /// Append the body of the EXECUTE that does `op`: the key, then what it writes, or a scan's limit. Writes carry the
    /// operation's own timestamp, so that a late attempt never overwrites a newer write.
    pub fn execute(&self, op: &Operation, page: Option<&[u8]>, out: &mut Vec<u8>) {
        let writes = matches!(op.kind, Kind::Insert | Kind::Update | Kind::Delete);
        let optional = |wanted: bool, flag: u8| if wanted { flag } else { 0 };
        let flags = flag::VALUES
            | flag::NO_METADATA
            | optional(self.page_rows.is_some(), flag::PAGE_SIZE)
            | optional(page.is_some(), flag::PAGING_STATE)
            | optional(writes, flag::TIMESTAMP);
        let values = match op.kind {
            Kind::Insert | Kind::Update => 1 + op.ends.len(),
            Kind::Scan => 2,
            _ => 1,
        };
        out.extend_from_slice(&self.head);
        out.push(flags);
        out.extend_from_slice(&(values as u16).to_be_bytes());
        frame::bytes(out, op.key.as_bytes());
        match op.kind {
            Kind::Insert | Kind::Update => {
                for (_, value) in op.written() {
                    frame::bytes(out, value);
                }
            }
            Kind::Scan => frame::bytes(out, &scan_limit(op).to_be_bytes()),
            _ => {}
        }
        if let Some(rows) = self.page_rows {
            out.extend_from_slice(&rows.to_be_bytes());
        }
        if let Some(state) = page {
            frame::bytes(out, state);
        }
        if writes {
            out.extend_from_slice(&op.timestamp_us.to_be_bytes());
        }
    }
}

impl Statements {
    /// Prepare on every node that can be reached.
    pub async fn prepare(
        session: &Session,
        names: &Names,
        workload: &Workload,
        chosen: &Chosen,
    ) -> Result<Self, OpenError> {
        let (read, write) = (chosen.read, chosen.write);
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
        scan.page_rows = Some(chosen.page_rows as i32);
        Ok(Self {
            read_all: prepare(session, select(all), read).await?,
            write_all: prepare(session, insert(all), write).await?,
            read_one: each(session, one(!workload.read_all_fields).map(select), read).await?,
            write_one: each(session, one(!workload.write_all_fields).map(insert), write).await?,
            load: prepare(session, insert(all), chosen.load).await?,
            delete: prepare(session, delete, write).await?,
            scan,
        })
    }

    /// The statement that does `op`; none if the plan foresaw no such operation.
    pub fn of(&self, op: &Operation) -> Option<&Prepared> {
        match (op.kind, op.fields) {
            (Kind::Read, FieldSet::All) => Some(&self.read_all),
            (Kind::Read, FieldSet::One(field)) => self.read_one.get(usize::from(field)),
            (Kind::Insert, _) if op.loaded => Some(&self.load),
            (Kind::Insert | Kind::Update, FieldSet::All) => Some(&self.write_all),
            (Kind::Insert | Kind::Update, FieldSet::One(field)) => {
                self.write_one.get(usize::from(field))
            }
            (Kind::Delete, _) => Some(&self.delete),
            (Kind::Scan, _) => Some(&self.scan),
            _ => None,
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
) -> Result<Vec<Prepared>, OpenError> {
    stream::iter(texts.map(|text| prepare(session, text, level)))
        .buffered(PREPARED_AT_ONCE)
        .try_collect()
        .await
}

async fn prepare(
    session: &Session,
    text: String,
    level: Consistency,
) -> Result<Prepared, OpenError> {
    let statement = Statement::new(&text);
    // The crate puts no bound on this, so that one frozen node would hold us for ever.
    let prepared = tokio::time::timeout(SCHEMA_TIMEOUT, session.prepare(statement))
        .await
        .map_err(|_| OpenError::Reach("the nodes do not answer: cannot prepare".into()))?
        .map_err(|error| unprepared(&error))?;
    Ok(Prepared::new(text, prepared.get_id(), level, None))
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

/// Rows a scan asks for, as CQL's LIMIT wants it: positive.
pub(super) fn scan_limit(op: &Operation) -> i32 {
    i32::try_from(op.scan_length.max(1)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Key;

    fn operation(kind: Kind) -> Operation {
        let mut op = Operation {
            kind,
            key: Key::default(),
            scan_length: 7,
            timestamp_us: 5,
            ..Operation::default()
        };
        op.key.bytes[..3].copy_from_slice(b"key");
        op.key.len = 3;
        op
    }

    fn body(op: &Operation, page_rows: Option<i32>, page: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        Prepared::new(String::new(), b"id", Consistency::Quorum, page_rows)
            .execute(op, page, &mut out);
        out
    }

    #[test]
    fn records_are_loaded_at_a_level_of_their_own() {
        let at = |level| Prepared::new(String::new(), b"id", level, None);
        let statements = Statements {
            read_all: at(Consistency::One),
            read_one: Vec::new(),
            write_all: at(Consistency::One),
            write_one: Vec::new(),
            load: at(Consistency::All),
            delete: at(Consistency::One),
            scan: at(Consistency::One),
        };
        let level = |op: &Operation| statements.of(op).unwrap().head[5];
        let mut op = operation(Kind::Insert);
        assert_eq!(level(&op), Consistency::One as u8);
        op.loaded = true;
        assert_eq!(level(&op), Consistency::All as u8);
    }

    #[test]
    fn a_read_binds_its_key() {
        let expected = [&b"\0\x02id\0\x04"[..], &[0x03, 0, 1, 0, 0, 0, 3], b"key"].concat();
        assert_eq!(body(&operation(Kind::Read), None, None), expected);
    }

    #[test]
    fn a_write_binds_its_values_and_its_timestamp() {
        let mut op = operation(Kind::Update);
        op.values = b"abc".to_vec();
        op.ends = vec![1, 3];
        let tail = [
            &[0, 0, 0, 1][..],
            b"a",
            &[0, 0, 0, 2],
            b"bc",
            &5_i64.to_be_bytes(),
        ]
        .concat();
        let written = body(&op, None, None);
        assert_eq!(written[6..9], [0x23, 0, 3]);
        assert!(written.ends_with(&tail), "{written:?}");
    }

    #[test]
    fn a_scan_binds_its_limit_and_goes_on_from_its_page() {
        let first = body(&operation(Kind::Scan), Some(500), None);
        assert_eq!(first[6..9], [0x07, 0, 2]);
        let second = body(&operation(Kind::Scan), Some(500), Some(b"page"));
        assert_eq!(second[6], 0x0F);
        assert!(second.ends_with(b"\0\0\x01\xf4\0\0\0\x04page"));
    }
}
