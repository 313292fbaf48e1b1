//! The clients of a phase that the event loop runs.

use super::running::{Parts, Running};
use super::{EventLoop, Order};
use crate::clients::Clients;
use crate::phase_state::PhaseState;
use crate::summary::PacingFacts;
use std::sync::mpsc::{Receiver, channel};

/// A phase in the event loop.
pub struct LoopClients {
    event_loop: EventLoop,
    result: Receiver<(PhaseState, PacingFacts)>,
}

impl EventLoop {
    /// Run a phase, whose `present` is dropped when it is over.
    pub fn run(&self, parts: Parts) -> LoopClients {
        let (sender, result) = channel();
        self.order(Order::Run(Box::new(Running::new(parts, sender))));
        LoopClients {
            event_loop: self.clone(),
            result,
        }
    }
}

impl Clients for LoopClients {
    fn with_state<R: Send + 'static>(
        &self,
        use_state: impl FnOnce(&mut PhaseState) -> R + Send + 'static,
    ) -> Option<R> {
        let (sender, result) = channel();
        self.event_loop.order(Order::Use(Box::new(move |state| {
            let _ = sender.send(use_state(state)); // whoever asked waits below
        })));
        result.recv().ok()
    }

    fn wake(&self) {
        self.with_state(|_| ());
    }

    fn abandon(&self) {
        self.event_loop.order(Order::Abandon);
    }

    fn into_state(self) -> Option<(PhaseState, PacingFacts)> {
        self.result.recv().ok()
    }
}
