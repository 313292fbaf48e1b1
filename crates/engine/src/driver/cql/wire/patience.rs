//! How long a connection's silence is borne.

use super::call::call;
use super::frame;
use super::streams::{Broken, Streams};
use crate::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;

/// How long silence is borne.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// A connection on which nothing was received for so long is asked for a sign of life ...
    pub silence: Duration,
    /// ... and given up after this long without one.
    pub limit: Duration,
}

impl Patience {
    /// Bears a long collection of garbage, notices a frozen node before operations reach their usual deadline.
    pub(crate) const USUAL: Self = Self {
        silence: Duration::from_secs(2),
        limit: Duration::from_secs(5),
    };
}

/// Ask for a sign of life when nothing has been received for a while: a frozen node answers nothing and closes nothing.
pub(super) async fn watch(streams: Arc<Streams>, patience: Patience) {
    loop {
        tokio::time::sleep(patience.silence).await;
        let silent_ns = monotonic_ns().saturating_sub(streams.received_ns());
        if silent_ns < patience.silence.as_nanos() as u64 {
            continue;
        }
        let sign = call(&streams, frame::opcode::OPTIONS, |_| ());
        match tokio::time::timeout(patience.limit, sign).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return,
            Err(_) => return streams.close(Broken("the connection gave no sign of life")),
        }
    }
}
