//! One engine process: plan in, database opened, phases run as commands ask, results out.

use crate::clock::{ClockPair, Usage, monotonic_ns, peak_resident_bytes};
use crate::command::{Commands, Order, listen};
use crate::driver::{self, Attempts, Database, OpenError};
use crate::event_loop::EventLoop;
use crate::events::Events;
use crate::generate::Generator;
use crate::generate::values::Values;
use crate::ledger::Ledger;
use crate::marks::mark;
use crate::phase::{PhaseRunner, Workers};
use crate::phase_state::WriteClock;
use crate::plan::{PLAN_FORMAT, Phase, PhaseKind, Plan, Verify};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Exit code for a plan or option at fault.
const INPUT: u8 = 2;
/// Exit code for what lies beneath: database, disk.
const INFRASTRUCTURE: u8 = 3;

const UNAUDITABLE: &str = "a phase of kind audit needs values that tell which write they come from: `values = \"checked\"`, \
                           20 bytes at least";

/// Why a run ended badly: the `error` event's kind and text.
struct Failure {
    kind: &'static str,
    text: String,
}

impl Failure {
    fn new(kind: &'static str, text: impl ToString) -> Self {
        Self {
            kind,
            text: text.to_string(),
        }
    }

    fn code(&self) -> u8 {
        if matches!(self.kind, "plan" | "shape" | "option") {
            INPUT
        } else {
            INFRASTRUCTURE
        }
    }
}

/// Who this engine is: compared by whoever starts it.
pub fn handshake() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "plan_format": PLAN_FORMAT,
        "source_hash": env!("STEELYARD_SOURCE_HASH"),
    })
}

/// Run the plan in the file at `path`.
pub fn run(path: &Path) -> ExitCode {
    let Ok(mut events) = Events::stdout_only() else {
        eprintln!("error: no thread can be started to write events");
        return ExitCode::from(INFRASTRUCTURE);
    };
    let code = match prepare(path, &mut events).and_then(|plan| perform(&plan, &events)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            events.emit("error", json!({"kind": failure.kind, "text": failure.text}));
            ExitCode::from(failure.code())
        }
    };
    events.drain();
    code
}

fn prepare(path: &Path, events: &mut Events) -> Result<Plan, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::new("plan", format!("{}: {e}", path.display())))?;
    let mut plan: Plan = serde_json::from_str(&text)
        .map_err(|e| Failure::new("plan", format!("{}: {e}", path.display())))?;
    let checked = plan.check().and_then(|()| driver::check(&plan));
    checked.map_err(|e| Failure::new("plan", e))?;
    *events = Events::create(&plan.out)
        .map_err(|e| Failure::new("io", format!("{}: {e}", plan.out.display())))?;
    if plan.workload.verify != Verify::Off
        && !Values::new(plan.seed, &plan.workload.fields, plan.workload.values).verifiable()
    {
        if plan
            .phases
            .iter()
            .any(|phase| phase.kind == PhaseKind::Audit)
        {
            return Err(Failure::new("plan", UNAUDITABLE));
        }
        plan.workload.verify = Verify::Off;
        events.warn("unverifiable", "values of this shape carry no header (YCSB's random ones, or shorter than 20 bytes): nothing is judged");
    }
    Ok(plan)
}

fn perform(plan: &Plan, events: &Events) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new("internal", e))?;
    if plan.pacing.realtime {
        realtime(events);
    }
    tokio::task::LocalSet::new().block_on(&runtime, phases(plan, events))?;
    runtime.shutdown_background();
    Ok(())
}

