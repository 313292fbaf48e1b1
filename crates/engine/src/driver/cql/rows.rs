//! Rows of an answer, handed to the reply without a copy.

use super::outcome::Failure;
use super::wire::frame::{Malformed, Rows};
use crate::generate::values::Values;
use crate::operation::Outcome;
use crate::reply::Reply;

/// The one row of a read of `key`, whose first column is field `first`; no row is no such record.
pub(super) fn record(
    message: &[u8],
    key: &[u8],
    first: u16,
    values: &Values,
    reply: &mut Reply,
) -> Result<Outcome, Failure> {
    let mut rows = Rows::read(message)?;
    for _ in 0..rows.count {
        let columns = rows.columns;
        fields(&mut rows, columns, key, first, values, reply)?;
    }
    Ok(if rows.count == 0 {
        Outcome::NotFound
    } else {
        Outcome::Ok
    })
}

/// A page of a scan: each row's first column is its key, the others are its fields. Where the next page begins, if there is one.
pub(super) fn page<'a>(
    message: &'a [u8],
    values: &Values,
    reply: &mut Reply,
) -> Result<Option<&'a [u8]>, Failure> {
    let mut rows = Rows::read(message)?;
    for _ in 0..rows.count {
        let key = rows.cell()?.unwrap_or_default();
        let columns = rows.columns.saturating_sub(1);
        fields(&mut rows, columns, key, 0, values, reply)?;
    }
    Ok(rows.paging_state)
}

/// A column without a value is a field never written.
fn fields(
    rows: &mut Rows<'_>,
    columns: usize,
    key: &[u8],
    first: u16,
    values: &Values,
    reply: &mut Reply,
) -> Result<(), Malformed> {
    reply.row();
    for field in (first..).take(columns) {
        if let Some(value) = rows.cell()? {
            reply.field(values, key, field, value);
        }
    }
    Ok(())
}
