//! One phase from its start to its summary: clients to work, ticks, commands, the end.

use crate::blocking::ClientThreads;
use crate::clients::Clients;
use crate::clock::{Usage, monotonic_ns, peak_resident_bytes, realtime_ns};
use crate::command::{Command, Commands, Order};
use crate::dispense::Dispenser;
use crate::driver::{Blocking, Database, Traffic};
use crate::event_loop::{EventLoop, Parts};
use crate::events::Events;
use crate::generate::{Cursor, Generator};
use crate::ledger::Ledger;
use crate::marks::mark;
use crate::merged::{Greatest, Least};
use crate::operation::Outcome;
use crate::pacing::Pacer;
use crate::perform::{Policy, Tools};
use crate::phase_files::PhaseFiles;
use crate::phase_state::{PhaseParts, PhaseState, WriteClock};
use crate::plan::{Arrivals, EngineShare, Phase, PhaseKind, Plan};
use crate::recorder::{Recorder, SECOND};
use crate::summary::{
    Censored, Findings, PacingFacts, Summary, Verification, Within, attempts, failures, operations,
};
use crate::tally::{Shape, Tally};
use crate::writer::{self, PhaseInfo};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Grace beyond an operation's deadline before a client is given up.
const GRACE: Duration = Duration::from_secs(2);
/// How often it is looked whether the phase is over.
const LOOK: Duration = Duration::from_millis(100);

/// What performs operations.
pub enum Workers {
    /// One thread for all clients.
    EventLoop(EventLoop),
    /// A thread for each client, started with the phase.
    Threads(Arc<dyn Blocking>),
}

/// What all phases of a run share.
pub struct PhaseRunner<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The database.
    pub driver: Arc<dyn Database>,
    /// What makes its operations.
    pub generator: Arc<Generator>,
    /// Where they are performed.
    pub workers: Workers,
    /// Where events go.
    pub events: Events,
    /// Commands.
    pub commands: Commands,
}

