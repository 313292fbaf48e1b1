//! Due times that `steelyard calibrate` makes again on its own: tests/calibration/test_truth.py holds the same figures.

use steelyard_engine::plan::Arrivals;
use steelyard_engine::schedule::Schedule;

fn due(arrivals: Arrivals, indices: &[u64]) -> Vec<u64> {
    let mut schedule = Schedule::new(7, &arrivals, 1000).expect("a rate is given");
    indices.iter().map(|index| schedule.due(*index)).collect()
}

#[test]
fn constant_arrivals_are_those_that_the_calibrator_makes() {
    assert_eq!(
        due(
            Arrivals::Constant {
                rate: 3000.0.into()
            },
            &[0, 1, 2, 3, 4]
        ),
        [1_000, 334_333, 667_667, 1_001_000, 1_334_333]
    );
}

#[test]
fn poisson_arrivals_are_those_that_the_calibrator_makes() {
    assert_eq!(
        due(
            Arrivals::Poisson {
                rate: 10_000.0.into()
            },
            &[0, 1, 2, 99_999]
        ),
        [235_665, 249_183, 286_121, 9_980_832_297]
    );
}
