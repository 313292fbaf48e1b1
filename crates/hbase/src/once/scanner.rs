//! A scan as a sequence of single calls that can be gone on with after any of them failed.

use super::assembly::Assembly;
use super::{Once, garbled};
use crate::call::{Edge, Scan};
use crate::cell::Row;
use crate::error::Error;
use crate::locate::Wanted;
use crate::pb;
use crate::region::Location;
use crate::rpc::{Plain, Reply, Service};
use crate::shared::{Core, Table};
use crate::stamps::Stamps;
use std::sync::Arc;
use std::time::Duration;

/// What one call brought.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Whole rows. None at all is possible, and is not the end: a long row may be under way, a region may be empty, or the
    /// server only says that it is still at work.
    pub rows: Vec<Row>,
    /// When the call was on the wire.
    pub stamps: Stamps,
}

/// Reads a range of rows, one call at a time.
///
/// After an error the next call goes on behind the last row returned, with a new scanner in the region that holds it now: no row
/// is lost and none comes twice. The same after a call whose future was dropped.
#[derive(Debug)]
pub struct Scanner {
    core: Arc<Core>,
    timeout: Duration,
    table: Table,
    scan: Scan,
    /// Where to go on.
    from: Edge,
    left: Option<u64>,
    open: Option<Open>,
    assembly: Assembly,
    ended: bool,
}

/// A scanner on a server; closed there when dropped.
#[derive(Debug)]
struct Open {
    location: Arc<Location>,
    mark: u64,
    id: u64,
    next_seq: u64,
}

impl Open {
    fn message(&self) -> pb::ScanRequest {
        pb::ScanRequest {
            scanner_id: Some(self.id),
            ..pb::ScanRequest::default()
        }
    }

    /// The server closed it already.
    fn closed(mut self) {
        self.id = 0;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.id != 0 {
            let message = pb::ScanRequest {
                number_of_rows: Some(0),
                close_scanner: Some(true),
                ..self.message()
            };
            self.location
                .server
                .tell(Service::Client, &request(&message));
        }
    }
}

const fn request(message: &pb::ScanRequest) -> Plain<'_, pb::ScanRequest> {
    Plain {
        method: "Scan",
        message,
        cells: &[],
    }
}

impl Scanner {
    pub(crate) fn new(once: &Once<'_>, table: &Table, scan: Scan) -> Self {
        Self {
            core: once.core.clone(),
            timeout: once.timeout,
            table: table.clone(),
            from: scan.start.clone(),
            left: scan.limit,
            open: None,
            assembly: Assembly::default(),
            ended: scan.limit == Some(0),
            scan,
        }
    }

    /// How long the caller means to wait for one call: see [`Once::within`].
    pub const fn set_within(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// One call. None after the last row. An error leaves the scanner where it was: call again.
    pub async fn next_batch(&mut self) -> Result<Option<Batch>, Error> {
        if self.ended {
            return Ok(None);
        }
        // Until the answer is there nobody knows how far the server's scanner has come: a failed or dropped call closes it.
        let (mut open, reply) = match self.open.take() {
            Some(open) => self.go_on(open).await?,
            None => self.begin().await?,
        };
        let response: pb::ScanResponse = reply.decode(&open.location.server.address)?;
        open.id = response.scanner_id.unwrap_or(open.id);
        let mut rows = Vec::new();
        self.collect(&response, &reply, &mut rows)
            .ok_or_else(|| garbled(&open.location))?;
        self.proceed(&response, open, &mut rows);
        Ok(Some(Batch {
            rows,
            stamps: reply.stamps,
        }))
    }

    /// Keep the server's scanner alive although its rows are not needed yet: without a call it ends after a minute.
    pub async fn renew(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let message = pb::ScanRequest {
            number_of_rows: Some(0),
            next_call_seq: Some(open.next_seq),
            renew: Some(true),
            ..open.message()
        };
        self.call(&open, &message).await?;
        self.open = Some(open);
        Ok(())
    }

    async fn call(&self, open: &Open, message: &pb::ScanRequest) -> Result<Reply, Error> {
        let once = Once::new(&self.core).within(self.timeout);
        once.call(&self.table, &open.location, open.mark, &request(message))
            .await
    }

    /// Open a scanner in the region where the scan goes on; it answers with rows at once.
    async fn begin(&mut self) -> Result<(Open, Reply), Error> {
        self.assembly.forget();
        let Edge { row, included } = &self.from;
        let wanted = if self.scan.reversed && (row.is_empty() || !included) {
            Wanted::Before(row)
        } else {
            Wanted::Of(row)
        };
        let once = Once::new(&self.core).within(self.timeout);
        let (location, mark) = once.locate(&self.table, wanted).await?;
        let message = pb::ScanRequest {
            region: Some(pb::RegionSpecifier::by_name(&location.region.name)),
            scan: Some(self.scan.message(&self.from)),
            ..self.wish()
        };
        let open = Open {
            location,
            mark,
            id: 0,
            next_seq: 0,
        };
        let reply = self.call(&open, &message).await?;
        Ok((open, reply))
    }

    async fn go_on(&mut self, mut open: Open) -> Result<(Open, Reply), Error> {
        let message = pb::ScanRequest {
            scanner_id: Some(open.id),
            next_call_seq: Some(open.next_seq),
            ..self.wish()
        };
        let reply = self.call(&open, &message).await?;
        open.next_seq += 1;
        Ok((open, reply))
    }

    /// How many rows, and what we can deal with.
    fn wish(&self) -> pb::ScanRequest {
        let caching = u64::from(self.scan.caching);
        let rows = self.left.map_or(caching, |left| left.min(caching));
        pb::ScanRequest {
            number_of_rows: Some(rows as u32),
            limit_of_rows: self.left.and_then(|left| u32::try_from(left).ok()),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            ..pb::ScanRequest::default()
        }
    }

    /// The rows that are complete with this answer; None if it is garbled.
    fn collect(
        &mut self,
        response: &pb::ScanResponse,
        reply: &Reply,
        rows: &mut Vec<Row>,
    ) -> Option<()> {
        let mut block = reply.cells.clone();
        for (i, count) in response.cells_per_result.iter().enumerate() {
            let part = Row::take(&mut block, *count as usize)?;
            let partial = response
                .partial_flag_per_result
                .get(i)
                .copied()
                .unwrap_or(false);
            self.assembly.push(part, partial, rows);
        }
        for result in &response.results {
            let part = Row::of_result(result, &mut block)?;
            self.assembly
                .push(part, result.partial.unwrap_or(false), rows);
        }
        Some(())
    }

    /// Note how far the scan has come, and where it goes on.
    fn proceed(&mut self, response: &pb::ScanResponse, open: Open, rows: &mut Vec<Row>) {
        let region_done = response.more_results_in_region != Some(true);
        let all_done = response.more_results == Some(false);
        if region_done || all_done {
            self.assembly.finish(rows);
        }
        if let Some(left) = &mut self.left {
            rows.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= rows.len() as u64;
        }
        if let Some(last) = rows.last() {
            self.from = Edge::at(last.key(), false);
        }
        let region = &open.location.region;
        self.ended = all_done
            || self.left == Some(0)
            || (region_done && self.scan.ends_in(&region.start, &region.end));
        if region_done || all_done {
            let next = if self.scan.reversed {
                &region.start
            } else {
                &region.end
            };
            self.from = Edge::at(next, !self.scan.reversed);
            open.closed();
        } else if !self.ended {
            self.open = Some(open);
        }
    }
}
