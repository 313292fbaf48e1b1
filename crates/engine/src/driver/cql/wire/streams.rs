//! Which stream waits for what: requests that have not left, answers that have not been fetched. No I/O happens here.

use super::frame::{self, HEADER, Header, Malformed};
use crate::driver::traffic::Counters;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// Streams of a connection: the protocol's stream ids that are not negative.
const STREAMS: usize = 1 << 15;
/// A buffer that grew beyond this for one large message is not kept.
pub(super) const KEEP: usize = 256 << 10;

/// The connection is gone, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken(pub &'static str);

/// An answer; its buffer goes back to the connection when it is dropped.
pub(crate) struct Answer {
    streams: Arc<Streams>,
    header: Header,
    body: Vec<u8>,
    /// When the write that carried the request was issued, CLOCK_MONOTONIC ns.
    pub sent_ns: u64,
    /// When the read that completed the answer returned, before parsing, CLOCK_MONOTONIC ns.
    pub received_ns: u64,
}

impl Answer {
    /// See [`frame::opcode`].
    pub(crate) fn opcode(&self) -> u8 {
        self.header.opcode
    }

    /// The message.
    pub(crate) fn message(&self) -> Result<&[u8], Malformed> {
        self.header.message(&self.body)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut body = std::mem::take(&mut self.body);
        if body.capacity() <= KEEP {
            body.clear();
            self.streams.state().spare.push(body);
        }
    }
}

enum Slot {
    Free,
    /// Nobody waits any more, but the server may still answer: the stream must not be used again before that.
    Abandoned,
    Waiting {
        waker: Option<Waker>,
        sent_ns: u64,
    },
    Answered {
        header: Header,
        body: Vec<u8>,
        sent_ns: u64,
        received_ns: u64,
    },
}

struct State {
    /// Requests that have not left.
    out: Vec<u8>,
    /// Their streams.
    queued: Vec<u16>,
    slots: Vec<Slot>,
    free: Vec<u16>,
    spare: Vec<Vec<u8>>,
    received_ns: u64,
    broken: Option<Broken>,
}

/// A connection's streams, shared by its callers and its tasks.
pub(super) struct Streams {
    state: Mutex<State>,
    /// There is something to send.
    pub(super) queue_filled: Notify,
    pub(super) closed: Notify,
    pub(super) counters: Arc<Counters>,
}

