//! What all calls of a client share: its configuration, its connections, and where regions are as far as that was learnt.

use crate::error::Error;
use crate::locate::{Locator, TableState};
use crate::names::{ServerName, TableName};
use crate::region::Placed;
use crate::registry::{Directory, Registry};
use crate::rpc::{Pool, PoolConfig};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether operations of [`crate::Client`] try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Retries {
    /// Until the operation's deadline, unless the error says that it is useless.
    #[default]
    UntilDeadline,
    /// Never.
    None,
}

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the cluster is entered.
    pub registry: Registry,
    /// Effective user (SIMPLE authentication: the servers believe it); None = `HADOOP_USER_NAME`, else `USER`.
    pub user: Option<String>,
    /// Connections for data to each region server, used in turn.
    pub connections: usize,
    /// How long making a connection may take.
    pub connect_timeout: Duration,
    /// How long one attempt may take; servers are told, so that they do not work for nobody.
    pub attempt_timeout: Duration,
    /// How long an operation with all its attempts may take.
    pub operation_timeout: Duration,
    /// Whether operations try again.
    pub retries: Retries,
    /// The first pause between attempts; it grows, and is longer for overloaded servers.
    pub pause: Duration,
}

impl Default for Config {
    /// No registry, one connection to each server, and patience for the recovery of a crashed server.
    fn default() -> Self {
        Self {
            registry: Registry::Servers(Vec::new()),
            user: None,
            connections: 1,
            connect_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(10),
            operation_timeout: Duration::from_secs(60),
            retries: Retries::UntilDeadline,
            pause: Duration::from_millis(50),
        }
    }
}

/// What all clones of a client share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) pool: Pool,
    pub(crate) locator: Locator,
    tables: Mutex<HashMap<TableName, Arc<TableState>>>,
    /// Tells this client's nonces from those of others.
    pub(crate) nonce_group: u64,
    nonce: AtomicU64,
}

impl Core {
    pub(crate) fn new(config: Config) -> Result<Self, Error> {
        let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
        let process_user = || named("HADOOP_USER_NAME").or_else(|| named("USER"));
        let pool = PoolConfig {
            user: config
                .user
                .clone()
                .or_else(process_user)
                .unwrap_or_else(|| "hbase".to_owned()),
            connections: config.connections,
            connect_timeout: config.connect_timeout,
        };
        Ok(Self {
            locator: Locator::new(Directory::new(&config.registry)?, config.attempt_timeout),
            pool: Pool::new(pool),
            tables: Mutex::default(),
            nonce_group: nonce_group(),
            nonce: AtomicU64::new(1),
            config,
        })
    }

    pub(crate) fn tables(&self) -> MutexGuard<'_, HashMap<TableName, Arc<TableState>>> {
        self.tables
            .lock()
            .expect("nothing panics while the tables are locked")
    }

    /// A nonce no operation of this client had before.
    pub(crate) fn next_nonce(&self) -> u64 {
        self.nonce.fetch_add(1, Ordering::Relaxed)
    }

    /// The active master.
    pub(crate) async fn master(&self) -> Result<ServerName, Error> {
        self.locator
            .directory
            .master(&self.pool, self.config.attempt_timeout)
            .await
    }

    /// All regions of a table as meta has them; empty if there is no such table.
    pub(crate) async fn regions(&self, table: &TableName) -> Result<Vec<Placed>, Error> {
        self.locator.regions(&self.pool, table).await
    }
}

/// Unlikely to be that of another client: time and process.
fn nonce_group() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 40)
}

/// A table as a client knows it: its name, and where its regions are as far as that was learnt. Cheap to clone; keep it.
#[derive(Debug, Clone)]
pub struct Table(pub(crate) Arc<TableState>);

impl Table {
    /// The table's name.
    pub fn name(&self) -> &TableName {
        &self.0.name
    }

    /// How many regions are known where they are; learnt by calls, or all at once by [`crate::Client::warm`].
    pub fn known_regions(&self) -> usize {
        self.0.cache().len()
    }
}
