//! One connection, many requests in flight.

use super::call::call;
use super::patience::{Patience, watch};
use super::socket::{receive, send};
use super::streams::{Answer, Broken, Streams};
use crate::clock::monotonic_ns;
use crate::driver::traffic::Counters;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection whose handshake is done.
pub(crate) struct Connection {
    streams: Arc<Streams>,
    tasks: [tokio::task::AbortHandle; 3],
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.streams
            .close(Broken("the connection is not wanted any more"));
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Connection {
    /// Take over a stream whose handshake is done.
    pub(crate) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        counters: Arc<Counters>,
        patience: Patience,
    ) -> Self {
        let streams = Arc::new(Streams::new(counters, monotonic_ns()));
        let tasks = [
            tokio::spawn(receive(Arc::clone(&streams), reader)).abort_handle(),
            tokio::spawn(send(Arc::clone(&streams), writer)).abort_handle(),
            tokio::spawn(watch(Arc::clone(&streams), patience)).abort_handle(),
        ];
        Self { streams, tasks }
    }

    /// Send a request and wait for its answer. Dropping the future gives the request up.
    pub(crate) async fn call(
        &self,
        opcode: u8,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Answer, Broken> {
        call(&self.streams, opcode, body).await
    }

    /// Whether it can still carry requests.
    pub(crate) fn alive(&self) -> bool {
        self.streams.alive()
    }

    /// Wait until it cannot.
    pub(crate) async fn closed(&self) {
        let notified = self.streams.closed.notified();
        if self.alive() {
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests;
