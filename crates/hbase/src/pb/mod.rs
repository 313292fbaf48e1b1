//! HBase's protocol buffer messages (package `hbase.pb`, proto2), written by hand from the field numbers of HBase 2.6: only the
//! messages and fields this crate sends or reads. Unknown fields are skipped, so newer servers are understood too.

pub(crate) mod admin;
mod client;
mod common;
mod registry;
mod rpc;

pub(crate) use client::*;
pub(crate) use common::*;
pub(crate) use registry::*;
pub(crate) use rpc::*;
