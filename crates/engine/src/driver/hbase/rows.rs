//! Cells of a row, handed to the reply without a copy.

use super::options::Names;
use crate::generate::values::Values;
use crate::reply::Reply;
use steelyard_hbase::Cells;

/// One row that was asked for, or found by a scan, as `key`. Columns that are no fields are not ours and not looked at.
pub(super) fn record(
    cells: Cells<'_>,
    key: &[u8],
    names: &Names,
    values: &Values,
    reply: &mut Reply,
) {
    reply.row();
    for cell in cells {
        if let Some(field) = names.field(cell.qualifier) {
            reply.field(values, key, field, cell.value);
        }
    }
}
