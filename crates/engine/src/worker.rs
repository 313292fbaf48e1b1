//! The hot loop: clients as tasks of one reactor, and a pacer that wakes them when an operation is due.
//!
//! In a closed loop all clients begin at once. Otherwise one is hired when an operation is due and nobody waits for it: a cap
//! of ten thousand costs neither memory nor a start of tens of milliseconds in which everything is late.

use crate::clock::monotonic_ns;
use crate::crew::Crew;
use crate::driver::Driver;
use crate::perform::{Bench, Desk};
use crate::phase_state::{Claim, PhaseState, Ticket};
use crate::timer::Timer;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

/// After so many operations without a wait a client lets others have the thread.
const TURN: u32 = 64;

struct Shared {
    core: RefCell<Option<PhaseState>>,
    bench: Bench,
    paced: bool,
    /// Last time read; in a closed loop good enough to see the end of the phase.
    recent: Cell<u64>,
    waiting: RefCell<VecDeque<Waker>>,
    head_changed: Notify,
    turns: Cell<u64>,
    clients: RefCell<Vec<JoinHandle<()>>>,
    /// Most clients there may be.
    cap: usize,
    /// Given to each client that is hired; none once there is nothing more to do. The phase is over when all are dropped.
    present: RefCell<Option<mpsc::Sender<()>>>,
}

impl Shared {
    #[inline]
    fn core<R>(&self, use_core: impl FnOnce(&mut PhaseState) -> R) -> R {
        use_core(
            self.core
                .borrow_mut()
                .as_mut()
                .expect("the core leaves only with the crew"),
        )
    }

    #[inline]
    fn poll_claim(
        self: &Rc<Self>,
        slot: usize,
        ticket: &mut Ticket,
        context: &Context<'_>,
    ) -> Poll<bool> {
        let now = if self.paced {
            self.bench.clock.now()
        } else {
            self.recent.get()
        };
        match self.core(|core| core.claim(slot, now, ticket)) {
            Claim::Go => {
                if self.paced
                    && self
                        .core(|core| core.dispenser.head())
                        .is_some_and(|due| due <= now)
                {
                    self.wake_one();
                }
                Poll::Ready(true)
            }
            Claim::End => {
                self.hire_no_more();
                Poll::Ready(false)
            }
            Claim::Wait(_) => {
                self.waiting.borrow_mut().push_back(context.waker().clone());
                self.head_changed.notify_one();
                Poll::Pending
            }
        }
    }

    /// Somebody shall take what is due: who waits longest, or a new client.
    fn wake_one(self: &Rc<Self>) {
        let waker = self.waiting.borrow_mut().pop_front();
        match waker {
            Some(waker) => waker.wake(),
            None => self.hire(),
        }
    }

    fn can_hire(&self) -> bool {
        self.clients.borrow().len() < self.cap && self.present.borrow().is_some()
    }

    fn hire(self: &Rc<Self>) {
        if !self.can_hire() {
            return;
        }
        let slot = self.clients.borrow().len();
        let present = self.present.borrow().clone();
        let client = tokio::task::spawn_local(client(self.clone(), slot, present));
        self.clients.borrow_mut().push(client);
    }

    fn hire_no_more(&self) {
        self.present.take();
    }

    fn wake_all(&self) {
        for waker in self.waiting.take() {
            waker.wake();
        }
        self.head_changed.notify_one();
    }
}

async fn client(shared: Rc<Shared>, slot: usize, _present: Option<mpsc::Sender<()>>) {
    let mut desk = Desk::default();
    let mut since_wait = 0;
    while poll_fn(|context| shared.poll_claim(slot, &mut desk.ticket, context)).await {
        let did = shared.bench.perform(&mut desk).await;
        shared.recent.set(did.done);
        let Desk { ticket, reply, .. } = &mut desk;
        shared.core(|core| core.finish(slot, ticket, &did, reply));
        if desk.reply.batch.is_some() {
            flush(&shared, slot, &mut desk).await;
        }
        since_wait += 1;
        if since_wait == TURN {
            since_wait = 0;
            tokio::task::yield_now().await; // a driver that answers at once would never let the reactor run
        }
    }
    // Whoever leaves last sends what is still collected: only then has the phase ended.
    if shared.core(|core| core.idle()) {
        shared.bench.tools.driver.drain(&mut desk.reply).await;
        if desk.reply.batch.is_some() {
            flush(&shared, slot, &mut desk).await;
        }
    }
}

