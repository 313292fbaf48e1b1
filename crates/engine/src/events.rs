//! The event stream: one JSON object a line, on standard output and in `events.ndjson`.
//!
//! Each is written by a thread of its own from a queue, so that a reader that is stuck, or a disk, never holds up who measures.
//! Where too many wait, live figures are left out, and how many is said; nothing else ever is.

use crate::clock::monotonic_ns;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many lines may wait before live figures are left out: a quarter of an hour of them.
const WAITING: usize = 1000;

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    /// The writer has taken lines and not written them yet.
    writing: bool,
    left_out: u64,
}

/// Lines on their way to one place.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    /// A queue whose lines a thread named `name` writes to `out`.
    fn start(name: &str, mut out: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        let queue = Arc::new(Self::default());
        let written = Arc::clone(&queue);
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                loop {
                    let text = written.take();
                    // A reader that has gone away is no error: the end of standard input stops the run.
                    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                    written.lock().writing = false;
                    written.changed.notify_all();
                }
            })?;
        Ok(queue)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> String {
        let mut state = self.lock();
        while state.lines.is_empty() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.writing = true;
        state.lines.drain(..).collect()
    }

    fn push(&self, event: &str, live: bool) {
        let mut state = self.lock();
        if live && state.lines.len() >= WAITING {
            state.left_out += 1;
            return;
        }
        let left_out = std::mem::take(&mut state.left_out);
        if left_out > 0 {
            state.lines.push_back(left_out_line(left_out));
        }
        state.lines.push_back(event.to_owned());
        drop(state);
        self.changed.notify_all();
    }

    /// Wait until all is written.
    fn drain(&self) {
        let mut state = self.lock();
        while !state.lines.is_empty() || state.writing {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn left_out_line(count: u64) -> String {
    let text = format!(
        "{count} seconds of live figures were left out: whoever reads the events did not for so long; the series has them"
    );
    line("warning", json!({"kind": "events_left_out", "text": text}))
}

fn line(name: &str, mut body: Value) -> String {
    if let Some(object) = body.as_object_mut() {
        object.insert("event".into(), json!(name));
        object.insert("t_ns".into(), json!(monotonic_ns()));
    }
    let mut text = body.to_string();
    text.push('\n');
    text
}

/// Where events go. Cheap to clone; safe from any thread.
#[derive(Clone)]
pub struct Events {
    queues: Arc<[Arc<Queue>]>,
}

impl Events {
    /// Events to standard output and to `events.ndjson` in `folder`.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let file = File::create(folder.join("events.ndjson"))?;
        let queues = [
            Queue::start("events-out", io::stdout())?,
            Queue::start("events-file", file)?,
        ];
        Ok(Self {
            queues: queues.into(),
        })
    }

    /// Events to standard output only: for what goes wrong before there is a folder.
    pub fn stdout_only() -> io::Result<Self> {
        Ok(Self {
            queues: [Queue::start("events-out", io::stdout())?].into(),
        })
    }

    /// Emit `body` (an object) as event `name`.
    pub fn emit(&self, name: &str, body: Value) {
        self.push(name, body, false);
    }

    /// Emit what is of use only while it is new: left out where nobody has read for long.
    pub fn emit_live(&self, name: &str, body: Value) {
        self.push(name, body, true);
    }

    fn push(&self, name: &str, body: Value, live: bool) {
        let text = line(name, body);
        for queue in &*self.queues {
            queue.push(&text, live);
        }
    }

    /// A warning of a kind, in words.
    pub fn warn(&self, kind: &str, text: &str) {
        self.emit("warning", json!({"kind": kind, "text": text}));
    }

    /// Wait until everything is written: nothing more is to be measured.
    pub fn drain(&self) {
        for queue in &*self.queues {
            queue.drain();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Says what it is given to write, and is stuck with it until it is told to go on.
    struct Stuck {
        given: Sender<String>,
        go: Receiver<()>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.given.send(text).map_err(io::Error::other)?;
            self.go.recv().map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_reader_holds_nobody_up_and_loses_live_figures_only() {
        let (go, told) = channel();
        let (given, read) = channel();
        let queue = Queue::start("stuck", Stuck { given, go: told }).unwrap();
        queue.push("begin\n", false);
        // Only once the reader is stuck is it known which lines are left out.
        assert_eq!(read.recv().unwrap(), "begin\n");
        for second in 0..3 * WAITING {
            queue.push(&format!("{second}\n"), true);
        }
        queue.push("end\n", false);
        go.send(()).and_then(|()| go.send(())).unwrap();
        queue.drain();
        let all: String = read.try_iter().collect();
        let lines: Vec<&str> = all.lines().collect();
        let last = (WAITING - 1).to_string();
        assert_eq!((lines[0], lines[WAITING - 1]), ("0", last.as_str()));
        let said = format!("{} seconds of live figures", 2 * WAITING);
        assert!(lines[WAITING].contains(&said), "{}", lines[WAITING]);
        assert_eq!(lines[WAITING + 1..], ["end"]);
    }
}
