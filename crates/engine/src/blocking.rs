//! Clients on threads of their own, for drivers whose calls block: a stalled store must not stop the pacer or other clients.
//!
//! A claim and the record of the last operation share one short lock; beside calls of microseconds it does not show.

use crate::clock::Clock;
use crate::crew::Crew;
use crate::perform::{Bench, Desk, Tools};
use crate::phase_state::{Claim, PhaseState, Ticket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

struct State {
    core: Option<PhaseState>,
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
        bench: &Bench,
        ticket: &mut Ticket,
    ) -> bool {
        loop {
            let now = bench.clock.now();
            let Some(core) = state.core.as_mut() else {
                return false;
            };
            match core.claim(slot, now, ticket) {
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

fn client(shared: &Shared, bench: &Bench, slot: usize) {
    // SAFETY: prctl with these arguments only changes this thread's timer slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut desk = Desk::default();
    let mut claimed = shared.claim(shared.lock(), slot, bench, &mut desk.ticket);
    while claimed {
        let did = futures::executor::block_on(bench.perform(&mut desk));
        let mut state = shared.lock();
        let Desk { ticket, reply, .. } = &mut desk;
        if let Some(core) = state.core.as_mut() {
            core.finish(slot, ticket, &did, reply);
        }
        claimed = shared.claim(state, slot, bench, &mut desk.ticket);
    }
}

/// Clients on threads of their own.
pub struct ThreadCrew {
    shared: Arc<Shared>,
}

impl ThreadCrew {
    /// Put `clients` to work on `core`; each drops its clone of `present` when it leaves.
    pub fn start(
        core: PhaseState,
        tools: &Tools,
        clients: usize,
        present: &mpsc::Sender<()>,
    ) -> std::io::Result<Self> {
        let state = Mutex::new(State {
            core: Some(core),
            led: false,
        });
        let shared = Arc::new(Shared {
            state,
            call: Condvar::new(),
            turns: AtomicU64::new(0),
        });
        for slot in 0..clients {
            let (shared, present, tools) = (shared.clone(), present.clone(), tools.clone());
            std::thread::Builder::new()
                .name(format!("client-{slot}"))
                .stack_size(512 * 1024)
                .spawn(move || {
                    let _present = present;
                    client(
                        &shared,
                        &Bench {
                            clock: Clock::default(),
                            tools,
                        },
                        slot,
                    );
                })?;
        }
        Ok(Self { shared })
    }
}

impl Crew for ThreadCrew {
    fn with_core<R>(&self, use_core: impl FnOnce(&mut PhaseState) -> R) -> R {
        use_core(
            self.shared
                .lock()
                .core
                .as_mut()
                .expect("the core leaves only with the crew"),
        )
    }

    fn wake(&self) {
        let _state = self.shared.lock();
        self.shared.call.notify_all();
    }

    fn abandon(&self) {} // a blocking call cannot be cut short; the process ends without it

    fn turns(&self) -> u64 {
        self.shared.turns.load(Ordering::Relaxed)
    }

    fn into_core(self) -> Option<PhaseState> {
        self.shared.lock().core.take()
    }
}
