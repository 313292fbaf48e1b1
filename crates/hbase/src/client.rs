//! The client: configuration, tables, and operations that survive what a cluster goes through.

mod operation;
#[cfg(test)]
mod tests;

pub use operation::{Answer, Attempt, Failed};
pub(crate) use operation::{Attempts, timed_out};

use crate::admin::Admin;
use crate::call::{Append, Check, Delete, Get, Increment, Item, Put, Scan, ScanOperation};
use crate::cell::Row;
use crate::error::Error;
use crate::locate::{Locator, TableState};
use crate::names::{ServerName, TableName};
use crate::once::Once;
use crate::region::Placed;
use crate::registry::{Directory, Registry};
use crate::rpc::{Pool, PoolConfig, Traffic};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether operations of [`Client`] try again.
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
    fn new(config: Config) -> Result<Self, Error> {
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

    fn tables(&self) -> MutexGuard<'_, HashMap<TableName, Arc<TableState>>> {
        self.tables
            .lock()
            .expect("nothing panics while the tables are locked")
    }

    /// A nonce no operation of this client had before.
    fn next_nonce(&self) -> u64 {
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

    /// How many regions are known where they are; learnt by calls, or all at once by [`Client::warm`].
    pub fn known_regions(&self) -> usize {
        self.0.cache().len()
    }
}

/// A client of one cluster. Cheap to clone, shared by tasks and threads. Its calls need a tokio runtime with I/O and time.
///
/// Its operations try again after errors that may pass, until [`Config::operation_timeout`]; what became of each attempt is in
/// the answer or in the error. Single attempts: [`Client::once`].
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) core: Arc<Core>,
    cluster_id: Arc<str>,
}

impl Client {
    /// Find the cluster: asks the registry for its id, so that a wrong address is told at once.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        let core = Core::new(config)?;
        let patience = core.config.attempt_timeout;
        let cluster_id = core
            .locator
            .directory
            .cluster_id(&core.pool, patience)
            .await?;
        Ok(Self {
            core: Arc::new(core),
            cluster_id: cluster_id.into(),
        })
    }

    /// The cluster's id, a UUID.
    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    /// The table of this name, `table` or `namespace:table`. Asks nobody, so that the table need not exist yet.
    pub fn table(&self, name: &str) -> Result<Table, Error> {
        let name: TableName = name.parse()?;
        let mut tables = self.core.tables();
        let state = tables
            .entry(name)
            .or_insert_with_key(|name| Arc::new(TableState::new(name.clone())));
        Ok(Table(state.clone()))
    }

    /// Learn where all regions of `table` are, so that no call has to look one up; how many have a server.
    pub async fn warm(&self, table: &Table) -> Result<usize, Error> {
        self.core.locator.warm(&self.core.pool, &table.0).await
    }

    /// All regions of `table` and their servers, by start key, as `hbase:meta` has them now.
    pub async fn regions(&self, table: &Table) -> Result<Vec<Placed>, Error> {
        self.core.regions(table.name()).await
    }

    /// What this client's connections have done.
    pub fn traffic(&self) -> Traffic {
        self.core.pool.traffic()
    }

    /// Administration: tables, regions, servers.
    pub fn admin(&self) -> Admin {
        Admin::new(self.core.clone())
    }

    /// Calls of one attempt each.
    pub fn once(&self) -> Once<'_> {
        Once::new(&self.core)
    }

    /// Read one row. A row that does not exist is an empty one.
    pub async fn get(&self, table: &Table, get: &Get<'_>) -> Result<Answer<Row>, Failed> {
        self.persist(|once| async move { once.get(table, get).await })
            .await
    }

    /// Write one row.
    pub async fn put(&self, table: &Table, put: &Put) -> Result<Answer<()>, Failed> {
        self.persist(|once| async move { once.put(table, put).await })
            .await
    }

    /// Delete one row, or parts of it.
    pub async fn delete(&self, table: &Table, delete: &Delete) -> Result<Answer<()>, Failed> {
        self.persist(|once| async move { once.delete(table, delete).await })
            .await
    }

    /// Add to counters of one row; the new values. Not done twice, whatever the number of attempts.
    pub async fn increment(
        &self,
        table: &Table,
        increment: &Increment,
    ) -> Result<Answer<Row>, Failed> {
        let mut increment = increment.clone();
        increment.nonce(self.core.next_nonce());
        let increment = &increment;
        self.persist(|once| async move { once.increment(table, increment).await })
            .await
    }

    /// Add bytes to values of one row; the new values. Not done twice, whatever the number of attempts.
    pub async fn append(&self, table: &Table, append: &Append) -> Result<Answer<Row>, Failed> {
        let mut append = append.clone();
        append.nonce(self.core.next_nonce());
        let append = &append;
        self.persist(|once| async move { once.append(table, append).await })
            .await
    }

    /// Write one row if the same row fulfils `check`; whether it did.
    pub async fn check_and_put(
        &self,
        table: &Table,
        check: &Check,
        put: &Put,
    ) -> Result<Answer<bool>, Failed> {
        self.persist(|once| async move { once.check_and_put(table, check, put).await })
            .await
    }

    /// Delete in one row if the same row fulfils `check`; whether it did.
    pub async fn check_and_delete(
        &self,
        table: &Table,
        check: &Check,
        delete: &Delete,
    ) -> Result<Answer<bool>, Failed> {
        self.persist(|once| async move { once.check_and_delete(table, check, delete).await })
            .await
    }

    /// Many gets and mutations, in one call to each region server concerned; answers in the order of the items. Items that
    /// failed are tried again until the deadline; what is still an error then is an error in the answer.
    pub async fn multi(
        &self,
        table: &Table,
        items: &[Item<'_>],
    ) -> Result<Answer<Vec<Result<Row, Error>>>, Failed> {
        self.persist_multi(table, items).await
    }

    /// Read a range of rows, batch by batch.
    pub fn scan(&self, table: &Table, scan: Scan) -> ScanOperation {
        ScanOperation::new(self.clone(), table, scan)
    }
}
