//! One connection as its callers see it: a place to leave requests and to wait for answers. The I/O is in [`super::link`].
//!
//! It takes requests from the moment it exists: they wait to be written while the socket is being connected, so that all callers
//! share one connect and one failure.

use super::Reply;
use super::frame::{self, NO_CALL};
use super::request::Request;
use crate::error::Error;
use crate::names::Address;
use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use steelyard_multiplexer::{Full, Requests};
use tokio::sync::oneshot;

/// With so many bytes waiting for the socket, further callers wait too: a server that takes nothing must not fill our memory.
const MAX_BACKLOG: usize = 1 << 20;

/// What came of a call.
pub(super) type Outcome = Result<Reply, Error>;

/// Who waits for an answer. Gone, the answer is thrown away when it comes; until then its id can be nobody else's.
pub(super) type Caller = oneshot::Sender<Outcome>;

/// One connection to one service of one server.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) server: Address,
    closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) requests: Requests<Caller>,
    /// The connection's task, and whether it was woken since it last looked here.
    link: Option<Waker>,
    woken: bool,
    /// Callers waiting for room.
    waiting: Vec<Waker>,
    /// How it ended.
    end: Option<Error>,
}

impl State {
    /// Hand over what is to be written, which becomes `writing`, and how many requests that is, stamped with `now`. None if
    /// nothing waits; then `context` is woken when something does.
    pub(super) fn take_outgoing(
        &mut self,
        writing: &mut Vec<u8>,
        context: &Context<'_>,
        now: impl FnOnce() -> u64,
    ) -> Option<u64> {
        match &mut self.link {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        self.woken = false;
        if self.requests.waiting() == 0 {
            return None;
        }
        let taken = self.requests.take(writing, now);
        self.waiting.drain(..).for_each(Waker::wake);
        Some(taken)
    }
}

impl Connection {
    pub(super) fn new(server: Address) -> Self {
        Self {
            server,
            closed: AtomicBool::new(false),
            state: Mutex::new(State {
                requests: Requests::new(MAX_BACKLOG, NO_CALL as usize),
                link: None,
                woken: false,
                waiting: Vec::new(),
                end: None,
            }),
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
        let mut state = self.state();
        let end = state.end.get_or_insert(error).clone();
        self.closed.store(true, Ordering::Release);
        let callers = state.requests.close();
        let mut wakers = mem::take(&mut state.waiting);
        wakers.extend(state.link.take());
        drop(state);
        for caller in callers {
            let _given_up = caller.send(Err(end.clone()));
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Leave `request` to be written with all the others that wait, as soon as there is room, and wait for its answer.
    pub(super) async fn call(
        &self,
        request: &impl Request,
        timeout_ms: u32,
    ) -> Result<Reply, Error> {
        let sent = poll_fn(|context| {
            let mut state = self.state();
            if state.requests.is_full() && state.end.is_none() {
                state.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(self.enqueue(state, request, timeout_ms))
        });
        let answer = sent.await?;
        answer
            .await
            .unwrap_or_else(|_| Err(self.lost("nobody reads it any more")))
    }

    /// Leave `request` to be written, and do not wait for its answer.
    pub(super) fn tell(&self, request: &impl Request, timeout_ms: u32) {
        drop(self.enqueue(self.state(), request, timeout_ms)); // an ended connection has nobody to tell any more
    }

    /// It broke, for that reason.
    pub(super) fn lost(&self, reason: &str) -> Error {
        Error::Lost {
            server: self.server.clone(),
            reason: reason.into(),
        }
    }

    fn enqueue(
        &self,
        mut state: MutexGuard<'_, State>,
        request: &impl Request,
        timeout_ms: u32,
    ) -> Result<oneshot::Receiver<Outcome>, Error> {
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        let (caller, answer) = oneshot::channel();
        let sent = state.requests.request(caller, |id, out| {
            frame::write(out, id, request, timeout_ms);
        });
        if sent == Err(Full) {
            return Err(self.lost("it takes no more requests"));
        }
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
        Ok(answer)
    }
}
