//! The null driver answers at once: what remains is the engine's own cost.

use super::Driver;
use crate::generate::values::Values;
use crate::operation::{Operation, Outcome};
use crate::reply::Reply;
use serde_json::{Value, json};
use std::time::Duration;

/// Answers at once, with no rows.
pub struct Null;

impl Driver for Null {
    async fn execute(
        &self,
        op: &Operation,
        _: u32,
        _: Duration,
        _: &Values,
        _: &mut Reply,
    ) -> Outcome {
        std::hint::black_box(op);
        Outcome::Ok
    }

    fn facts(&self) -> Value {
        json!({"system": "null", "clocks": "call"})
    }
}
