//! Single attempts. An attempt that fails has corrected the caches before it returns its error, so that the next one, whoever
//! makes it, goes right if it can.

mod assembly;
mod multi;
mod scanner;

pub use scanner::{Batch, Scanner};

use crate::attempts::Answer;
use crate::call::{
    Append, Check, Delete, Get, GetRequest, Increment, Item, MutateRequest, Mutation, Put, Scan,
    check_row,
};
use crate::cell::Row;
use crate::error::Error;
use crate::locate::{Doubt, Wanted};
use crate::pb;
use crate::region::Location;
use crate::rpc::{Reply, Request, Service};
use crate::shared::{Core, Table};
use std::sync::Arc;
use std::time::Duration;

/// Calls of one attempt each. To give one up, drop its future: a late answer is thrown away.
#[derive(Debug, Clone, Copy)]
pub struct Once<'a> {
    pub(crate) core: &'a Arc<Core>,
    pub(crate) timeout: Duration,
}

impl<'a> Once<'a> {
    pub(crate) fn new(core: &'a Arc<Core>) -> Self {
        Self {
            core,
            timeout: core.config.attempt_timeout,
        }
    }

    /// How long the caller means to wait: the server is told, and does not begin later. Without this `Config::attempt_timeout`.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Read one row. A row that does not exist is an empty one.
    pub async fn get(self, table: &Table, get: &Get<'_>) -> Result<Answer<Row>, Error> {
        check_row(get.row)?;
        let (location, mark) = self.locate(table, Wanted::Of(get.row)).await?;
        let request = GetRequest {
            get,
            location: &location,
        };
        let reply = self.call(table, &location, mark, &request).await?;
        let response: pb::GetResponse = reply.decode(&location.server.address)?;
        row_answer(response.result, &reply, &location)
    }

    /// Write one row.
    pub async fn put(self, table: &Table, put: &Put) -> Result<Answer<()>, Error> {
        let (_, reply, _) = self.mutate(table, &put.0, &[]).await?;
        Ok(Answer::first((), reply.stamps))
    }

    /// Delete one row, or parts of it.
    pub async fn delete(self, table: &Table, delete: &Delete) -> Result<Answer<()>, Error> {
        let (_, reply, _) = self.mutate(table, &delete.0, &[]).await?;
        Ok(Answer::first((), reply.stamps))
    }

    /// Add to counters of one row; the new values.
    pub async fn increment(
        self,
        table: &Table,
        increment: &Increment,
    ) -> Result<Answer<Row>, Error> {
        let (response, reply, location) = self.mutate(table, &increment.0, &[]).await?;
        row_answer(response.result, &reply, &location)
    }

    /// Add bytes to values of one row; the new values.
    pub async fn append(self, table: &Table, append: &Append) -> Result<Answer<Row>, Error> {
        let (response, reply, location) = self.mutate(table, &append.0, &[]).await?;
        row_answer(response.result, &reply, &location)
    }

    /// Write one row if the same row fulfils `check`; whether it did.
    pub async fn check_and_put(
        self,
        table: &Table,
        check: &Check,
        put: &Put,
    ) -> Result<Answer<bool>, Error> {
        self.checked(table, check, &put.0).await
    }

    /// Delete in one row if the same row fulfils `check`; whether it did.
    pub async fn check_and_delete(
        self,
        table: &Table,
        check: &Check,
        delete: &Delete,
    ) -> Result<Answer<bool>, Error> {
        self.checked(table, check, &delete.0).await
    }

    /// Many gets and mutations, in one call to each region server concerned; answers in the order of the items. What became of
    /// an item is in its own result: there is an error for all only if nothing could be sent.
    pub async fn multi(
        self,
        table: &Table,
        items: &[Item<'_>],
    ) -> Result<Answer<Vec<Result<Row, Error>>>, Error> {
        multi::multi(&self, table, items).await
    }

    /// Read a range of rows: each batch is one call, one attempt.
    pub fn scan(self, table: &Table, scan: Scan) -> Scanner {
        Scanner::new(&self, table, scan)
    }

    async fn checked(
        &self,
        table: &Table,
        check: &Check,
        mutation: &Mutation,
    ) -> Result<Answer<bool>, Error> {
        let condition = check.encode(mutation.row());
        let (response, reply, _) = self.mutate(table, mutation, &condition).await?;
        Ok(Answer::first(
            response.processed.unwrap_or(false),
            reply.stamps,
        ))
    }

    async fn mutate(
        &self,
        table: &Table,
        mutation: &Mutation,
        condition: &[u8],
    ) -> Result<(pb::MutateResponse, Reply, Arc<Location>), Error> {
        mutation.check()?;
        let (location, mark) = self.locate(table, Wanted::Of(mutation.row())).await?;
        let request = MutateRequest {
            mutation,
            location: &location,
            condition,
            nonce_group: self.core.nonce_group,
        };
        let reply = self.call(table, &location, mark, &request).await?;
        let response = reply.decode(&location.server.address)?;
        Ok((response, reply, location))
    }

    pub(crate) async fn locate(
        &self,
        table: &Table,
        wanted: Wanted<'_>,
    ) -> Result<(Arc<Location>, u64), Error> {
        self.core
            .locator
            .locate(&self.core.pool, &table.0, wanted)
            .await
    }

    /// One call to the region at `location`; its error is learnt from.
    pub(crate) async fn call(
        &self,
        table: &Table,
        location: &Arc<Location>,
        mark: u64,
        request: &impl Request,
    ) -> Result<Reply, Error> {
        let doubt = Doubt::new(|| table.0.cache().forget(location));
        let outcome = location
            .server
            .call(Service::Client, request, self.timeout)
            .await;
        doubt.settled();
        if let Err(error) = &outcome {
            table.0.learn_from(error, location, mark, &self.core.pool);
        }
        outcome
    }
}

/// The row of a result, with its stamps.
pub(crate) fn row_answer(
    result: Option<pb::Result>,
    reply: &Reply,
    location: &Location,
) -> Result<Answer<Row>, Error> {
    let row = Row::of_result(&result.unwrap_or_default(), &mut reply.cells.clone());
    let row = row.ok_or_else(|| garbled(location))?;
    Ok(Answer::first(row, reply.stamps))
}

/// The answer is not what HBase would answer.
pub(crate) fn garbled(location: &Location) -> Error {
    Error::Protocol {
        server: location.server.address.clone(),
        what: "cells that do not fit their count",
    }
}
