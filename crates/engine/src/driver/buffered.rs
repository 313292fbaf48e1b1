//! Client buffering: writes are collected and sent together, when the plan asks for that. A session around a driver's own.
//!
//! A collected write is done as soon as it is appended: what is measured of it is the append. Whoever fills the buffer takes the
//! batch along and sends it as an operation of its own; one batch is on its way at a time, and while the next one is full too,
//! appends wait, so that the client holds no more than two.

use super::Driver;
use super::deferred::Deferred;
use super::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::generate::Generator;
use crate::generate::values::Values;
use crate::net::{Notifier, Ready};
use crate::operation::{Kind, Operation, Outcome};
use crate::recorder::Lag;
use crate::reply::{Batch, Reply};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// What became of one write: of one that failed, how, and the text.
pub type Sent = Result<(), (Outcome, String)>;

/// A driver that can send writes together.
#[allow(async_fn_in_trait)] // as `Driver`
pub trait SendsTogether {
    /// One attempt to send `writes`, of at most `timeout`: what became of each, in their order. The attempt's clocks go to `reply`.
    ///
    /// # Errors
    /// How the attempt failed, if no write was answered; its text is in `reply`.
    async fn send(
        &self,
        writes: &[Operation],
        timeout: Duration,
        reply: &mut Reply,
    ) -> Result<Vec<Sent>, Outcome>;
}

/// What collecting up to `bytes` means for the latency of writes (JSON object); null where every write is sent alone.
pub fn facts(bytes: u64) -> Value {
    match bytes {
        0 => Value::Null,
        bytes => json!({"bytes": bytes, "latency": "buffer append", "flushes_in_flight": 1}),
    }
}

/// `session`, its inserts and updates collected up to `bytes` of keys and values and sent by `driver`; for 0 as it is.
pub fn around<S: Session + 'static, D: SendsTogether + 'static>(
    session: S,
    driver: &Arc<D>,
    bytes: u64,
    generator: &Arc<Generator>,
) -> Box<dyn Session> {
    if bytes == 0 {
        return Box::new(session);
    }
    let flushes = Arc::new(Flushes(Arc::clone(driver)));
    let notifier = session.notifier().clone();
    Box::new(Buffered {
        flushes: Deferred::notifying(notifier, flushes, Arc::clone(generator)),
        session: Box::new(session),
        buffer: Buffer::of(bytes),
        waiting: VecDeque::new(),
    })
}

/// Attempts at the batch in a reply, by a driver that can send writes together.
struct Flushes<D>(Arc<D>);

impl<D: SendsTogether> Driver for Flushes<D> {
    async fn execute(
        &self,
        _: &Operation,
        _: u32,
        timeout: Duration,
        _: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        let Some(mut batch) = reply.batch.take() else {
            return Outcome::Ok;
        };
        let outcome = match self.0.send(&batch.pending, timeout, reply).await {
            Ok(sent) => sort(&mut batch, sent, reply),
            Err(outcome) => outcome,
        };
        reply.batch = Some(batch);
        outcome
    }
}

/// Writes that were acknowledged are no longer pending; how the attempt ended.
fn sort(batch: &mut Batch, sent: Vec<Sent>, reply: &mut Reply) -> Outcome {
    let mut failed = None;
    for (write, sent) in std::mem::take(&mut batch.pending).into_iter().zip(sent) {
        match sent {
            Ok(()) => batch.acknowledged.push(write),
            Err(failure) => {
                failed.get_or_insert(failure);
                batch.pending.push(write);
            }
        }
    }
    let Some((outcome, text)) = failed else {
        return Outcome::Ok;
    };
    let left = batch.pending.len();
    reply.error = Some(format!("{left} collected writes failed, the first: {text}"));
    outcome
}

/// Collects writes up to so many bytes.
struct Buffer {
    limit: u64,
    writes: Vec<Operation>,
    bytes: u64,
    /// The batch that is on its way holds the other clone.
    permit: Arc<()>,
}

impl Buffer {
    fn of(limit: u64) -> Self {
        Self {
            limit,
            writes: Vec::new(),
            bytes: 0,
            permit: Arc::default(),
        }
    }

    /// Collect the write; if that fills the buffer, the reply receives the batch. False if it has to wait for the batch before it.
    fn append(&mut self, Exchange { op, reply }: &mut Exchange) -> bool {
        let bytes = self.bytes + (op.key.as_bytes().len() + op.values.len()) as u64;
        let full = bytes >= self.limit;
        if full && Arc::strong_count(&self.permit) > 1 {
            return false;
        }
        self.bytes = bytes;
        self.writes.push(op.clone());
        reply.buffered = true;
        if full {
            reply.batch = self.hand_over();
        }
        true
    }

