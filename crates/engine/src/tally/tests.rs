use super::*;
use crate::operation::Kind;
use crate::phase_files::PhaseFiles;
use crate::recorder::{Class, Counts, Recorder, Sample, WriterMessage};
use serde_json::{Value, json};
use std::sync::mpsc::channel;

const TIMEOUT_NS: u64 = 10 * SECOND;

/// Record samples given as (due, started, done, success) in ms, and return the rows of the series and the summary's `ops`.
fn tallied(closed: bool, samples: &[(u64, u64, u64, bool)]) -> (Vec<Value>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape {
        closed,
        apart: false,
    };
    let files = PhaseFiles::create(folder.path(), "run", 0.0).unwrap();
    let mut tally = Tally::new(files, shape, 0);
    let (out, messages) = channel();
    let (_spare, spares) = channel();
    let mut recorder = Recorder::new(0, TIMEOUT_NS, closed, false, out, spares);
    for (due, started, done, success) in samples {
        let outcome = if *success {
            Outcome::Ok
        } else {
            Outcome::Timeout
        };
        let ms = 1_000_000;
        recorder.record(&Sample {
            kind: Kind::Read,
            outcome,
            class: Class::of(outcome),
            part: false,
            due: due * ms,
            started: started * ms,
            done: done * ms,
        });
    }
    recorder.finish();
    for message in messages {
        match message {
            WriterMessage::Set(mut set) => tally.take(&mut set),
            WriterMessage::Late(late) => tally.late(&late),
            WriterMessage::Tick(_) => {}
        }
    }
    let (views, _) = tally.finish(1.0).unwrap();
    let ops = json!(views);
    let series = std::fs::read_to_string(folder.path().join("run.series.ndjson")).unwrap();
    (
        series
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect(),
        ops,
    )
}

fn near(value: &Value, ms: f64) -> bool {
    (value.as_f64().unwrap() / 1e6 - ms).abs() <= ms * 0.001
}

#[test]
fn a_latency_belongs_to_the_second_it_was_due_however_late_it_is_done() {
    let (rows, _) = tallied(
        false,
        &[
            (100, 100, 110, true),
            (7200, 7200, 7210, true),
            (500, 500, 9500, true),
        ],
    );
    let count = |row: &Value| row["ops"]["READ"]["count"].as_u64().unwrap_or(0);
    assert_eq!(
        rows.iter().map(count).collect::<Vec<_>>(),
        [2, 0, 0, 0, 0, 0, 0, 1]
    );
    assert!(
        near(&rows[0]["ops"]["READ"]["response"]["max_ns"], 9000.0),
        "{}",
        rows[0]
    );
}

#[test]
fn waiting_is_in_the_response_and_not_in_the_service() {
    let (_, ops) = tallied(false, &[(0, 900, 950, true)]);
    assert!(near(&ops["READ"]["response"]["max_ns"], 950.0));
    assert!(near(&ops["READ"]["service"]["max_ns"], 50.0));
    assert!(near(&ops["READ"]["wait"]["max_ns"], 900.0));
}

#[test]
fn a_failure_counts_as_at_least_its_timeout_in_all_and_not_among_successes() {
    let (_, ops) = tallied(false, &[(0, 0, 5, true), (1, 1, 2, false)]);
    assert_eq!(ops["READ"]["response"]["count"], 1);
    assert_eq!(ops["READ"]["all"]["count"], 2);
    assert!(near(&ops["READ"]["all"]["max_ns"], 10_000.0));
    assert!(near(&ops["READ"]["failed"]["max_ns"], 1.0));
}

#[test]
fn in_a_closed_loop_response_is_service_and_nothing_waits() {
    let (_, ops) = tallied(true, &[(10, 10, 30, true)]);
    assert_eq!(ops["READ"]["response"], ops["READ"]["service"]);
    assert_eq!(ops["READ"]["wait"]["max_ns"], 0);
    assert_eq!(ops["TOTAL"]["response"]["count"], 1);
}

