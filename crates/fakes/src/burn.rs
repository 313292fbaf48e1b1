//! CPU that a real server would use: threads that work for a while for each request, beside the one that answers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads that share the work, as a server's handlers do.
const THREADS: usize = 2;

/// A way to give requests' work to the threads; they end when it is dropped.
pub struct Burn(Sender<Duration>);

impl Burn {
    /// Start the threads.
    pub fn start() -> Self {
        let (sender, receiver) = channel();
        let shared = Arc::new(Mutex::new(receiver));
        for _ in 0..THREADS {
            let queue = Arc::clone(&shared);
            std::thread::spawn(move || work(&queue));
        }
        Self(sender)
    }

    /// One request's work.
    pub fn request(&self, work: Duration) {
        let _ended_only_with_us = self.0.send(work);
    }
}

fn work(queue: &Mutex<Receiver<Duration>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        let until = Instant::now() + work;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }
}
