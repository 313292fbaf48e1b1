//! Operations on their way through clients, state and ledger: collected writes, and clients as they are needed.

mod unread;

use super::*;
use crate::client_state::{ClientState, Scheduled};
use crate::clients::Clients;
use crate::clock::monotonic_ns;
use crate::dispense::Dispenser;
use crate::driver::buffered;
use crate::driver::deferred::Deferred;
use crate::driver::scripted::{Line, Scripted};
use crate::generate::{Cursor, Generator};
use crate::ledger::Ledger;
use crate::operation::{Kind, Outcome};
use crate::pacing::Pacer;
use crate::perform::{Policy, Tools};
use crate::phase_state::{PhaseParts, WriteClock};
use crate::plan::{Arrivals, Plan};
use crate::recorder::{Recorder, SECOND, WriterMessage};
use crate::reply::{Reply, Stamps};
use crate::summary::PacingFacts;
use crate::tally::row;
use crate::ticket::{Claim, Performed, Ticket};
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tokio::sync::mpsc;

const CLIENTS: usize = 3;
const OPERATIONS: u64 = 10;
/// Bytes of 4 writes but their keys': 10 operations are two batches and a rest of 2.
const TOGETHER: u64 = 4 * 1000;

fn plan() -> Plan {
    serde_json::from_value(json!({
        "plan_format": 2, "seed": 1, "out": "/nowhere", "driver": {"kind": "null"}, "retry": "none",
        "workload": {"records": 10, "mix": {"insert": 1}, "request": {"kind": "uniform"}, "verify": "full"},
        "phases": [{"name": "run", "kind": "run", "in_flight": CLIENTS, "limit": {"operations": OPERATIONS}}],
    }))
    .expect("a plan")
}

fn core(plan: &Plan, grain_us: i64, start_ns: u64) -> PhaseState {
    recorded(plan, grain_us, start_ns, channel().0)
}

fn recorded(plan: &Plan, grain_us: i64, start_ns: u64, out: Sender<WriterMessage>) -> PhaseState {
    let phase = &plan.phases[0];
    let (_, spares) = channel();
    PhaseState::new(PhaseParts {
        dispenser: Dispenser::new(phase, 10, plan.engine, 1, 0, start_ns),
        cursor: Cursor::new(plan, phase.kind, 0).expect("a sound plan"),
        recorder: Recorder::new(start_ns, 1, true, true, out.clone(), spares),
        ledger: Ledger::new(&plan.workload, plan.engine),
        out,
        start_ns,
        kind: phase.kind,
        clients: phase.in_flight as usize,
        workload: &plan.workload,
        write_clock: WriteClock::new(grain_us, 0),
    })
}

#[test]
fn writes_of_one_timestamp_in_the_databases_unit_are_peers() {
    let mut core = core(&plan(), 1000, 0);
    let mut ticket = Ticket::default();
    let mut claim =
        |core: &mut PhaseState, now_us: u64| match core.claim(0, now_us * 1000, &mut ticket) {
            Claim::Go => (ticket.draft.number, ticket.peer),
            _ => panic!("there is work"),
        };
    let claimed: Vec<_> = [10_100, 10_200, 10_999, 11_000, 11_001, 13_000]
        .map(|now_us| claim(&mut core, now_us))
        .into();
    assert_eq!(claimed, [(0, 0), (1, 0), (2, 0), (3, 3), (4, 3), (5, 5)]);
}

/// What is counted of a second in which 100 operations are due, by a core of three clients that take `taken` of them and
/// finish each at once or not at all.
fn second_of(taken: u64, finish: bool) -> ClientState {
    let mut plan = plan();
    plan.phases[0].limit.operations = Some(1000);
    plan.phases[0].arrivals = Arrivals::Constant { rate: 100.0.into() };
    let (out, ticks) = channel();
    let mut core = recorded(&plan, 1, 0, out);
    let mut ticket = Ticket::default();
    for number in 0..taken {
        let now = number * SECOND / 100;
        let slot = if finish { 0 } else { number as usize };
        assert!(matches!(core.claim(slot, now, &mut ticket), Claim::Go));
        if finish {
            let did = Performed {
                outcome: Outcome::Ok,
                started: now,
                done: now,
                attempts: 1,
                turn: None,
            };
            core.finish(slot, &ticket, &did, &mut Reply::default());
        }
    }
    core.tick(SECOND);
    match ticks.try_recv() {
        Ok(WriterMessage::Tick(tick)) => row(&tick, Scheduled::default(), &[]).client.0,
        _ => panic!("the second is over"),
    }
}

