use super::*;
use crate::plan::{Arrivals, Limit, PhaseKind};

fn phase(arrivals: Arrivals, operations: Option<u64>, seconds: Option<f64>) -> Phase {
    let limit = Limit {
        operations,
        seconds,
    };
    Phase {
        name: "run".into(),
        kind: PhaseKind::Run,
        in_flight: 1,
        arrivals,
        limit,
        first: 0,
    }
}

fn dispenser(phase: &Phase, index: u32, count: u32) -> Dispenser {
    Dispenser::new(phase, 0, EngineShare { index, count }, 1, 10, 1_000)
}

#[test]
fn a_closed_loop_hands_out_at_once_and_ends_at_the_limit() {
    let mut d = dispenser(&phase(Arrivals::Closed, Some(2), None), 0, 1);
    assert_eq!(
        d.next(0),
        Next::Go {
            number: 10,
            due: None
        }
    );
    assert_eq!(
        d.next(0),
        Next::Go {
            number: 11,
            due: None
        }
    );
    assert_eq!(d.next(0), Next::End);
}

#[test]
fn a_load_goes_from_its_first_record_to_the_last() {
    let mut load = phase(Arrivals::Closed, None, None);
    load.kind = PhaseKind::Load;
    load.first = 7;
    let mut d = Dispenser::new(&load, 10, EngineShare::default(), 1, 7, 0);
    let numbers = std::iter::from_fn(|| match d.next(0) {
        Next::Go { number, .. } => Some(number),
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [7, 8, 9]);
}

#[test]
fn strided_engines_share_the_numbers() {
    let p = phase(Arrivals::Closed, Some(7), None);
    let mut seen: Vec<u64> = Vec::new();
    for index in 0..3 {
        let mut d = dispenser(&p, index, 3);
        while let Next::Go { number, .. } = d.next(0) {
            assert_eq!(number % 3, u64::from(index));
            seen.push(number);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (10..17).collect::<Vec<_>>());
}

#[test]
fn a_paced_operation_waits_for_its_due_time_and_a_late_one_keeps_it() {
    let mut d = dispenser(
        &phase(
            Arrivals::Constant {
                rate: 1000.0.into(),
            },
            None,
            Some(1.0),
        ),
        0,
        1,
    );
    assert_eq!(
        d.next(1_000),
        Next::Go {
            number: 10,
            due: Some(1_000)
        }
    );
    assert_eq!(d.next(1_000), Next::Wait(1_001_000));
    assert_eq!(
        d.next(9_000_000),
        Next::Go {
            number: 11,
            due: Some(1_001_000)
        }
    );
}

#[test]
fn due_and_unsent_operations_are_counted_once() {
    let mut d = dispenser(
        &phase(
            Arrivals::Constant {
                rate: 1000.0.into(),
            },
            None,
            Some(0.01),
        ),
        0,
        1,
    );
    assert!(matches!(d.next(1_000), Next::Go { .. }));
    assert_eq!(d.due_by(5_002_000), 6);
    assert_eq!(d.due_by(u64::MAX), 10);
    assert_eq!(d.next(20_000_000), Next::End);
    assert_eq!(std::iter::from_fn(|| d.unsent(20_000_000)).count(), 9);
}

/// What is due in each of three seconds of 1000/s of which `take(now)` says how many are taken by then.
fn due_in_seconds(
    arrivals: Arrivals,
    looks: &[u64],
    mut take: impl FnMut(u64) -> bool,
) -> Vec<u64> {
    let mut d = Dispenser::new(
        &phase(arrivals, None, Some(10.0)),
        0,
        EngineShare::default(),
        1,
        0,
        0,
    );
    let (mut told, mut before) = (Vec::new(), 0);
    for look in looks {
        while take(*look) && matches!(d.next(*look), Next::Go { .. }) {}
        d.look_ahead(*look);
        while told.len() < (*look / SECOND) as usize {
            let due = d.due_by_next_second();
            told.push(due - before);
            before = due;
        }
    }
    told
}

#[test]
fn a_second_counts_what_was_due_up_to_its_end_however_late_it_is_closed_and_whoever_has_taken_what()
{
    let constant = || Arrivals::Constant {
        rate: 1000.0.into(),
    };
    let ms = SECOND / 1000;
    let punctual = [500 * ms, 1000 * ms, 1500 * ms, 2000 * ms, 3000 * ms];
    let late = [400 * ms, 1300 * ms, 3700 * ms];
    for looks in [&punctual[..], &late[..]] {
        assert_eq!(
            due_in_seconds(constant(), looks, |_| true),
            [1000; 3],
            "all taken"
        );
        assert_eq!(
            due_in_seconds(constant(), looks, |_| false),
            [1000; 3],
            "none taken"
        );
        assert_eq!(
            due_in_seconds(constant(), looks, |now| now < SECOND),
            [1000; 3]
        );
        assert_eq!(
            due_in_seconds(constant(), looks, |now| now > SECOND),
            [1000; 3]
        );
    }
    let poisson = || Arrivals::Poisson {
        rate: 1000.0.into(),
    };
    let taken = due_in_seconds(poisson(), &punctual, |_| true);
    assert_eq!(taken, due_in_seconds(poisson(), &late, |_| false));
}

#[test]
fn what_was_handed_out_is_not_walked_over_again() {
    let arrivals = Arrivals::Poisson {
        rate: 50_000.0.into(),
    };
    let mut d = Dispenser::new(
        &phase(arrivals, None, Some(10.0)),
        0,
        EngineShare { index: 0, count: 4 },
        1,
        0,
        0,
    );
    while matches!(d.next(SECOND), Next::Go { .. }) {}
    let handed = d.handed;
    d.look_ahead(SECOND);
    let ahead = d.ahead.as_ref().expect("it has looked");
    assert_eq!(ahead.count, handed, "it begins where handing out stands");
    assert_eq!(d.due_by_next_second(), handed);
}

#[test]
fn the_offer_ends_where_the_next_operation_would_be_due() {
    let paced = |rate: f64, n, s| phase(Arrivals::Constant { rate: rate.into() }, n, s);
    let end = |p: &Phase| Dispenser::new(p, 0, EngineShare::default(), 1, 0, 0).offered_until();
    assert_eq!(end(&paced(1000.0, Some(2000), None)), Some(2 * SECOND));
    assert_eq!(end(&paced(1000.0, None, Some(3.0))), Some(3 * SECOND));
    assert_eq!(end(&paced(1000.0, Some(9000), Some(3.0))), Some(3 * SECOND));
    assert_eq!(
        end(&phase(Arrivals::Closed, Some(9), None)),
        None,
        "sends are not foreseen"
    );
    let poisson = phase(
        Arrivals::Poisson {
            rate: 1000.0.into(),
        },
        Some(500),
        None,
    );
    let mut d = Dispenser::new(&poisson, 0, EngineShare::default(), 1, 0, 0);
    assert_eq!(d.offered_until(), None);
    while matches!(d.next(5 * SECOND), Next::Go { .. }) {}
    let schedule = Schedule::new(1, &poisson.arrivals, 0);
    assert_eq!(d.offered_until(), Some(schedule.expect("paced").due(500)));
}

#[test]
fn a_time_that_is_set_later_ends_the_offer_and_only_ever_sooner() {
    let every_tenth = Arrivals::Constant { rate: 10.0.into() };
    let mut d = dispenser(&phase(every_tenth, None, Some(60.0)), 0, 1);
    let tenth = SECOND / 10;
    let end = 1_000 + 2 * tenth;
    assert_eq!(
        d.next(1_000),
        Next::Go {
            number: 10,
            due: Some(1_000)
        }
    );
    d.end_at(end);
    d.end_at(end + tenth);
    assert_eq!(d.next(1_000), Next::Wait(1_000 + tenth));
    assert_eq!(d.offered_until(), Some(end));
    assert!(matches!(d.next(1_000 + tenth), Next::Go { number: 11, .. }));
    assert_eq!(d.next(1_000 + tenth), Next::Wait(end));
    assert!(!d.ended(end - 1));
    assert_eq!(d.next(end), Next::End);
    assert!(!d.stopped());
}

#[test]
fn a_new_rate_moves_the_head() {
    let mut d = dispenser(
        &phase(Arrivals::Constant { rate: 1.0.into() }, None, None),
        0,
        1,
    );
    assert!(matches!(d.next(1_000), Next::Go { .. }));
    assert_eq!(d.next(1_000), Next::Wait(1_000_001_000));
    assert!(d.set_rate(1_000, 1000.0));
    assert_eq!(d.next(1_000), Next::Wait(1_001_000));
}
