//! Raw rows of an answer, handed to the reply without a copy.

use super::outcome::Failure;
use crate::generate::values::Values;
use crate::operation::{Outcome, Reply};
use scylla::deserialize::FrameSlice;
use scylla::deserialize::row::{ColumnIterator, RawColumn};
use scylla::response::query_result::QueryResult;

/// The one row of a read of `key`, whose first column is field `first`; no row is no such record.
pub(super) fn record(
    result: QueryResult,
    key: &[u8],
    first: u16,
    values: &Values,
    reply: &mut Reply,
) -> Result<Outcome, Failure> {
    let rows = each(result, |row| fields(row, key, first, values, reply))?;
    Ok(if rows == 0 {
        Outcome::NotFound
    } else {
        Outcome::Ok
    })
}

/// A page of a scan: each row's first column is its key, the others are its fields.
pub(super) fn page(
    result: QueryResult,
    values: &Values,
    reply: &mut Reply,
) -> Result<usize, Failure> {
    each(result, |mut row| {
        let key = row.next().transpose().map_err(failure)?;
        let key = key.as_ref().and_then(bytes).unwrap_or_default();
        fields(row, key, 0, values, reply)
    })
}

fn each(
    result: QueryResult,
    mut show: impl FnMut(ColumnIterator<'_, '_>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let rows = result.into_rows_result().map_err(failure)?;
    for row in rows.rows::<ColumnIterator>().map_err(failure)? {
        show(row.map_err(failure)?)?;
    }
    Ok(rows.rows_num())
}

/// A column without a value is a field never written.
fn fields(
    row: ColumnIterator<'_, '_>,
    key: &[u8],
    first: u16,
    values: &Values,
    reply: &mut Reply,
) -> Result<(), Failure> {
    reply.row();
    for (field, column) in (first..).zip(row) {
        if let Some(value) = bytes(&column.map_err(failure)?) {
            reply.field(values, key, field, value);
        }
    }
    Ok(())
}

fn bytes<'a>(column: &RawColumn<'a, '_>) -> Option<&'a [u8]> {
    column.slice.as_ref().map(FrameSlice::as_slice)
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::client(error.to_string())
}
