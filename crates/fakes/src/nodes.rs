//! Where the servers listen: HBase at one address, every CQL node at one of its own and all of them at one port.

use crate::shape::{HOST, address};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Ports that are tried: one may be taken at another node's address.
const TRIES: usize = 16;

/// Listen for HBase on any port.
pub fn hbase() -> io::Result<TcpListener> {
    listen(SocketAddr::from((HOST, 0)))
}

/// Listen for `count` CQL nodes, the first of them on any port.
pub fn cql(count: usize) -> io::Result<Vec<TcpListener>> {
    let mut outcome = cluster(count);
    for _ in 1..TRIES {
        if !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::AddrInUse) {
            break;
        }
        outcome = cluster(count);
    }
    outcome
}

fn cluster(count: usize) -> io::Result<Vec<TcpListener>> {
    let first = listen(SocketAddr::from((address(0), 0)))?;
    let port = first.local_addr()?.port();
    let others = (1..count).map(|node| listen(SocketAddr::from((address(node), port))));
    std::iter::once(Ok(first)).chain(others).collect()
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
