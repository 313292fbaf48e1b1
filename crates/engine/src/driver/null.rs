//! The null driver answers at once: what remains is the engine's own cost.

use super::session::{Attempt, Begun, Session, Turn};
use super::{Attempts, Database, OpenError, Options};
use crate::generate::Generator;
use crate::net::{Notifier, Ready};
use crate::operation::Outcome;
use crate::plan::Plan;
use crate::reply::Reply;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;

/// It has no options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NullPlan {}

impl Options for NullPlan {
    async fn open(&self, _: &Plan) -> Result<Arc<dyn Database>, OpenError> {
        Ok(Arc::new(Null))
    }
}

/// Answers at once, with no rows.
struct Null;

impl Database for Null {
    fn attempts(&self, _: &Arc<Generator>) -> io::Result<Attempts> {
        Ok(Attempts::Session(Box::new(NullSession(Notifier::new()?))))
    }

    fn facts(&self) -> Value {
        json!({"system": "null", "clocks": "call"})
    }
}

/// Its attempts.
struct NullSession(Notifier);

impl Session for NullSession {
    fn notifier(&self) -> &Notifier {
        &self.0
    }

    #[inline]
    fn begin(&mut self, client: u32, _: Attempt, turn: &mut Turn<'_>) -> Begun {
        std::hint::black_box(&turn.exchanges[client as usize].op);
        Begun::Ended(Outcome::Ok)
    }

    fn give_up(&mut self, _: u32, _: &mut Reply) {}

    fn forget_all(&mut self) {}

    fn flush(&mut self, _: &mut Turn<'_>) {}

    fn ready(&mut self, _: Ready, _: &mut Turn<'_>) {}

    fn woken(&mut self, _: &mut Turn<'_>) {}

    fn look_after(&mut self, _: u64, _: &mut Turn<'_>) -> u64 {
        u64::MAX
    }
}
