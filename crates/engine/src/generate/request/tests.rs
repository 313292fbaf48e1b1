use super::*;

const YCSB: Option<Compat> = Some(Compat::Ycsb);

/// How often each rank is drawn, of 100,000.
fn counts(request: Request, records: u64, readable: u64) -> Vec<u64> {
    let ranks = Ranks::new(1, records, &request, 0);
    let source = Source::new(1, Stream::Rank);
    let mut seen = vec![0; readable as usize];
    for number in 0..100_000 {
        seen[ranks.rank(&mut source.draw(number), number, readable) as usize] += 1;
    }
    seen
}

fn share(counts: &[u64]) -> f64 {
    counts.iter().sum::<u64>() as f64 / 100_000.0
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.008, "{found}, not {expected}");
}

#[test]
fn uniform_reaches_new_records_unless_ycsbs() {
    near(
        share(&counts(Request::Uniform { compat: None }, 100, 200)[100..]),
        0.5,
    );
    assert_eq!(
        counts(Request::Uniform { compat: YCSB }, 100, 200)[100..],
        [0; 100]
    );
}

#[test]
fn zipfian_is_scattered_and_one_to_one() {
    let seen = counts(
        Request::Zipfian {
            theta: 0.99,
            compat: None,
        },
        100,
        100,
    );
    let mut sorted = seen.clone();
    sorted.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let total: f64 = (1..=100).map(|r| f64::from(r).powf(-0.99)).sum();
    for (rank, &count) in sorted.iter().enumerate().take(10) {
        near(
            count as f64 / 100_000.0,
            (rank as f64 + 1.0).powf(-0.99) / total,
        );
    }
    assert_ne!(seen, sorted);
}

#[test]
fn zipfian_keeps_the_hot_set_when_records_are_added() {
    let law = Request::Zipfian {
        theta: 0.99,
        compat: None,
    };
    let (before, after) = (counts(law, 100, 100), counts(law, 100, 150));
    let hottest = |seen: &[u64]| (0..seen.len()).max_by_key(|&rank| seen[rank]);
    assert_eq!(hottest(&before), hottest(&after));
    let total: f64 = (1..=150).map(|r| f64::from(r).powf(-0.99)).sum();
    let cold: f64 = (101..=150).map(|r| f64::from(r).powf(-0.99)).sum();
    near(share(&after[100..]), cold / total);
}

#[test]
fn ycsbs_zipfian_has_its_hottest_record() {
    let seen = counts(
        Request::Zipfian {
            theta: 0.99,
            compat: YCSB,
        },
        1000,
        1000,
    );
    let hottest = (0..1000).max_by_key(|&rank| seen[rank]);
    assert_eq!(hottest, Some(144));
    near(seen[144] as f64 / 100_000.0, 1.0 / 26.469);
}

#[test]
fn latest_favours_the_newest() {
    let total: f64 = (1..=150).map(|r| f64::from(r).powf(-0.99)).sum();
    for compat in [None, YCSB] {
        let seen = counts(
            Request::Latest {
                theta: 0.99,
                compat,
            },
            100,
            150,
        );
        near(seen[149] as f64 / 100_000.0, 1.0 / total);
        near(seen[148] as f64 / 100_000.0, 0.5f64.powf(0.99) / total);
    }
}

#[test]
fn hotspot_gives_its_shares() {
    let law = |compat| Request::Hotspot {
        data_fraction: 0.2,
        operation_fraction: 0.8,
        compat,
    };
    near(share(&counts(law(None), 100, 200)[..40]), 0.8);
    let ycsb = counts(law(YCSB), 100, 200);
    near(share(&ycsb[..20]), 0.8);
    assert_eq!(ycsb[100..], [0; 100]);
}

#[test]
fn hotspot_ends_are_safe() {
    for (data_fraction, operation_fraction) in [(1e-9, 1.0), (1.0, 0.0), (1.0, 1.0)] {
        let law = Request::Hotspot {
            data_fraction,
            operation_fraction,
            compat: None,
        };
        near(share(&counts(law, 1, 1)), 1.0);
        near(share(&counts(law, 3, 3)), 1.0);
    }
}

#[test]
fn sequential_goes_round() {
    let ranks = Ranks::new(1, 10, &Request::Sequential { compat: None }, 0);
    let mut draw = Source::new(1, Stream::Rank).draw(0);
    assert_eq!(
        [0, 9, 10, 23].map(|number| ranks.rank(&mut draw, number, 10)),
        [0, 9, 0, 3]
    );
}

#[test]
fn exponential_gives_its_percentile_to_its_fraction() {
    let (percentile, fraction) = (95.0, 0.1);
    let seen = counts(
        Request::Exponential {
            percentile,
            fraction,
            compat: None,
        },
        1000,
        1000,
    );
    near(share(&seen[900..]), 0.95);
    near(share(&seen[800..]), 0.9975);
}

/// YCSB's own way, draws below zero drawn again, against ours.
#[test]
fn exponential_is_cut_as_redraws_cut_it() {
    let (percentile, fraction) = (50.0, 1.0);
    let seen = counts(
        Request::Exponential {
            percentile,
            fraction,
            compat: YCSB,
        },
        100,
        100,
    );
    let gamma = 2f64.ln() / 100.0;
    let mut draw = Source::new(9, Stream::Rank).draw(0);
    let mut redrawn = vec![0; 100];
    while redrawn.iter().sum::<u64>() < 100_000 {
        let age = (-(1.0 - draw.unit_f64()).ln() / gamma) as usize;
        if age < 100 {
            redrawn[99 - age] += 1;
        }
    }
    (0..10).for_each(|i| near(share(&seen[10 * i..]), share(&redrawn[10 * i..])));
}

#[test]
fn one_record_suits_every_law() {
    for compat in [None, YCSB] {
        let laws = [
            Request::Uniform { compat },
            Request::Zipfian {
                theta: 0.99,
                compat,
            },
            Request::Latest {
                theta: 0.99,
                compat,
            },
            Request::Hotspot {
                data_fraction: 0.2,
                operation_fraction: 0.8,
                compat,
            },
            Request::Sequential { compat },
            Request::Exponential {
                percentile: 95.0,
                fraction: 0.85,
                compat,
            },
        ];
        for law in laws {
            assert_eq!(counts(law, 1, 1), [100_000]);
        }
    }
}
