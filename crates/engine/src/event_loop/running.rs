//! A phase that the loop runs: its clients, what each of them does, and when the loop must wake for them.

use crate::clock::Clock;
use crate::deadlines::{Deadlines, NEVER};
use crate::driver::{Attempt, Exchange, Session};
use crate::operation::{Kind, Outcome};
use crate::pacing::Pacer;
use crate::perform::{Next, Progress, Tools};
use crate::phase_state::PhaseState;
use crate::recorder::Lag;
use crate::reply::{Batch, Reply};
use crate::summary::PacingFacts;
use crate::ticket::{Claim, Performed, Ticket};
use std::sync::mpsc::Sender;

/// Operations handed out before sockets are looked at again: a driver that answers at once would never let them be.
pub(super) const TURN: usize = 256;

struct Client {
    ticket: Ticket,
    progress: Progress,
    /// Between two attempts.
    pauses: bool,
}

/// A phase in the loop.
pub(super) struct Running {
    pub(super) state: PhaseState,
    tools: Tools,
    clients: Vec<Client>,
    /// Clients that do nothing; the one that ended last begins first.
    free: Vec<u32>,
    /// Most clients there may be.
    cap: usize,
    pub(super) deadlines: Deadlines,
    pacer: Pacer,
    paced: bool,
    /// Whether answers may lie unread until the next wake-up.
    lingers: bool,
    /// When the next operation is due or the phase ends, ns; 0 if that is not known yet.
    due_ns: u64,
    /// Nothing more will be handed out.
    ended: bool,
    /// Last time read, ns.
    recent: u64,
    /// Times the loop has waited.
    pub(super) turns: u64,
    result: Sender<(PhaseState, PacingFacts)>,
    _present: tokio::sync::mpsc::Sender<()>,
}

/// What a phase in the loop is made of.
pub struct Parts {
    /// The state of the phase.
    pub state: PhaseState,
    /// What clients work with.
    pub tools: Tools,
    /// Most clients there may be.
    pub cap: usize,
    /// When it wakes.
    pub pacer: Pacer,
    /// Whether answers may lie unread for a while: where every operation is one request.
    pub lingers: bool,
    /// Dropped when the phase is over.
    pub present: tokio::sync::mpsc::Sender<()>,
}

impl Running {
    pub(super) fn new(parts: Parts, result: Sender<(PhaseState, PacingFacts)>) -> Self {
        Self {
            paced: parts.state.dispenser.paced(),
            state: parts.state,
            tools: parts.tools,
            clients: Vec::new(),
            free: Vec::new(),
            cap: parts.cap,
            deadlines: Deadlines::default(),
            lingers: parts.lingers,
            pacer: parts.pacer,
            due_ns: 0,
            ended: false,
            recent: 0,
            turns: 0,
            result,
            _present: parts.present,
        }
    }

    pub(super) const fn begin(&mut self, now: u64) {
        self.recent = now;
    }

    /// The time as far as it matters here, ns: in a closed loop nothing is due, and the last one read will do.
    #[inline]
    pub(super) fn time(&self, clock: &Clock) -> u64 {
        if self.paced { clock.now() } else { self.recent }
    }

    /// The schedule may have changed.
    pub(super) const fn look_again(&mut self) {
        self.due_ns = 0;
    }

    fn add_client(&mut self, exchanges: &mut Vec<Exchange>) {
        self.free.push(self.clients.len() as u32);
        self.clients.push(Client {
            ticket: Ticket::default(),
            progress: Progress::default(),
            pauses: false,
        });
        exchanges.push(Exchange::default());
        self.deadlines.add();
    }

    /// A client that has something to do from now on.
    #[inline]
    pub(super) fn claim(&mut self, now: u64, exchanges: &mut Vec<Exchange>) -> Option<u32> {
        if self.ended || self.due_ns > now {
            return None;
        }
        if self.free.is_empty() {
            if self.clients.len() == self.cap {
                return None;
            }
            self.add_client(exchanges);
        }
        let client = *self.free.last()?;
        let Client {
            ticket, progress, ..
        } = &mut self.clients[client as usize];
        match self.state.claim(client as usize, now, ticket) {
            Claim::Go => {
                self.free.pop();
                self.due_ns = 0;
                progress.begin(&self.tools, ticket, &mut exchanges[client as usize], now);
                Some(client)
            }
            Claim::Wait(until) => {
                self.due_ns = until;
                None
            }
            Claim::End => {
                self.ended = true;
                None
            }
        }
    }

    /// The attempt that `client` makes next.
    #[inline]
    pub(super) fn next_attempt(&self, client: u32) -> Attempt {
        self.clients[client as usize]
            .progress
            .attempt(&self.tools.policy)
    }

