//! The hot loop, run to completion on a thread of its own: read, judge, record, claim what is due next, append its request,
//! one write for each connection. No operation has a future, a lock or a timer.
//!
//! It owns the phase's state, the poller and the driver's session with its sockets. Whoever runs the phase talks to it over a
//! channel and a notifier. Between phases it goes on looking after connections.

mod clients;
mod running;
mod scheduling;

pub use clients::LoopClients;
pub use running::Parts;

use crate::client_state::EVENT_LOOP;
use crate::clock::Clock;
use crate::driver::{Begun, Ended, Exchange, Session, Turn};
use crate::generate::Generator;
use crate::net::{Notifier, Poller};
use crate::operation::Outcome;
use crate::phase_state::PhaseState;
use running::Running;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

/// What the loop is told.
enum Order {
    /// Run this phase.
    Run(Box<Running>),
    /// Look at or change its state.
    Use(Box<dyn FnOnce(&mut PhaseState) + Send>),
    /// Give its clients up.
    Abandon,
}

/// The loop, as the rest of the engine sees it; dropped, its thread ends.
#[derive(Clone)]
pub struct EventLoop {
    orders: Sender<Order>,
    notifier: Notifier,
}

impl EventLoop {
    /// Start the thread. `generator` makes the operations of all phases.
    pub fn start(session: Box<dyn Session>, generator: Arc<Generator>) -> io::Result<Self> {
        let (orders, received) = channel();
        let notifier = session.notifier().clone();
        let poller = Poller::new(notifier.clone())?;
        std::thread::Builder::new()
            .name(EVENT_LOOP.into())
            .spawn(move || Loop::new(session, poller, generator, received).run())?;
        Ok(Self { orders, notifier })
    }

    fn order(&self, order: Order) {
        let _ = self.orders.send(order); // the thread ends after its last sender
        self.notifier.notify();
    }
}

struct Loop {
    session: Box<dyn Session>,
    poller: Poller,
    generator: Arc<Generator>,
    orders: Receiver<Order>,
    clock: Clock,
    exchanges: Vec<Exchange>,
    ended: Vec<Ended>,
    running: Option<Box<Running>>,
    /// When the session looks after its connections, ns.
    look_after_ns: u64,
}

/// The session's turn: what of the loop it may use.
macro_rules! turn {
    ($loop:expr) => {
        &mut Turn {
            poller: &$loop.poller,
            values: &$loop.generator.values,
            exchanges: &mut $loop.exchanges,
            ended: &mut $loop.ended,
        }
    };
}

impl Loop {
    fn new(
        session: Box<dyn Session>,
        poller: Poller,
        generator: Arc<Generator>,
        orders: Receiver<Order>,
    ) -> Self {
        Self {
            session,
            poller,
            generator,
            orders,
            clock: Clock::default(),
            exchanges: Vec::new(),
            ended: Vec::new(),
            running: None,
            look_after_ns: 0,
        }
    }

    fn run(mut self) {
        scheduling::ask_for_promptness();
        // Before its first wait: connections that were handed over beforehand are taken up.
        self.session.woken(turn!(self));
        while self.obey() {
            let now = self.clock.now();
            if now >= self.look_after_ns {
                self.look_after_ns = self.session.look_after(now, turn!(self));
            }
            self.settle();
            self.advance(now);
            self.session.flush(turn!(self));
            self.finish();
            if self.ended.is_empty() {
                self.wait();
            }
        }
    }

    /// Carry out orders; false when nobody can give any more.
    fn obey(&mut self) -> bool {
        loop {
            match self.orders.try_recv() {
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
                Ok(Order::Run(mut running)) => {
                    running.begin(self.clock.now());
                    self.session.take_lag(); // of what came between phases
                    self.running = Some(running);
                }
                Ok(Order::Use(use_state)) => {
                    if let Some(running) = &mut self.running {
                        if running.state.ends_second(self.clock.now()) {
                            running.state.lay_unread(self.session.take_lag());
                        }
                        use_state(&mut running.state);
                        running.look_again();
                    }
                }
                Ok(Order::Abandon) => self.end_phase(),
            }
        }
    }

