//! Attempts made one by one through a driver's session, as the event loop makes them, for callers that are futures.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use steelyard_engine::clock::monotonic_ns;
use steelyard_engine::driver::{Attempt, Begun, Ended, Exchange, Session, Turn};
use steelyard_engine::generate::values::Values;
use steelyard_engine::net::Poller;
use steelyard_engine::operation::{Operation, Outcome};
use steelyard_engine::reply::Reply;

struct State {
    session: Box<dyn Session>,
    poller: Poller,
    exchanges: Vec<Exchange>,
    ended: Vec<Ended>,
    free: Vec<u32>,
}

/// A session with a loop that turns as often as somebody waits.
#[derive(Clone)]
pub struct Sessions(Arc<Mutex<State>>);

impl State {
    /// Do `work` with the session; whether an attempt of `client` has ended, and how.
    fn turn<R>(
        &mut self,
        values: &Values,
        work: impl FnOnce(&mut dyn Session, &mut Turn<'_>) -> R,
    ) -> R {
        work(
            &mut *self.session,
            &mut Turn {
                poller: &self.poller,
                values,
                exchanges: &mut self.exchanges,
                ended: &mut self.ended,
            },
        )
    }

    /// One turn of the loop; how the attempt of `client` ended, if it has.
    fn look(&mut self, client: u32, values: &Values) -> Option<Outcome> {
        self.turn(values, |session, turn| session.flush(turn));
        self.poller.wait(0);
        for ready in self.poller.ready().to_vec() {
            self.turn(values, |session, turn| session.ready(ready, turn));
        }
        self.turn(values, |session, turn| session.woken(turn));
        let at = self.ended.iter().position(|ended| ended.client == client)?;
        Some(self.ended.swap_remove(at).outcome)
    }
}

impl Sessions {
    pub fn new(session: Box<dyn Session>) -> Self {
        let poller = Poller::new(session.notifier().clone()).expect("descriptors");
        Self(Arc::new(Mutex::new(State {
            session,
            poller,
            exchanges: Vec::new(),
            ended: Vec::new(),
            free: Vec::new(),
        })))
    }

    /// Make attempt `number` of `op`.
    pub async fn execute(
        &self,
        op: &Operation,
        number: u32,
        timeout: Duration,
        values: &Values,
        reply: &mut Reply,
    ) -> Outcome {
        let client = self.take();
        let until = monotonic_ns() + timeout.as_nanos() as u64;
        let begun = {
            let mut state = self.0.lock().expect("no panic before");
            state.turn(values, |session, turn| session.woken(turn));
            let exchange = &mut state.exchanges[client as usize];
            exchange.op = op.clone();
            std::mem::swap(&mut exchange.reply, reply);
            let timeout_ns = timeout.as_nanos() as u64;
            let attempt = Attempt { number, timeout_ns };
            state.turn(values, |session, turn| session.begin(client, attempt, turn))
        };
        let mut outcome = match begun {
            Begun::Ended(outcome) => Some(outcome),
            Begun::InFlight | Begun::Elsewhere => None,
        };
        while outcome.is_none() && monotonic_ns() < until {
            tokio::task::yield_now().await;
            outcome = self.0.lock().expect("no panic before").look(client, values);
        }
        let mut state = self.0.lock().expect("no panic before");
        state.free.push(client);
        std::mem::swap(&mut state.exchanges[client as usize].reply, reply);
        if outcome.is_none() {
            state.session.give_up(client, reply);
        }
        outcome.unwrap_or(Outcome::Timeout)
    }

    fn take(&self) -> u32 {
        let mut state = self.0.lock().expect("no panic before");
        state.free.pop().unwrap_or_else(|| {
            state.exchanges.push(Exchange::default());
            state.exchanges.len() as u32 - 1
        })
    }
}
