use super::*;
use crate::generate::key::Keys;
use crate::operation::Key;
use proptest::prelude::*;

fn format(order: KeyOrder, zero_padding: u32) -> KeyPlan {
    KeyPlan {
        order,
        prefix: "user".into(),
        zero_padding,
    }
}

/// How many keys of `ranks` fall into each of `parts` parts.
fn filled(plan: &KeyPlan, records: u64, parts: u32, ranks: Range<u64>) -> Vec<u64> {
    let splits = splits(plan, records, parts);
    let keys = Keys::new(plan);
    let mut counts = vec![0; parts as usize];
    for rank in ranks {
        let mut key = Key::default();
        keys.write(keys.number(rank), &mut key);
        counts[splits.partition_point(|split| split.as_slice() <= key.as_bytes())] += 1;
    }
    counts
}

/// Pearson's statistic against equal parts, in standard deviations beyond what chance gives.
fn unevenness(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts
        .iter()
        .map(|&n| (n as f64 - expected).powi(2) / expected)
        .sum();
    let freedom = (counts.len() - 1) as f64;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn hashed_keys_fill_all_regions_alike_and_so_do_those_inserted_later() {
    for zero_padding in [1, 19, 24] {
        let plan = format(KeyOrder::Hashed, zero_padding);
        for parts in [2, 3, 12, 60, 200] {
            for ranks in [0..200_000, 5_000_000..5_200_000] {
                let counts = filled(&plan, 200_000, parts, ranks);
                let beyond = unevenness(&counts);
                assert!(beyond < 4.0, "{parts} parts: {beyond} sigma, {counts:?}");
                let even = 200_000 / u64::from(parts);
                let worst = counts.iter().map(|n| n.abs_diff(even)).max().unwrap_or(0);
                let allowed = (4.0 * (even as f64).sqrt()) as u64 + even / 500;
                assert!(worst <= allowed, "{parts} parts: {worst} off {even}");
            }
        }
    }
}

#[test]
fn the_usual_recipe_leaves_regions_empty_and_this_test_sees_it() {
    let plan = format(KeyOrder::Hashed, 1);
    let keys = Keys::new(&plan);
    let usual: Vec<String> = (1..12)
        .map(|i| format!("user{}", 1000 + i * 9000 / 12))
        .collect();
    let mut counts = vec![0; 12];
    for rank in 0..100_000 {
        let mut key = Key::default();
        keys.write(keys.number(rank), &mut key);
        counts[usual.partition_point(|split| split.as_bytes() <= key.as_bytes())] += 1;
    }
    assert!(unevenness(&counts) > 100.0, "{counts:?}");
}

#[test]
fn ordered_keys_fill_all_regions_alike_in_the_order_of_their_text() {
    for (zero_padding, records) in [(1, 1000), (1, 123_457), (4, 99_999), (8, 50_000), (24, 7)] {
        for parts in [2, 3, 7] {
            let plan = format(KeyOrder::Ordered, zero_padding);
            let counts = filled(&plan, records, parts, 0..records);
            let even = records / u64::from(parts);
            let allowed = 1 + even / 500;
            assert!(
                counts.iter().all(|n| n.abs_diff(even) <= allowed),
                "{records} records: {counts:?}"
            );
        }
    }
}

#[test]
fn one_part_has_no_split_and_as_many_parts_as_keys_have_one_key_each() {
    let plan = format(KeyOrder::Ordered, 1);
    assert!(splits(&plan, 1000, 1).is_empty());
    assert_eq!(filled(&plan, 120, 120, 0..120), vec![1; 120]);
}

proptest! {
    #[test]
    fn splits_ascend_and_begin_with_the_prefix(
        hashed: bool, zero_padding in 0u32..=24, records in 1000u64..1 << 40, parts in 1u32..500,
    ) {
        let order = if hashed { KeyOrder::Hashed } else { KeyOrder::Ordered };
        let found = splits(&format(order, zero_padding), records, parts);
        prop_assert_eq!(found.len(), parts as usize - 1);
        prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(found.iter().all(|key| key.starts_with(b"user") && key.len() > 4));
    }
}