async fn phases(plan: &Plan, events: &Events) -> Result<(), Failure> {
    let mut commands = listen(events.clone());
    let Some(opened) = opened(plan, &mut commands, events).await else {
        say_end(events);
        return Ok(());
    };
    let driver = opened.map_err(|e| match e {
        OpenError::Reach(text) => Failure::new("open", text),
        OpenError::Shape(text) => Failure::new("shape", text),
        OpenError::Option(text) => Failure::new("option", text),
    })?;
    let generator = Arc::new(Generator::new(plan).map_err(|e| Failure::new("plan", e))?);
    let attempts = driver.attempts(&generator);
    let workers = attempts
        .and_then(|attempts| {
            Ok(match attempts {
                Attempts::Session(session) => {
                    Workers::EventLoop(EventLoop::start(session, generator.clone())?)
                }
                Attempts::Blocking(driver) => Workers::Threads(driver),
            })
        })
        .map_err(|e| Failure::new("open", e))?;
    let mut ready = handshake();
    ready["pid"] = json!(std::process::id());
    ready["clock"] = json!(ClockPair::now());
    ready["driver"] = driver.facts();
    ready["schema_s"] = json!(driver.schema().as_secs_f64());
    events.emit("ready", ready);
    let mut runner = PhaseRunner {
        plan,
        driver,
        generator,
        workers,
        events: events.clone(),
        commands,
    };
    let mut ledger = Ledger::new(&plan.workload, plan.engine);
    let mut write_clock = WriteClock::real(runner.driver.timestamp_grain_us());
    let mut next = 0;
    let mut waiting = plan.phases.iter();
    loop {
        let Some((phase, at_ns, first)) = next_order(plan, &mut waiting, &mut runner).await else {
            break;
        };
        let start = at_ns.unwrap_or_else(|| monotonic_ns() + 10_000_000);
        let from = match phase.kind {
            PhaseKind::Load => phase.first,
            PhaseKind::Run => first.unwrap_or(next),
            PhaseKind::Audit => 0,
        };
        let ended = runner
            .run(&phase, start, from, ledger, write_clock)
            .await
            .map_err(|e| Failure::new("io", e))?;
        (ledger, write_clock) = (ended.ledger, ended.write_clock);
        if phase.kind == PhaseKind::Run {
            next = ended.next;
        }
        if ended.stop {
            break;
        }
    }
    say_end(events);
    Ok(())
}

/// The database; None when a `stop` came before: an open waits for servers, which may have gone with whoever
/// started the engine.
async fn opened(
    plan: &Plan,
    commands: &mut Commands,
    events: &Events,
) -> Option<Result<Arc<dyn Database>, OpenError>> {
    tokio::select! {
        biased;
        opened = driver::open(plan) => return Some(opened),
        () = commands.stopped() => {}
    }
    while let Some(command) = commands.next().await {
        if matches!(command.order, Order::Stop) {
            command.acknowledge(events, Ok(None));
            break;
        }
        command.acknowledge(events, Err("stopped before the database was open".into()));
    }
    None
}

/// The last event: what the run has cost.
fn say_end(events: &Events) {
    let usage = Usage::now();
    events.emit(
        "end",
        json!({"clock": ClockPair::now(), "cpu_user_ns": usage.user_ns, "cpu_system_ns": usage.system_ns,
               "rss_max_bytes": peak_resident_bytes(), "context_switches": usage.context_switches}),
    );
}

/// A phase, its start (ns) and its first number, where those are given.
type Begin = (Phase, Option<u64>, Option<u64>);

/// The next phase to start: from the plan in turn (`autostart`), else as commands say; None when the run is over.
async fn next_order(
    plan: &Plan,
    waiting: &mut std::slice::Iter<'_, crate::plan::Phase>,
    runner: &mut PhaseRunner<'_>,
) -> Option<Begin> {
    if plan.autostart {
        return waiting.next().map(|phase| (phase.clone(), None, None));
    }
    loop {
        let command = runner.commands.next().await?;
        let mut begin = None;
        let result = match &command.order {
            Order::Phase {
                name,
                at_ns,
                first,
                rate,
            } => chosen(plan, name, *rate).map(|phase| {
                begin = Some((phase, *at_ns, *first));
                None
            }),
            Order::Rate { .. } | Order::End { .. } => Err("no phase is running".to_owned()),
            Order::Mark { label } => mark(&plan.out, &runner.events, command.id, label, None)
                .map(Some)
                .map_err(|e| e.to_string()),
            Order::Stop | Order::Finish => Ok(None),
        };
        command.acknowledge(&runner.events, result);
        if begin.is_some() || matches!(command.order, Order::Stop | Order::Finish) {
            return begin;
        }
    }
}

/// The phase of that name, at another rate than the plan's if one is given; or why there is none.
fn chosen(plan: &Plan, name: &str, rate: Option<f64>) -> Result<Phase, String> {
    let found = plan.phases.iter().find(|phase| phase.name == name);
    let mut phase = found
        .cloned()
        .ok_or_else(|| format!("the plan has no phase {name:?}"))?;
    if let Some(rate) = rate {
        phase.arrivals = phase.arrivals.at_rate(rate).map_err(|error| error.0)?;
    }
    Ok(phase)
}

/// SCHED_FIFO for this thread and those it starts: exacter pacing beside a busy server, if the host allows it.
fn realtime(events: &Events) {
    let param = libc::sched_param { sched_priority: 1 };
    // SAFETY: `param` is valid for the call; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) } != 0 {
        let error = std::io::Error::last_os_error();
        events.warn(
            "realtime",
            &format!("SCHED_FIFO was refused ({error}); pacing goes on without it"),
        );
    }
}
