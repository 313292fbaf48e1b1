//! Clients on threads of their own, for drivers whose calls block: a stalled store must not stop the pacer or other clients.
//!
//! A claim and the record of the last operation share one short lock; beside calls of microseconds it does not show.

use crate::clients::Clients;
use crate::clock::{Clock, nanos};
use crate::driver::{Blocking, Exchange};
use crate::perform::{Next, Progress, Tools};
use crate::phase_state::PhaseState;
use crate::summary::PacingFacts;
use crate::ticket::{Claim, Performed, Ticket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

struct State {
    phase: Option<PhaseState>,
    /// A thread waits for the head of the schedule already; the others wait to be called.
    led: bool,
}

struct Shared {
    state: Mutex<State>,
    call: Condvar,
    turns: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next operation for client `slot`, waiting until it is due; false when there is none.
    fn claim(
        &self,
        mut state: MutexGuard<'_, State>,
        slot: usize,
        clock: &Clock,
        ticket: &mut Ticket,
    ) -> bool {
        loop {
            let now = clock.now();
            let Some(phase) = state.phase.as_mut() else {
                return false;
            };
            match phase.claim(slot, now, ticket) {
                Claim::End => {
                    self.call.notify_all();
                    return false;
                }
                Claim::Go => {
                    if ticket.due.is_some() {
                        self.call.notify_one(); // somebody must wait for the new head
                    }
                    return true;
                }
                Claim::Wait(_) if state.led => {
                    state = self
                        .call
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                Claim::Wait(until) => {
                    state.led = true;
                    let wait = Duration::from_nanos(until.saturating_sub(now));
                    let waited = self
                        .call
                        .wait_timeout(state, wait)
                        .unwrap_or_else(PoisonError::into_inner);
                    state = waited.0;
                    state.led = false;
                    self.turns.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

/// What a client thread works with.
struct Client {
    clock: Clock,
    tools: Tools,
    driver: Arc<dyn Blocking>,
    ticket: Ticket,
    exchange: Exchange,
    progress: Progress,
}

impl Client {
    /// Do what the ticket says.
    fn perform(&mut self) -> Performed {
        let Self {
            ticket,
            exchange,
            progress,
            tools,
            ..
        } = self;
        progress.begin(tools, ticket, exchange, self.clock.now());
        loop {
            let attempt = progress.attempt(&tools.policy);
            let Exchange { op, reply } = &mut *exchange;
            let (timeout, values) = (nanos(attempt.timeout_ns), &tools.generator.values);
            let outcome = self
                .driver
                .execute(op, attempt.number, timeout, values, reply);
            let now = self.clock.now();
            match progress.ended(&tools.policy, ticket, exchange, outcome, now) {
                Next::Done(did) => return did,
                Next::Attempt => {}
                Next::Pause(until) => {
                    std::thread::sleep(nanos(until.saturating_sub(now)));
                    progress.again(self.clock.now());
                }
            }
        }
    }
}

fn client(shared: &Shared, slot: usize, tools: Tools, driver: Arc<dyn Blocking>) {
    // SAFETY: prctl with these arguments only changes this thread's timer slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut client = Client {
        clock: Clock::default(),
        tools,
        driver,
        ticket: Ticket::default(),
        exchange: Exchange::default(),
        progress: Progress::default(),
    };
    let mut claimed = shared.claim(shared.lock(), slot, &client.clock, &mut client.ticket);
    while claimed {
        let did = client.perform();
        let mut state = shared.lock();
        if let Some(phase) = state.phase.as_mut() {
            phase.finish(slot, &client.ticket, &did, &mut client.exchange.reply);
        }
        claimed = shared.claim(state, slot, &client.clock, &mut client.ticket);
    }
}

/// Clients on threads of their own.
pub struct ClientThreads {
    shared: Arc<Shared>,
}

impl ClientThreads {
    /// Put `clients` to work on `phase`; each drops its clone of `present` when it ends.
    pub fn start(
        phase: PhaseState,
        tools: &Tools,
        driver: &Arc<dyn Blocking>,
        clients: usize,
        present: &mpsc::Sender<()>,
    ) -> std::io::Result<Self> {
        let state = Mutex::new(State {
            phase: Some(phase),
            led: false,
        });
        let shared = Arc::new(Shared {
            state,
            call: Condvar::new(),
            turns: AtomicU64::new(0),
        });
        for slot in 0..clients {
            let (shared, present) = (shared.clone(), present.clone());
            let (tools, driver) = (tools.clone(), driver.clone());
            std::thread::Builder::new()
                .name(format!("client-{slot}"))
                .stack_size(512 * 1024)
                .spawn(move || {
                    let _present = present;
                    client(&shared, slot, tools, driver);
                })?;
        }
        Ok(Self { shared })
    }
}

impl Clients for ClientThreads {
    fn with_state<R: Send + 'static>(
        &self,
        use_state: impl FnOnce(&mut PhaseState) -> R + Send + 'static,
    ) -> Option<R> {
        self.shared.lock().phase.as_mut().map(use_state)
    }

    fn wake(&self) {
        let _state = self.shared.lock();
        self.shared.call.notify_all();
    }

    fn abandon(&self) {} // a blocking call cannot be cut short; the process ends without it

    fn into_state(self) -> Option<(PhaseState, PacingFacts)> {
        let turns = self.shared.turns.load(Ordering::Relaxed);
        let phase = self.shared.lock().phase.take()?;
        let facts = PacingFacts {
            turns,
            ..PacingFacts::default()
        };
        Some((phase, facts))
    }
}
