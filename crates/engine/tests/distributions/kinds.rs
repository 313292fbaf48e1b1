//! Kinds, fields, and the gaps between arrivals.

use crate::draws::{DRAWS, drafts, plan};
use crate::theory::{AGREES, count, distance, from_shares, kolmogorov};
use serde_json::json;
use steelyard_engine::operation::{FieldSet, Kind};
use steelyard_engine::plan::Arrivals;
use steelyard_engine::schedule::Schedule;

#[test]
fn kinds_follow_their_weights() {
    let mix = json!({"read": 5.0, "update": 2.0, "insert": 0.5, "scan": 1.5, "delete": 0.01, "read_modify_write": 0.99});
    let plan = plan(8, 1000, &json!({"mix": mix}));
    let mut seen = [0.0; 6];
    drafts(&plan, 0..DRAWS).for_each(|draft| seen[draft.kind as usize] += 1.0);
    let weights = plan.workload.mix.weights().map(|(_, weight)| weight);
    assert!(from_shares(&seen, &weights) < AGREES, "{seen:?}");
    let off = [5.1, 1.9, 0.5, 1.5, 0.01, 0.99];
    assert!(
        from_shares(&seen, &off) > AGREES,
        "5 % of updates less would be noticed"
    );
}

#[test]
fn kinds_do_not_depend_on_each_other() {
    let plan = plan(8, 1000, &json!({"mix": {"read": 0.5, "update": 0.5}}));
    let kinds: Vec<Kind> = drafts(&plan, 0..DRAWS).map(|draft| draft.kind).collect();
    let pairs = kinds
        .windows(2)
        .map(|pair| u64::from(pair[0] == Kind::Read) * 2 + u64::from(pair[1] == Kind::Read));
    // Overlapping pairs: two of the four counts are free, so that four bins of chi-square are a little strict.
    let seen = count(pairs, &[0, 1, 2, 3, 4]);
    assert!(from_shares(&seen, &[1.0; 4]) < AGREES, "{seen:?}");
}

#[test]
fn a_record_is_drawn_alike_whatever_the_kind() {
    let plan = plan(8, 10, &json!({"mix": {"read": 0.5, "update": 0.5}}));
    let mut seen = [0.0; 20];
    drafts(&plan, 0..DRAWS)
        .for_each(|draft| seen[draft.kind as usize * 10 + draft.rank as usize] += 1.0);
    assert!(
        distance(&seen, &[DRAWS as f64 / 20.0; 20]) < AGREES,
        "{seen:?}"
    );
}

#[test]
fn single_fields_are_equally_likely() {
    let workload = json!({"mix": {"read": 0.5, "update": 0.5}, "read_all_fields": false, "write_all_fields": false,
                          "fields": {"count": 7}});
    let plan = plan(8, 1000, &workload);
    let mut seen = [0.0; 14];
    for draft in drafts(&plan, 0..DRAWS) {
        let FieldSet::One(field) = draft.fields else {
            panic!("one field was asked for");
        };
        seen[draft.kind as usize * 7 + usize::from(field)] += 1.0;
    }
    assert!(from_shares(&seen, &[1.0; 14]) < AGREES, "{seen:?}");
}

#[test]
fn poisson_arrivals_leave_exponential_gaps() {
    let mut schedule = Schedule::new(
        3,
        &Arrivals::Poisson {
            rate: 1000.0.into(),
        },
        0,
    )
    .expect("a schedule");
    let due: Vec<f64> = (0..DRAWS)
        .map(|index| schedule.due(index) as f64 / 1e6)
        .collect();
    let gaps: Vec<f64> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let law = |mean: f64| move |gap: f64| -(-gap / mean).exp_m1();
    assert!(kolmogorov(gaps.clone(), law(1.0)) < 2.2);
    assert!(
        kolmogorov(gaps, law(1.02)) > 2.2,
        "a rate off by 2 % would be noticed"
    );
}
