//! Lengths of scans and of field values.

use crate::draws::{DRAWS, drafts, plan};
use crate::theory::{AGREES, count, equal, from_shares, power_sum, widening};
use serde_json::{Value, json};
use steelyard_engine::generate::Generator;
use steelyard_engine::generate::check::Check;
use steelyard_engine::generate::values::LOADED;

/// Lengths of the values that as many writes put into one field of one record.
fn of_values(length: &Value) -> Vec<u64> {
    let plan = plan(7, 1000, &json!({"fields": {"length": length}}));
    let values = Generator::new(&plan).expect("a sound plan").values;
    let mut out = Vec::new();
    let length = |number| {
        out.clear();
        values.write(b"user1", 0, number, &mut out);
        if values.verifiable() {
            assert_eq!(values.check(b"user1", 0, &out), Check::Good { number });
        }
        out.len() as u64
    };
    (0..DRAWS / 2)
        .flat_map(|number| [number, number | LOADED])
        .map(length)
        .collect()
}

fn of_scans(length: &Value) -> Vec<u64> {
    let plan = plan(
        7,
        1000,
        &json!({"mix": {"scan": 1.0}, "scan_length": length}),
    );
    drafts(&plan, 0..DRAWS)
        .map(|draft| draft.scan_length.into())
        .collect()
}

#[test]
fn uniform_lengths_are_level() {
    let law = json!({"kind": "uniform", "min": 20, "max": 119});
    for lengths in [of_values(&law), of_scans(&law)] {
        let seen = count(lengths.iter().map(|length| length - 20), &equal(100, 100));
        assert!(from_shares(&seen, &[1.0; 100]) < AGREES);
    }
}

#[test]
fn zipfian_lengths_are_mostly_short() {
    let law = json!({"kind": "zipfian", "min": 20, "max": 1019});
    let edges = widening(1000);
    let shares = |theta: f64| -> Vec<f64> {
        let bins = edges.windows(2);
        bins.map(|pair| power_sum(theta, pair[0], pair[1] - 1))
            .collect()
    };
    for lengths in [of_values(&law), of_scans(&law)] {
        let seen = count(lengths.iter().map(|length| length - 19), &edges);
        assert!(from_shares(&seen, &shares(0.99)) < AGREES);
        assert!(from_shares(&seen, &shares(0.98)) > AGREES);
    }
}

#[test]
fn lengths_of_a_histogram_follow_its_weights() {
    let weights: Vec<(u64, u64)> = (1..=40).map(|i| (i * 25, 1 + i * i % 17)).collect();
    let law = json!({"kind": "histogram", "weights": weights});
    let edges: Vec<u64> = (1..=41).map(|i| i * 25).collect();
    let shares: Vec<f64> = weights.iter().map(|(_, weight)| *weight as f64).collect();
    for lengths in [of_values(&law), of_scans(&law)] {
        assert!(lengths.iter().all(|length| length % 25 == 0));
        assert!(from_shares(&count(lengths.into_iter(), &edges), &shares) < AGREES);
    }
}
