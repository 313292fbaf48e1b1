//! `compat = "ycsb"`: against YCSB's own procedure, spelled out here from its description (J. Gray et al., SIGMOD 1994, for the
//! ranks), and against published vectors.

use crate::draws::{DRAWS, ranks};
use crate::theory::{AGREES, between};
use serde_json::json;

const THETA: f64 = 0.99;
const SCRAMBLED_ITEMS: f64 = 10_000_000_001.0;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;
/// Evenly spaced units that stand for all there are.
const UNITS: u64 = 2_000_000;

fn gray(u: f64, items: f64, zeta: f64, first_items: f64) -> u64 {
    let zeta_two = 1.0 + 0.5f64.powf(THETA);
    let eta = (1.0 - (2.0 / first_items).powf(1.0 - THETA)) / (1.0 - zeta_two / zeta);
    match u * zeta {
        uz if uz < 1.0 => 0,
        uz if uz < zeta_two => 1,
        _ => (items * (eta * u - eta + 1.0).powf(1.0 / (1.0 - THETA))) as u64,
    }
}

fn fnv(x: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in x.to_le_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    hash.cast_signed().unsigned_abs()
}

fn units() -> impl Iterator<Item = f64> {
    (0..UNITS).map(|i| (i as f64 + 0.5) / UNITS as f64)
}

fn counts(records: usize, drawn: impl Iterator<Item = u64>) -> Vec<f64> {
    let mut seen = vec![0.0; records];
    drawn.for_each(|record| seen[record as usize] += 1.0);
    seen
}

#[test]
fn scrambled_zipfian_draws_the_records_of_ycsb() {
    let records = 1000;
    let theirs = units()
        .map(|u| fnv(gray(u, SCRAMBLED_ITEMS, SCRAMBLED_ZETA, SCRAMBLED_ITEMS)) % (records + 1))
        .filter(|record| *record < records); // what is above the last record is drawn again
    let theirs = counts(records as usize, theirs);
    let ours = counts(
        records as usize,
        ranks(5, records, &json!({"kind": "zipfian", "compat": "ycsb"})),
    );
    assert!(between(&ours, &theirs) < AGREES);
    let own = counts(
        records as usize,
        ranks(5, records, &json!({"kind": "zipfian"})),
    );
    assert!(between(&own, &theirs) > AGREES, "our own law is another");
    for (record, share) in [(144, 1.0), (610, 0.5f64.powf(THETA))] {
        let expected = share / SCRAMBLED_ZETA * DRAWS as f64;
        assert!(
            (ours[record] - expected).abs() < 5.0 * expected.sqrt() + expected * 0.01,
            "{record}: {}",
            ours[record]
        );
    }
}

#[test]
fn the_hottest_records_are_the_published_ones() {
    let vectors = [
        (1000, [144, 610, 213, 679]),
        (100_000, [42_439, 91_481, 44_356, 93_398]),
        (1_000_000, [801_320, 216_074, 971_811, 386_565]),
    ];
    for (records, hottest) in vectors {
        let seen = counts(
            records as usize,
            ranks(5, records, &json!({"kind": "zipfian", "compat": "ycsb"})),
        );
        let mut order: Vec<u64> = (0..records).collect();
        order.sort_by(|a, b| seen[*b as usize].total_cmp(&seen[*a as usize]));
        assert_eq!(order[..2], hottest[..2], "{records}");
        assert!(
            hottest.iter().all(|record| order[..12].contains(record)),
            "{records}: {:?}",
            &order[..12]
        );
    }
}

#[test]
fn skewed_latest_draws_the_records_of_ycsb() {
    let records = 1000u64;
    let items = records - 1;
    let zeta: f64 = (1..=items).map(|i| (i as f64).powf(-THETA)).sum();
    let theirs = units().map(|u| items - gray(u, items as f64, zeta, items as f64).min(items));
    let theirs = counts(records as usize, theirs);
    let ours = counts(
        records as usize,
        ranks(5, records, &json!({"kind": "latest", "compat": "ycsb"})),
    );
    assert!(between(&ours, &theirs) < AGREES);
    assert!(ours[0].abs() < 0.5, "the first record is never drawn");
}
