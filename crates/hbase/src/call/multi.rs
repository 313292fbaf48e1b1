//! Multi: gets and mutations of many rows, one call to each region server.

use super::{Append, Delete, Get, Increment, Mutation, Put, check_row};
use crate::error::Error;
use crate::region::Location;
use crate::rpc::wire::{bytes_len, number_len, put_bytes, put_length, put_number};
use crate::rpc::{Endpoint, Request};
use std::sync::Arc;

/// One of many.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// Read one row.
    Get(Get<'a>),
    /// Write one row.
    Put(&'a Put),
    /// Delete one row, or parts of it.
    Delete(&'a Delete),
    /// Add to counters of one row.
    Increment(&'a Increment),
    /// Add bytes to values of one row.
    Append(&'a Append),
}

impl Item<'_> {
    fn mutation(&self) -> Option<&Mutation> {
        match self {
            Self::Get(_) => None,
            Self::Put(put) => Some(&put.0),
            Self::Delete(delete) => Some(&delete.0),
            Self::Increment(increment) => Some(&increment.0),
            Self::Append(append) => Some(&append.0),
        }
    }

    pub(crate) fn row(&self) -> &[u8] {
        match self {
            Self::Get(get) => get.row,
            _ => self.mutation().expect("what is no get is a mutation").row(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.mutation()
            .map_or_else(|| check_row(self.row()), Mutation::check)
    }

    /// Bytes of the message `Action`.
    fn encoded_len(&self, index: usize) -> usize {
        let content = match self {
            Self::Get(get) => get.encoded_len(),
            _ => self.mutation().map_or(0, Mutation::encoded_len),
        };
        number_len(index as u64) + bytes_len(content)
    }

    /// As the message `Action`.
    fn write(&self, index: usize, out: &mut Vec<u8>) {
        put_number(out, 1, index as u64);
        if let Self::Get(get) = self {
            put_length(out, 3, get.encoded_len());
            get.write(out);
        } else if let Some(mutation) = self.mutation() {
            put_length(out, 2, mutation.encoded_len());
            mutation.write(out);
        }
    }
}

/// The items of one region.
pub(crate) struct RegionShare {
    pub(crate) location: Arc<Location>,
    pub(crate) mark: u64,
    pub(crate) items: Vec<usize>,
}

impl RegionShare {
    /// Append it as a `regionAction` field, and the cells to the block.
    fn write(&self, items: &[Item<'_>], out: &mut Vec<u8>, cells: &mut Vec<u8>) {
        let actions: usize = self
            .items
            .iter()
            .map(|i| bytes_len(items[*i].encoded_len(*i)))
            .sum();
        let specifier = &self.location.specifier;
        put_length(out, 1, bytes_len(specifier.len()) + actions);
        put_bytes(out, 1, specifier);
        for index in &self.items {
            let item = &items[*index];
            put_length(out, 3, item.encoded_len(*index));
            item.write(*index, out);
            cells.extend_from_slice(item.mutation().map_or(&[], Mutation::cells));
        }
    }
}

/// The items of one server.
pub(crate) struct ServerShare {
    pub(crate) server: Arc<Endpoint>,
    pub(crate) regions: Vec<RegionShare>,
}

impl ServerShare {
    pub(crate) fn request(&self, items: &[Item<'_>], nonce_group: u64) -> MultiRequest {
        let (mut param, mut cells) = (Vec::new(), Vec::new());
        for region in &self.regions {
            region.write(items, &mut param, &mut cells);
        }
        put_number(&mut param, 2, nonce_group);
        MultiRequest { param, cells }
    }
}

pub(crate) struct MultiRequest {
    param: Vec<u8>,
    cells: Vec<u8>,
}

impl Request for MultiRequest {
    fn method(&self) -> &'static str {
        "Multi"
    }

    fn param_len(&self) -> usize {
        self.param.len()
    }

    fn write_param(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.param);
    }

    fn cells(&self) -> &[u8] {
        &self.cells
    }
}
