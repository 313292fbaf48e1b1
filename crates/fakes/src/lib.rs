//! Weights to calibrate the engine with: a CQL and an HBase server in one process, whose latency follows a known law and who
//! write down when each request came and when its answer left.
//!
//! They store nothing: every read finds a record of the shape agreed on, every write succeeds, unless the case says otherwise.
//! With `--store` they keep what is written, for the drivers' contract and for tests of what the engine makes of servers that lose data. The number of an
//! operation is the decimal number that its key ends with. One thread, one epoll, one absolute timerfd: answers leave when they are
//! due, to some ten microseconds.
//!
//! `arguments` the command line · `law` when an answer is due · `fault` what becomes of a request instead · `draw` the randomness of both · `stamp` what is
//! written down · `ticket` what the loop and the
//! protocols hand each other · `cql`, `hbase` the two protocols, as far as our drivers speak them · `store` a table that keeps what is written · `server` the loop · `nodes` where it listens ·
//! `pending` answers that wait · `connection`, `poll` its
//! sockets · `burn` CPU that a real server would use · `command` what standard input says.
//!
//! Nothing of the engine is used here: what is calibrated must not make its own weights.

mod arguments;
mod burn;
mod command;
mod connection;
mod cql;
mod draw;
mod fault;
mod hbase;
mod law;
mod nodes;
mod pending;
mod poll;
mod server;
mod shape;
mod stamp;
mod store;
mod ticket;

use std::io::Write;
use std::process::ExitCode;

/// Serve until standard input ends. The first line on standard output says where.
///
/// Arguments: `--fields N` and `--field-length N`, the shape of a record (10 and 100); `--nodes N` of the CQL cluster (1), which
/// listen at 127.0.0.1, or `--address`, and the addresses that follow; `--store`, to keep what is written.
pub fn main() -> ExitCode {
    let served = arguments::Arguments::parse(std::env::args().skip(1)).and_then(|arguments| {
        let mut server =
            server::Server::open(&arguments).map_err(|e| format!("cannot listen: {e}"))?;
        say(&server.ready());
        server.serve().map_err(|e| e.to_string())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

/// One line on standard output. Whoever reads it may be gone; the end of standard input says so too.
fn say(value: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}

/// CLOCK_MONOTONIC, ns.
fn monotonic_ns() -> u64 {
    let mut spec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `spec` is a valid out pointer and every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut spec) };
    spec.tv_sec as u64 * 1_000_000_000 + spec.tv_nsec as u64
}
