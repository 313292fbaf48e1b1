use super::*;
use crate::operation::FieldSet;
use crate::plan::fixture::plan;
use serde_json::{Value, json};

fn run(change: &Value, first: u64) -> Cursor {
    Cursor::new(&plan(7, change), PhaseKind::Run, first).unwrap()
}

fn drafts(change: &Value, numbers: impl Iterator<Item = u64>) -> Vec<Draft> {
    let mut cursor = run(change, 0);
    numbers.map(|number| cursor.at(number)).collect()
}

fn busy() -> Value {
    json!({
        "mix": {"read": 3.0, "update": 2.0, "insert": 2.0, "scan": 1.0, "delete": 1.0, "read_modify_write": 1.0},
        "read_all_fields": false,
        "insert_lag": 16,
    })
}

#[test]
fn two_engines_make_the_run_of_one() {
    let laws = [
        "uniform",
        "zipfian",
        "latest",
        "hotspot",
        "sequential",
        "exponential",
    ];
    for (law, compat) in laws
        .iter()
        .flat_map(|law| [(law, Value::Null), (law, json!("ycsb"))])
    {
        let mut change = busy();
        change["request"] = json!({"kind": law, "compat": compat});
        let one = drafts(&change, 0..2000);
        let even = drafts(&change, (0..2000).step_by(2));
        let odd = drafts(&change, (1..2000).step_by(2));
        let both: Vec<Draft> = even
            .into_iter()
            .zip(odd)
            .flat_map(<[Draft; 2]>::from)
            .collect();
        assert_eq!(one, both, "{law}");
    }
}

#[test]
fn a_cursor_that_starts_late_agrees() {
    let all = drafts(&busy(), 0..1000);
    for first in [0, 1, 15, 16, 17, 500, 999] {
        assert_eq!(run(&busy(), first).at(first), all[first as usize]);
    }
}

/// Without inserts drafts are made ahead, for the numbers a cursor expects; it may be asked for others.
#[test]
fn drafts_made_ahead_are_those_of_their_numbers() {
    let mut plan = plan(7, &busy());
    plan.workload.mix.insert = 0.0;
    let cursor = |plan: &Plan| Cursor::new(plan, PhaseKind::Run, 0).unwrap();
    let alone: Vec<Draft> = (0..1000).map(|number| cursor(&plan).at(number)).collect();
    for count in [1, 3] {
        plan.engine.count = count;
        for step in [1, 2, 3, 7, 24] {
            let mut walk = cursor(&plan);
            for number in (0..100).chain((100..1000).step_by(step)) {
                assert_eq!(walk.at(number), alone[number as usize], "{number}");
            }
        }
    }
}

#[test]
fn inserts_follow_each_other() {
    let inserts = drafts(&busy(), 0..2000)
        .into_iter()
        .filter(|draft| draft.kind == Kind::Insert);
    for (count, draft) in inserts.enumerate() {
        assert_eq!(draft.rank, 1000 + count as u64);
        assert_eq!((draft.fields, draft.loaded), (FieldSet::All, false));
    }
}

/// Against the plain definition: the newest record of `latest` is the last of the inserts numbered <= n - W.
#[test]
fn what_is_readable_lags() {
    for lag in [0, 1, 16, 5000] {
        let mut change = busy();
        change["insert_lag"] = json!(lag);
        change["request"] = json!({"kind": "latest", "theta": 50.0});
        let all = drafts(&change, 0..2000);
        for draft in all.iter().filter(|draft| draft.kind != Kind::Insert) {
            let old = |insert: &&Draft| {
                insert.kind == Kind::Insert && insert.number + lag <= draft.number
            };
            let readable = 1000 + all.iter().filter(old).count() as u64;
            assert_eq!(
                draft.rank,
                readable - 1,
                "lag {lag}, number {}",
                draft.number
            );
        }
    }
}

