//! What the cluster says of itself: one server that is registry, master and region server, one region for every table.

use super::cell;
use super::wire::{Message, Reader};
use crate::shape::{FAMILY, HOST};

const ID: u64 = 1;
const START_CODE: u64 = 1;
const META: (&str, &str) = ("hbase", "meta");

/// A message and the cells that go with it.
pub type Answer = (Message, Vec<u8>);

/// The answer to a question about the cluster; None if the method is not known here.
pub fn answer(method: &[u8], param: &[u8], port: u16) -> Option<Answer> {
    let plain = |message| Some((message, Vec::new()));
    match method {
        b"GetClusterId" => plain(Message::default().bytes(1, "fake")),
        b"GetActiveMaster" => plain(Message::default().inner(1, &server(port))),
        b"GetMetaRegionLocations" => {
            let location = Message::default()
                .inner(1, &region_info(META))
                .inner(2, &server(port))
                .number(3, 1);
            plain(Message::default().inner(1, &location))
        }
        b"GetTableDescriptors" => {
            let family = Message::default().bytes(1, FAMILY);
            let schema = Message::default()
                .bytes(1, Reader(param).find(1)?)
                .inner(3, &family);
            plain(Message::default().inner(1, &schema))
        }
        b"GetTableState" => plain(Message::default().inner(1, &Message::default().number(1, 0))),
        b"GetClusterStatus" => plain(status(port)),
        b"Scan" => meta_rows(param, port),
        _ => None,
    }
}

/// Whether a Scan is one of `hbase:meta`.
pub fn is_meta(param: &[u8]) -> bool {
    let region = Reader(param)
        .find(1)
        .and_then(|region| Reader(region).find(2));
    region.is_some_and(|name| name.starts_with(b"hbase:meta,"))
}

fn server(port: u16) -> Message {
    Message::default()
        .bytes(1, HOST.to_string())
        .number(2, port.into())
        .number(3, START_CODE)
}

fn region_info((namespace, table): (&str, &str)) -> Message {
    let name = Message::default().bytes(1, namespace).bytes(2, table);
    Message::default().number(1, ID).inner(2, &name)
}

fn status(port: u16) -> Message {
    let version = Message::default().bytes(1, "2.6.0-fake");
    let live = Message::default()
        .inner(1, &server(port))
        .inner(2, &Message::default());
    let status = Message::default()
        .inner(1, &version)
        .inner(2, &live)
        .inner(7, &server(port))
        .number(9, 0);
    Message::default().inner(1, &status)
}

/// The rows of `hbase:meta` from a scan's start on: that of the table it asks for, unless the scan begins behind it.
fn meta_rows(param: &[u8], port: u16) -> Option<Answer> {
    let scan = Reader(param).find(2)?;
    let start = Reader(scan).find(3)?;
    let reversed = Reader(scan).find_number(15).unwrap_or(0) == 1;
    let table = start.split(|byte| *byte == b',').next()?;
    let table = std::str::from_utf8(table).ok()?.trim_end_matches('\0');
    let row = format!("{table},,{ID}.{}.", "0".repeat(32));
    if !reversed && start > row.as_bytes() {
        return Some((Message::default(), Vec::new()));
    }
    let name = table.split_once(':').unwrap_or(("default", table));
    let info = [b"PBUF", region_info(name).0.as_slice()].concat();
    let mut cells = Vec::new();
    for (qualifier, value) in [
        ("regioninfo", info.as_slice()),
        ("server", format!("{HOST}:{port}").as_bytes()),
        ("serverstartcode", &START_CODE.to_be_bytes()),
        ("state", b"OPEN"),
    ] {
        cell::write(
            &mut cells,
            row.as_bytes(),
            b"info",
            qualifier.as_bytes(),
            value,
        );
    }
    Some((Message::default().number(1, 4), cells))
}
