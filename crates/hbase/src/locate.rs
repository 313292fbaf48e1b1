//! Finding the server of a row: the table's cache first, then `hbase:meta`, whose own place the registry tells.

use crate::cell::Row;
use crate::error::{Error, Meaning};
use crate::meta;
use crate::names::{ServerName, TableName};
use crate::pb;
use crate::region::{Location, Placed, Region, RegionCache};
use crate::registry::Directory;
use crate::rpc::{Plain, Pool, Reply, Service};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Rows of meta asked for at once when a whole table is read.
const META_BATCH: u32 = 1000;

/// The state of a region of a disabled table; also that of one on its way, for a moment.
const CLOSED: &str = "CLOSED";

/// What is known about one table. Shared by all who hold it.
#[derive(Debug)]
pub(crate) struct TableState {
    pub(crate) name: TableName,
    cache: Mutex<RegionCache>,
    /// One lookup in meta at a time: those who waited usually find the answer in the cache.
    lookup: tokio::sync::Mutex<()>,
}

impl TableState {
    pub(crate) fn new(name: TableName) -> Self {
        Self {
            name,
            cache: Mutex::default(),
            lookup: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn cache(&self) -> MutexGuard<'_, RegionCache> {
        self.cache
            .lock()
            .expect("nothing panics while the cache is locked")
    }

    /// Take the lesson of an error: forget or correct what it proved wrong. `mark` was the cache's when the call began.
    pub(crate) fn learn_from(
        &self,
        error: &Error,
        location: &Arc<Location>,
        mark: u64,
        pool: &Pool,
    ) {
        let gone = match error {
            Error::Connect { .. } | Error::Lost { .. } | Error::Protocol { .. } => true,
            Error::Server(exception) => match exception.meaning() {
                Meaning::NotHere => {
                    match &exception.moved_to {
                        Some(address) => self.cache().moved(location, pool.server(address)),
                        None => self.cache().forget(location),
                    }
                    false
                }
                meaning => meaning == Meaning::ServerGone,
            },
            _ => false,
        };
        if gone {
            self.cache().forget_server(&location.server.address, mark);
        }
    }
}

/// A call that is given up (timed out, dropped) leaves a doubt: its server may hang while the region was given to another one,
/// and would never tell. So its location is looked up again by whoever needs it next.
pub(crate) struct Doubt<F: FnMut()>(F, bool);

impl<F: FnMut()> Doubt<F> {
    /// `forget` what would be wrong then.
    pub(crate) const fn new(forget: F) -> Self {
        Self(forget, true)
    }

    /// The call ended by itself.
    pub(crate) fn settled(mut self) {
        self.1 = false;
    }
}

impl<F: FnMut()> Drop for Doubt<F> {
    fn drop(&mut self) {
        if self.1 {
            (self.0)();
        }
    }
}

/// Which region is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// The one that holds this row.
    Of(&'a [u8]),
    /// The one that ends where this row begins; the last one for an empty row.
    Before(&'a [u8]),
}

impl Wanted<'_> {
    fn in_cache(self, cache: &RegionCache) -> Option<Arc<Location>> {
        match self {
            Self::Of(row) => cache.find(row),
            Self::Before(row) => cache.before(row),
        }
        .cloned()
    }

    fn meta_key(self, table: &TableName) -> Vec<u8> {
        match self {
            Self::Of(row) => meta::key_of(table, row),
            Self::Before(row) => meta::key_before(table, row),
        }
    }
}

/// Finds regions.
#[derive(Debug)]
pub(crate) struct Locator {
    pub(crate) directory: Directory,
    meta: TableState,
    /// How long one question to meta or to the registry may take.
    patience: Duration,
}

impl Locator {
    pub(crate) fn new(directory: Directory, patience: Duration) -> Self {
        let name = "hbase:meta".parse().expect("a legal name");
        Self {
            directory,
            meta: TableState::new(name),
            patience,
        }
    }

    /// Where the region wanted is, and the cache's mark at this moment.
    pub(crate) async fn locate(
        &self,
        pool: &Pool,
        table: &TableState,
        wanted: Wanted<'_>,
    ) -> Result<(Arc<Location>, u64), Error> {
        if let Some(known) = known(table, wanted) {
            return Ok(known);
        }
        let _alone = table.lookup.lock().await;
        if let Some(known) = known(table, wanted) {
            return Ok(known);
        }
        let start = wanted.meta_key(&table.name);
        let scan = meta::scan(start, meta::first_key(&table.name), true);
        let rows = self.scan_meta(pool, scan, 1).await?;
        let placed = rows
            .first()
            .and_then(meta::read)
            .ok_or_else(|| Error::NoTable(table.name.clone()))?;
        if placed.state.as_deref() == Some(CLOSED) && self.disabled(pool, &table.name).await? {
            return Err(Error::Disabled(table.name.clone()));
        }
        settle(pool, table, wanted, placed)
    }

