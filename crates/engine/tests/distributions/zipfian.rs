//! Skewed laws: popularity falls as rank^-theta.

use crate::draws::{DRAWS, SIZES, ranks};
use crate::theory::{AGREES, count, from_shares, power_sum, widening};
use serde_json::json;
use std::collections::HashMap;
use steelyard_engine::generate::permutation::Permutation;
use steelyard_engine::generate::random::{Source, Stream};
use steelyard_engine::generate::zipfian::Zipfian;

const THETAS: [f64; 7] = [0.0, 0.5, 0.9, 0.99, 1.0, 1.2, 2.0];
/// Ranks that are found again behind the permutation of a large table.
const HEAD: u64 = 2000;

fn shares(theta: f64, edges: &[u64]) -> Vec<f64> {
    let bins = edges.windows(2);
    bins.map(|pair| power_sum(theta, pair[0], pair[1] - 1))
        .collect()
}

/// How far ranks drawn with `drawn` lie from the law of `theta`.
fn distance(drawn: f64, theta: f64, n: u64) -> f64 {
    let edges = widening(n);
    let (law, source) = (Zipfian::new(drawn, n), Source::new(3, Stream::Rank));
    let items = (0..DRAWS).map(|number| law.rank(&mut source.draw(number), n) + 1);
    from_shares(&count(items, &edges), &shares(theta, &edges))
}

#[test]
fn ranks_follow_the_law_at_every_size() {
    for n in SIZES {
        for theta in THETAS {
            let found = distance(theta, theta, n);
            assert!(found < AGREES, "theta {theta} of {n}: {found}");
        }
    }
}

#[test]
fn a_theta_wrong_by_one_percent_is_noticed() {
    for n in &SIZES[1..] {
        for theta in [0.9, 0.99, 1.0, 1.2] {
            for wrong in [theta * 0.99, theta * 1.01] {
                let found = distance(wrong, theta, *n);
                assert!(found > AGREES, "{wrong} for {theta} of {n}: {found}");
            }
        }
    }
}

#[test]
fn latest_is_the_law_from_the_newest_backwards() {
    for n in SIZES {
        for theta in [0.5, 0.99, 1.2] {
            let edges = widening(n);
            let ages = ranks(5, n, &json!({"kind": "latest", "theta": theta})).map(|rank| n - rank);
            let found = from_shares(&count(ages, &edges), &shares(theta, &edges));
            assert!(found < AGREES, "theta {theta} of {n}: {found}");
        }
    }
}

/// Hot records lie scattered: the head's places are looked up, all others are one bin.
#[test]
fn zipfian_requests_ask_for_the_permuted_ranks() {
    for n in SIZES {
        let seed = 9;
        let mut draw = Source::new(seed, Stream::Permutation).draw(0);
        let permutation = Permutation::new(&mut draw, n);
        let head = HEAD.min(n);
        let places: HashMap<u64, u64> = (0..head).map(|r| (permutation.apply(r), r + 1)).collect();
        assert_eq!(places.len() as u64, head, "no two ranks share a record");
        let mut edges = widening(head);
        if n > head {
            edges.push(n + 1);
        }
        for theta in [0.9, 0.99, 1.2] {
            // (A flatter law over 10^12 records hardly ever asks for the head.)
            let records = ranks(seed, n, &json!({"kind": "zipfian", "theta": theta}));
            let items = records.map(|record| places.get(&record).copied().unwrap_or(n));
            let found = from_shares(&count(items, &edges), &shares(theta, &edges));
            assert!(found < AGREES, "theta {theta} of {n}: {found}");
        }
    }
}
