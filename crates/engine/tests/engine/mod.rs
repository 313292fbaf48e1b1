//! A running engine process, for tests.
#![allow(dead_code)] // each test program uses its part

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The engine's binary.
pub const ENGINE: &str = env!("CARGO_BIN_EXE_steelyard-engine");
/// An event that has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running engine; its events arrive on a channel.
pub struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Value>,
}

impl Engine {
    /// Run `plan`, written into its own `out`.
    pub fn start(plan: &Value) -> Self {
        let file = Path::new(plan["out"].as_str().unwrap()).join("plan.json");
        std::fs::write(&file, plan.to_string()).unwrap();
        let mut child = Command::new(ENGINE)
            .args(["run".as_ref(), file.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, events) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            events,
        }
    }

    /// Give a command.
    pub fn tell(&mut self, command: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{command}").unwrap();
    }

    /// The next event of that name.
    pub fn until(&self, name: &str) -> Value {
        loop {
            let event = self.events.recv_timeout(PATIENCE).expect("the event comes");
            if event["event"] == name {
                return event;
            }
            assert_ne!(event["event"], "error", "{event}");
        }
    }

    /// End its standard input and wait; its exit code.
    pub fn exit(self) -> i32 {
        self.last_words().0
    }

    /// As [`Self::exit`], with the events that were left.
    pub fn last_words(mut self) -> (i32, Vec<Value>) {
        drop(self.input.take());
        let mut events = Vec::new();
        loop {
            match self.events.recv_timeout(PATIENCE) {
                Ok(event) => events.push(event),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.child.kill().unwrap();
                    panic!("the engine does not end: {events:?}");
                }
            }
        }
        (self.child.wait().unwrap().code().unwrap(), events)
    }
}
