//! What an answer to an EXECUTE says.

use super::outcome::Failure;
use super::rows;
use super::wire::frame::{self, ServerError, opcode};
use crate::generate::values::Values;
use crate::operation::{FieldSet, Kind, Operation, Outcome};
use crate::reply::Reply;

/// What it says.
pub(super) enum Answer {
    Done(Outcome),
    /// A scan goes on here.
    Page(Vec<u8>),
    /// The node does not know the statement.
    Unprepared,
}

/// Read the answer to `op` in the frame `received`; its values go to `reply`.
#[inline]
pub(super) fn read(
    received: &[u8],
    op: &Operation,
    values: &Values,
    reply: &mut Reply,
) -> Result<Answer, Failure> {
    let (header, message) = frame::take_apart(received)?;
    if header.opcode != opcode::RESULT {
        let error = ServerError::read(message)?;
        if error.code == ServerError::UNPREPARED {
            return Ok(Answer::Unprepared);
        }
        return Err(error.into());
    }
    match op.kind {
        Kind::Read => {
            let first = match op.fields {
                FieldSet::All => 0,
                FieldSet::One(field) => field,
            };
            rows::record(message, op.key.as_bytes(), first, values, reply).map(Answer::Done)
        }
        Kind::Scan => {
            let next = rows::page(message, values, reply)?;
            Ok(next.map_or(Answer::Done(Outcome::Ok), |page| {
                Answer::Page(page.to_vec())
            }))
        }
        _ => Ok(Answer::Done(Outcome::Ok)),
    }
}