#[test]
fn fields_are_as_the_plan_says() {
    let each =
        |change: &Value, check: &dyn Fn(&Draft)| drafts(change, 0..1000).iter().for_each(check);
    let mut change = busy();
    let one = |fields| matches!(fields, FieldSet::One(field) if field < 10);
    each(&change, &|draft| match draft.kind {
        Kind::Read | Kind::Scan | Kind::Update => assert!(one(draft.fields)),
        Kind::Insert | Kind::Delete => assert_eq!(draft.fields, FieldSet::All),
        Kind::ReadModifyWrite => assert!(one(draft.fields) && one(draft.read_fields)),
        Kind::Flush => panic!("no workload asks for a flush"),
    });
    change["read_all_fields"] = json!(true);
    change["write_all_fields"] = json!(true);
    each(&change, &|draft| assert_eq!(draft.fields, FieldSet::All));
}

#[test]
fn every_field_gets_its_turn() {
    let change = json!({"mix": {"update": 1.0}});
    let mut seen = [0u32; 10];
    for draft in drafts(&change, 0..10_000) {
        let FieldSet::One(field) = draft.fields else {
            panic!("{draft:?}")
        };
        seen[usize::from(field)] += 1;
    }
    assert!(
        seen.iter().all(|&count| (880..1120).contains(&count)),
        "{seen:?}"
    );
}

#[test]
fn scans_have_lengths() {
    let scans = drafts(&json!({"mix": {"scan": 1.0}}), 0..1000);
    assert!(
        scans
            .iter()
            .all(|draft| (1..=100).contains(&draft.scan_length))
    );
    assert!(
        drafts(&json!({}), 0..100)
            .iter()
            .all(|draft| draft.scan_length == 0)
    );
}

#[test]
fn the_load_inserts_every_rank_once() {
    let mut cursor = Cursor::new(&plan(7, &busy()), PhaseKind::Load, 3).unwrap();
    for number in [3, 5, 999] {
        let draft = cursor.at(number);
        assert_eq!(
            (draft.kind, draft.rank, draft.number),
            (Kind::Insert, number, number)
        );
        assert!(draft.loaded);
    }
}

#[test]
fn another_seed_is_another_run() {
    let mut other = Cursor::new(&plan(8, &busy()), PhaseKind::Run, 0).unwrap();
    let others: Vec<Draft> = (0..100).map(|number| other.at(number)).collect();
    assert_ne!(others, drafts(&busy(), 0..100));
}

#[test]
fn new_keys_are_expected_as_ycsb_does() {
    let mut plan = plan(7, &json!({"mix": {"read": 0.95, "insert": 0.05}}));
    assert_eq!(expected_new_keys(&plan), 100);
    plan.phases[1].limit.operations = None;
    assert_eq!(expected_new_keys(&plan), 0);
}

#[test]
fn engines_out_of_step_ask_for_no_record_that_another_is_to_insert_and_together_as_often_for_new_ones()
 {
    let share = |index| EngineShare { index, count: 2 };
    let change = json!({"records": 100, "mix": {"read": 0.5, "insert": 0.5}, "request": {"kind": "uniform"}, "insert_lag": 4});
    let numbers = 4000;
    let mut new_reads = [0; 2];
    for index in 0..2 {
        let mut own = std::collections::HashSet::new();
        let mut cursor = run(&change, 0).out_of_step(share(index));
        for number in (u64::from(index)..numbers).step_by(2) {
            let draft = cursor.at(number);
            if draft.kind == Kind::Insert {
                own.insert(draft.rank);
            } else if draft.rank >= 100 {
                assert!(
                    own.contains(&draft.rank),
                    "{number} asks for another's {}",
                    draft.rank
                );
                new_reads[index as usize] += 1;
            }
        }
    }
    let alone = drafts(&change, 0..numbers);
    let of_one = alone
        .iter()
        .filter(|d| d.kind == Kind::Read && d.rank >= 100)
        .count() as f64;
    let of_two = f64::from(new_reads[0] + new_reads[1]);
    assert!((of_two / of_one - 1.0).abs() < 0.05, "{of_two} of {of_one}");
}

#[test]
fn a_sequential_walk_goes_on_while_records_are_inserted() {
    let change = json!({"records": 50, "mix": {"read": 0.5, "insert": 0.5}, "request": {"kind": "sequential"}});
    let reads = drafts(&change, 0..500)
        .into_iter()
        .filter(|draft| draft.kind == Kind::Read);
    assert!(
        reads
            .into_iter()
            .all(|draft| draft.rank == draft.number % 50)
    );
}
