//! One connection, many requests in flight.

use super::frame::{self, HEADER, Header, Malformed};
use crate::clock::monotonic_ns;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Streams of a connection: the protocol's stream ids that are not negative.
const STREAMS: usize = 1 << 15;
/// Bytes asked for by one read.
const READ: usize = 64 << 10;
/// A buffer that grew beyond this for one large message is not kept.
const KEEP: usize = 256 << 10;
/// How long silence is borne.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// A connection on which nothing was received for so long is asked for a sign of life ...
    pub silence: Duration,
    /// ... and given up after this long without one.
    pub limit: Duration,
}

impl Patience {
    /// Bears a long collection of garbage, notices a frozen node before operations reach their usual deadline.
    pub(crate) const USUAL: Self = Self {
        silence: Duration::from_secs(2),
        limit: Duration::from_secs(5),
    };
}

/// System calls and messages of all connections: how many requests leave in one write decides what a client costs.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Calls of read().
    pub reads: AtomicU64,
    /// Calls of write().
    pub writes: AtomicU64,
    /// Requests sent.
    pub requests: AtomicU64,
    /// Answers received.
    pub answers: AtomicU64,
}

impl Traffic {
    fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// The connection is gone, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken(pub &'static str);

/// An answer; its buffer goes back to the connection when it is dropped.
pub(crate) struct Answer {
    shared: Arc<Shared>,
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
            self.shared.state().spare.push(body);
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

struct Shared {
    state: Mutex<State>,
    /// There is something to send.
    queue_filled: Notify,
    closed: Notify,
    traffic: Arc<Traffic>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, why: Broken) {
        let slots = {
            let mut state = self.state();
            if state.broken.is_some() {
                return;
            }
            state.broken = Some(why);
            std::mem::take(&mut state.slots)
        };
        for slot in slots {
            if let Slot::Waiting {
                waker: Some(waker), ..
            } = slot
            {
                waker.wake();
            }
        }
        self.queue_filled.notify_one();
        self.closed.notify_waiters();
        self.closed.notify_one();
    }

    /// Queue a request; its stream.
    fn enqueue(&self, opcode: u8, body: impl FnOnce(&mut Vec<u8>)) -> Result<u16, Broken> {
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

    fn poll_answer(
        self: &Arc<Self>,
        stream: u16,
        context: &Context<'_>,
    ) -> Poll<Result<Answer, Broken>> {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(why) = state.broken {
            return Poll::Ready(Err(why));
        }
        let slot = &mut state.slots[usize::from(stream)];
        if let Slot::Waiting { waker, .. } = slot {
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
            shared: Arc::clone(self),
            header,
            body,
            sent_ns,
            received_ns,
        }))
    }

    fn abandon(&self, stream: u16) {
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
    fn deliver(&self, received: &[u8], received_ns: u64) -> Result<usize, Malformed> {
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
        Traffic::add(&self.traffic.answers, answers);
        Ok(at)
    }
}

/// A connection whose handshake is done.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    tasks: [tokio::task::AbortHandle; 3],
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared
            .close(Broken("the connection is not wanted any more"));
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Connection {
    /// Take over a stream whose handshake is done.
    pub(crate) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        traffic: Arc<Traffic>,
        patience: Patience,
    ) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                out: Vec::new(),
                queued: Vec::new(),
                slots: Vec::new(),
                free: Vec::new(),
                spare: Vec::new(),
                received_ns: monotonic_ns(),
                broken: None,
            }),
            queue_filled: Notify::new(),
            closed: Notify::new(),
            traffic,
        });
        let tasks = [
            tokio::spawn(receive(Arc::clone(&shared), reader)).abort_handle(),
            tokio::spawn(send(Arc::clone(&shared), writer)).abort_handle(),
            tokio::spawn(watch(Arc::clone(&shared), patience)).abort_handle(),
        ];
        Self { shared, tasks }
    }

    /// Send a request and wait for its answer. Dropping the future gives the request up.
    pub(crate) async fn call(
        &self,
        opcode: u8,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Answer, Broken> {
        call(&self.shared, opcode, body).await
    }

    /// Whether it can still carry requests.
    pub(crate) fn alive(&self) -> bool {
        self.shared.state().broken.is_none()
    }

    /// Wait until it cannot.
    pub(crate) async fn closed(&self) {
        let notified = self.shared.closed.notified();
        if self.alive() {
            notified.await;
        }
    }
}

