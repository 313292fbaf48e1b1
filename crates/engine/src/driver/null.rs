//! The null driver answers at once: what remains is the engine's own cost.

use super::session::{Attempt, Begun, Session, Turn};
use crate::net::{Notifier, Ready};
use crate::operation::Outcome;
use crate::reply::Reply;
use serde_json::{Value, json};
use std::io;

/// Answers at once, with no rows.
#[derive(Debug, Clone, Copy)]
pub struct Null;

/// See [`super::AnyDriver::facts`].
pub fn facts() -> Value {
    json!({"system": "null", "clocks": "call"})
}

/// Its attempts.
pub struct NullSession(Notifier);

impl NullSession {
    /// It needs no connection.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Notifier::new()?))
    }
}

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
