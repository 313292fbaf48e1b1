//! A native asynchronous HBase client.
//!
//! It speaks HBase's own RPC protocol (version 2.x and later servers): no JVM, no gateway, no native library. One connection to
//! a region server carries any number of calls at once; requests that wait together leave in one `write()`, and nothing is ever
//! held back to be batched: what is asked for leaves with the next turn of the reactor.
//!
//! ```no_run
//! use steelyard_hbase::{Client, Config, Get, Put, Registry};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::Servers(vec!["master.example:16000".into(), "rs1.example:16020".into()]);
//! let client = Client::connect(Config { registry, ..Config::default() }).await?;
//! let table = client.table("usertable")?;
//!
//! let mut put = Put::new(b"row");
//! put.add(b"family", b"qualifier", b"value");
//! client.put(&table, &put).await?;
//!
//! let answer = client.get(&table, &Get::new(b"row")).await?;
//! assert_eq!(answer.value.value(b"family", b"qualifier"), Some(&b"value"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! # Two levels
//!
//! [`Client`] has operations: they try again after everything that may pass (moved, split and reassigned regions, crashed and
//! restarted servers, overload) until [`Config::operation_timeout`], and tell what became of each attempt. [`Client::once`] makes
//! single attempts, for callers with a retry policy of their own: [`Error::action`] says what helps, and the caches are corrected
//! before the error is returned. [`Client::direct`] is the same without I/O, for callers with a loop of their own. All carry [`Stamps`]: when the request was written and when its answer was read.
//!
//! # Rooms
//!
//! `rpc` connections and calls · `cell` cells and rows as views over received bytes · `call` what can be asked for, one file
//! each · `region`, `locate`, `meta`, `registry`, `zookeeper` where a row is · `shared` what all calls share · `once`, `client`
//! the two levels, `attempts` what an operation tells of its attempts · [`admin`]
//! tables, regions, servers · `error` what went wrong and what helps.
//!
//! # Not in it
//!
//! Authentication is SIMPLE: SASL (Kerberos, tokens) would begin in `rpc::hello`. Reading from region replicas would begin where
//! `region::Location` is chosen. Rows may have any number of families. Filters and coprocessors are not offered.

pub mod admin;
mod attempts;
mod call;
mod cell;
mod client;
mod direct;
mod error;
mod locate;
mod meta;
mod names;
mod once;
mod pb;
mod region;
mod registry;
mod rpc;
mod shared;
mod stamps;
mod zookeeper;

pub use attempts::{Answer, Attempt, Failed};
pub use call::{
    Append, Check, Columns, Compare, Delete, Durability, Get, Increment, Item, Put, Scan,
};
pub use cell::{Cell, CellKind, Cells, Received, Row};
pub use client::{Client, ScanOperation};
pub use direct::{Call, Direct, Place};
pub use error::{Action, Error, Exception};
pub use names::{Address, NotAName, ServerName, TableName};
pub use once::{Batch, Once, Scanner};
pub use region::{Placed, Region};
pub use registry::Registry;
pub use rpc::Frames;
pub use shared::{Config, Retries, Table};
pub use stamps::Stamps;
pub use steelyard_multiplexer::Traffic;
pub use zookeeper::{ZooKeeper, ZooKeeperError};