struct Abandon<'a> {
    shared: &'a Shared,
    stream: u16,
    answered: bool,
}

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.shared.abandon(self.stream);
        }
    }
}

async fn call(
    shared: &Arc<Shared>,
    opcode: u8,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<Answer, Broken> {
    let stream = shared.enqueue(opcode, body)?;
    let mut guard = Abandon {
        shared,
        stream,
        answered: false,
    };
    let answer = poll_fn(|context| shared.poll_answer(stream, context)).await;
    guard.answered = true;
    answer
}

async fn receive(shared: Arc<Shared>, mut reader: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; READ];
    let mut filled = 0;
    loop {
        if buffer.len() - filled < READ / 4 {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match reader.read(&mut buffer[filled..]).await {
            Ok(0) | Err(_) => return shared.close(Broken("the connection broke")),
            Ok(read) => read,
        };
        let now = monotonic_ns();
        Traffic::add(&shared.traffic.reads, 1);
        filled += read;
        let Ok(taken) = shared.deliver(&buffer[..filled], now) else {
            return shared.close(Broken("the server speaks no CQL of version 4"));
        };
        buffer.copy_within(taken..filled, 0);
        filled -= taken;
        if filled == 0 && buffer.len() > KEEP {
            buffer = vec![0; READ];
        }
    }
}

async fn send(shared: Arc<Shared>, mut writer: impl AsyncWrite + Unpin) {
    let mut leaving = Vec::new();
    loop {
        let requests = {
            let mut guard = shared.state();
            let state = &mut *guard;
            if state.broken.is_some() {
                return;
            }
            std::mem::swap(&mut state.out, &mut leaving);
            let now = if leaving.is_empty() {
                0
            } else {
                monotonic_ns()
            };
            for stream in &state.queued {
                if let Slot::Waiting { sent_ns, .. } = &mut state.slots[usize::from(*stream)] {
                    *sent_ns = now;
                }
            }
            let requests = state.queued.len();
            state.queued.clear();
            requests
        };
        if requests == 0 {
            shared.queue_filled.notified().await;
            continue;
        }
        Traffic::add(&shared.traffic.requests, requests);
        let mut rest = &leaving[..];
        while !rest.is_empty() {
            Traffic::add(&shared.traffic.writes, 1);
            match writer.write(rest).await {
                Ok(0) | Err(_) => return shared.close(Broken("the connection broke")),
                Ok(written) => rest = &rest[written..],
            }
        }
        if writer.flush().await.is_err() {
            return shared.close(Broken("the connection broke"));
        }
        leaving.clear();
        leaving.shrink_to(KEEP);
    }
}

/// Ask for a sign of life when nothing has been received for a while: a frozen node answers nothing and closes nothing.
async fn watch(shared: Arc<Shared>, patience: Patience) {
    loop {
        tokio::time::sleep(patience.silence).await;
        let silent_ns = monotonic_ns().saturating_sub(shared.state().received_ns);
        if silent_ns < patience.silence.as_nanos() as u64 {
            continue;
        }
        let sign = call(&shared, frame::opcode::OPTIONS, |_| ());
        match tokio::time::timeout(patience.limit, sign).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return,
            Err(_) => return shared.close(Broken("the connection gave no sign of life")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::DuplexStream;

    const SHORT: Patience = Patience {
        silence: Duration::from_millis(20),
        limit: Duration::from_millis(50),
    };

    fn pair(patience: Patience) -> (Connection, DuplexStream, Arc<Traffic>) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(ours);
        let traffic = Arc::new(Traffic::default());
        (
            Connection::start(reader, writer, Arc::clone(&traffic), patience),
            theirs,
            traffic,
        )
    }

    async fn request(server: &mut DuplexStream) -> (u16, Vec<u8>) {
        let mut head = [0; HEADER];
        server.read_exact(&mut head).await.expect("a header");
        let mut body = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
        server.read_exact(&mut body).await.expect("a body");
        (u16::from_be_bytes([head[2], head[3]]), body)
    }

    fn answer(stream: u16, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        frame::append(&mut out, stream, frame::opcode::RESULT, |out| {
            out.extend_from_slice(body);
        });
        out[0] = 0x84;
        out
    }

    async fn ask(connection: &Connection, text: &str) -> Result<Vec<u8>, Broken> {
        let asked = connection.call(frame::opcode::EXECUTE, |out| {
            out.extend_from_slice(text.as_bytes());
        });
        Ok(asked.await?.message().expect("a message").to_vec())
    }

    fn reactor() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a reactor")
    }

    #[test]
    fn answers_find_their_requests_in_any_order_and_requests_leave_together() {
        reactor().block_on(async {
            let (connection, mut server, traffic) = pair(Patience::USUAL);
            let serve = async {
                let mut asked = Vec::new();
                for _ in 0..10 {
                    asked.push(request(&mut server).await);
                }
                let bytes: Vec<u8> = asked
                    .iter()
                    .rev()
                    .flat_map(|(s, b)| answer(*s, b))
                    .collect();
                for piece in bytes.chunks(7) {
                    server.write_all(piece).await.expect("to be read");
                }
            };
            let texts: Vec<String> = (0..10).map(|i| format!("request {i}")).collect();
            let asks = futures::future::join_all(texts.iter().map(|text| ask(&connection, text)));
            let (answers, ()) = futures::join!(asks, serve);
            for (text, answer) in texts.iter().zip(answers) {
                assert_eq!(answer.expect("an answer"), text.as_bytes());
            }
            assert_eq!(traffic.requests.load(Ordering::Relaxed), 10);
            assert_eq!(traffic.writes.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn a_request_given_up_leaves_its_stream_alone_until_it_is_answered() {
        reactor().block_on(async {
            let (connection, mut server, _) = pair(Patience::USUAL);
            let given_up =
                tokio::time::timeout(Duration::from_millis(1), ask(&connection, "late")).await;
            assert!(given_up.is_err());
            let (late, _) = request(&mut server).await;
            let serve = async {
                let (stream, _) = request(&mut server).await;
                assert_ne!(stream, late);
                server
                    .write_all(&answer(late, b"for nobody"))
                    .await
                    .expect("to be read");
                server
                    .write_all(&answer(stream, b"for you"))
                    .await
                    .expect("to be read");
            };
            let (found, ()) = futures::join!(ask(&connection, "next"), serve);
            assert_eq!(found.expect("an answer"), b"for you");
            let serve = async {
                let (stream, _) = request(&mut server).await;
                server
                    .write_all(&answer(stream, b"again"))
                    .await
                    .expect("to be read");
                stream
            };
            let (_, stream) = futures::join!(ask(&connection, "third"), serve);
            assert!(stream <= 1, "streams are used again, not {stream}");
        });
    }

    #[test]
    fn a_broken_connection_fails_all_its_requests_and_takes_no_more() {
        reactor().block_on(async {
            let (connection, server, _) = pair(Patience::USUAL);
            let (first, ()) = futures::join!(ask(&connection, "one"), async { drop(server) });
            assert_eq!(first, Err(Broken("the connection broke")));
            connection.closed().await;
            assert!(!connection.alive());
            assert!(ask(&connection, "two").await.is_err());
        });
    }

    #[test]
    fn a_silent_server_is_given_up() {
        reactor().block_on(async {
            let (connection, _server, _) = pair(SHORT);
            let asked = ask(&connection, "anybody there").await;
            assert_eq!(asked, Err(Broken("the connection gave no sign of life")));
        });
    }

    #[test]
    fn what_is_no_cql_closes_the_connection() {
        reactor().block_on(async {
            let (connection, mut server, _) = pair(Patience::USUAL);
            server
                .write_all(b"HTTP/1.1 400 Bad Request\r\n")
                .await
                .expect("to be read");
            let asked = ask(&connection, "one").await;
            assert_eq!(asked, Err(Broken("the server speaks no CQL of version 4")));
        });
    }
}
