//! A driver for tests: it answers as it was told to, and can collect writes.

use super::Driver;
use crate::generate::values::Values;
use crate::operation::{Kind, Operation, Outcome};
use crate::reply::{Batch, Reply, Stamps};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

/// What one attempt does: how it ends, its clocks, and how long it takes.
pub type Line = (Outcome, Stamps, Duration);

/// Answers attempts in turn by its script, then at once with ok; collects writes `together` at a time if that is above 0.
#[derive(Default)]
pub struct Scripted {
    /// The attempts to come.
    pub script: Mutex<VecDeque<Line>>,
    /// Writes in a batch.
    pub together: usize,
    /// Writes collected so far.
    pub collected: Mutex<Vec<Operation>>,
}

impl Scripted {
    fn collect(&self, op: &Operation, reply: &mut Reply) {
        let mut collected = self.collected.lock().expect("no panic while it is held");
        collected.push(op.clone());
        reply.buffered = true;
        if collected.len() == self.together {
            reply.batch = hand_over(&mut collected);
        }
    }
}

fn hand_over(collected: &mut Vec<Operation>) -> Option<Box<Batch>> {
    let pending = std::mem::take(collected);
    let batch = Batch {
        pending,
        ..Batch::default()
    };
    (!batch.pending.is_empty()).then(|| Box::new(batch))
}

impl Driver for Scripted {
    async fn execute(
        &self,
        op: &Operation,
        _: u32,
        _: Duration,
        _: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        let writes = matches!(op.kind, Kind::Insert | Kind::Update);
        if writes && self.together > 0 {
            self.collect(op, reply);
            return Outcome::Ok;
        }
        let line = self.script.lock().expect("as above").pop_front();
        let Some((outcome, stamps, takes)) = line else {
            if op.kind == Kind::Read {
                reply.row();
            }
            acknowledge(reply, Outcome::Ok);
            return Outcome::Ok;
        };
        tokio::time::sleep(takes).await;
        reply.stamps = stamps;
        reply.coordinator = Some(0);
        if op.kind == Kind::Read && outcome == Outcome::Ok {
            reply.row();
        }
        acknowledge(reply, outcome);
        outcome
    }

    async fn drain(&self, reply: &mut Reply) {
        reply.batch = hand_over(&mut self.collected.lock().expect("as above"));
    }
}

/// A flush that fails still got its first write through.
fn acknowledge(reply: &mut Reply, outcome: Outcome) {
    if let Some(batch) = reply.batch.as_mut() {
        let through = if outcome == Outcome::Ok {
            batch.pending.len()
        } else {
            1
        };
        batch.acknowledged.extend(batch.pending.drain(..through));
    }
    if outcome != Outcome::Ok {
        reply.error = Some("as the script says".into());
    }
}
