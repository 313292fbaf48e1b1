use super::*;
use crate::operation::Kind;
use crate::plan::fixture::plan;
use crate::plan::{Arrivals, EngineShare, Plan};
use crate::recorder::{SECOND, WriterMessage};
use serde_json::json;
use std::sync::mpsc::{Receiver, channel};

fn state(plan: &Plan, phase: usize) -> PhaseState {
    heard(plan, phase).0
}

/// The state, and what it tells the writer.
fn heard(plan: &Plan, phase: usize) -> (PhaseState, Receiver<WriterMessage>) {
    let phase = &plan.phases[phase];
    let (out, told) = channel();
    let (_, spares) = channel();
    let records = plan.workload.records;
    let state = PhaseState::new(PhaseParts {
        dispenser: Dispenser::new(phase, records, plan.engine, 1, 0, 0),
        cursor: Cursor::new(plan, phase.kind, 0).expect("a sound plan"),
        recorder: Recorder::new(0, SECOND, false, true, out.clone(), spares),
        ledger: Ledger::new(&plan.workload, plan.engine),
        out,
        start_ns: 0,
        kind: phase.kind,
        clients: phase.in_flight as usize,
        workload: &plan.workload,
        write_clock: WriteClock::new(1, 0),
    });
    (state, told)
}

fn run(state: &mut PhaseState, slot: usize, started: u64, done: u64) {
    let mut ticket = Ticket::default();
    assert!(matches!(state.claim(slot, started, &mut ticket), Claim::Go));
    end(state, slot, &ticket, started, done);
}

fn end(state: &mut PhaseState, slot: usize, ticket: &Ticket, started: u64, done: u64) {
    let did = Performed {
        outcome: Outcome::Ok,
        started,
        done,
        attempts: 1,
        turn: None,
    };
    state.finish(slot, ticket, &did, &mut Reply::default());
}

/// The window of 600 operations, one every 100 ms, of which one in the middle takes 10 s longer than the phase.
fn straggling(arrivals: Arrivals) -> (Window, u64) {
    let mut plan = plan(1, &json!({}));
    plan.phases[1].limit.operations = Some(600);
    plan.phases[1].arrivals = arrivals;
    let mut state = state(&plan, 1);
    let mut late = Ticket::default();
    for number in 0..600 {
        let now = number * SECOND / 10;
        if number == 300 {
            assert!(matches!(state.claim(1, now, &mut late), Claim::Go));
        } else {
            run(&mut state, 0, now, now + 1000);
        }
        state.tick(now);
    }
    end(&mut state, 1, &late, 30 * SECOND, 70 * SECOND);
    (state.window(), state.last_done)
}

#[test]
fn a_straggler_makes_the_window_no_longer() {
    let (window, last) = straggling(Arrivals::Constant { rate: 10.0.into() });
    assert_eq!(last, 70 * SECOND);
    assert_eq!((window.end_ns, window.operations), (60 * SECOND, 599));
    let (window, _) = straggling(Arrivals::Closed);
    assert_eq!(window.end_ns, 599 * SECOND / 10, "where the last was sent");
    assert_eq!(window.operations, 598, "neither the straggler nor the last");
}

#[test]
fn a_phase_that_is_told_when_to_end_has_its_window_until_then() {
    let random = || Arrivals::Poisson { rate: 10.0.into() };
    for (arrivals, operations) in [
        (random(), Some(1_000_000)),
        (random(), None),
        (Arrivals::Closed, Some(1_000_000)),
    ] {
        let mut plan = plan(1, &json!({}));
        plan.phases[1].arrivals = arrivals;
        plan.phases[1].limit.operations = operations;
        plan.phases[1].limit.seconds = Some(1800.0);
        let mut state = state(&plan, 1);
        for tenth in 0..18 {
            let at = (60 + tenth) * SECOND / 10;
            run(&mut state, 0, at, at + 1000);
        }
        let mut late = Ticket::default();
        assert!(matches!(state.claim(1, 7 * SECOND, &mut late), Claim::Go));
        state.end_at(8 * SECOND);
        end(&mut state, 1, &late, 7 * SECOND, 8 * SECOND + 1);
        let window = state.window();
        assert_eq!((window.end_ns, window.operations), (8 * SECOND, 18));
        assert!(matches!(state.claim(1, 8 * SECOND, &mut late), Claim::End));
    }
}