    /// Whether a table was taken out of service.
    async fn disabled(&self, pool: &Pool, table: &TableName) -> Result<bool, Error> {
        let rows = self.scan_meta(pool, meta::scan_state(table), 1).await?;
        Ok(rows.first().is_some_and(meta::disabled))
    }

    /// All regions of a table as meta has them, by start key: empty if there is no such table.
    pub(crate) async fn regions(
        &self,
        pool: &Pool,
        table: &TableName,
    ) -> Result<Vec<Placed>, Error> {
        let mut all: Vec<Placed> = Vec::new();
        let mut start = meta::first_key(table);
        loop {
            let scan = meta::scan(start, meta::last_key(table), false);
            let rows = self.scan_meta(pool, scan, META_BATCH).await?;
            let Some(last) = rows.last() else {
                return Ok(all);
            };
            start = [last.key(), b"\0"].concat();
            all.extend(rows.iter().filter_map(meta::read));
        }
    }

    /// Load a table's regions into its cache; how many have a server.
    pub(crate) async fn warm(&self, pool: &Pool, table: &TableState) -> Result<usize, Error> {
        let regions = self.regions(pool, &table.name).await?;
        if regions.is_empty() {
            return Err(Error::NoTable(table.name.clone()));
        }
        let mut cache = table.cache();
        let mut count = 0;
        for Placed { region, server, .. } in regions {
            if let Some(server) =
                server.filter(|_| !region.offline && !region.split && region.replica == 0)
            {
                cache.learn(region, pool.server(&server.address));
                count += 1;
            }
        }
        Ok(count)
    }

    /// One call for the first rows of a scan of meta.
    async fn scan_meta(&self, pool: &Pool, scan: pb::Scan, rows: u32) -> Result<Vec<Row>, Error> {
        let (location, mark) = self.locate_meta(pool).await?;
        let message = pb::ScanRequest {
            region: Some(pb::RegionSpecifier::by_name(&location.region.name)),
            scan: Some(scan),
            number_of_rows: Some(rows),
            limit_of_rows: Some(rows),
            close_scanner: Some(true),
            ..pb::ScanRequest::default()
        };
        let request = Plain {
            method: "Scan",
            message: &message,
            cells: &[],
        };
        let server = &location.server;
        let doubt = Doubt::new(|| self.meta.cache().forget(&location));
        let outcome = server
            .call_within(Service::Client, &request, self.patience)
            .await;
        if !matches!(outcome, Err(Error::Timeout { .. })) {
            doubt.settled();
        }
        match outcome {
            Ok(reply) => rows_of(&reply).ok_or_else(|| Error::Protocol {
                server: server.address.clone(),
                what: "rows of meta that cannot be read",
            }),
            Err(error) => {
                self.meta.learn_from(&error, &location, mark, pool);
                Err(error)
            }
        }
    }

    async fn locate_meta(&self, pool: &Pool) -> Result<(Arc<Location>, u64), Error> {
        let anywhere = Wanted::Of(b"");
        if let Some(known) = known(&self.meta, anywhere) {
            return Ok(known);
        }
        let _alone = self.meta.lookup.lock().await;
        if let Some(known) = known(&self.meta, anywhere) {
            return Ok(known);
        }
        let ServerName { address, .. } = self.directory.meta_server(pool, self.patience).await?;
        let mut cache = self.meta.cache();
        let location = cache.learn(Region::meta(), pool.server(&address));
        Ok((location, cache.mark()))
    }
}

/// Enter what meta said into the cache.
fn settle(
    pool: &Pool,
    table: &TableState,
    wanted: Wanted<'_>,
    placed: Placed,
) -> Result<(Arc<Location>, u64), Error> {
    let Placed { region, server, .. } = placed;
    let name = String::from_utf8_lossy(&region.name).into_owned();
    let mut cache = table.cache();
    let server = server.filter(|_| !region.offline && !region.split);
    let server = server.ok_or_else(|| Error::Unassigned(name.clone()))?;
    let location = cache.learn(region, pool.server(&server.address));
    // Between a split or merge and its entry in meta the region found may not reach to the row.
    let fits = wanted
        .in_cache(&cache)
        .is_some_and(|found| Arc::ptr_eq(&found, &location));
    let mark = cache.mark();
    fits.then_some((location, mark))
        .ok_or(Error::Unassigned(name))
}

/// Where the region wanted is, if the cache knows, and the cache's mark at this moment.
pub(crate) fn known(table: &TableState, wanted: Wanted<'_>) -> Option<(Arc<Location>, u64)> {
    let cache = table.cache();
    wanted
        .in_cache(&cache)
        .map(|location| (location, cache.mark()))
}

fn rows_of(reply: &Reply) -> Option<Vec<Row>> {
    let response = <pb::ScanResponse as prost::Message>::decode(reply.message.clone()).ok()?;
    let mut block = reply.cells.clone();
    let counts = response.cells_per_result.iter();
    counts
        .map(|count| Row::take(&mut block, *count as usize))
        .collect()
}