    /// Attempts that have ended go on or are recorded.
    fn settle(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        for Ended { client, outcome } in ended.drain(..) {
            if self.attempt_ended(client, outcome) {
                self.attempt(client);
            }
        }
        ended.append(&mut self.ended);
        self.ended = ended; // its memory is kept
    }

    /// Time-outs and pauses that are over, then what is due.
    fn advance(&mut self, now: u64) {
        let Some(running) = &self.running else {
            return;
        };
        if running.deadlines.next() <= now {
            self.expire(now);
        }
        self.claim();
    }

    #[cold]
    fn expire(&mut self, now: u64) {
        while let Some(client) = self
            .running
            .as_mut()
            .and_then(|phase| phase.deadlines.due(now))
        {
            let Some(running) = &mut self.running else {
                return;
            };
            if running.resume(client, now) {
                self.attempt(client);
                continue;
            }
            let reply = &mut self.exchanges[client as usize].reply;
            self.session.give_up(client, reply);
            let outcome = running::out_of_time(reply);
            if self.attempt_ended(client, outcome) {
                self.attempt(client);
            }
        }
    }

    /// Hand out what is due to clients that are free.
    fn claim(&mut self) {
        for _ in 0..running::TURN {
            let Some(running) = &mut self.running else {
                return;
            };
            let now = running.time(&self.clock);
            let Some(client) = running.claim(now, &mut self.exchanges) else {
                return;
            };
            self.attempt(client);
        }
    }

    /// Make attempts of `client` until one is in flight or none is left to be made.
    #[inline]
    fn attempt(&mut self, client: u32) {
        loop {
            let Some(running) = &mut self.running else {
                return;
            };
            let attempt = running.next_attempt(client);
            match self.session.begin(client, attempt, turn!(self)) {
                Begun::Ended(outcome) => {
                    if !self.attempt_ended(client, outcome) {
                        return;
                    }
                }
                Begun::InFlight => return running.in_flight(client),
                Begun::Elsewhere => return,
            }
        }
    }

    /// Whether `client` makes another attempt at once.
    #[inline]
    fn attempt_ended(&mut self, client: u32, outcome: Outcome) -> bool {
        let Some(running) = &mut self.running else {
            return false;
        };
        let exchange = &mut self.exchanges[client as usize];
        running.attempt_ended(client, outcome, exchange, self.clock.now())
    }

    /// The phase is over when all is done and what was collected is sent.
    fn finish(&mut self) {
        let Some(running) = &mut self.running else {
            return;
        };
        if !running.over() {
            return;
        }
        let Some(batch) = self.session.take_collected() else {
            return self.end_phase();
        };
        if let Some(client) = running.flushes(batch, &mut self.exchanges, self.clock.now()) {
            self.attempt(client);
        }
    }

    fn end_phase(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        self.session.forget_all();
        self.exchanges.clear();
        self.exchanges.shrink_to_fit();
        self.ended.clear();
        running.end(self.session.take_lag());
    }

    fn wait(&mut self) {
        let until = match &mut self.running {
            None => self.look_after_ns,
            Some(running) => {
                running.turns += 1;
                let now = running.time(&self.clock);
                let until = running.wakes_at().min(self.look_after_ns);
                if let Some(until) = running.sleeps_until(now, until, &*self.session) {
                    self.poller.sleep(until, now);
                    return self.collect();
                }
                if until <= now { 0 } else { until }
            }
        };
        self.poller.wait(until);
        self.collect();
    }

    /// Take what came while it waited.
    fn collect(&mut self) {
        for at in 0..self.poller.ready().len() {
            let ready = self.poller.ready()[at];
            self.session.ready(ready, turn!(self));
        }
        if self.poller.notified() {
            self.session.woken(turn!(self));
        }
    }
}

#[cfg(test)]
mod tests;
