//! The calls, one file each: what one can ask for, and how it is written.

mod append;
mod check;
mod columns;
mod delete;
mod get;
mod increment;
mod multi;
mod mutation;
mod put;
mod scan;

pub use append::Append;
pub use check::{Check, Compare};
pub use columns::Columns;
pub use delete::Delete;
pub use get::Get;
pub use increment::Increment;
pub use multi::Item;
pub use mutation::Durability;
pub use put::Put;
pub use scan::Scan;

pub(crate) use get::GetRequest;
pub(crate) use multi::{RegionShare, ServerShare};
pub(crate) use mutation::{MutateRequest, Mutation};
pub(crate) use scan::Edge;

use crate::error::Error;

/// HBase's limit of a row key, bytes.
const MAX_ROW: usize = i16::MAX as usize;

/// Whether `row` can be a row key.
pub(crate) fn check_row(row: &[u8]) -> Result<(), Error> {
    match row.len() {
        0 => Err(Error::Input("a row key must not be empty".to_owned())),
        1..=MAX_ROW => Ok(()),
        len => Err(Error::Input(format!(
            "a row key of {len} bytes is too long: HBase allows {MAX_ROW}"
        ))),
    }
}

#[cfg(test)]
mod tests;