/// How a phase ended.
pub struct Ended {
    /// Acknowledgements, for the next phase.
    pub ledger: Ledger,
    /// Timestamps of writes, which go on.
    pub write_clock: WriteClock,
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
fn single_requests(plan: &Plan, driver: &dyn Database) -> bool {
    let mix = &plan.workload.mix;
    mix.read_modify_write == 0.0 && mix.scan == 0.0 && !driver.buffers()
}

impl PhaseRunner<'_> {
    /// Run `phase` from `start_ns`, numbers from `first` on.
    pub async fn run(
        &mut self,
        phase: &Phase,
        start_ns: u64,
        first: u64,
        ledger: Ledger,
        mut write_clock: WriteClock,
    ) -> Result<Ended, String> {
        write_clock.begin_phase();
        let unix_s = (realtime_ns() as f64 - monotonic_ns() as f64 + start_ns as f64) / 1e9;
        let parts = phase.kind == PhaseKind::Run && self.plan.workload.mix.read_modify_write > 0.0;
        let shape = Shape {
            closed: phase.arrivals == Arrivals::Closed,
            apart: parts || self.driver.buffers(),
        };
        let files = PhaseFiles::create(&self.plan.out, &phase.name, unix_s);
        let tally = Tally::new(files.map_err(|e| e.to_string())?, shape, start_ns);
        let (out, messages) = std::sync::mpsc::channel();
        let (spare, spares) = std::sync::mpsc::channel();
        let clients = share_of(phase.in_flight, self.plan);
        let timeout_ns = self.plan.timeout_ms * 1_000_000;
        let (dispenser, cursor) = self.numbers(phase, start_ns, first, &ledger)?;
        let state = PhaseState::new(PhaseParts {
            dispenser,
            cursor,
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
            write_clock,
        });
        let info = PhaseInfo {
            phase: phase.clone(),
            operations: phase.operations(self.plan.workload.records),
            cap: clients as u64,
            events: self.events.clone(),
            driver: self.driver.clone(),
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
        let before = Used::now(&*self.driver);
        let (present, leaving) = mpsc::channel(1);
        let closing = match &self.workers {
            Workers::EventLoop(event_loop) => {
                let event_loop = event_loop.clone();
                let clients = event_loop.run(Parts {
                    pacer: Pacer::new(self.plan.pacing, start_ns),
                    lingers: single_requests(self.plan, &*self.driver),
                    cap: clients,
                    state,
                    tools,
                    present,
                });
                self.supervise(clients, leaving, start_ns, &phase.name)
                    .await?
            }
            Workers::Threads(driver) => {
                let threads = ClientThreads::start(state, &tools, driver, clients, &present)
                    .map_err(|e| e.to_string())?;
                drop(present);
                self.supervise(threads, leaving, start_ns, &phase.name)
                    .await?
            }
        };
        self.close(phase, first, closing, writer, before, start_ns)
    }

    /// The numbers of a phase, and what each of them is.
    fn numbers(
        &self,
        phase: &Phase,
        start_ns: u64,
        first: u64,
        ledger: &Ledger,
    ) -> Result<(Dispenser, Cursor), String> {
        let (records, seed) = (self.plan.workload.records, self.plan.seed);
        if phase.kind == PhaseKind::Audit {
            // Each engine reads back what was acknowledged to it: its numbers are its own.
            let ranks = ledger.acknowledged();
            let mut audit = phase.clone();
            audit.limit.operations = Some(ranks.len() as u64);
            let share = EngineShare::default();
            let dispenser = Dispenser::new(&audit, records, share, seed, 0, start_ns);
            return Ok((dispenser, Cursor::audit(self.plan, ranks)));
        }
        let share = self.plan.engine;
        let dispenser = Dispenser::new(phase, records, share, seed, first, start_ns);
        let cursor = Cursor::new(self.plan, phase.kind, first).map_err(|e| e.0)?;
        let in_step = phase.arrivals != Arrivals::Closed;
        let cursor = if in_step {
            cursor
        } else {
            cursor.out_of_step(share)
        };
        Ok((dispenser, cursor))
    }

    /// What an audit has found, its records by their keys.
    fn findings(&self, state: &mut PhaseState) -> Option<Findings> {
        let audit = state.audit.take()?;
        Some(audit.findings(state.audited(), |rank| {
            self.generator.key(rank).as_str().to_owned()
        }))
    }

    /// Tick and obey until every client has left.
    async fn supervise(
        &mut self,
        clients: impl Clients,
        mut leaving: mpsc::Receiver<()>,
        start_ns: u64,
        phase: &str,
    ) -> Result<Closing, String> {
        let mut stop = false;
        let mut given_up: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                gone = leaving.recv() => if gone.is_none() { break },
                command = self.commands.next(), if !stop => match command {
                    Some(command) => stop |= self.obey(&clients, &command, phase),
                    None => stop = true,
                },
                () = tokio::time::sleep(until_look(start_ns)) => {
                    let now = monotonic_ns();
                    let traffic = self.driver.traffic();
                    let on_wire = traffic.map(|so_far| so_far.requests - so_far.answers.min(so_far.requests));
                    let ended = clients.with_state(move |state| {
                        if let Some(requests) = on_wire {
                            state.on_wire(requests);
                        }
                        state.tick(now);
                        state.dispenser.ended(now)
                    });
                    self.complain(&clients);
                    if ended == Some(true) {
                        clients.wake();
                        // What the last operation had collected is flushed after it.
                        let rounds = 1 + u32::from(self.driver.buffers());
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
        let (mut state, pacing) = clients
            .into_state()
            .ok_or("the clients left no state behind")?;
        self.warn_of(std::mem::take(&mut state.complaints));
        Ok(Closing {
            state,
            pacing,
            stop,
        })
    }

    /// Carry out a command that came while a phase runs; true if the run is to end.
    fn obey(&self, clients: &impl Clients, command: &Command, phase: &str) -> bool {
        let mut stop = false;
        let result = match &command.order {
            Order::Rate { rate, .. } if !(rate.is_finite() && *rate >= 0.0) => {
                Err("rate must not be below 0".to_owned())
            }
            Order::Rate { rate, at_ns } => {
                let (at, rate) = (at_ns.unwrap_or_else(monotonic_ns), *rate);
                let changed = clients.with_state(move |state| state.dispenser.set_rate(at, rate));
                clients.wake();
                if changed == Some(true) {
                    Ok(None)
                } else {
                    Err("a closed loop has no rate".to_owned())
                }
            }
            Order::Mark { label } => {
                let marked = mark(&self.plan.out, &self.events, command.id, label, Some(phase));
                marked.map(Some).map_err(|e| e.to_string())
            }
            Order::End { at_ns } => {
                // A time that has passed when it is told has seen operations sent after it.
                let at_ns = at_ns.unwrap_or(0).max(monotonic_ns());
                clients.with_state(move |state| state.end_at(at_ns));
                clients.wake();
                Ok(Some(at_ns))
            }
            Order::Stop => {
                clients.with_state(|state| state.dispenser.stop(monotonic_ns()));
                clients.wake();
                stop = true;
                Ok(None)
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
    ) -> Result<Ended, String> {
        let Closing {
            mut state,
            pacing,
            stop,
        } = closing;
        let (unsent, unanswered) = state.close(monotonic_ns());
        let used = Used::now(&*self.driver);
        let reason = if state.dispenser.stopped() {
            "stop"
        } else if state.dispenser.end_ns() <= monotonic_ns() {
            "time"
        } else {
            "operations"
        };
        let end_ns = state.last_done.max(start_ns + 1);
        let window = state.window();
        let seconds = (window.end_ns - start_ns) as f64 / 1e9;
        let next = if phase.kind == PhaseKind::Audit {
            first
        } else {
            state.dispenser.unused()
        };
        if state.unflushed > 0 {
            let text = format!(
                "{} writes were collected by the client, counted as done, and never acknowledged",
                state.unflushed
            );
            self.events.warn("unflushed", &text);
        }
        let mut summary = Summary {
            phase: phase.name.clone().into(),
            kind: phase.kind.into(),
            start_ns: Least(start_ns),
            end_ns: Greatest(end_ns),
            window_end_ns: Greatest(window.end_ns),
            seconds: Greatest(seconds),
            within: Within {
                operations: window.operations,
                ok: window.ok,
            },
            first: first.into(),
            next: Greatest(next),
            operations: state.done,
            ok: state.ok,
            failed: failures(&state.outcomes),
            in_flight_cap: phase.in_flight.into(),
            arrivals: phase.arrivals.clone().into(),
            verify: verification(&state, self.plan),
            attempts: attempts(&state.attempts),
            censored: Censored { unsent, unanswered },
            pacing,
            cpu_user_ns: used.cpu.user_ns - before.cpu.user_ns,
            cpu_system_ns: used.cpu.system_ns - before.cpu.system_ns,
            rss_max_bytes: peak_resident_bytes(),
            traffic: used.traffic_since(&before),
            unflushed: self.driver.buffers().then_some(state.unflushed),
            audit: self.findings(&mut state),
            ..Summary::default()
        };
        let kinds = state.kinds;
        let (ledger, write_clock) = state.dissolve();
        let mut tally = writer
            .join()
            .map_err(|_| "the writer failed")?
            .map_err(|e| e.to_string())?;
        let (views, saturation) = tally.finish(seconds).map_err(|e| e.to_string())?;
        summary.ops = operations(views, &kinds);
        summary.saturation = saturation;
        self.events.emit(
            "phase_end",
            json!({"phase": phase.name, "reason": reason, "first": first, "next": next, "start_ns": start_ns,
                   "end_ns": end_ns, "summary": summary}),
        );
        Ok(Ended {
            ledger,
            write_clock,
            next,
            stop,
        })
    }
}

/// What the process has used, and its driver's connections have done, so far.
struct Used {
    cpu: Usage,
    traffic: Option<steelyard_multiplexer::Traffic>,
}

impl Used {
    fn now(driver: &dyn Database) -> Self {
        Self {
            cpu: Usage::now(),
            traffic: driver.traffic(),
        }
    }

    fn traffic_since(&self, before: &Self) -> Option<Traffic> {
        Some(self.traffic?.since(before.traffic?).into())
    }
}

struct Closing {
    state: PhaseState,
    /// How waiting was timed, for the summary.
    pacing: PacingFacts,
    stop: bool,
}

/// Until the next look: soon, and at the end of each second, so that counts fall into the second they belong to.
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

fn verification(state: &PhaseState, plan: &Plan) -> Verification {
    let judged = &state.verdicts;
    Verification {
        mode: plan.workload.verify.into(),
        checked: judged.checked,
        corrupt: judged.corrupt,
        foreign: judged.foreign,
        stale: judged.stale,
        lost: judged.lost,
        not_yet: judged.not_yet,
    }
}
