//! A plan for tests: 1000 records, half reads and half updates, with changes to its workload.

use crate::plan::Plan;
use serde_json::{Value, json};

/// The plan with `seed`, and `change`'s members put over those of its workload.
pub fn plan(seed: u64, change: &Value) -> Plan {
    let mut workload = json!({
        "records": 1000,
        "mix": {"read": 0.5, "update": 0.5},
        "request": {"kind": "zipfian"},
    });
    for (name, value) in change.as_object().expect("an object of changes") {
        workload[name] = value.clone();
    }
    let plan = json!({
        "plan_format": 2,
        "seed": seed,
        "out": "/nowhere",
        "driver": {"kind": "null"},
        "workload": workload,
        "phases": [
            {"name": "load", "kind": "load", "in_flight": 8, "limit": {}},
            {"name": "run", "kind": "run", "in_flight": 8, "limit": {"operations": 1000}},
        ],
    });
    serde_json::from_value(plan).expect("a plan")
}
