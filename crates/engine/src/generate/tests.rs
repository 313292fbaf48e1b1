use super::check::Check;
use super::*;
use crate::plan::PhaseKind;
use crate::plan::fixture::plan;
use serde_json::{Value, json};

fn operation(change: &Value, phase: PhaseKind, number: u64) -> (Generator, Operation) {
    let plan = plan(3, change);
    let generator = Generator::new(&plan).unwrap();
    let draft = Cursor::new(&plan, phase, number).unwrap().at(number);
    let mut op = Operation::default();
    generator.fill(&draft, &mut op);
    (generator, op)
}

#[test]
fn a_load_writes_every_field_and_says_so() {
    let (generator, op) = operation(&json!({}), PhaseKind::Load, 10);
    assert_eq!(op.key.as_str(), "user2408371864701034737");
    assert_eq!(
        (op.kind, op.rank, op.written().count()),
        (Kind::Insert, 10, 10)
    );
    for (field, value) in op.written() {
        assert_eq!(value.len(), 100);
        let verdict = generator.values.check(op.key.as_bytes(), field, value);
        assert_eq!(
            verdict,
            Check::Good {
                number: LOADED | 0xa
            }
        );
    }
}

#[test]
fn an_update_writes_the_drafted_field() {
    let (generator, op) = operation(&json!({"mix": {"update": 1.0}}), PhaseKind::Run, 77);
    let written: Vec<_> = op.written().collect();
    let [(field, value)] = written[..] else {
        panic!("{written:?}")
    };
    assert_eq!(op.fields, FieldSet::One(field));
    let verdict = generator
        .values
        .check(generator.key(op.rank).as_bytes(), field, value);
    assert_eq!(verdict, Check::Good { number: 77 });
}

#[test]
fn reads_scans_and_deletes_write_nothing() {
    for kind in ["read", "scan", "delete"] {
        let (_, op) = operation(&json!({"mix": {kind: 1.0}}), PhaseKind::Run, 5);
        assert_eq!((op.values.len(), op.written().count()), (0, 0));
    }
}

#[test]
fn a_reused_operation_keeps_nothing() {
    let plan = plan(
        3,
        &json!({"mix": {"read": 1.0, "update": 1.0, "insert": 1.0}}),
    );
    let generator = Generator::new(&plan).unwrap();
    let mut cursor = Cursor::new(&plan, PhaseKind::Run, 0).unwrap();
    let mut reused = Operation::default();
    for number in 0..100 {
        let draft = cursor.at(number);
        let mut fresh = Operation::default();
        generator.fill(&draft, &mut fresh);
        generator.fill(&draft, &mut reused);
        let seen = |op: &Operation| {
            let written: Vec<_> = op.written().collect();
            format!(
                "{:?} {:?}",
                (op.kind, op.number, op.rank, op.key, op.fields),
                written
            )
        };
        assert_eq!(seen(&fresh), seen(&reused));
    }
}

#[test]
fn a_bad_plan_is_refused_by_both() {
    let plan = plan(3, &json!({"records": 0}));
    assert!(Generator::new(&plan).is_err());
    assert!(Cursor::new(&plan, PhaseKind::Run, 0).is_err());
}
