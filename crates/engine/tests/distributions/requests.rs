//! Laws without skew, or with a skew of another kind.

use crate::draws::{DRAWS, SIZES, ranks};
use crate::theory::{AGREES, count, equal, from_shares};
use serde_json::{Value, json};

/// Bins of 0 .. n, and how many values lie in each.
fn spread(values: impl Iterator<Item = u64>, n: u64) -> (Vec<f64>, Vec<f64>) {
    let edges = equal(n, 64.min(n));
    let widths = edges.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
    (count(values, &edges), widths.collect())
}

#[test]
fn uniform_is_level_in_high_and_low_digits() {
    for compat in [Value::Null, json!("ycsb")] {
        for n in SIZES {
            let drawn: Vec<u64> =
                ranks(2, n, &json!({"kind": "uniform", "compat": compat})).collect();
            let (seen, widths) = spread(drawn.iter().copied(), n);
            assert!(from_shares(&seen, &widths) < AGREES, "{n}");
            let (low, widths) = spread(drawn.iter().map(|rank| rank % 10), 10);
            assert!(from_shares(&low, &widths) < AGREES, "{n}: last digit");
        }
    }
}

#[test]
fn hotspot_is_level_within_and_without() {
    for compat in [Value::Null, json!("ycsb")] {
        for n in SIZES {
            let law = json!({"kind": "hotspot", "data_fraction": 0.3, "operation_fraction": 0.6, "compat": compat});
            let hot = n * 3 / 10;
            let (inside, outside): (Vec<u64>, Vec<u64>) =
                ranks(4, n, &law).partition(|rank| *rank < hot);
            let sides = [inside.len() as f64, outside.len() as f64];
            assert!(from_shares(&sides, &[0.6, 0.4]) < AGREES, "{n}: {sides:?}");
            let (seen, widths) = spread(inside.into_iter(), hot);
            assert!(from_shares(&seen, &widths) < AGREES, "{n}: hot");
            let (seen, widths) = spread(outside.into_iter().map(|rank| rank - hot), n - hot);
            assert!(from_shares(&seen, &widths) < AGREES, "{n}: cold");
        }
    }
}

#[test]
fn sequential_takes_one_after_the_other() {
    for n in SIZES {
        let drawn = ranks(1, n, &json!({"kind": "sequential"}));
        assert!(drawn.eq((0..DRAWS).map(|number| number % n)), "{n}");
    }
}

/// P(age <= a) = (1 - e^-ga) / (1 - e^-gn), with the g that gives `percentile` to the newest `fraction` of an endless table.
#[test]
fn exponential_falls_with_age() {
    let (percentile, fraction) = (80.0, 0.2);
    for n in SIZES {
        let g = -(1.0f64 - percentile / 100.0).ln() / (n as f64 * fraction);
        let up_to = |age: u64| -(-g * age as f64).exp_m1();
        let edges = equal(n, 200.min(n));
        let shares: Vec<f64> = edges
            .windows(2)
            .map(|pair| up_to(pair[1]) - up_to(pair[0]))
            .collect();
        let law = json!({"kind": "exponential", "percentile": percentile, "fraction": fraction});
        let seen = count(ranks(6, n, &law).map(|rank| n - 1 - rank), &edges);
        let found = from_shares(&seen, &shares);
        assert!(found < AGREES, "{n}: {found}");
        let newest: f64 = seen[..seen.len() / 5].iter().sum();
        assert!(
            (newest / DRAWS as f64 - 0.8 / up_to(n)).abs() < 0.005,
            "{n}: {newest}"
        );
    }
}
