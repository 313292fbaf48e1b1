//! HBase's RPC: a connection to one service of one server carries many calls at once.
//!
//! A call is encoded under a short lock into what its connection is to write; the connection's task writes all that waits there
//! in one `write()` and gives every answer to the call it belongs to ([`connection`], [`link`], both on the multiplexer that the
//! engine's own connections use). Servers and their connections are kept in a [`pool`]. Nothing here knows tables or regions.

mod connection;
mod frame;
mod hello;
mod link;
mod pool;
mod request;
pub(crate) mod wire;

#[cfg(test)]
pub(crate) mod script;
#[cfg(test)]
mod tests;

pub use frame::Frames;
pub(crate) use frame::LENGTH;
pub(crate) use link::{PoolConfig, answer, open};
pub(crate) use pool::{Endpoint, Pool};
pub(crate) use request::{Plain, Request};

use crate::error::Error;
use crate::names::Address;
use crate::stamps::Stamps;
use bytes::Bytes;
use std::time::Duration;

/// The services a server offers; each has connections of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Data: get, mutate, scan, multi.
    Client,
    /// The connection registry.
    Registry,
    /// Region servers' administration.
    Admin,
    /// The master's administration.
    Master,
}

impl Service {
    const COUNT: usize = 4;

    const fn name(self) -> &'static str {
        match self {
            Self::Client => "ClientService",
            Self::Registry => "ClientMetaService",
            Self::Admin => "AdminService",
            Self::Master => "MasterService",
        }
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// The response message.
    pub(crate) message: Bytes,
    /// The cell block that came with it.
    pub(crate) cells: Bytes,
    /// When.
    pub(crate) stamps: Stamps,
}

impl Reply {
    /// The response message, decoded.
    pub(crate) fn decode<M: prost::Message + Default>(&self, server: &Address) -> Result<M, Error> {
        M::decode(self.message.clone()).map_err(|_| Error::Protocol {
            server: server.clone(),
            what: "an answer that cannot be decoded",
        })
    }
}

/// Append `request` as call `id`, which is waited for so long.
pub(crate) fn write(out: &mut Vec<u8>, id: u32, request: &impl Request, timeout: Duration) {
    frame::write(out, id, request, pool::millis(timeout));
}
