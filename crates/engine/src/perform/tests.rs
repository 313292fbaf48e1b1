use super::*;
use crate::driver::scripted::{Line, Scripted};
use crate::generate::Draft;
use crate::operation::FieldSet;
use crate::reply::{Batch, Stamps};
use serde_json::json;

const SOON: Duration = Duration::from_millis(5);

fn stamps(sent_ns: u64, received_ns: u64) -> Stamps {
    Stamps {
        sent_ns: Some(sent_ns),
        received_ns: Some(received_ns),
    }
}

/// A bench whose driver answers by `script`, and the time by its clock.
fn bench(script: impl FnOnce(u64) -> Vec<Line>) -> (Bench, u64) {
    let plan: Plan = serde_json::from_value(json!({
        "plan_format": 1, "seed": 1, "out": "/nowhere", "driver": {"kind": "null"}, "phases": [],
        "workload": {"records": 10, "mix": {"read": 1}, "request": {"kind": "uniform"}},
        "timeout_ms": 200,
    }))
    .expect("a plan");
    let clock = Clock::default();
    let now = clock.now();
    let driver = Scripted {
        script: std::sync::Mutex::new(script(now).into()),
        ..Scripted::default()
    };
    let tools = Tools {
        generator: Arc::new(Generator::new(&plan).expect("a sound plan")),
        driver: AnyDriver::Scripted(Arc::new(driver)),
        policy: Policy::new(&plan),
    };
    (Bench { clock, tools }, now)
}

fn desk(kind: Kind) -> Desk {
    let draft = Draft {
        kind,
        number: 1,
        rank: 1,
        key: 1,
        fields: FieldSet::All,
        read_fields: FieldSet::All,
        scan_length: 0,
        loaded: false,
    };
    let ticket = Ticket {
        draft,
        timestamp_us: 1,
        peer: 1,
        judge: true,
        ..Ticket::default()
    };
    Desk {
        ticket,
        ..Desk::default()
    }
}

fn done(bench: &Bench, kind: Kind) -> Performed {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a reactor");
    runtime.block_on(bench.perform(&mut desk(kind)))
}

#[test]
fn clocks_at_the_socket_are_taken_where_the_driver_knows_them() {
    let later = 3_000_000;
    let (bench, now) = bench(|now| vec![(Outcome::Ok, stamps(now + later, now + later + 7), SOON)]);
    let did = done(&bench, Kind::Read);
    assert_eq!((did.started, did.done), (now + later, now + later + 7));
}

#[test]
fn without_them_the_clocks_are_those_of_the_call() {
    let (bench, now) = bench(|_| vec![(Outcome::Ok, Stamps::default(), SOON)]);
    let did = done(&bench, Kind::Read);
    assert!(did.started >= now);
    assert!(did.done - did.started >= SOON.as_nanos() as u64);
}

#[test]
fn an_operation_starts_with_its_first_attempt_and_is_done_with_its_last() {
    let (bench, now) = bench(|now| {
        let first = stamps(now + 1_000_000, now + 2_000_000);
        let second = stamps(now + 8_000_000, now + 9_000_000);
        vec![
            (Outcome::Unavailable, first, SOON),
            (Outcome::Ok, second, SOON),
        ]
    });
    let did = done(&bench, Kind::Read);
    assert_eq!(did.attempts, 2);
    assert_eq!((did.started, did.done), (now + 1_000_000, now + 9_000_000));
}

#[test]
fn the_deadline_counts_from_the_taking_and_not_from_the_sending() {
    let mut attempts = 0;
    let (bench, now) = bench(|now| {
        let sent = stamps(now + 150_000_000, now + 150_000_001);
        let line = (Outcome::Unavailable, sent, Duration::from_millis(150));
        vec![line; 2]
    });
    let did = done(&bench, Kind::Read);
    attempts += did.attempts;
    // The second attempt is begun before 200 ms have passed and ends after them: there is no third.
    assert_eq!((did.outcome, attempts), (Outcome::Unavailable, 2));
    assert!(bench.clock.now() - now >= 300_000_000);
}

#[test]
fn a_read_modify_write_turns_where_its_read_was_done() {
    let (bench, now) = bench(|now| {
        let read = stamps(now + 1_000_000, now + 2_000_000);
        let update = stamps(now + 3_000_000, now + 4_000_000);
        vec![(Outcome::Ok, read, SOON), (Outcome::Ok, update, SOON)]
    });
    let did = done(&bench, Kind::ReadModifyWrite);
    let turn = did.turn.expect("the read was done");
    assert_eq!(
        (turn.read_done, turn.update_started),
        (now + 2_000_000, now + 3_000_000)
    );
    assert_eq!((did.started, did.done), (now + 1_000_000, now + 4_000_000));
}

#[test]
fn a_flush_goes_on_with_what_its_last_attempt_left() {
    let (bench, _) = bench(|_| vec![(Outcome::Unavailable, Stamps::default(), SOON)]);
    let mut desk = Desk::default();
    let pending = vec![Operation::default(); 3];
    desk.reply.batch = Some(Box::new(Batch {
        pending,
        ..Batch::default()
    }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a reactor");
    let due = bench.clock.now();
    let did = runtime.block_on(bench.flush(due, &mut desk));
    let batch = desk.reply.batch.expect("it stays for the core");
    assert_eq!((did.outcome, did.attempts), (Outcome::Ok, 2));
    assert_eq!((batch.pending.len(), batch.acknowledged.len()), (0, 3));
    assert!(desk.reply.failure.is_some());
}

#[test]
fn an_operation_in_flight_takes_little_memory() {
    let (bench, _) = bench(|_| Vec::new());
    let mut desk = desk(Kind::Read);
    // Thousands of these lie in memory at once, each as large as the largest driver makes it.
    let size = std::mem::size_of_val(&bench.perform(&mut desk));
    assert!(size < 16 << 10, "{size} bytes");
}
