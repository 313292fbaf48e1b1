//! Where the servers listen: HBase at one address, every CQL node at one of its own and all of them at one port.

use crate::shape::{HOST, address};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// Ports that are tried: one may be taken at another node's address.
const TRIES: usize = 16;

/// Listen for HBase on any port.
pub fn hbase() -> io::Result<TcpListener> {
    listen(SocketAddr::from((HOST, 0)))
}

/// Listen for `count` CQL nodes at `first` and the addresses that follow, the first of them on any port.
pub fn cql(first: Ipv4Addr, count: usize) -> io::Result<Vec<TcpListener>> {
    let mut outcome = cluster(first, count);
    for _ in 1..TRIES {
        if !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::AddrInUse) {
            break;
        }
        outcome = cluster(first, count);
    }
    outcome
}

fn cluster(first: Ipv4Addr, count: usize) -> io::Result<Vec<TcpListener>> {
    let one = listen(SocketAddr::from((first, 0)))?;
    let port = one.local_addr()?.port();
    let others = (1..count).map(|node| listen(SocketAddr::from((address(first, node), port))));
    std::iter::once(Ok(one)).chain(others).collect()
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
