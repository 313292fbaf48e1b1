//! Commands on standard input, one JSON object a line; each is acknowledged in the event stream.

use crate::events::Events;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::io::{BufRead, Read};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A command with its identifier.
#[derive(Debug, Deserialize)]
pub struct Command {
    /// Chosen by the sender, repeated in the acknowledgement.
    #[serde(default)]
    pub id: u64,
    /// What to do.
    #[serde(flatten)]
    pub order: Order,
}

/// What to do.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub enum Order {
    /// Start a phase.
    Phase {
        /// Its name.
        name: String,
        /// When, CLOCK_MONOTONIC ns; now if left out.
        at_ns: Option<u64>,
        /// Its first operation number.
        first: Option<u64>,
        /// Operations per second over all engines from its start on; the plan's if left out.
        rate: Option<f64>,
    },
    /// Change the target rate.
    Rate {
        /// Operations per second over all engines; 0 pauses.
        rate: f64,
        /// From when on, CLOCK_MONOTONIC ns; now if left out.
        at_ns: Option<u64>,
    },
    /// Put a mark with its time into the event stream and the marks of the run.
    Mark {
        /// Its text.
        label: String,
    },
    /// End the phase, and wait for what comes next.
    End {
        /// When, CLOCK_MONOTONIC ns; now if left out.
        at_ns: Option<u64>,
    },
    /// End the phase gracefully, then the process.
    Stop,
    /// No further phase follows.
    Finish,
}

impl Order {
    const fn name(&self) -> &'static str {
        match self {
            Self::Phase { .. } => "phase",
            Self::Rate { .. } => "rate",
            Self::Mark { .. } => "mark",
            Self::End { .. } => "end",
            Self::Stop => "stop",
            Self::Finish => "finish",
        }
    }
}

impl Command {
    /// Say in the event stream that it was carried out, with its time (CLOCK_MONOTONIC ns) where it has one, or why not.
    pub fn acknowledge(&self, events: &Events, result: Result<Option<u64>, String>) {
        let mut ack = json!({"id": self.id, "cmd": self.order.name(), "ok": result.is_ok(),
                             "error": result.as_ref().err()});
        if let Ok(Some(at_ns)) = result {
            ack["at_ns"] = json!(at_ns);
        }
        events.emit("ack", ack);
    }
}

/// Longest command, bytes; whoever sends more is not speaking to us.
const LONGEST: u64 = 64 * 1024;

/// The next line; None at the end of the input, or when it is no text or too long.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = input.take(LONGEST).read_line(&mut line).ok()?;
    (read > 0 && (read as u64) < LONGEST).then_some(line)
}

/// Commands in the order in which they came.
pub struct Commands {
    early: VecDeque<Command>,
    coming: UnboundedReceiver<Command>,
}

impl Commands {
    /// The next one; None when no more can come.
    pub async fn next(&mut self) -> Option<Command> {
        match self.early.pop_front() {
            Some(command) => Some(command),
            None => self.coming.recv().await,
        }
    }

    /// Return once a `stop` has come; it and what came before it is kept for [`Commands::next`].
    pub async fn stopped(&mut self) {
        while !self.early.iter().any(|c| matches!(c.order, Order::Stop)) {
            match self.coming.recv().await {
                Some(command) => self.early.push_back(command),
                None => return,
            }
        }
    }
}

/// Commands from standard input; its end is a `stop`.
pub fn listen(events: Events) -> Commands {
    let (sender, coming) = unbounded_channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Some(line) = next_line(&mut input) {
            if line.trim().is_empty() {
                continue;
            }
            match serde_json::from_str::<Command>(&line) {
                Ok(command) => {
                    if sender.send(command).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    events.emit(
                        "ack",
                        json!({"id": null, "cmd": null, "ok": false, "error": error.to_string()}),
                    );
                }
            }
        }
        let _ = sender.send(Command {
            id: 0,
            order: Order::Stop,
        });
    });
    Commands {
        early: VecDeque::new(),
        coming,
    }
}
