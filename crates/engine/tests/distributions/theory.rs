//! Expected shares, and how far counts lie from them.

/// Counts that agree stay below this in all but 3 of 100,000 tests.
pub const AGREES: f64 = 4.0;
/// Terms that are added up one by one before the integral takes over.
const DIRECT: u64 = 4096;
/// Fewest expected in a bin; smaller ones are put together.
const LEAST: f64 = 10.0;

/// Sum of i^-theta over first ..= last: terms, then Euler and Maclaurin's formula.
pub fn power_sum(theta: f64, first: u64, last: u64) -> f64 {
    let term = |i: u64| (i as f64).powf(-theta);
    let direct: f64 = (first..=last.min(DIRECT)).map(term).sum();
    let rest = first.max(DIRECT + 1);
    if last < rest {
        return direct;
    }
    let (x, y) = (rest as f64, last as f64);
    let q = 1.0 - theta;
    let integral = if q == 0.0 {
        (y / x).ln()
    } else {
        (y.powf(q) - x.powf(q)) / q
    };
    let slopes = theta * (x.powf(-theta - 1.0) - y.powf(-theta - 1.0));
    direct + integral + f64::midpoint(term(rest), term(last)) + slopes / 12.0
}

/// Where bins of 1 ..= n begin, each about half as wide again as the one before, and n + 1.
pub fn widening(n: u64) -> Vec<u64> {
    let mut edges = vec![1];
    while edges[edges.len() - 1] <= n {
        let last = edges[edges.len() - 1];
        edges.push((last + (last / 2).max(1)).min(n + 1));
    }
    edges
}

/// Where each of `parts` equal bins of 0 .. n begins, and n.
pub fn equal(n: u64, parts: u64) -> Vec<u64> {
    let at = |part: u64| (u128::from(n) * u128::from(part) / u128::from(parts)) as u64;
    let mut edges: Vec<u64> = (0..=parts).map(at).collect();
    edges.dedup();
    edges
}

/// How many values lie in each bin; all of them must lie in one.
pub fn count(values: impl Iterator<Item = u64>, edges: &[u64]) -> Vec<f64> {
    let mut seen = vec![0.0; edges.len() - 1];
    for value in values {
        let bin = edges.partition_point(|edge| *edge <= value);
        assert!(
            (1..edges.len()).contains(&bin),
            "{value} lies outside {edges:?}"
        );
        seen[bin - 1] += 1.0;
    }
    seen
}

/// How far `seen` lies from `expected` (both counts, of equal sums): chi-square as standard deviations of a normal variate
/// (E. Wilson and M. Hilferty, "The distribution of chi-square", PNAS 17, 1931).
pub fn distance(seen: &[f64], expected: &[f64]) -> f64 {
    let (a, b): (f64, f64) = (seen.iter().sum(), expected.iter().sum());
    assert!((a / b - 1.0).abs() < 1e-6, "{a} seen, {b} expected");
    normal(chi_square(seen, expected))
}

/// The same of counts against shares that need not sum to 1.
pub fn from_shares(seen: &[f64], shares: &[f64]) -> f64 {
    let (all, whole): (f64, f64) = (seen.iter().sum(), shares.iter().sum());
    let expected: Vec<f64> = shares.iter().map(|share| share / whole * all).collect();
    distance(seen, &expected)
}

/// The same of two samples, neither of which is theory.
pub fn between(a: &[f64], b: &[f64]) -> f64 {
    let (all_a, all_b): (f64, f64) = (a.iter().sum(), b.iter().sum());
    let (grow, shrink) = ((all_b / all_a).sqrt(), (all_a / all_b).sqrt());
    let bins: Vec<f64> = a
        .iter()
        .zip(b)
        .filter(|(a, b)| *a + *b > 0.0)
        .map(|(a, b)| (grow * a - shrink * b).powi(2) / (a + b))
        .collect();
    normal((bins.iter().sum(), bins.len() - 1))
}

/// Chi-square and its degrees of freedom.
fn chi_square(seen: &[f64], expected: &[f64]) -> (f64, usize) {
    let (mut sum, mut bins) = (0.0, 0);
    let (mut some, mut wanted) = (0.0, 0.0);
    let mut left: f64 = expected.iter().sum();
    for (one, expects) in seen.iter().zip(expected) {
        (some, wanted, left) = (some + one, wanted + expects, left - expects);
        let too_few_left = (1e-6..LEAST).contains(&left);
        if wanted >= LEAST && !too_few_left {
            sum += (some - wanted).powi(2) / wanted;
            bins += 1;
            (some, wanted) = (0.0, 0.0);
        }
    }
    if wanted > 0.0 {
        sum += (some - wanted).powi(2) / wanted;
        bins += 1;
    }
    assert!(bins > 1, "one bin proves nothing");
    (sum, bins - 1)
}

fn normal((chi_square, degrees): (f64, usize)) -> f64 {
    let k = degrees as f64;
    ((chi_square / k).cbrt() - (1.0 - 2.0 / (9.0 * k))) / (2.0 / (9.0 * k)).sqrt()
}

/// Greatest distance between the empirical distribution of `values` and `cumulative`, times the root of their number
/// (Kolmogorov and Smirnov): values that agree stay below 2.2 in all but 1 of 10,000 tests.
pub fn kolmogorov(mut values: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let apart = values.iter().enumerate().map(|(i, value)| {
        let expected = cumulative(*value);
        (expected - i as f64 / n)
            .abs()
            .max((expected - (i + 1) as f64 / n).abs())
    });
    apart.fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn sums_are_those_added_up() {
    for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 2.0] {
        let added: f64 = (1..=1_000_000).map(|i| f64::from(i).powf(-theta)).sum();
        assert!((power_sum(theta, 1, 1_000_000) / added - 1.0).abs() < 1e-12);
        let parts = power_sum(theta, 1, 70_000) + power_sum(theta, 70_001, 1_000_000);
        assert!((parts / added - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_distance_of_a_fair_die_is_small_and_of_a_loaded_one_is_not() {
    assert!(distance(&[98.0, 104.0, 101.0, 97.0], &[100.0; 4]) < 1.0);
    assert!(distance(&[60.0, 140.0, 100.0, 100.0], &[100.0; 4]) > AGREES);
    assert!(between(&[98.0, 104.0], &[1010.0, 990.0]) < 2.0);
    assert!(between(&[150.0, 50.0], &[1010.0, 990.0]) > AGREES);
}