#[test]
fn what_is_no_operation_of_its_own_is_counted_within_the_window_too() {
    let mut state = state(&plan(1, &json!({})), 1);
    for number in 1..=3 {
        let mut ticket = Ticket::default();
        state.flushing(0, number * SECOND, &mut ticket);
        let did = Performed {
            outcome: Outcome::Ok,
            started: number * SECOND,
            done: number * SECOND + 1000,
            attempts: 1,
            turn: None,
        };
        if number == 3 {
            state.window_end = 3 * SECOND;
        }
        state.flushed(0, &ticket, &did, &mut Reply::default());
    }
    let sent = &state.kinds[Kind::Flush as usize];
    assert_eq!((sent.count, sent.within), (3, 2));
}

#[test]
fn a_closed_loop_that_is_too_short_is_measured_to_its_end() {
    let mut plan = plan(1, &json!({}));
    plan.phases[1].limit.operations = Some(4);
    let mut state = state(&plan, 1);
    let mut tickets: Vec<Ticket> = vec![Ticket::default(); 4];
    for (slot, ticket) in tickets.iter_mut().enumerate() {
        assert!(matches!(state.claim(slot, 5, ticket), Claim::Go));
    }
    for (slot, ticket) in tickets.iter().enumerate() {
        end(&mut state, slot, ticket, 5, SECOND);
    }
    assert_eq!(
        state.window(),
        Window {
            end_ns: SECOND,
            operations: 4,
            ok: 4
        }
    );
}

#[test]
fn samples_are_judged_on_every_engine() {
    for (index, count) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
        let mut plan = plan(1, &json!({"verify": "sample"}));
        plan.engine = EngineShare { index, count };
        plan.phases[1].limit.operations = Some(64 * 10 * u64::from(count));
        let mut state = state(&plan, 1);
        let mut ticket = Ticket::default();
        let mut judged = 0;
        while matches!(state.claim(0, 1, &mut ticket), Claim::Go) {
            judged += u64::from(ticket.judge);
            end(&mut state, 0, &ticket, 1, 2);
        }
        assert_eq!(judged, 10, "engine {index} of {count}");
    }
}

#[test]
fn the_loop_is_late_from_when_a_client_was_free() {
    let mut plan = plan(1, &json!({}));
    plan.phases[1].in_flight = 1;
    plan.phases[1].arrivals = Arrivals::Constant {
        rate: 1000.0.into(),
    };
    let mut state = state(&plan, 1);
    let ms = SECOND / 1000;
    run(&mut state, 0, ms, 50 * ms); // due at 0
    run(&mut state, 0, 51 * ms, 52 * ms); // due at 1 ms; until 50 ms nobody was free
    let late = state.recorder.counts.late;
    assert_eq!((late.count, late.sum_ns, late.max_ns), (2, 2 * ms, ms));
}

#[test]
fn what_is_on_the_wire_is_never_more_than_what_was_claimed() {
    let plan = plan(1, &json!({}));
    let mut state = state(&plan, 1);
    let mut ticket = Ticket::default();
    for slot in 0..3 {
        assert!(matches!(state.claim(slot, 1, &mut ticket), Claim::Go));
    }
    assert_eq!(state.recorder.counts.on_wire, None);
    state.on_wire(2);
    assert_eq!(state.recorder.counts.on_wire, Some(2));
    state.on_wire(900); // answers to operations that were given up
    assert_eq!(state.recorder.counts.on_wire, Some(3));
}