#[test]
fn equal_histograms_of_a_closed_loop_are_encoded_once() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape {
        closed: true,
        apart: false,
    };
    let files = PhaseFiles::create(folder.path(), "run", 0.0).unwrap();
    let mut tally = Tally::new(files, shape, 0);
    let read = slot(Kind::Read as usize, Clocked::Service);
    tally.late(&[3, 9, 20].map(|value| Straggler {
        second: 0,
        slot: read,
        value,
    }));
    tally.finish(1.0).unwrap();
    assert_eq!(
        tally.files.encoded(),
        2,
        "the service, and the waits of none"
    );
    let log = std::fs::read_to_string(folder.path().join("run.hdr")).unwrap();
    let payload = |tag: &str| {
        log.lines()
            .find_map(|l| l.strip_prefix(&format!("Tag={tag},")))
    };
    assert_eq!(log.matches("Tag=").count(), 8);
    assert!(payload("READ.service").is_some());
    for tag in [
        "READ.response",
        "READ.all",
        "TOTAL.service",
        "TOTAL.response",
        "TOTAL.all",
    ] {
        assert_eq!(payload(tag), payload("READ.service"), "{tag}");
    }
}

#[test]
fn what_is_not_there_yet_is_an_attempt_and_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let files = PhaseFiles::create(folder.path(), "run", 0.0).unwrap();
    let shape = Shape {
        closed: false,
        apart: true,
    };
    let mut tally = Tally::new(files, shape, 0);
    let at = |clock| slot(Kind::Read as usize, clock);
    let sample = |slot, value| Straggler {
        second: 0,
        slot,
        value,
    };
    tally.late(&[
        sample(at(Clocked::Response), 1000),
        sample(at(Clocked::NotYet), 10),
        sample(at(Clocked::FailedFloor), 5000),
    ]);
    let (views, _) = tally.finish(1.0).unwrap();
    let count = |view: &str| views["READ"].0[view].count;
    assert_eq!(
        (count("response"), count("not_yet"), count("all")),
        (1, 1, 3)
    );
    assert_eq!(views["READ"].0["response"].min_ns, 1000);
}

#[test]
fn verdicts_and_coordinators_are_told_second_by_second() {
    let folder = tempfile::tempdir().unwrap();
    let files = PhaseFiles::create(folder.path(), "run", 0.0).unwrap();
    let mut tally = Tally::new(
        files,
        Shape {
            closed: false,
            apart: true,
        },
        0,
    );
    let names = ["10.0.0.1:9042".to_owned(), "10.0.0.2:9042".to_owned()];
    for second in 0..2 {
        let mut outcomes = [0; Outcome::ALL.len()];
        outcomes[Outcome::Ok as usize] = 5;
        outcomes[Outcome::NotFound as usize] = 1;
        outcomes[Outcome::Timeout as usize] = second;
        let share = Share {
            coordinator: second as u16,
            outcomes,
            service: vec![(1_000_000, 5 + second)],
        };
        let verdicts = Verdicts {
            lost: second,
            ..Verdicts::default()
        };
        let counts = Counts {
            done: 5,
            ..Counts::default()
        };
        let tick = Tick {
            second,
            counts,
            verdicts,
            coordinators: vec![share],
            ..Tick::default()
        };
        let scheduled = Scheduled {
            waited_ns: 7,
            ..Scheduled::default()
        };
        tally.count(&tick, scheduled, &names);
    }
    tally.finish(2.0).unwrap();
    let series = std::fs::read_to_string(folder.path().join("run.series.ndjson")).unwrap();
    let rows: Vec<Row> = series
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        rows.iter().map(|row| row.verdicts.lost).collect::<Vec<_>>(),
        [0, 1]
    );
    assert_eq!(
        rows[0].coordinators.keys().collect::<Vec<_>>(),
        ["10.0.0.1:9042"]
    );
    let second = &rows[1].coordinators["10.0.0.2:9042"];
    assert_eq!(
        (second.attempts, second.ok, second.failed["timeout"]),
        (7, 6, 1)
    );
    assert!((second.service.mean_ns / 1e6 - 1.0).abs() < 0.01);
    assert_eq!(rows[0].run_wait_ns, 7);
}
