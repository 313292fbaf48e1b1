//! One phase from its start to its summary: clients to work, ticks, commands, the end.

use crate::blocking::ClientThreads;
use crate::clients::Clients;
use crate::clock::{Usage, monotonic_ns, peak_resident_bytes, realtime_ns};
use crate::command::{Command, Order};
use crate::dispense::Dispenser;
use crate::driver::{AnyDriver, Traffic};
use crate::event_loop::{EventLoop, Parts};
use crate::events::Events;
use crate::generate::{Cursor, Generator};
use crate::ledger::Ledger;
use crate::operation::{Kind, Outcome};
use crate::pacing::Pacer;
use crate::perform::{Policy, Tools};
use crate::phase_state::{ATTEMPTS, PhaseParts, PhaseState};
use crate::plan::{Arrivals, DriverPlan, Phase, PhaseKind, Plan};
use crate::recorder::{Recorder, SECOND};
use crate::tally::{Shape, Tally, failures};
use crate::writer::{self, PhaseInfo};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::Instant;

/// Grace beyond an operation's deadline before a client is given up.
const GRACE: Duration = Duration::from_secs(2);
/// How often the conductor looks whether the phase is over.
const LOOK: Duration = Duration::from_millis(100);
/// What all phases of a run share.
pub struct PhaseRunner<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The database.
    pub driver: AnyDriver,
    /// What makes its operations.
    pub generator: Arc<Generator>,
    /// Where they are performed, unless the driver's calls block.
    pub event_loop: Option<EventLoop>,
    /// Where events go.
    pub events: Events,
    /// Commands.
    pub commands: UnboundedReceiver<Command>,
}

/// How a phase ended.
pub struct Ended {
    /// Acknowledgements, for the next phase.
    pub ledger: Ledger,
    /// First number no phase has used.
    pub next: u64,
    /// A command asked for the end of the run.
    pub stop: bool,
}

/// This engine's share of a total in-flight cap.
pub fn share_of(cap: u32, plan: &Plan) -> usize {
    let (i, k, cap) = (
        u64::from(plan.engine.index),
        u64::from(plan.engine.count),
        u64::from(cap),
    );
    ((cap * (i + 1) / k - cap * i / k) as usize).max(1)
}

/// Whether every operation is one request, so that its answer may wait for the loop's next wake-up.
fn single_requests(plan: &Plan) -> bool {
    let mix = &plan.workload.mix;
    mix.read_modify_write == 0.0 && mix.scan == 0.0 && matches!(plan.driver, DriverPlan::Cql(_))
}

