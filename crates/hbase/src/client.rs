//! The client: tables, and operations that survive what a cluster goes through.

mod operation;
mod scan;
#[cfg(test)]
mod tests;

pub use scan::ScanOperation;

use crate::admin::Admin;
use crate::attempts::{Answer, Failed};
use crate::call::{Append, Check, Delete, Get, Increment, Item, Put, Scan};
use crate::cell::Row;
use crate::error::Error;
use crate::locate::TableState;
use crate::names::TableName;
use crate::once::Once;
use crate::region::Placed;
use crate::shared::{Config, Core, Table};
use std::sync::Arc;
use steelyard_multiplexer::Traffic;

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