#[test]
fn an_absence_that_had_to_be_expected_is_no_measure_of_a_success() {
    let mut plan = plan(
        1,
        &json!({"mix": {"insert": 1.0, "read": 1.0}, "request": {"kind": "latest"}}),
    );
    plan.phases[1].limit.operations = Some(400);
    let mut state = state(&plan, 1);
    let mut ticket = Ticket::default();
    let mut absent = 0;
    while matches!(state.claim(0, 1, &mut ticket), Claim::Go) {
        let reads_new = ticket.draft.kind == Kind::Read && ticket.known.unacknowledged;
        absent += u64::from(reads_new);
        let did = Performed {
            // No insert is acknowledged.
            outcome: if reads_new {
                Outcome::NotFound
            } else {
                Outcome::Ok
            },
            started: 1,
            done: 2,
            attempts: 1,
            turn: None,
        };
        let outcome = if ticket.draft.kind == Kind::Insert {
            Outcome::Timeout
        } else {
            did.outcome
        };
        state.finish(
            0,
            &ticket,
            &Performed { outcome, ..did },
            &mut Reply::default(),
        );
    }
    assert!(absent > 20);
    assert_eq!(state.kinds[Kind::Read as usize].not_yet, absent);
    assert_eq!(state.verdicts.not_yet, absent);
}

#[test]
fn what_lay_unread_is_told_of_its_second_and_of_the_phase() {
    let mut plan = plan(1, &json!({}));
    plan.phases[1].arrivals = Arrivals::Constant { rate: 10.0.into() };
    let (out, ticks) = channel();
    let mut state = PhaseState {
        out,
        ..state(&plan, 1)
    };
    let lag = |times: &[u64]| {
        let mut lag = Lag::default();
        for ns in times {
            lag.record(*ns);
        }
        Some(lag)
    };
    assert!(!state.ends_second(SECOND - 1) && state.ends_second(SECOND));
    state.lay_unread(lag(&[100, 300]));
    state.lay_unread(lag(&[200]));
    state.tick(SECOND);
    assert!(!state.ends_second(SECOND));
    state.lay_unread(lag(&[70]));
    state.lay_unread(None);
    state.tick(3 * SECOND);
    let told: Vec<_> = ticks
        .try_iter()
        .filter_map(|message| match message {
            WriterMessage::Tick(tick) => Some(tick.lag.map(|lag| (lag.count, lag.max_ns))),
            _ => None,
        })
        .collect();
    assert_eq!(told, [Some((3, 300)), Some((1, 70)), None]);
    let whole = state.lag().expect("it was told");
    assert_eq!((whole.count, whole.max_ns), (4, 300));
}

/// Per second whether its phase was over when it began, of 10/s for `seconds` that one client falls behind with, seen up to 5 s.
fn over(seconds: f64, stopped_at: Option<u64>) -> Vec<(bool, bool)> {
    let mut plan = plan(1, &json!({}));
    plan.phases[1].limit.operations = None;
    plan.phases[1].limit.seconds = Some(seconds);
    plan.phases[1].arrivals = Arrivals::Constant { rate: 10.0.into() };
    let (mut state, ticks) = heard(&plan, 1);
    run(&mut state, 0, 0, SECOND);
    if let Some(at) = stopped_at {
        state.tick(at);
        state.dispenser.stop(at);
    }
    state.tick(5 * SECOND);
    let told = ticks.try_iter().filter_map(|message| match message {
        WriterMessage::Tick(tick) => Some((tick.over, tick.backlog > 0)),
        _ => None,
    });
    told.collect()
}

#[test]
fn seconds_that_begin_when_nothing_more_is_sent_say_so() {
    let (during, after) = ((false, true), (true, true));
    assert_eq!(over(3.0, None), [during, during, during, after, after]);
    assert_eq!(over(2.5, None), [during, during, during, after, after]);
    assert_eq!(
        over(60.0, Some(2 * SECOND)),
        [during, during, after, after, after],
        "ended by command"
    );
}
