//! One request and the wait for its answer.

use super::streams::{Answer, Broken, Streams};
use std::future::poll_fn;
use std::sync::Arc;

struct Abandon<'a> {
    streams: &'a Streams,
    stream: u16,
    answered: bool,
}

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.streams.abandon(self.stream);
        }
    }
}

/// Send a request over these streams and wait for its answer.
pub(super) async fn call(
    streams: &Arc<Streams>,
    opcode: u8,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<Answer, Broken> {
    let stream = streams.enqueue(opcode, body)?;
    let mut guard = Abandon {
        streams,
        stream,
        answered: false,
    };
    let answer = poll_fn(|context| streams.poll_answer(stream, context)).await;
    guard.answered = true;
    answer
}
