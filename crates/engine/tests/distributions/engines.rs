//! Several engines draw what one draws: not alike, the same.

use crate::draws::{drafts, plan};
use serde_json::{Value, json};
use steelyard_engine::generate::Draft;

const NUMBERS: u64 = 6000;
const LAWS: [&str; 6] = [
    "uniform",
    "zipfian",
    "latest",
    "hotspot",
    "sequential",
    "exponential",
];

#[test]
fn k_engines_draw_what_one_draws() {
    let mix = json!({"read": 3.0, "update": 2.0, "insert": 2.0, "scan": 1.0, "delete": 1.0, "read_modify_write": 1.0});
    for records in [1000, 1_000_000_000_000] {
        for (law, compat) in LAWS
            .iter()
            .flat_map(|law| [(law, Value::Null), (law, json!("ycsb"))])
        {
            let request = json!({"kind": law, "compat": compat});
            let plan = plan(
                3,
                records,
                &json!({"mix": mix, "request": request, "insert_lag": 32, "read_all_fields": false}),
            );
            let one: Vec<Draft> = drafts(&plan, 0..NUMBERS).collect();
            for engines in [2, 3, 7] {
                let strides = (0..engines).map(|index| (index..NUMBERS).step_by(engines as usize));
                let mut all: Vec<Draft> =
                    strides.flat_map(|numbers| drafts(&plan, numbers)).collect();
                all.sort_by_key(|draft| draft.number);
                assert_eq!(one, all, "{law} over {records}, {engines} engines");
            }
        }
    }
}