    /// What was collected, if anything.
    fn hand_over(&mut self) -> Option<Box<Batch>> {
        if self.writes.is_empty() {
            return None;
        }
        self.bytes = 0;
        Some(Box::new(Batch {
            pending: std::mem::take(&mut self.writes),
            acknowledged: Vec::new(),
            permit: Arc::clone(&self.permit),
        }))
    }
}

/// A session whose writes are collected.
struct Buffered {
    session: Box<dyn Session>,
    flushes: Deferred,
    buffer: Buffer,
    /// Clients whose writes wait for room, the first one first.
    waiting: VecDeque<u32>,
}

impl Session for Buffered {
    fn notifier(&self) -> &Notifier {
        self.session.notifier()
    }

    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun {
        let exchange = &mut turn.exchanges[client as usize];
        match exchange.op.kind {
            Kind::Insert | Kind::Update => {
                if self.waiting.is_empty() && self.buffer.append(exchange) {
                    return Begun::Ended(Outcome::Ok);
                }
                self.waiting.push_back(client);
                Begun::Elsewhere
            }
            Kind::Flush => self.flushes.begin(client, attempt, turn),
            _ => self.session.begin(client, attempt, turn),
        }
    }

    fn give_up(&mut self, client: u32, reply: &mut Reply) {
        self.session.give_up(client, reply);
    }

    fn forget_all(&mut self) {
        self.waiting.clear();
        self.flushes.forget_all();
        self.session.forget_all();
    }

    /// Appends that waited for a batch to be sent are done now, if it was.
    fn flush(&mut self, turn: &mut Turn<'_>) {
        while let Some(&client) = self.waiting.front()
            && self.buffer.append(&mut turn.exchanges[client as usize])
        {
            self.waiting.pop_front();
            let outcome = Outcome::Ok;
            turn.ended.push(Ended { client, outcome });
        }
        self.session.flush(turn);
    }

    fn ready(&mut self, ready: Ready, turn: &mut Turn<'_>) {
        self.session.ready(ready, turn);
    }

    fn woken(&mut self, turn: &mut Turn<'_>) {
        self.flushes.woken(turn);
        self.session.woken(turn);
    }

    fn look_after(&mut self, now_ns: u64, turn: &mut Turn<'_>) -> u64 {
        self.session.look_after(now_ns, turn)
    }

    fn take_collected(&mut self) -> Option<Box<Batch>> {
        self.buffer.hand_over()
    }

    fn take_lag(&mut self) -> Option<Lag> {
        self.session.take_lag()
    }

    fn unanswered(&self) -> Option<usize> {
        self.session.unanswered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reply to an append; none if it has to wait.
    fn append(buffer: &mut Buffer) -> Option<Reply> {
        let mut exchange = Exchange::default();
        exchange.op.values = vec![0; 100];
        let collected = buffer.append(&mut exchange);
        assert_eq!(exchange.reply.buffered, collected);
        collected.then_some(exchange.reply)
    }

    #[test]
    fn whoever_fills_the_buffer_takes_it_and_the_next_one_waits_until_it_was_sent() {
        let mut buffer = Buffer::of(250);
        assert!(append(&mut buffer).unwrap().batch.is_none());
        assert!(append(&mut buffer).unwrap().batch.is_none());
        let first = append(&mut buffer).unwrap().batch.unwrap();
        assert_eq!(first.pending.len(), 3);
        assert!(append(&mut buffer).unwrap().batch.is_none());
        assert!(append(&mut buffer).unwrap().batch.is_none());
        assert!(append(&mut buffer).is_none(), "the first is out");
        assert!(append(&mut buffer).is_none(), "nobody may overfill it");
        drop(first);
        let second = append(&mut buffer).unwrap().batch.unwrap();
        assert_eq!(second.pending.len(), 3);
    }

    #[test]
    fn what_is_left_is_handed_over_once() {
        let mut buffer = Buffer::of(1000);
        append(&mut buffer);
        let left = |buffer: &mut Buffer| buffer.hand_over().map(|batch| batch.pending.len());
        assert_eq!(left(&mut buffer), Some(1));
        assert_eq!(left(&mut buffer), None);
    }

    #[test]
    fn what_failed_stays_pending_and_is_told_by_its_first_failure() {
        let mut batch = Batch {
            pending: vec![Operation::default(); 3],
            ..Batch::default()
        };
        let failed = |text: &str| Err((Outcome::Unavailable, text.to_owned()));
        let mut reply = Reply::default();
        let sent = vec![failed("gone"), Ok(()), failed("moved")];
        assert_eq!(sort(&mut batch, sent, &mut reply), Outcome::Unavailable);
        assert_eq!((batch.acknowledged.len(), batch.pending.len()), (1, 2));
        let text = reply.error.unwrap();
        assert_eq!(text, "2 collected writes failed, the first: gone");
    }
}
