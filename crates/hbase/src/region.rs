//! Regions, where they are, and the cache of what is known about that, ordered by start key.

use crate::names::{Address, ServerName};
use crate::pb;
use crate::rpc::Endpoint;
use crate::rpc::wire::{bytes_len, put_bytes, put_number};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// A range of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The full name, `table,start,id.md5.`: what data calls name a region by.
    pub name: Vec<u8>,
    /// First row; empty = from the beginning.
    pub start: Vec<u8>,
    /// The row after the last one; empty = to the end.
    pub end: Vec<u8>,
    /// When it was made, milliseconds since 1970.
    pub id: u64,
    /// It is not served: split, merged away, or of a disabled table.
    pub offline: bool,
    /// It was split; its daughters serve its rows.
    pub split: bool,
    /// 0 = the primary. Other replicas are listed, but neither read nor written: reading from them (timeline consistency) would
    /// begin in the choice of [`Location`].
    pub replica: i32,
}

impl Region {
    pub(crate) fn from_pb(name: Vec<u8>, info: pb::RegionInfo) -> Self {
        Self {
            name,
            start: info.start_key.unwrap_or_default(),
            end: info.end_key.unwrap_or_default(),
            id: info.region_id,
            offline: info.offline.unwrap_or(false),
            split: info.split.unwrap_or(false),
            replica: info.replica_id.unwrap_or(0),
        }
    }

    /// `hbase:meta`'s only region.
    pub(crate) fn meta() -> Self {
        Self {
            name: b"hbase:meta,,1".to_vec(),
            start: Vec::new(),
            end: Vec::new(),
            id: 1,
            offline: false,
            split: false,
            replica: 0,
        }
    }

    /// The encoded name, 32 hex digits: how the master names a region.
    pub fn encoded_name(&self) -> String {
        let mut parts = self.name.rsplit(|byte| *byte == b'.');
        let _after_the_last_dot = parts.next();
        parts
            .next()
            .map_or_else(String::new, |md5| String::from_utf8_lossy(md5).into_owned())
    }

    /// Whether `row` belongs to it.
    pub fn holds(&self, row: &[u8]) -> bool {
        *self.start <= *row && (self.end.is_empty() || *row < *self.end)
    }
}

/// A region as `hbase:meta` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The region.
    pub region: Region,
    /// Its server, if it has one.
    pub server: Option<ServerName>,
    /// The master's word for its state: `OPEN`, `OPENING`, `CLOSED`, `SPLIT` ...
    pub state: Option<String>,
}

/// Where a region is, ready for calls.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) region: Region,
    pub(crate) server: Arc<Endpoint>,
    /// The encoded RegionSpecifier.
    pub(crate) specifier: Box<[u8]>,
    /// When it was learnt, counted in locations learnt.
    age: u64,
}

fn specifier(name: &[u8]) -> Box<[u8]> {
    const REGION_NAME: u64 = 1;
    let mut out = Vec::with_capacity(2 + bytes_len(name.len()));
    put_number(&mut out, 1, REGION_NAME);
    put_bytes(&mut out, 2, name);
    out.into()
}

/// What is known of one table's regions: pieces that never overlap, perhaps with gaps.
#[derive(Debug, Default)]
pub(crate) struct RegionCache {
    by_start: BTreeMap<Vec<u8>, Arc<Location>>,
    learnt: u64,
}

impl RegionCache {
    /// The region of `row`, if it is known.
    pub(crate) fn find(&self, row: &[u8]) -> Option<&Arc<Location>> {
        let upto = (Bound::Unbounded, Bound::Included(row));
        let (_, location) = self.by_start.range::<[u8], _>(upto).next_back()?;
        location.region.holds(row).then_some(location)
    }

    /// The region that ends where `row` begins (exclusive), or the last one for an empty `row`: where a reversed scan goes on.
    pub(crate) fn before(&self, row: &[u8]) -> Option<&Arc<Location>> {
        let below = if row.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Excluded(row)
        };
        let (_, location) = self
            .by_start
            .range::<[u8], _>((Bound::Unbounded, below))
            .next_back()?;
        let end = &*location.region.end;
        let reaches = end.is_empty() || (!row.is_empty() && end >= row);
        reaches.then_some(location)
    }

    /// Learn where a region is; whatever overlaps it is forgotten (a parent that was split, daughters that were merged).
    pub(crate) fn learn(&mut self, region: Region, server: Arc<Endpoint>) -> Arc<Location> {
        self.forget_overlapping(&region);
        self.learnt += 1;
        let location = Arc::new(Location {
            specifier: specifier(&region.name),
            server,
            age: self.learnt,
            region,
        });
        self.by_start
            .insert(location.region.start.clone(), location.clone());
        location
    }

    fn forget_overlapping(&mut self, region: &Region) {
        let below = self
            .by_start
            .range::<[u8], _>((Bound::Unbounded, Bound::Excluded(&*region.start)));
        let reaching = below
            .last()
            .filter(|(_, other)| other.region.end.is_empty() || other.region.end > region.start);
        if let Some(start) = reaching.map(|(start, _)| start.clone()) {
            self.by_start.remove(&start);
        }
        let end = if region.end.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Excluded(&*region.end)
        };
        let inside = self
            .by_start
            .range::<[u8], _>((Bound::Included(&*region.start), end));
        let starts: Vec<_> = inside.map(|(start, _)| start.clone()).collect();
        for start in starts {
            self.by_start.remove(&start);
        }
    }

    /// How much was learnt so far: a mark for [`Self::forget_server`].
    pub(crate) const fn mark(&self) -> u64 {
        self.learnt
    }

    /// `location` proved wrong. What was learnt since is left alone.
    pub(crate) fn forget(&mut self, location: &Arc<Location>) {
        let start = &location.region.start;
        if self
            .by_start
            .get(start)
            .is_some_and(|known| Arc::ptr_eq(known, location))
        {
            self.by_start.remove(start);
        }
    }

    /// `location`'s region is at `server` now. What was learnt since is left alone.
    pub(crate) fn moved(&mut self, location: &Arc<Location>, server: Arc<Endpoint>) {
        let start = &location.region.start;
        if self
            .by_start
            .get(start)
            .is_some_and(|known| Arc::ptr_eq(known, location))
        {
            self.learn(location.region.clone(), server);
        }
    }

    /// The server is gone: all that was learnt to be there, up to `mark`, is wrong.
    pub(crate) fn forget_server(&mut self, server: &Address, mark: u64) {
        self.by_start
            .retain(|_, known| known.age > mark || known.server.address != *server);
    }

    pub(crate) fn len(&self) -> usize {
        self.by_start.len()
    }
}

#[cfg(test)]
mod tests;
