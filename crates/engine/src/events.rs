//! The event stream: one JSON object a line, on standard output and in `events.ndjson`.

use crate::clock::monotonic_ns;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Where events go. Cheap to clone; safe from any thread.
#[derive(Clone)]
pub struct Events {
    file: Arc<Mutex<Option<File>>>,
}

impl Events {
    /// Events to standard output and to `events.ndjson` in `folder`.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let file = File::create(folder.join("events.ndjson"))?;
        Ok(Self {
            file: Arc::new(Mutex::new(Some(file))),
        })
    }

    /// Events to standard output only: for what goes wrong before there is a folder.
    pub fn stdout_only() -> Self {
        Self {
            file: Arc::new(Mutex::new(None)),
        }
    }

    /// Emit `body` (an object) as event `name`. A reader that has gone away is no error: standard input's end stops the run.
    pub fn emit(&self, name: &str, mut body: Value) {
        if let Some(object) = body.as_object_mut() {
            object.insert("event".into(), json!(name));
            object.insert("t_ns".into(), json!(monotonic_ns()));
        }
        let mut text = body.to_string();
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = io::stdout().lock().write_all(text.as_bytes());
        if let Some(file) = file.as_mut() {
            let _ = file.write_all(text.as_bytes());
        }
    }

    /// A warning of a kind, in words.
    pub fn warn(&self, kind: &str, text: &str) {
        self.emit("warning", json!({"kind": kind, "text": text}));
    }
}