/// Send the batch in the reply as an operation of its own.
async fn flush(shared: &Shared, slot: usize, desk: &mut Desk) {
    let due = shared.bench.clock.now();
    shared.core(|core| core.flushing(slot, due));
    let did = shared.bench.flush(due, desk).await;
    shared.recent.set(did.done);
    shared.core(|core| core.flushed(slot, due, &did, &mut desk.reply));
}

/// Wakes a waiting client when the head of the schedule is due, but not sooner than `quantum_ns` after the last turn: waking
/// for every lone operation doubles the client's CPU and takes the server's.
async fn pace(shared: Rc<Shared>, timer: Timer, quantum_ns: u64) -> std::io::Result<()> {
    let mut last_turn = 0;
    loop {
        if shared.waiting.borrow().is_empty() && !shared.can_hire() {
            shared.head_changed.notified().await;
            continue;
        }
        let now = shared.bench.clock.now();
        let head = shared.core(|core| {
            if core.dispenser.ended(now) {
                return None;
            }
            let end = core.dispenser.end_ns();
            core.dispenser.head().map(|due| due.min(end))
        });
        let Some(due) = head else {
            shared.hire_no_more();
            shared.wake_all();
            tokio::task::yield_now().await;
            continue;
        };
        let at = due.max(last_turn + quantum_ns);
        if at > now {
            timer.arm(at);
            tokio::select! {
                fired = timer.fired() => fired?,
                () = shared.head_changed.notified() => continue,
            }
        }
        last_turn = shared.bench.clock.now();
        shared.turns.set(shared.turns.get() + 1);
        shared.wake_one(); // each client that takes a due operation wakes the next one
        tokio::task::yield_now().await;
    }
}

/// Clients as tasks of the current reactor.
pub struct ReactorCrew {
    shared: Rc<Shared>,
    pacer: Option<JoinHandle<std::io::Result<()>>>,
}

impl ReactorCrew {
    /// Put up to `cap` clients to work on `core`; each drops its clone of `present` when it leaves. Needs a LocalSet around it.
    pub fn start(
        core: PhaseState,
        bench: Bench,
        cap: usize,
        quantum_ns: u64,
        present: mpsc::Sender<()>,
    ) -> std::io::Result<Self> {
        let shared = Rc::new(Shared {
            paced: core.dispenser.paced(),
            core: RefCell::new(Some(core)),
            bench,
            recent: Cell::new(monotonic_ns()),
            waiting: RefCell::default(),
            head_changed: Notify::new(),
            turns: Cell::new(0),
            clients: RefCell::default(),
            cap,
            present: RefCell::new(Some(present)),
        });
        let pacer = if shared.paced {
            let pacing = pace(shared.clone(), Timer::new()?, quantum_ns);
            Some(tokio::task::spawn_local(pacing))
        } else {
            (0..cap).for_each(|_| shared.hire());
            shared.hire_no_more();
            None
        };
        Ok(Self { shared, pacer })
    }
}

impl Crew for ReactorCrew {
    fn with_core<R>(&self, use_core: impl FnOnce(&mut PhaseState) -> R) -> R {
        self.shared.core(use_core)
    }

    fn wake(&self) {
        self.shared.recent.set(self.shared.bench.clock.now());
        self.shared.wake_all();
    }

    fn abandon(&self) {
        for client in self.shared.clients.borrow().iter() {
            client.abort();
        }
    }

    fn turns(&self) -> u64 {
        self.shared.turns.get()
    }

    fn into_core(self) -> Option<PhaseState> {
        if let Some(pacer) = self.pacer {
            pacer.abort();
        }
        self.shared.core.take()
    }
}

#[cfg(test)]
mod tests;
