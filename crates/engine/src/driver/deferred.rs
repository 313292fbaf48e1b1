//! Attempts made by futures on the runtime's thread, handed over and taken back: for what is rare, and for drivers under test.

use super::Driver;
use super::session::{Attempt, Begun, Ended, Exchange, Session, Turn};
use crate::generate::Generator;
use crate::net::{Notifier, Ready};
use crate::operation::Outcome;
use crate::reply::Reply;
use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What the runtime's thread is to do for a client.
struct Handed {
    phase: u32,
    client: u32,
    /// None: hand over what was collected.
    attempt: Option<Attempt>,
    exchange: Exchange,
}

/// What it gives back.
struct Returned {
    phase: u32,
    client: u32,
    outcome: Outcome,
    exchange: Exchange,
}

/// The loop's end.
pub struct Deferred {
    notifier: Notifier,
    handed: UnboundedSender<Handed>,
    returned: mpsc::Receiver<Returned>,
    /// Counts phases that gave their clients up: what was handed over before is not wanted back.
    phase: u32,
}

impl Deferred {
    /// Attempts are made by `driver`, on the current LocalSet, until this is dropped.
    pub fn new<D: Driver + 'static>(driver: Arc<D>, generator: Arc<Generator>) -> io::Result<Self> {
        let notifier = Notifier::new()?;
        let (handed, requests) = unbounded_channel();
        let (results, returned) = mpsc::channel();
        tokio::task::spawn_local(serve(
            driver,
            generator,
            requests,
            results,
            notifier.clone(),
        ));
        Ok(Self {
            notifier,
            handed,
            returned,
            phase: 0,
        })
    }

    fn hand(&mut self, client: u32, attempt: Option<Attempt>, turn: &mut Turn<'_>) -> Begun {
        let exchange = std::mem::take(&mut turn.exchanges[client as usize]);
        let handed = Handed {
            phase: self.phase,
            client,
            attempt,
            exchange,
        };
        // The runtime outlives every phase; without it nothing comes back, and the phase gives its clients up.
        let _ = self.handed.send(handed);
        Begun::Elsewhere
    }
}

async fn serve<D: Driver + 'static>(
    driver: Arc<D>,
    generator: Arc<Generator>,
    mut requests: UnboundedReceiver<Handed>,
    results: mpsc::Sender<Returned>,
    notifier: Notifier,
) {
    while let Some(handed) = requests.recv().await {
        let (driver, generator) = (Arc::clone(&driver), Arc::clone(&generator));
        let (results, notifier) = (results.clone(), notifier.clone());
        tokio::task::spawn_local(async move {
            let returned = make(&*driver, &generator, handed).await;
            if results.send(returned).is_ok() {
                notifier.notify();
            }
        });
    }
}

async fn make(driver: &impl Driver, generator: &Generator, handed: Handed) -> Returned {
    let Handed {
        phase,
        client,
        attempt,
        mut exchange,
    } = handed;
    let Exchange { op, reply } = &mut exchange;
    let outcome = if let Some(attempt) = attempt {
        let timeout = Duration::from_nanos(attempt.timeout_ns);
        driver
            .execute(op, attempt.number, timeout, &generator.values, reply)
            .await
    } else {
        driver.drain(reply).await;
        Outcome::Ok
    };
    Returned {
        phase,
        client,
        outcome,
        exchange,
    }
}

impl Session for Deferred {
    fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    fn begin(&mut self, client: u32, attempt: Attempt, turn: &mut Turn<'_>) -> Begun {
        self.hand(client, Some(attempt), turn)
    }

    /// Never asked for: its attempts have time-outs of their own.
    fn give_up(&mut self, _: u32, _: &mut Reply) {}

    fn forget_all(&mut self) {
        self.phase += 1;
    }

    fn flush(&mut self, _: &mut Turn<'_>) {}

    fn ready(&mut self, _: Ready, _: &mut Turn<'_>) {}

    fn woken(&mut self, turn: &mut Turn<'_>) {
        let current = self.phase;
        for returned in self
            .returned
            .try_iter()
            .filter(|returned| returned.phase == current)
        {
            let Returned {
                client,
                outcome,
                exchange,
                ..
            } = returned;
            turn.exchanges[client as usize] = exchange;
            turn.ended.push(Ended { client, outcome });
        }
    }

    fn look_after(&mut self, _: u64, _: &mut Turn<'_>) -> u64 {
        u64::MAX
    }

    fn drain(&mut self, client: u32, turn: &mut Turn<'_>) -> Begun {
        self.hand(client, None, turn)
    }
}
