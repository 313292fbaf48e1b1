use super::super::random::{Source, Stream};
use super::*;

#[test]
fn constants_are_ycsbs() {
    let gray = Gray::new(SCRAMBLED_ITEMS);
    assert!((gray.zeta_two - 1.503_477_775_028_359_4).abs() < 1e-15);
    assert!((gray.eta(SCRAMBLED_ZETA) - 0.212_200_033_809_674_06).abs() < 1e-15);
}

#[test]
fn ranks_of_units_are_ycsbs() {
    let scrambled = Scrambled::new(1000, 0);
    let vectors = [
        (0.05, 1, 610),
        (0.1, 6, 942),
        (0.25, 296, 809),
        (0.5, 134_552, 367),
        (0.75, 42_924_421, 767),
        (0.9, 1_170_869_537, 991),
    ];
    for (u, rank, record) in vectors {
        let found = scrambled
            .gray
            .rank(u, SCRAMBLED_ITEMS, SCRAMBLED_ZETA, scrambled.eta);
        assert_eq!(found, rank);
        assert_eq!(scrambled.map(u), record);
    }
}

#[test]
fn hottest_records_are_ycsbs() {
    let vectors = [
        (1000, [144, 610, 213, 679]),
        (100_000, [42_439, 91_481, 44_356, 93_398]),
        (1_000_000, [801_320, 216_074, 971_811, 386_565]),
    ];
    for (records, expected) in vectors {
        let scrambled = Scrambled::new(records, 0);
        assert_eq!([0, 1, 2, 3].map(|rank| scrambled.scramble(rank)), expected);
    }
}

#[test]
fn the_range_counts_expected_new_keys_and_one_more() {
    assert_eq!(Scrambled::new(1000, 0).modulus, 1001);
    assert_eq!(Scrambled::new(1000, 100).modulus, 1101);
}

#[test]
fn what_is_not_yet_readable_is_drawn_again() {
    let scrambled = Scrambled::new(10, 1_000);
    let source = Source::new(1, Stream::Rank);
    let mut seen = [0u32; 10];
    for number in 0..2_000 {
        seen[scrambled.rank(&mut source.draw(number), 10) as usize] += 1;
    }
    assert!(seen.iter().sum::<u32>() == 2_000);
}

#[test]
fn a_hopeless_range_does_not_spin() {
    let scrambled = Scrambled::new(1, u64::MAX / 4);
    assert_eq!(
        scrambled.rank(&mut Source::new(1, Stream::Rank).draw(0), 1),
        0
    );
}

/// `ZipfianGenerator.nextLong(itemcount)` of a generator made for `items`, line by line.
fn literal(items: u64, itemcount: u64, u: f64) -> u64 {
    let sum = |n: u64| (1..=n).map(|i| 1.0 / (i as f64).powf(0.99)).sum::<f64>();
    let (zetan, zeta2theta) = (sum(itemcount), sum(2));
    let eta = (1.0 - (2.0 / items as f64).powf(1.0 - 0.99)) / (1.0 - zeta2theta / zetan);
    let uz = u * zetan;
    if uz < 1.0 {
        return 0;
    }
    if uz < 1.0 + 0.5f64.powf(0.99) {
        return 1;
    }
    (itemcount as f64 * (eta * u - eta + 1.0).powf(1.0 / (1.0 - 0.99))) as u64
}

#[test]
fn latest_is_ycsbs_before_and_after_growth() {
    let latest = SkewedLatest::new(1000);
    for items in [999, 1000, 1500, 20_000] {
        for step in 0..1000 {
            let u = f64::from(step) / 1000.0;
            assert_eq!(latest.age(u, items), literal(999, items, u), "{items} {u}");
        }
    }
}

#[test]
fn latest_never_draws_the_first_record() {
    let latest = SkewedLatest::new(20);
    let source = Source::new(1, Stream::Rank);
    let mut seen = [0u32; 20];
    for number in 0..20_000 {
        seen[latest.rank(&mut source.draw(number), 20) as usize] += 1;
    }
    assert_eq!(seen[0], 0);
    assert_eq!(seen.iter().max(), Some(&seen[19]));
}

#[test]
fn latest_of_hardly_any_records_stays_in_range() {
    for records in 1..4 {
        let latest = SkewedLatest::new(records);
        for readable in records..records + 5 {
            let source = Source::new(1, Stream::Rank);
            assert!((0..200).all(|i| latest.rank(&mut source.draw(i), readable) < readable));
        }
    }
}
