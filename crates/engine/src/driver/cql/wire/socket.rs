//! The two tasks that read and write a connection's socket.

use super::streams::{Broken, KEEP, Streams};
use crate::clock::monotonic_ns;
use crate::driver::traffic::Counters;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes asked for by one read.
const READ: usize = 64 << 10;

/// Read until the connection ends, and hand every answer to who waits for it.
pub(super) async fn receive(streams: Arc<Streams>, mut reader: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; READ];
    let mut filled = 0;
    loop {
        if buffer.len() - filled < READ / 4 {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match reader.read(&mut buffer[filled..]).await {
            Ok(0) | Err(_) => return streams.close(Broken("the connection broke")),
            Ok(read) => read,
        };
        let now = monotonic_ns();
        Counters::add(&streams.counters.reads, 1);
        filled += read;
        let Ok(taken) = streams.deliver(&buffer[..filled], now) else {
            return streams.close(Broken("the server speaks no CQL of version 4"));
        };
        buffer.copy_within(taken..filled, 0);
        filled -= taken;
        if filled == 0 && buffer.len() > KEEP {
            buffer = vec![0; READ];
        }
    }
}

/// Write what waits, all of it at once, until the connection ends.
pub(super) async fn send(streams: Arc<Streams>, mut writer: impl AsyncWrite + Unpin) {
    let mut leaving = Vec::new();
    loop {
        let Ok(requests) = streams.take(&mut leaving, monotonic_ns) else {
            return;
        };
        if requests == 0 {
            streams.queue_filled.notified().await;
            continue;
        }
        Counters::add(&streams.counters.requests, requests);
        let mut rest = &leaving[..];
        while !rest.is_empty() {
            Counters::add(&streams.counters.writes, 1);
            match writer.write(rest).await {
                Ok(0) | Err(_) => return streams.close(Broken("the connection broke")),
                Ok(written) => rest = &rest[written..],
            }
        }
        if writer.flush().await.is_err() {
            return streams.close(Broken("the connection broke"));
        }
        leaving.clear();
        leaving.shrink_to(KEEP);
    }
}
