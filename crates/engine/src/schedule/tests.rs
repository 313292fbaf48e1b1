use super::*;
use proptest::prelude::*;

fn constant(rate: f64, start_ns: u64) -> Schedule {
    let arrivals = Arrivals::Constant { rate: rate.into() };
    Schedule::new(1, &arrivals, start_ns).expect("paced")
}

fn poisson(rate: f64, start_ns: u64) -> Schedule {
    let arrivals = Arrivals::Poisson { rate: rate.into() };
    Schedule::new(7, &arrivals, start_ns).expect("paced")
}

fn curve(points: &[(f64, f64)]) -> Schedule {
    let rate = Rate::Curve(points.to_vec());
    Schedule::new(1, &Arrivals::Constant { rate }, 0).expect("paced")
}

/// Operations due before `seconds`.
fn due_before(schedule: &mut Schedule, seconds: f64) -> u64 {
    let end = (seconds * 1e9).round() as u64;
    (0..u64::MAX)
        .take_while(|index| schedule.due(*index) < end)
        .count() as u64
}

#[test]
fn constant_arrivals_are_evenly_spaced() {
    let mut s = constant(1000.0, 5_000);
    assert_eq!(
        (0..4).map(|i| s.due(i)).collect::<Vec<_>>(),
        [5_000, 1_005_000, 2_005_000, 3_005_000]
    );
}

#[test]
fn a_closed_loop_has_no_schedule() {
    assert!(Schedule::new(1, &Arrivals::Closed, 0).is_none());
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
    let mut s = poisson(10_000.0, 0);
    let due: Vec<f64> = (0..200_000).map(|i| s.due(i) as f64).collect();
    let gaps: Vec<f64> = due.windows(2).map(|w| w[1] - w[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean / 100_000.0 - 1.0).abs() < 0.01, "mean gap {mean}");
    assert!(
        (var.sqrt() / mean - 1.0).abs() < 0.02,
        "coefficient of variation {}",
        var.sqrt() / mean
    );
}

#[test]
fn strided_engines_make_the_same_times_as_one() {
    let one = poisson(500.0, 9);
    let (mut all, mut even, mut odd) = (one.clone(), one.clone(), one);
    for i in 0..1000 {
        let of_two = if i % 2 == 0 { even.due(i) } else { odd.due(i) };
        assert_eq!(all.due(i), of_two);
    }
}

#[test]
fn a_change_of_rate_moves_only_what_comes_after() {
    let mut s = constant(1000.0, 0);
    s.set_rate(10_000_000, 2000.0);
    assert_eq!(s.due(9), 9_000_000);
    assert_eq!(s.due(10), 10_000_000);
    assert_eq!(s.due(12), 11_000_000);
}

#[test]
fn a_curve_may_step_ramp_and_pause() {
    let mut steps = curve(&[(0.0, 1000.0), (2.0, 1000.0), (2.0, 3000.0)]);
    assert_eq!(due_before(&mut steps.clone(), 2.0), 2000);
    assert_eq!(due_before(&mut steps, 4.0), 8000);
    let mut ramp = curve(&[(0.0, 0.0), (10.0, 1000.0)]);
    assert_eq!(due_before(&mut ramp.clone(), 10.0), 5000);
    assert_eq!(
        ramp.due(1250),
        5_000_000_000,
        "a quarter is due by its half"
    );
    let mut paused = curve(&[
        (0.0, 100.0),
        (1.0, 100.0),
        (1.0, 0.0),
        (3.0, 0.0),
        (3.0, 100.0),
    ]);
    assert_eq!(paused.due(99), 990_000_000);
    assert_eq!(paused.due(100), 3_000_000_000, "the pause is over");
}

#[test]
fn where_the_rate_stays_zero_nothing_more_is_ever_due_until_a_command_says_so() {
    let mut falling = curve(&[(0.0, 1000.0), (2.0, 0.0)]);
    assert_eq!(due_before(&mut falling.clone(), 1e6), 1000);
    assert_eq!(falling.clone().due(1001), NEVER);
    falling.set_rate(5_000_000_000, 10.0);
    assert_eq!(falling.due(1001), 5_100_000_000);
}

#[test]
fn a_command_replaces_the_rest_of_a_curve() {
    let mut s = curve(&[(0.0, 100.0), (10.0, 100.0), (10.0, 900.0)]);
    s.set_rate(1_000_000_000, 50.0);
    assert_eq!(due_before(&mut s, 21.0), 100 + 20 * 50);
}

prop_compose! {
    /// Points of a curve: lengths of stretches in tenths of a second with the rates at both their ends, zero among them.
    fn curves()(
        stretches in prop::collection::vec((1_u32..30, 0_u32..5, 0_u32..5), 1..6)
    ) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        let mut at = 0;
        for (length, from, to) in stretches {
            points.push((f64::from(at) / 10.0, f64::from(from) * 100.0));
            at += length;
            points.push((f64::from(at) / 10.0, f64::from(to) * 100.0));
        }
        points
    }
}

/// Operations that a curve asks for until its last point: the area below it.
fn area(points: &[(f64, f64)]) -> f64 {
    let below = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
    points.windows(2).map(below).sum()
}

proptest! {
    #[test]
    fn as_many_are_due_as_the_area_below_the_curve(points in curves()) {
        let end = points[points.len() - 1].0;
        let asked = area(&points);
        let due = due_before(&mut curve(&points), end);
        // Operation i is due when the area has reached i: as many as there are whole numbers below it.
        prop_assert!((due as f64 - asked.ceil()).abs() <= 1.0, "{due} of {asked}");
        if asked.fract() > 0.001 && asked.fract() < 0.999 {
            prop_assert_eq!(due, asked.ceil() as u64);
        }
    }

    #[test]
    fn due_times_never_decrease(points in curves(), poisson: bool) {
        let rate = Rate::Curve(points);
        let arrivals = if poisson { Arrivals::Poisson { rate } } else { Arrivals::Constant { rate } };
        let mut schedule = Schedule::new(3, &arrivals, 17).expect("paced");
        let due: Vec<u64> = (0..500).map(|index| schedule.due(index)).collect();
        prop_assert!(due.is_sorted());
    }
}
