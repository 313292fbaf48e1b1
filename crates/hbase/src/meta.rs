//! `hbase:meta`, the table of regions: which rows to read of it, and what they say.
//!
//! A meta row is keyed by the region's name, `table,start,id.md5.`; column `info:regioninfo` holds `PBUF` and a RegionInfo,
//! `info:sn` or `info:server` and `info:serverstartcode` the server. A row keyed by a table's name holds its state at `table:state`.

use crate::cell::Row;
use crate::names::{Address, ServerName, TableName};
use crate::pb;
use crate::region::{Placed, Region};
use prost::Message;

const FAMILY: &[u8] = b"info";
const TABLE_FAMILY: &[u8] = b"table";
/// TableState.State of HBase.proto.
const DISABLED: i32 = 1;
const DISABLING: i32 = 2;
const MAGIC: &[u8] = b"PBUF";
/// Sorts behind every region id.
const LAST_ID: &[u8] = b"99999999999999";

/// The key from which a reversed scan of meta finds the region of `row` first.
pub(crate) fn key_of(table: &TableName, row: &[u8]) -> Vec<u8> {
    key(table, row, LAST_ID)
}

/// The key from which a reversed scan of meta finds the region before the one that starts at `row` first; the table's last
/// region for an empty `row`.
pub(crate) fn key_before(table: &TableName, row: &[u8]) -> Vec<u8> {
    if row.is_empty() {
        return [table.to_string().as_bytes(), b"\0"].concat();
    }
    key(table, row, b"")
}

/// The key before all of a table's regions.
pub(crate) fn first_key(table: &TableName) -> Vec<u8> {
    key(table, b"", b"")
}

/// The key behind all of a table's regions, exclusive: `,` + 1.
pub(crate) fn last_key(table: &TableName) -> Vec<u8> {
    format!("{table}-").into_bytes()
}

fn key(table: &TableName, row: &[u8], id: &[u8]) -> Vec<u8> {
    [table.to_string().as_bytes(), b",", row, b",", id].concat()
}

/// The scan of meta's regions from `start` to `stop`.
pub(crate) fn scan(start: Vec<u8>, stop: Vec<u8>, reversed: bool) -> pb::Scan {
    scan_family(FAMILY, start, stop, reversed)
}

/// The scan of meta for the row that tells a table's state.
pub(crate) fn scan_state(table: &TableName) -> pb::Scan {
    let row = table.to_string().into_bytes();
    let behind = [&*row, b"\0"].concat();
    scan_family(TABLE_FAMILY, row, behind, false)
}

/// Whether that row says that the table is, or is just being, taken out of service.
pub(crate) fn disabled(row: &Row) -> bool {
    row.value(TABLE_FAMILY, b"state")
        .and_then(|value| pb::TableState::decode(value).ok())
        .is_some_and(|found| matches!(found.state, DISABLED | DISABLING))
}

fn scan_family(family: &[u8], start: Vec<u8>, stop: Vec<u8>, reversed: bool) -> pb::Scan {
    pb::Scan {
        column: vec![pb::Column {
            family: family.to_vec(),
            qualifier: Vec::new(),
        }],
        start_row: Some(start),
        stop_row: Some(stop),
        reversed: Some(reversed),
        include_start_row: Some(true),
        include_stop_row: Some(reversed),
        read_type: Some(pb::READ_TYPE_PREAD),
        ..pb::Scan::default()
    }
}

/// What a row of meta says; None if it is about something else than a region, or garbled.
pub(crate) fn read(row: &Row) -> Option<Placed> {
    let column = |qualifier: &[u8]| {
        row.value(FAMILY, qualifier)
            .filter(|value| !value.is_empty())
    };
    let info = column(b"regioninfo")?.strip_prefix(MAGIC)?;
    let info = pb::RegionInfo::decode(info).ok()?;
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Some(Placed {
        region: Region::from_pb(row.key().to_vec(), info),
        server: server(column(b"server"), column(b"serverstartcode")),
        state: column(b"state").map(text),
    })
}

fn server(address: Option<&[u8]>, start_code: Option<&[u8]>) -> Option<ServerName> {
    let address: Address = std::str::from_utf8(address?).ok()?.parse().ok()?;
    let start_code = u64::from_be_bytes(start_code?.try_into().ok()?);
    Some(ServerName {
        address,
        start_code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_enclose_a_table() {
        let table: TableName = "t".parse().unwrap();
        assert_eq!(key_of(&table, b"row"), b"t,row,99999999999999");
        assert_eq!(key_before(&table, b"row"), b"t,row,");
        assert_eq!(key_before(&table, b""), b"t\0");
        assert_eq!(first_key(&table), b"t,,");
        assert_eq!(last_key(&table), b"t-");
        let named: TableName = "ns:t".parse().unwrap();
        assert_eq!(first_key(&named), b"ns:t,,");
    }
}