impl Streams {
    /// None of them is in use yet.
    pub(super) fn new(counters: Arc<Counters>, now_ns: u64) -> Self {
        Self {
            state: Mutex::new(State {
                out: Vec::new(),
                queued: Vec::new(),
                slots: Vec::new(),
                free: Vec::new(),
                spare: Vec::new(),
                received_ns: now_ns,
                broken: None,
            }),
            queue_filled: Notify::new(),
            closed: Notify::new(),
            counters,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fail every request that is not answered, and those that come later. The first reason stays.
    pub(super) fn close(&self, why: Broken) {
        let wakers = {
            let mut state = self.state();
            if state.broken.is_some() {
                return;
            }
            state.broken = Some(why);
            let waiting = state.slots.iter_mut().filter_map(|slot| match slot {
                Slot::Waiting { waker, .. } => waker.take(),
                _ => None,
            });
            waiting.collect::<Vec<_>>()
        };
        for waker in wakers {
            waker.wake();
        }
        self.queue_filled.notify_one();
        self.closed.notify_waiters();
        self.closed.notify_one();
    }

    /// Queue a request; its stream.
    pub(super) fn enqueue(
        &self,
        opcode: u8,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<u16, Broken> {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(why) = state.broken {
            return Err(why);
        }
        let stream = match state.free.pop() {
            Some(stream) => stream,
            None if state.slots.len() < STREAMS => {
                state.slots.push(Slot::Free);
                (state.slots.len() - 1) as u16
            }
            None => return Err(Broken("all 32768 streams of the connection are in use")),
        };
        state.slots[usize::from(stream)] = Slot::Waiting {
            waker: None,
            sent_ns: 0,
        };
        let idle = state.out.is_empty();
        frame::append(&mut state.out, stream, opcode, body);
        state.queued.push(stream);
        drop(guard);
        if idle {
            // The writer runs when the tasks that are ready now have had their turn: what they send leaves together.
            self.queue_filled.notify_one();
        }
        Ok(stream)
    }

    /// The answer to the request of `stream`, if it has come; else `context` is woken by it.
    pub(super) fn poll_answer(
        self: &Arc<Self>,
        stream: u16,
        context: &Context<'_>,
    ) -> Poll<Result<Answer, Broken>> {
        let mut guard = self.state();
        let state = &mut *guard;
        let slot = &mut state.slots[usize::from(stream)];
        if let Slot::Waiting { waker, .. } = slot {
            if let Some(why) = state.broken {
                return Poll::Ready(Err(why));
            }
            match waker {
                Some(waker) => waker.clone_from(context.waker()),
                None => *waker = Some(context.waker().clone()),
            }
            return Poll::Pending;
        }
        let answered = std::mem::replace(slot, Slot::Free);
        state.free.push(stream);
        let Slot::Answered {
            header,
            body,
            sent_ns,
            received_ns,
        } = answered
        else {
            return Poll::Ready(Err(Broken("a stream was lost")));
        };
        Poll::Ready(Ok(Answer {
            streams: Arc::clone(self),
            header,
            body,
            sent_ns,
            received_ns,
        }))
    }

    /// Nobody waits for `stream` any more.
    pub(super) fn abandon(&self, stream: u16) {
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(slot) = state.slots.get_mut(usize::from(stream)) else {
            return; // the connection is gone, its slots with it
        };
        match slot {
            Slot::Waiting { .. } => *slot = Slot::Abandoned,
            Slot::Answered { .. } => {
                *slot = Slot::Free;
                state.free.push(stream);
            }
            Slot::Free | Slot::Abandoned => {}
        }
    }

    /// Hand out the whole frames at the start of `received`; how many bytes they took.
    pub(super) fn deliver(&self, received: &[u8], received_ns: u64) -> Result<usize, Malformed> {
        let (mut at, mut answers) = (0, 0);
        let mut guard = self.state();
        let state = &mut *guard;
        state.received_ns = received_ns;
        while let Some(header) = Header::read(&received[at..])? {
            let Some(body) = received.get(at + HEADER..at + HEADER + header.length) else {
                break;
            };
            at += HEADER + header.length;
            answers += 1;
            let Ok(stream) = u16::try_from(header.stream) else {
                continue; // an event: none was asked for
            };
            let Some(slot) = state.slots.get_mut(usize::from(stream)) else {
                return Err(Malformed("for a stream that was never used"));
            };
            match slot {
                Slot::Waiting { waker, sent_ns } => {
                    let (waker, sent_ns) = (waker.take(), *sent_ns);
                    let mut kept = state.spare.pop().unwrap_or_default();
                    kept.extend_from_slice(body);
                    *slot = Slot::Answered {
                        header,
                        body: kept,
                        sent_ns,
                        received_ns,
                    };
                    if let Some(waker) = waker {
                        waker.wake();
                    }
                }
                Slot::Abandoned => {
                    *slot = Slot::Free;
                    state.free.push(stream);
                }
                Slot::Free | Slot::Answered { .. } => {
                    return Err(Malformed("for a stream that asked nothing"));
                }
            }
        }
        drop(guard);
        Counters::add(&self.counters.answers, answers);
        Ok(at)
    }

    /// Swap what waits to be sent into `leaving`, which must be empty, and stamp it with the time of the write it goes to.
    /// How many requests that are.
    pub(super) fn take(
        &self,
        leaving: &mut Vec<u8>,
        clock: impl FnOnce() -> u64,
    ) -> Result<usize, Broken> {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(why) = state.broken {
            return Err(why);
        }
        std::mem::swap(&mut state.out, leaving);
        let now = if leaving.is_empty() { 0 } else { clock() };
        for stream in &state.queued {
            if let Slot::Waiting { sent_ns, .. } = &mut state.slots[usize::from(*stream)] {
                *sent_ns = now;
            }
        }
        let requests = state.queued.len();
        state.queued.clear();
        Ok(requests)
    }

    /// Whether requests can still be sent.
    pub(super) fn alive(&self) -> bool {
        self.state().broken.is_none()
    }

    /// When something was last received, CLOCK_MONOTONIC ns.
    pub(super) fn received_ns(&self) -> u64 {
        self.state().received_ns
    }
}
