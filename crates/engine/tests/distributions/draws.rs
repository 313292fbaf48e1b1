//! What a plan draws.

use serde_json::{Value, json};
use steelyard_engine::generate::{Cursor, Draft};
use steelyard_engine::plan::{PhaseKind, Plan};

/// Record counts from the least to 10^12.
pub const SIZES: [u64; 5] = [10, 1000, 1_000_000, 1_000_000_000, 1_000_000_000_000];
/// Operations drawn by a test.
pub const DRAWS: u64 = 200_000;

/// A plan over `records` whose workload has these members too.
pub fn plan(seed: u64, records: u64, workload: &Value) -> Plan {
    let mut whole =
        json!({"records": records, "mix": {"read": 1.0}, "request": {"kind": "uniform"}});
    for (name, value) in workload.as_object().expect("members") {
        whole[name] = value.clone();
    }
    serde_json::from_value(json!({
        "plan_format": 2, "seed": seed, "out": "/nowhere", "driver": {"kind": "null"}, "workload": whole,
        "phases": [{"name": "run", "kind": "run", "in_flight": 8, "limit": {"operations": DRAWS}}],
    }))
    .expect("a plan")
}

/// The operations of these numbers.
pub fn drafts<Numbers: Iterator<Item = u64>>(
    plan: &Plan,
    numbers: Numbers,
) -> impl Iterator<Item = Draft> + use<Numbers> {
    let mut cursor = Cursor::new(plan, PhaseKind::Run, 0).expect("a sound plan");
    numbers.map(move |number| cursor.at(number))
}

/// The records that [`DRAWS`] reads ask for by this law.
pub fn ranks(seed: u64, records: u64, request: &Value) -> impl Iterator<Item = u64> + use<> {
    let plan = plan(seed, records, &json!({"request": request}));
    drafts(&plan, 0..DRAWS).map(|draft| draft.rank)
}
