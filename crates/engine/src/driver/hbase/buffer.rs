//! Writes collected by the client and sent together, when the plan asks for that (`client_buffering`).
//!
//! A collected write is done as soon as it is appended: what is measured of it is the append. Whoever fills the buffer takes the
//! batch along and sends it as an operation of its own; one batch is on its way at a time, and while the next one is full too,
//! appends wait, so that the client holds no more than two.

use super::{Hbase, outcome, stamps};
use crate::operation::{Operation, Outcome};
use crate::reply::{Batch, Reply};
use std::sync::Arc;
use steelyard_hbase::{Error, Item, Once, Put};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

/// Batches on their way at a time.
pub(super) const FLUSHES_IN_FLIGHT: usize = 1;

/// Collects writes up to so many bytes.
pub(super) struct Buffer {
    limit: u64,
    filling: Mutex<Filling>,
    sending: Arc<Semaphore>,
}

#[derive(Default)]
struct Filling {
    writes: Vec<Operation>,
    bytes: u64,
}

impl Filling {
    fn hand_over(&mut self, permit: Option<OwnedSemaphorePermit>) -> Batch {
        self.bytes = 0;
        Batch {
            pending: std::mem::take(&mut self.writes),
            acknowledged: Vec::new(),
            permit,
        }
    }
}

impl Buffer {
    /// Of `limit` bytes of keys and values; none for 0.
    pub fn of(limit: u64) -> Option<Self> {
        (limit > 0).then(|| Self {
            limit,
            filling: Mutex::default(),
            sending: Arc::new(Semaphore::new(FLUSHES_IN_FLIGHT)),
        })
    }

    /// Collect `op`; if that fills the buffer, `reply` receives the batch.
    pub async fn append(&self, op: &Operation, reply: &mut Reply) {
        let mut filling = self.filling.lock().await;
        filling.bytes += (op.key.as_bytes().len() + op.values.len()) as u64;
        filling.writes.push(op.clone());
        reply.buffered = true;
        if filling.bytes >= self.limit {
            reply.batch = Some(Box::new(filling.hand_over(self.permit().await)));
        }
    }

    /// What is left, if anything.
    pub async fn drain(&self, reply: &mut Reply) {
        let mut filling = self.filling.lock().await;
        if !filling.writes.is_empty() {
            reply.batch = Some(Box::new(filling.hand_over(self.permit().await)));
        }
    }

    /// Leave to send a batch, when the one before it is done. (The semaphore is never closed.)
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.sending.clone().acquire_owned().await.ok()
    }
}

impl Hbase {
    /// Send what the batch has pending, a call to each region server concerned; what failed stays pending.
    pub(super) async fn flush(&self, once: Once<'_>, reply: &mut Reply) -> Result<Outcome, Error> {
        let Some(batch) = reply.batch.as_mut() else {
            return Ok(Outcome::Ok);
        };
        let puts: Vec<Put> = batch
            .pending
            .iter()
            .map(|op| {
                let mut put = Put::new(b"");
                self.fill(&mut put, op);
                put
            })
            .collect();
        let items: Vec<Item<'_>> = puts.iter().map(Item::Put).collect();
        let answer = once.multi(&self.table, &items).await?;
        reply.stamps = stamps(answer.stamps);
        let mut failed = None;
        for (op, result) in std::mem::take(&mut batch.pending)
            .into_iter()
            .zip(answer.value)
        {
            match result {
                Ok(_) => batch.acknowledged.push(op),
                Err(error) => {
                    failed.get_or_insert(error);
                    batch.pending.push(op);
                }
            }
        }
        let Some(error) = failed else {
            return Ok(Outcome::Ok);
        };
        let (outcome, text) = outcome::failure(&error);
        let left = batch.pending.len();
        reply.error = Some(format!("{left} collected writes failed, the first: {text}"));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use futures::executor::block_on;

    fn op() -> Operation {
        Operation {
            values: vec![0; 100],
            ..Operation::default()
        }
    }

    /// The reply to an append; none if it has to wait.
    fn append(buffer: &Buffer) -> Option<Reply> {
        let mut reply = Reply::default();
        buffer.append(&op(), &mut reply).now_or_never()?;
        assert!(reply.buffered);
        Some(reply)
    }

    #[test]
    fn no_bytes_is_no_buffer() {
        assert!(Buffer::of(0).is_none());
    }

    #[test]
    fn whoever_fills_the_buffer_takes_it_and_the_next_one_waits_until_it_was_sent() {
        let buffer = Buffer::of(250).unwrap();
        assert!(append(&buffer).unwrap().batch.is_none());
        assert!(append(&buffer).unwrap().batch.is_none());
        let first = append(&buffer).unwrap().batch.unwrap();
        assert_eq!(first.pending.len(), 3);
        assert!(append(&buffer).unwrap().batch.is_none());
        assert!(append(&buffer).unwrap().batch.is_none());
        let mut reply = Reply::default();
        let op = op();
        let mut third = Box::pin(buffer.append(&op, &mut reply));
        assert!((&mut third).now_or_never().is_none(), "the first is out");
        assert!(append(&buffer).is_none(), "nobody may overfill it");
        drop(first);
        block_on(third);
        assert_eq!(reply.batch.unwrap().pending.len(), 3);
    }

    #[test]
    fn what_is_left_is_drained_once() {
        let buffer = Buffer::of(1000).unwrap();
        append(&buffer);
        let drained = |buffer: &Buffer| {
            let mut reply = Reply::default();
            block_on(buffer.drain(&mut reply));
            reply.batch.map(|batch| batch.pending.len())
        };
        assert_eq!(drained(&buffer), Some(1));
        assert_eq!(drained(&buffer), None);
    }
}
