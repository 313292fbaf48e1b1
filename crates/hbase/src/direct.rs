//! Single attempts for callers with a loop and sockets of their own: requests are encoded and answers read here, and the caller
//! carries the bytes. A row whose region is not known, or whose server has no connection yet, is for [`crate::Once`], which looks
//! it up for both.

use crate::call::{Delete, Get, GetRequest, MutateRequest, Put, check_row};
use crate::cell::Received;
use crate::client::Client;
use crate::error::Error;
use crate::locate::{Wanted, known};
use crate::names::Address;
use crate::once::garbled;
use crate::region::Location;
use crate::rpc::{self, Service};
use crate::shared::{Core, Table};
use crate::stamps::Stamps;
use std::sync::Arc;
use std::time::Duration;

/// Where a row is, as far as is known.
#[derive(Debug, Clone)]
pub struct Place {
    location: Arc<Location>,
    mark: u64,
}

impl Place {
    /// The region's server.
    pub fn server(&self) -> &Address {
        &self.location.server.address
    }
}

/// What can be asked for.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    /// Read one row.
    Get(&'a Get<'a>),
    /// Write one row.
    Put(&'a Put),
    /// Delete one row, or parts of it.
    Delete(&'a Delete),
}

/// Calls to one table.
#[derive(Debug, Clone)]
pub struct Direct {
    core: Arc<Core>,
    table: Table,
}

impl Direct {
    pub(crate) const fn new(core: Arc<Core>, table: Table) -> Self {
        Self { core, table }
    }

    /// Where `row` is, if that is known.
    pub fn place(&self, row: &[u8]) -> Option<Place> {
        let (location, mark) = known(&self.table.0, Wanted::Of(row))?;
        Some(Place { location, mark })
    }

    /// A connection for data to `server`, its header written: calls may follow at once.
    ///
    /// # Errors
    /// [`Error::Connect`] if there is none in time.
    pub async fn connect(&self, server: &Address) -> Result<std::net::TcpStream, Error> {
        rpc::open(server, Service::Client, &self.core.pool.config).await
    }

    /// Append `call` for the region at `place` under `id`; the server is told how long it is waited for.
    ///
    /// # Errors
    /// [`Error::Input`] for what no server would take; nothing is appended then.
    pub fn write(
        &self,
        call: Call<'_>,
        place: &Place,
        id: u32,
        timeout: Duration,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mutation = match call {
            Call::Get(get) => {
                check_row(get.row)?;
                let location = &*place.location;
                rpc::write(out, id, &GetRequest { get, location }, timeout);
                return Ok(());
            }
            Call::Put(put) => &put.0,
            Call::Delete(delete) => &delete.0,
        };
        mutation.check()?;
        let request = MutateRequest {
            mutation,
            location: &place.location,
            condition: &[],
            nonce_group: self.core.nonce_group,
        };
        rpc::write(out, id, &request, timeout);
        Ok(())
    }

    /// Read the answer to a call: its cells where they lie, none of a mutation. What an error teaches is learnt.
    ///
    /// # Errors
    /// What the server said, or [`Error::Protocol`] for bytes that are no answer.
    pub fn read<'a>(
        &self,
        frame: &'a [u8],
        place: &Place,
        stamps: Stamps,
    ) -> Result<Received<'a>, Error> {
        let answer = rpc::answer(&frame[rpc::LENGTH..], place.server(), stamps);
        let read = answer.and_then(|(message, cells)| {
            Received::of_response(message, cells).ok_or_else(|| garbled(&place.location))
        });
        if let Err(error) = &read {
            self.learn(place, error);
        }
        read
    }

    /// A connection to the server of `place` has ended.
    pub fn lost(&self, place: &Place, reason: &str) -> Error {
        let error = Error::Lost {
            server: place.server().clone(),
            reason: reason.into(),
        };
        self.learn(place, &error);
        error
    }

    /// A call to `place` was given up: its server may hang while the region was given to another one, and would never tell.
    pub fn doubt(&self, place: &Place) {
        self.table.0.cache().forget(&place.location);
    }

    fn learn(&self, place: &Place, error: &Error) {
        let Self { core, table } = self;
        table
            .0
            .learn_from(error, &place.location, place.mark, &core.pool);
    }
}

impl Client {
    /// Calls to `table` for a caller with sockets of its own.
    pub fn direct(&self, table: &Table) -> Direct {
        Direct::new(self.core.clone(), table.clone())
    }
}
