//! One connection as its callers see it: a place to leave requests and to wait for answers. The I/O is in [`super::link`].
//!
//! It takes requests from the moment it exists: they wait in the outgoing buffer while the socket is being connected, so that
//! all callers share one connect and one failure.

use super::Reply;
use super::frame;
use super::request::Request;
use crate::error::Error;
use crate::names::Address;
use crate::stamps::Stamps;
use slab::Slab;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// With so many bytes waiting for the socket, further callers wait too: a server that takes nothing must not fill our memory.
const MAX_BACKLOG: usize = 1 << 20;

/// One connection to one service of one server.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) server: Address,
    closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Encoded requests that no `write()` was given yet.
    pub(super) outgoing: Vec<u8>,
    /// The calls in `outgoing`.
    queued: Vec<u32>,
    /// Calls without an answer, and answers not fetched yet; a call's id is its key.
    calls: Slab<Call>,
    /// The connection's task, and whether it was woken since it last looked here.
    link: Option<Waker>,
    woken: bool,
    /// Callers waiting for room in `outgoing`.
    waiting: Vec<Waker>,
    /// How it ended.
    end: Option<Error>,
}

#[derive(Debug)]
enum Call {
    Out {
        sent_ns: u64,
        waker: Option<Waker>,
    },
    Answered(Result<Reply, Error>),
    /// Nobody waits any more; the id stays taken until the answer comes, so that it can be nobody else's.
    Abandoned,
}

impl State {
    /// Hand over what is to be written: `writing`, which must be empty, becomes the outgoing buffer. False if nothing waits;
    /// then `context` is woken when something does.
    pub(super) fn take_outgoing(&mut self, writing: &mut Vec<u8>, context: &Context<'_>) -> bool {
        match &mut self.link {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        self.woken = false;
        if self.outgoing.is_empty() {
            return false;
        }
        mem::swap(&mut self.outgoing, writing);
        for waker in self.waiting.drain(..) {
            waker.wake();
        }
        true
    }

    /// The requests taken are about to be written; how many they are.
    pub(super) fn stamp(&mut self, now: u64) -> usize {
        let count = self.queued.len();
        for id in self.queued.drain(..) {
            if let Some(Call::Out { sent_ns, .. }) = self.calls.get_mut(id as usize) {
                *sent_ns = now;
            }
        }
        count
    }

    /// When call `id` was sent; None if there is no such call.
    pub(super) fn sent_ns(&self, id: u32) -> Option<u64> {
        match self.calls.get(id as usize)? {
            Call::Out { sent_ns, .. } => Some(*sent_ns),
            Call::Abandoned => Some(0),
            Call::Answered(_) => None,
        }
    }

    /// Give call `id` its answer; the caller is then to be woken with what is returned.
    pub(super) fn answer(&mut self, id: u32, answer: Result<Reply, Error>) -> Option<Waker> {
        let call = self.calls.get_mut(id as usize)?;
        match mem::replace(call, Call::Answered(answer)) {
            Call::Out { waker, .. } => waker,
            Call::Abandoned | Call::Answered(_) => {
                self.calls.remove(id as usize);
                None
            }
        }
    }
}

impl Connection {
    pub(super) fn new(server: Address) -> Self {
        Self {
            server,
            closed: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while the connection's state is locked")
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// How it ended, if it did.
    pub(super) fn end(&self) -> Option<Error> {
        self.is_closed().then(|| self.state().end.clone()).flatten()
    }

    /// Fail every call with `error`, and whoever comes later. The first reason stays.
    pub(super) fn close(&self, error: Error) {
        let mut wakers = Vec::new();
        let mut state = self.state();
        if state.end.is_none() {
            state.end = Some(error.clone());
        }
        self.closed.store(true, Ordering::Release);
        state.outgoing = Vec::new();
        state.queued = Vec::new();
        state.calls.retain(|_, call| match call {
            Call::Out { waker, .. } => {
                wakers.extend(waker.take());
                *call = Call::Answered(Err(error.clone()));
                true
            }
            Call::Answered(_) => true,
            Call::Abandoned => false,
        });
        wakers.append(&mut state.waiting);
        wakers.extend(state.link.take());
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Leave `request` to be written with all the others that wait, as soon as there is room; the answer comes to the ticket.
    pub(super) async fn send(
        self: &Arc<Self>,
        request: &impl Request,
        timeout_ms: u32,
    ) -> Result<Ticket, Error> {
        poll_fn(|context| {
            let mut state = self.state();
            if state.outgoing.len() >= MAX_BACKLOG && state.end.is_none() {
                state.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(self.enqueue(state, request, timeout_ms))
        })
        .await
    }

    /// Leave `request` to be written, and do not wait for its answer.
    pub(super) fn tell(self: &Arc<Self>, request: &impl Request, timeout_ms: u32) {
        drop(self.enqueue(self.state(), request, timeout_ms)); // an ended connection has nobody to tell any more
    }

    fn enqueue(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        request: &impl Request,
        timeout_ms: u32,
    ) -> Result<Ticket, Error> {
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        let id = state.calls.insert(Call::Out {
            sent_ns: 0,
            waker: None,
        });
        let key = u32::try_from(id).expect("memory ends before 2^32 calls are out");
        frame::write(&mut state.outgoing, key, request, timeout_ms);
        state.queued.push(key);
        // The task runs after the callers that are ready now, and finds the requests of all of them.
        let link = if mem::replace(&mut state.woken, true) {
            None
        } else {
            state.link.clone()
        };
        drop(state);
        if let Some(waker) = link {
            waker.wake();
        }
        Ok(Ticket {
            connection: self.clone(),
            id: Some(id),
        })
    }
}

/// The right to one answer. Dropped before, the answer is thrown away when it comes.
pub(super) struct Ticket {
    connection: Arc<Connection>,
    id: Option<usize>,
}

impl Future for Ticket {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.id.expect("a ticket is not polled after its answer");
        let mut state = self.connection.state();
        match &mut state.calls[id] {
            Call::Out { waker, .. } => {
                match waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                return Poll::Pending;
            }
            Call::Answered(_) => {}
            Call::Abandoned => unreachable!("only a dropped ticket abandons its call"),
        }
        let Call::Answered(answer) = state.calls.remove(id) else {
            unreachable!("looked at above");
        };
        drop(state);
        self.id = None;
        Poll::Ready(answer)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = self.connection.state();
        match &mut state.calls[id] {
            call @ Call::Out { .. } => *call = Call::Abandoned,
            _ => drop(state.calls.remove(id)),
        }
    }
}

/// The stamps of an answer read at `received_ns`.
pub(super) const fn stamps(sent_ns: u64, received_ns: u64) -> Stamps {
    Stamps {
        sent_ns,
        received_ns,
    }
}