impl PhaseRunner<'_> {
    /// Run `phase` from `start_ns`, numbers from `first` on.
    pub async fn run(
        &mut self,
        phase: &Phase,
        start_ns: u64,
        first: u64,
        ledger: Ledger,
    ) -> Result<Ended, String> {
        let unix_s = (realtime_ns() as f64 - monotonic_ns() as f64 + start_ns as f64) / 1e9;
        let parts = phase.kind == PhaseKind::Run && self.plan.workload.mix.read_modify_write > 0.0;
        let shape = Shape {
            closed: phase.arrivals == Arrivals::Closed,
            apart: parts || self.plan.driver.buffers(),
        };
        let tally = Tally::create(&self.plan.out, &phase.name, shape, start_ns, unix_s)
            .map_err(|e| e.to_string())?;
        let (out, messages) = std::sync::mpsc::channel();
        let (spare, spares) = std::sync::mpsc::channel();
        let clients = share_of(phase.in_flight, self.plan);
        let timeout_ns = self.plan.timeout_ms * 1_000_000;
        let state = PhaseState::new(PhaseParts {
            dispenser: Dispenser::new(
                phase,
                self.plan.workload.records,
                self.plan.engine,
                self.plan.seed,
                first,
                start_ns,
            ),
            cursor: Cursor::new(self.plan, phase.kind, first).map_err(|e| e.0)?,
            recorder: Recorder::new(
                start_ns,
                timeout_ns,
                shape.closed,
                shape.apart,
                out.clone(),
                spares,
            ),
            ledger,
            out,
            start_ns,
            kind: phase.kind,
            clients,
            workload: &self.plan.workload,
            offset_us: (realtime_ns() as i64 - monotonic_ns() as i64) / 1000,
            grain_us: self.plan.driver.timestamp_grain_us(),
        });
        let info = PhaseInfo {
            phase: phase.clone(),
            operations: phase.operations(self.plan.workload.records),
            cap: clients as u64,
            events: self.events.clone(),
        };
        let writer = writer::start(tally, info, messages, spare).map_err(|e| e.to_string())?;
        let tools = Tools {
            generator: Arc::clone(&self.generator),
            policy: Policy::new(self.plan),
        };
        wait_until(start_ns).await;
        self.events.emit(
            "phase_start",
            json!({"phase": phase.name, "at_ns": start_ns, "first": first}),
        );
        let before = Used::now(&self.driver);
        let (present, leaving) = mpsc::channel(1);
        let closing = match (&self.driver, self.event_loop.clone()) {
            (_, Some(event_loop)) => {
                let clients = event_loop.run(Parts {
                    pacer: Pacer::new(self.plan.pacing, start_ns),
                    lingers: single_requests(self.plan),
                    cap: clients,
                    state,
                    tools,
                    present,
                });
                self.conduct(clients, leaving, start_ns).await?
            }
            (AnyDriver::Embedded(driver), None) => {
                let threads = ClientThreads::start(state, &tools, driver, clients, &present)
                    .map_err(|e| e.to_string())?;
                drop(present);
                self.conduct(threads, leaving, start_ns).await?
            }
            (_, None) => return Err("the driver has no session".into()),
        };
        self.close(phase, first, closing, writer, before, start_ns, unix_s)
    }

    /// Tick and obey until every client has left.
    async fn conduct(
        &mut self,
        clients: impl Clients,
        mut leaving: mpsc::Receiver<()>,
        start_ns: u64,
    ) -> Result<Closing, String> {
        let mut stop = false;
        let mut given_up: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                gone = leaving.recv() => if gone.is_none() { break },
                command = self.commands.recv(), if !stop => match command {
                    Some(command) => stop |= self.obey(&clients, &command),
                    None => stop = true,
                },
                () = tokio::time::sleep(until_look(start_ns)) => {
                    let now = monotonic_ns();
                    let ended = clients.with_state(move |state| {
                        state.tick(now);
                        state.dispenser.ended(now)
                    });
                    self.complain(&clients);
                    if ended == Some(true) {
                        clients.wake();
                        // What the last operation had collected is flushed after it.
                        let rounds = 1 + u32::from(self.plan.driver.buffers());
                        let deadline = Duration::from_millis(self.plan.timeout_ms) * rounds + GRACE;
                        let limit = *given_up.get_or_insert_with(|| Instant::now() + deadline);
                        if Instant::now() > limit {
                            clients.abandon();
                            break;
                        }
                    }
                }
            }
        }
        let (mut state, pacing) = clients.into_state().ok_or("the clients left no state behind")?;
        self.warn_of(std::mem::take(&mut state.complaints));
        Ok(Closing {
            state,
            pacing,
            stop,
        })
    }

    /// Carry out a command that came while a phase runs; true if the run is to end.
    fn obey(&self, clients: &impl Clients, command: &Command) -> bool {
        let mut stop = false;
        let result = match &command.order {
            Order::Rate { rate, .. } if !(rate.is_finite() && *rate > 0.0) => {
                Err("rate must be above 0".to_owned())
            }
            Order::Rate { rate, at_ns } => {
                let (at, rate) = (at_ns.unwrap_or_else(monotonic_ns), *rate);
                let changed = clients.with_state(move |state| state.dispenser.set_rate(at, rate));
                clients.wake();
                if changed == Some(true) {
                    Ok(())
                } else {
                    Err("a closed loop has no rate".to_owned())
                }
            }
            Order::Mark { label } => {
                self.events.emit("mark", json!({"label": label}));
                Ok(())
            }
            Order::Stop => {
                clients.with_state(|state| state.dispenser.stop(monotonic_ns()));
                clients.wake();
                stop = true;
                Ok(())
            }
            Order::Phase { .. } | Order::Finish => Err("a phase is running".to_owned()),
        };
        command.acknowledge(&self.events, result);
        stop
    }

    fn complain(&self, clients: &impl Clients) {
        let complaints = clients.with_state(|state| std::mem::take(&mut state.complaints));
        self.warn_of(complaints.unwrap_or_default());
    }

    fn warn_of(&self, complaints: Vec<(Outcome, String)>) {
        for (outcome, text) in complaints {
            self.events
                .warn("first_error", &format!("{}: {text}", outcome.name()));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn close(
        &self,
        phase: &Phase,
        first: u64,
        closing: Closing,
        writer: std::thread::JoinHandle<std::io::Result<Tally>>,
        before: Used,
        start_ns: u64,
        unix_s: f64,
    ) -> Result<Ended, String> {
        let Closing {
            state: mut core,
            pacing,
            stop,
        } = closing;
        let (unsent, unanswered) = core.close(monotonic_ns());
        let used = Used::now(&self.driver);
        let reason = match (core.dispenser.stopped(), phase.limit.seconds) {
            (true, _) => "stop",
            (false, Some(_)) if core.dispenser.end_ns() <= monotonic_ns() => "time",
            _ => "operations",
        };
        let end_ns = core.last_done.max(start_ns + 1);
        let seconds = (end_ns - start_ns) as f64 / 1e9;
        let next = core.dispenser.unused();
        let mut summary = json!({
            "phase": phase.name, "kind": phase.kind, "start_ns": start_ns, "end_ns": end_ns, "seconds": seconds,
            "first": first, "next": next, "operations": core.done, "ok": core.ok,
            "failed": failures(&core.outcomes),
            "in_flight_cap": phase.in_flight, "arrivals": phase.arrivals,
            "verify": verdicts(&core, self.plan), "attempts": attempts(&core),
            "censored": {"unsent": unsent, "unanswered": unanswered}, "saturation": core.saturation,
            "pacing": pacing,
            "cpu_user_ns": used.cpu.user_ns - before.cpu.user_ns,
            "cpu_system_ns": used.cpu.system_ns - before.cpu.system_ns,
            "rss_max_bytes": peak_resident_bytes(), "traffic": used.traffic_since(&before),
        });
        if core.unflushed > 0 {
            let text = format!(
                "{} writes were collected by the client, counted as done, and never acknowledged",
                core.unflushed
            );
            self.events.warn("unflushed", &text);
        }
        if self.plan.driver.buffers() {
            summary["unflushed"] = json!(core.unflushed);
        }
        let kinds = core.kinds;
        let ledger = core.dissolve();
        let mut tally = writer
            .join()
            .map_err(|_| "the writer failed")?
            .map_err(|e| e.to_string())?;
        let ops = tally
            .finish(&self.plan.out, &phase.name, unix_s, seconds)
            .map_err(|e| e.to_string())?;
        summary["ops"] = with_counts(ops, &kinds);
        self.events.emit(
            "phase_end",
            json!({"phase": phase.name, "reason": reason, "first": first, "next": next, "start_ns": start_ns,
                   "end_ns": end_ns, "summary": summary}),
        );
        Ok(Ended { ledger, next, stop })
    }
}

/// What the process has used, and its driver's connections have done, so far.
struct Used {
    cpu: Usage,
    traffic: Option<Traffic>,
}

impl Used {
    fn now(driver: &AnyDriver) -> Self {
        Self {
            cpu: Usage::now(),
            traffic: driver.traffic(),
        }
    }

    fn traffic_since(&self, before: &Self) -> Option<Traffic> {
        Some(self.traffic?.since(before.traffic?))
    }
}

struct Closing {
    state: PhaseState,
    /// How waiting was timed, for the summary.
    pacing: Value,
    stop: bool,
}

/// Until the conductor looks again: soon, and at the end of each second, so that counts fall into the second they belong to.
fn until_look(start_ns: u64) -> Duration {
    let into = monotonic_ns().saturating_sub(start_ns) % SECOND;
    Duration::from_nanos(SECOND - into).min(LOOK)
}

async fn wait_until(at_ns: u64) {
    let now = monotonic_ns();
    if at_ns > now + SECOND / 1000 {
        tokio::time::sleep(Duration::from_nanos(at_ns - now - SECOND / 1000)).await;
    }
    while monotonic_ns() < at_ns {
        tokio::task::yield_now().await;
    }
}

fn verdicts(core: &PhaseState, plan: &Plan) -> Value {
    let mut verdicts = json!(core.verdicts);
    verdicts["mode"] = json!(plan.workload.verify);
    verdicts
}

fn attempts(core: &PhaseState) -> Value {
    let named = (1..ATTEMPTS).filter(|n| core.attempts[*n] > 0);
    Value::Object(
        named
            .map(|n| (n.to_string(), json!(core.attempts[n])))
            .collect(),
    )
}

/// The counts of each kind beside its distributions.
fn with_counts(ops: Value, kinds: &[crate::phase_state::KindCounts; Kind::ALL.len()]) -> Value {
    let mut ops = if let Value::Object(ops) = ops {
        ops
    } else {
        Map::new()
    };
    for kind in Kind::ALL {
        let counts = &kinds[kind as usize];
        if counts.count == 0 {
            continue;
        }
        let entry = ops.entry(kind.name()).or_insert_with(|| json!({}));
        entry["count"] = json!(counts.count);
        entry["ok"] = json!(counts.outcomes[Outcome::Ok as usize]);
        entry["not_yet"] = json!(counts.not_yet);
        entry["absent"] = json!(counts.absent);
        entry["failures"] = failures(&counts.outcomes);
        entry["rows"] = json!(counts.rows);
        entry["bytes"] = json!(counts.bytes);
    }
    Value::Object(ops)
}