#[test]
fn a_second_is_kept_or_the_client_was_late_or_its_clients_were_all_busy() {
    assert_eq!(
        second_of(100, true),
        ClientState::Kept,
        "all that was due was done"
    );
    assert_eq!(
        second_of(95, true),
        ClientState::Kept,
        "the grain of a tick"
    );
    assert_eq!(
        second_of(50, true),
        ClientState::Saturated,
        "clients were free"
    );
    assert_eq!(
        second_of(3, false),
        ClientState::CapReached,
        "all three wait for the server"
    );
}

fn tools(plan: &Plan) -> Tools {
    Tools {
        generator: Arc::new(Generator::new(plan).expect("a sound plan")),
        policy: Policy::new(plan),
    }
}

/// The state after all operations of `plan` were done by `driver`, and what is told of their timing.
fn work(plan: &Plan, driver: Scripted) -> (PhaseState, PacingFacts) {
    let tools = tools(plan);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a reactor");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let (driver, generator) = (Arc::new(driver), &tools.generator);
        let deferred = Deferred::new(driver.clone(), Arc::clone(generator)).expect("descriptors");
        let session = buffered::around(deferred, &driver, driver.buffer_bytes, generator);
        let event_loop = EventLoop::start(session, tools.generator.clone()).expect("a thread");
        let (present, mut leaving) = mpsc::channel(1);
        let start_ns = monotonic_ns();
        let clients = event_loop.run(Parts {
            state: core(plan, 1, start_ns),
            tools,
            cap: plan.phases[0].in_flight as usize,
            pacer: Pacer::new(plan.pacing, start_ns),
            lingers: false,
            present,
        });
        assert!(leaving.recv().await.is_none());
        clients.into_state().expect("all have ended")
    })
}

/// The core after all inserts were done by a driver that collects them and whose flushes go by `script`.
fn run(script: Vec<Line>) -> PhaseState {
    let driver = Scripted {
        script: std::sync::Mutex::new(script.into()),
        buffer_bytes: TOGETHER,
    };
    work(&plan(), driver).0
}

/// Records that the ledger takes for written.
fn acknowledged(core: &PhaseState) -> usize {
    let mut floors = Vec::new();
    (10..10 + OPERATIONS)
        .filter(|rank| !core.ledger.known(*rank, &mut floors).unacknowledged)
        .count()
}

#[test]
fn collected_writes_are_flushed_as_operations_of_their_own_the_rest_at_the_end() {
    let core = run(Vec::new());
    let flushes = &core.kinds[Kind::Flush as usize];
    assert_eq!((flushes.count, flushes.rows), (3, OPERATIONS));
    assert_eq!((core.done, core.ok), (OPERATIONS, OPERATIONS));
    assert_eq!((core.unflushed, acknowledged(&core)), (0, 10));
    assert!(core.idle());
}

#[test]
fn a_write_counts_as_acknowledged_only_if_its_flush_was() {
    let failing = (Outcome::Server, Stamps::default(), Duration::from_millis(1));
    let core = run(vec![failing]); // one of the four gets through
    let flushes = &core.kinds[Kind::Flush as usize];
    assert_eq!(flushes.outcomes[Outcome::Server as usize], 1);
    assert_eq!((core.unflushed, flushes.rows), (3, 7));
    assert_eq!(acknowledged(&core), 7);
    assert_eq!(core.ok, OPERATIONS, "the appends themselves succeeded");
    assert_eq!(core.complaints.len(), 1);
}

#[test]
fn a_write_that_fills_the_buffer_waits_until_the_batch_before_it_was_sent() {
    const EACH: Duration = Duration::from_millis(2);
    let script = vec![(Outcome::Ok, Stamps::default(), EACH); OPERATIONS as usize];
    let driver = Scripted {
        script: std::sync::Mutex::new(script.into()),
        buffer_bytes: 1,
    };
    let begun = monotonic_ns();
    let (core, _) = work(&plan(), driver);
    let flushes = &core.kinds[Kind::Flush as usize];
    assert_eq!((flushes.count, flushes.rows), (OPERATIONS, OPERATIONS));
    assert_eq!((core.ok, acknowledged(&core)), (OPERATIONS, 10));
    let took = Duration::from_nanos(core.last_done - begun);
    assert!(took >= EACH * OPERATIONS as u32, "two at a time: {took:?}");
}

#[test]
fn a_schedule_is_kept_by_as_many_clients_as_it_needs() {
    let mut plan = plan();
    plan.phases[0].in_flight = 1000;
    plan.phases[0].arrivals = Arrivals::Constant {
        rate: 10_000.0.into(),
    };
    let (core, told) = work(&plan, Scripted::default());
    assert_eq!(core.ok, OPERATIONS);
    assert!(told.turns > 0);
}

#[test]
fn an_operation_in_flight_takes_little_memory() {
    // Ten thousand of these lie in memory at once, beside the values that they write.
    let size = size_of::<Exchange>() + running::size_of_client();
    assert!(size < 1 << 10, "{size} bytes");
}