    /// Its attempt is on its way, and is given up when its time is over.
    #[inline]
    pub(super) fn in_flight(&mut self, client: u32) {
        let at = self.clients[client as usize]
            .progress
            .gives_up_at(&self.tools.policy);
        self.deadlines.set(client, at);
    }

    /// The time of `client` has come: whether a pause of its is over, and not an attempt.
    pub(super) fn resume(&mut self, client: u32, now: u64) -> bool {
        let client = &mut self.clients[client as usize];
        let paused = std::mem::take(&mut client.pauses);
        if paused {
            client.progress.again(now);
        }
        paused
    }

    /// An attempt of `client` has ended; whether it makes another one at once.
    #[inline]
    pub(super) fn attempt_ended(
        &mut self,
        client: u32,
        outcome: Outcome,
        exchange: &mut Exchange,
        now: u64,
    ) -> bool {
        self.recent = now;
        self.deadlines.clear(client);
        let one = &mut self.clients[client as usize];
        let policy = &self.tools.policy;
        match one
            .progress
            .ended(policy, &one.ticket, exchange, outcome, now)
        {
            Next::Attempt => true,
            Next::Pause(until) => {
                one.pauses = true;
                self.deadlines.set(client, until);
                false
            }
            Next::Done(did) => self.done(client, &did, exchange, now),
        }
    }

    #[inline]
    fn done(&mut self, client: u32, did: &Performed, exchange: &mut Exchange, now: u64) -> bool {
        let Client { ticket, .. } = &self.clients[client as usize];
        let reply = &mut exchange.reply;
        if ticket.draft.kind == Kind::Flush {
            self.state.flushed(client as usize, ticket, did, reply);
        } else {
            self.state.finish(client as usize, ticket, did, reply);
            if let Some(due) = ticket.due {
                self.pacer.responded(due, did.done);
            }
        }
        if reply.batch.is_some() {
            self.begin_flush(client, exchange, now);
            return true;
        }
        self.free.push(client);
        false
    }

    /// `client` sends the batch in its reply, as an operation of its own.
    #[cold]
    fn begin_flush(&mut self, client: u32, exchange: &mut Exchange, now: u64) {
        let Client {
            ticket, progress, ..
        } = &mut self.clients[client as usize];
        self.state.flushing(client as usize, now, ticket);
        progress.begin(&self.tools, ticket, exchange, now);
    }

    /// Whether all that was handed out has ended.
    pub(super) fn over(&self) -> bool {
        self.ended && self.free.len() == self.clients.len()
    }

    /// The client that sends what was collected before all was over.
    pub(super) fn flushes(
        &mut self,
        batch: Box<Batch>,
        exchanges: &mut Vec<Exchange>,
        now: u64,
    ) -> Option<u32> {
        if self.clients.is_empty() {
            self.add_client(exchanges);
        }
        let client = self.free.pop()?;
        let exchange = &mut exchanges[client as usize];
        exchange.reply.batch = Some(batch);
        self.begin_flush(client, exchange, now);
        Some(client)
    }

    /// When the loop must wake at the latest, ns; 0: it has more to do now.
    pub(super) fn wakes_at(&self) -> u64 {
        let may_claim = !self.ended && (!self.free.is_empty() || self.clients.len() < self.cap);
        let due = match (may_claim, self.due_ns) {
            (false, _) => NEVER,
            (true, 0) => return 0,
            (true, due) => self.pacer.wakes_at(due),
        };
        due.min(self.deadlines.next())
    }

    /// Until when it may sleep without being woken by answers, ns: while the kernel stamps them, nothing depends on them, and a
    /// client is free for what is due.
    pub(super) fn sleeps_until(&self, now: u64, until: u64, session: &dyn Session) -> Option<u64> {
        let free = self.clients.len() < self.cap || !self.free.is_empty();
        if !(self.paced && self.lingers && free && !self.ended && until > now) {
            return None;
        }
        let in_flight = self.clients.len() - self.free.len();
        let unanswered = session.unanswered()?;
        self.pacer.sleeps_until(now, until, in_flight, unanswered)
    }

    /// Give the state back.
    pub(super) fn end(mut self, lag: Option<Lag>) {
        self.state.lay_unread(lag);
        let facts = self
            .pacer
            .facts(self.turns, self.state.lag().map(Into::into));
        let _ = self.result.send((self.state, facts)); // whoever runs the phase waits for it
    }
}

/// Bytes that a client takes, beside its exchange.
#[cfg(test)]
pub(super) const fn size_of_client() -> usize {
    size_of::<Client>()
}

/// An attempt's time is over.
pub(super) fn out_of_time(reply: &mut Reply) -> Outcome {
    reply.error = Some("no answer in time".into());
    reply.stamps.received_ns = None; // it ended with our patience, not with an answer
    Outcome::Timeout
}
