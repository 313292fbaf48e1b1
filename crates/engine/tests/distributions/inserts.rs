//! Laws over a table that grows while it is asked.

use crate::draws::{drafts, plan};
use crate::theory::{AGREES, distance, from_shares};
use serde_json::{Value, json};
use std::collections::HashMap;
use steelyard_engine::generate::permutation::Permutation;
use steelyard_engine::generate::random::{Source, Stream};
use steelyard_engine::operation::Kind;

const RECORDS: u64 = 1000;
const NUMBERS: u64 = 300_000;
const LAG: u64 = 64;

/// Every read: (records that could be read then, the record it asks for). Checks on the way what the inserts are.
fn reads(records: u64, request: &Value) -> Vec<(u64, u64)> {
    let workload =
        json!({"request": request, "mix": {"read": 0.9, "insert": 0.1}, "insert_lag": LAG});
    let plan = plan(12, records, &workload);
    let (mut inserted, mut numbers, mut found) = (0, Vec::new(), Vec::new());
    let mut readable = 0;
    for draft in drafts(&plan, 0..NUMBERS) {
        while numbers
            .get(readable)
            .is_some_and(|number| number + LAG <= draft.number)
        {
            readable += 1;
        }
        if draft.kind == Kind::Insert {
            assert_eq!(
                draft.rank,
                records + inserted,
                "inserts take one new record after the other"
            );
            inserted += 1;
            numbers.push(draft.number);
        } else {
            let n = records + readable as u64;
            assert!(draft.rank < n, "{} of {n}", draft.rank);
            found.push((n, draft.rank));
        }
    }
    assert!((28_500..31_500).contains(&inserted), "{inserted} inserts");
    found
}

/// Sums of i^-theta over 1 ..= n for every n.
fn sums(theta: f64, most: u64) -> Vec<f64> {
    let mut sum = 0.0;
    let up_to = |i: u64| {
        if i > 0 {
            sum += (i as f64).powf(-theta);
        }
        sum
    };
    (0..=most).map(up_to).collect()
}

/// Seen and expected in each bin of popularity ranks, each read by the size of the table it saw.
fn skewed(reads: &[(u64, u64)], theta: f64, place: impl Fn(u64, u64) -> u64) -> f64 {
    let most = reads.iter().map(|(n, _)| *n).max().unwrap_or(0);
    let (sums, edges) = (sums(theta, most), crate::theory::widening(most));
    let mut expected = vec![0.0; edges.len() - 1];
    for (n, _) in reads {
        for (bin, pair) in edges.windows(2).enumerate() {
            let (first, last) = (pair[0] - 1, (pair[1] - 1).min(*n));
            if last <= first {
                break;
            }
            expected[bin] += (sums[last as usize] - sums[first as usize]) / sums[*n as usize];
        }
    }
    let items = reads.iter().map(|(n, rank)| place(*n, *rank));
    distance(&crate::theory::count(items, &edges), &expected)
}

#[test]
fn uniform_spreads_over_old_and_new() {
    let reads = reads(RECORDS, &json!({"kind": "uniform"}));
    let mut seen = [0.0; 50];
    for (n, rank) in &reads {
        seen[(rank * 50 / n) as usize] += 1.0;
    }
    assert!(from_shares(&seen, &[1.0; 50]) < AGREES);
}

#[test]
fn latest_counts_from_the_newest_of_its_time() {
    let reads = reads(RECORDS, &json!({"kind": "latest", "theta": 0.99}));
    let age = |n: u64, rank: u64| n - rank;
    assert!(skewed(&reads, 0.99, age) < AGREES);
    assert!(skewed(&reads, 0.98, age) > AGREES);
}

#[test]
fn zipfian_keeps_its_hot_set_and_new_records_enter_at_the_cold_end() {
    let reads = reads(RECORDS, &json!({"kind": "zipfian", "theta": 0.99}));
    let mut draw = Source::new(12, Stream::Permutation).draw(0);
    let permutation = Permutation::new(&mut draw, RECORDS);
    let places: HashMap<u64, u64> = (0..RECORDS)
        .map(|rank| (permutation.apply(rank), rank))
        .collect();
    let popularity = |_, record: u64| places.get(&record).copied().unwrap_or(record) + 1;
    assert!(skewed(&reads, 0.99, popularity) < AGREES);
    assert!(skewed(&reads, 0.98, popularity) > AGREES);
}

#[test]
fn hotspot_grows_with_the_table() {
    let law = json!({"kind": "hotspot", "data_fraction": 0.2, "operation_fraction": 0.8});
    let mut seen = [0.0; 2];
    for (n, rank) in reads(RECORDS, &law) {
        seen[usize::from(rank >= (n as f64 * 0.2) as u64)] += 1.0;
    }
    assert!(from_shares(&seen, &[0.8, 0.2]) < AGREES, "{seen:?}");
}

/// The age falls by e over records * fraction / -ln(1 - percentile), whatever has been added since.
#[test]
fn exponential_counts_from_the_newest_of_its_time() {
    let law = json!({"kind": "exponential", "percentile": 80.0, "fraction": 0.2});
    let g = -(0.2f64).ln() / (RECORDS as f64 * 0.2);
    let mut seen = [0.0; 40];
    let mut expected = [0.0; 40];
    for (n, rank) in reads(RECORDS, &law) {
        let inside = -(-g * n as f64).exp_m1();
        let up_to = |age: f64| (-(-g * age).exp_m1() / inside).min(1.0);
        seen[((n - 1 - rank) / 20).min(39) as usize] += 1.0;
        for (bin, share) in expected.iter_mut().enumerate() {
            let end = if bin == 39 {
                n as f64
            } else {
                (bin + 1) as f64 * 20.0
            };
            *share += up_to(end) - up_to(bin as f64 * 20.0);
        }
    }
    assert!(distance(&seen, &expected) < AGREES, "{seen:?}");
}

#[test]
fn a_table_of_a_trillion_grows_as_a_small_one() {
    for kind in ["uniform", "zipfian", "latest", "hotspot", "exponential"] {
        let found = reads(1_000_000_000_000, &json!({"kind": kind}));
        assert!(found.len() > 260_000);
    }
}
