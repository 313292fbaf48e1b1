//! The hot loop: N clients as tasks of one reactor, and a pacer that wakes them when an operation is due.

use crate::clock::monotonic_ns;
use crate::core::{Claim, Core, Ticket};
use crate::crew::Crew;
use crate::driver::Driver;
use crate::perform::{Bench, Desk};
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
    core: RefCell<Option<Core>>,
    bench: Bench,
    paced: bool,
    /// Last time read; in a closed loop good enough to see the end of the phase.
    recent: Cell<u64>,
    waiting: RefCell<VecDeque<Waker>>,
    head_changed: Notify,
    turns: Cell<u64>,
}

impl Shared {
    fn core<R>(&self, use_core: impl FnOnce(&mut Core) -> R) -> R {
        use_core(
            self.core
                .borrow_mut()
                .as_mut()
                .expect("the core leaves only with the crew"),
        )
    }

    fn poll_claim(
        &self,
        slot: usize,
        floors: &mut Vec<u64>,
        context: &Context<'_>,
    ) -> Poll<Option<Ticket>> {
        let now = if self.paced {
            self.bench.clock.now()
        } else {
            self.recent.get()
        };
        match self.core(|core| core.claim(slot, now, floors)) {
            Claim::Go(ticket) => {
                if self.paced
                    && self
                        .core(|core| core.dispenser.head())
                        .is_some_and(|due| due <= now)
                {
                    self.wake_one();
                }
                Poll::Ready(Some(ticket))
            }
            Claim::End => Poll::Ready(None),
            Claim::Wait(_) => {
                self.waiting.borrow_mut().push_back(context.waker().clone());
                self.head_changed.notify_one();
                Poll::Pending
            }
        }
    }

    fn wake_one(&self) {
        let waker = self.waiting.borrow_mut().pop_front();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wake_all(&self) {
        for waker in self.waiting.take() {
            waker.wake();
        }
        self.head_changed.notify_one();
    }
}

async fn client(shared: Rc<Shared>, slot: usize, _present: mpsc::Sender<()>) {
    let mut desk = Desk::default();
    let mut since_wait = 0;
    while let Some(ticket) =
        poll_fn(|context| shared.poll_claim(slot, &mut desk.floors, context)).await
    {
        let did = shared.bench.perform(&ticket, &mut desk).await;
        shared.recent.set(did.done);
        let Desk { reply, floors, .. } = &mut desk;
        shared.core(|core| core.finish(slot, &ticket, &did, reply, floors));
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
        if shared.waiting.borrow().is_empty() {
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
    clients: Vec<JoinHandle<()>>,
    pacer: Option<JoinHandle<std::io::Result<()>>>,
}

impl ReactorCrew {
    /// Put `clients` to work on `core`; each drops its clone of `present` when it leaves. Needs a LocalSet around it.
    pub fn start(
        core: Core,
        bench: Bench,
        clients: usize,
        quantum_ns: u64,
        present: &mpsc::Sender<()>,
    ) -> std::io::Result<Self> {
        let paced = core.dispenser.paced();
        let shared = Rc::new(Shared {
            core: RefCell::new(Some(core)),
            bench,
            paced,
            recent: Cell::new(monotonic_ns()),
            waiting: RefCell::new(VecDeque::with_capacity(clients + 1)),
            head_changed: Notify::new(),
            turns: Cell::new(0),
        });
        let pacing = if paced {
            Some(tokio::task::spawn_local(pace(
                shared.clone(),
                Timer::new()?,
                quantum_ns,
            )))
        } else {
            None
        };
        let clients = (0..clients)
            .map(|slot| tokio::task::spawn_local(client(shared.clone(), slot, present.clone())))
            .collect();
        Ok(Self {
            shared,
            clients,
            pacer: pacing,
        })
    }
}

impl Crew for ReactorCrew {
    fn with_core<R>(&self, use_core: impl FnOnce(&mut Core) -> R) -> R {
        self.shared.core(use_core)
    }

    fn wake(&self) {
        self.shared.recent.set(self.shared.bench.clock.now());
        self.shared.wake_all();
    }

    fn abandon(&self) {
        for client in &self.clients {
            client.abort();
        }
    }

    fn turns(&self) -> u64 {
        self.shared.turns.get()
    }

    fn into_core(self) -> Option<Core> {
        if let Some(pacer) = self.pacer {
            pacer.abort();
        }
        self.shared.core.take()
    }
}

#[cfg(test)]
mod tests;
