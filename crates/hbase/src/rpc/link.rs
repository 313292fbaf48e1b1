//! The I/O of one connection, as one task: connect, say hello, then write what waits and read what comes until it breaks.

use super::connection::{Connection, State, stamps};
use super::frame::{self, Content, MAX_FRAME, NO_CALL};
use super::traffic::Counters;
use super::{Reply, Service, hello};
use crate::error::{Error, Exception};
use crate::names::Address;
use crate::pb;
use crate::stamps::{Stamps, monotonic_ns};
use bytes::{Buf, Bytes, BytesMut};
use prost::Message;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The least room offered to a `read()`, bytes.
const READ_ROOM: usize = 16 << 10;
/// What the reading buffer is made of, bytes; only a longer frame gets more.
const READ_BUFFER: usize = 64 << 10;
/// Writing buffers that grew beyond this for one large request are given back, bytes.
const KEEP_BUFFER: usize = 1 << 20;
/// A server that acknowledges none of our bytes for so long is taken for gone.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// How connections are made.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// Effective user.
    pub(crate) user: String,
    /// Connections for data to each server.
    pub(crate) connections: usize,
    /// How long a connect may take.
    pub(crate) connect_timeout: Duration,
}

/// Live for one connection; its callers see only `connection`.
pub(super) async fn run(
    connection: Arc<Connection>,
    hello: Vec<u8>,
    connect_timeout: Duration,
    counters: Arc<Counters>,
) {
    let _close_on_drop = CloseOnDrop(&connection);
    let end = match connect(&connection.server, connect_timeout).await {
        Ok(stream) => {
            let mut link = Link {
                connection: &connection,
                counters: &counters,
                stream,
                writing: hello,
                written: 0,
                reading: BytesMut::new(),
                wakers: Vec::new(),
            };
            poll_fn(|context| link.poll(context)).await
        }
        Err(error) => Error::Connect {
            server: connection.server.clone(),
            source: Arc::new(error),
        },
    };
    connection.close(end);
}

async fn connect(server: &Address, within: Duration) -> io::Result<TcpStream> {
    let stream = tokio::time::timeout(within, TcpStream::connect((&*server.host, server.port)))
        .await
        .map_err(|_| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {within:?}"),
            )
        })??;
    stream.set_nodelay(true)?;
    let socket = socket2::SockRef::from(&stream);
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    socket.set_keepalive(true)?;
    Ok(stream)
}

/// Callers must not wait for a task that is gone (its runtime was shut down).
struct CloseOnDrop<'a>(&'a Connection);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close(lost(self.0, "its runtime was shut down"));
    }
}

fn lost(connection: &Connection, reason: &str) -> Error {
    Error::Lost {
        server: connection.server.clone(),
        reason: reason.into(),
    }
}

struct Link<'a> {
    connection: &'a Connection,
    counters: &'a Counters,
    stream: TcpStream,
    /// Being written: `written` bytes are.
    writing: Vec<u8>,
    written: usize,
    /// Read and not parsed yet: at most one unfinished frame.
    reading: BytesMut,
    /// Callers to be woken once the lock is free; kept for its memory.
    wakers: Vec<Waker>,
}

impl Link<'_> {
    /// Read all there is, then write all that waits: callers that an answer makes ready run between two polls, so that what
    /// they ask for next leaves together.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        while let Poll::Ready(read) = self.read(context) {
            if let Err(error) = read {
                return Poll::Ready(error);
            }
        }
        if let Poll::Ready(Err(error)) = self.write(context) {
            return Poll::Ready(lost(self.connection, &error.to_string()));
        }
        // Asked last: whoever ends it from here on finds our waker.
        self.connection.end().map_or(Poll::Pending, Poll::Ready)
    }

    /// Write until nothing waits or the socket takes no more; `context` is woken when there is more to do.
    fn write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.writing.len() || self.next_batch(context) {
            let rest = &self.writing[self.written..];
            let n = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            self.written += n;
            self.counters.wrote(n);
        }
        Poll::Ready(Ok(()))
    }

    /// Take what callers left to be written; false if that is nothing. Callers that come later wake `context`.
    fn next_batch(&mut self, context: &Context<'_>) -> bool {
        self.written = 0;
        self.writing.clear();
        self.writing.shrink_to(KEEP_BUFFER);
        let mut state = self.connection.state();
        let taken = state.take_outgoing(&mut self.writing, context);
        if taken {
            self.counters.sent(state.stamp(monotonic_ns()));
        }
        taken
    }

    /// One `read()`, and all the answers it completed.
    fn read(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.make_room();
        let read = {
            let read = pin!(self.stream.read_buf(&mut self.reading));
            read.poll(context)
        };
        match read {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(lost(self.connection, &error.to_string()))),
            Poll::Ready(Ok(0)) => Poll::Ready(Err(lost(self.connection, "the server closed it"))),
            Poll::Ready(Ok(n)) => {
                let received_ns = monotonic_ns();
                self.counters.read(n);
                Poll::Ready(self.parse(received_ns))
            }
        }
    }

    fn make_room(&mut self) {
        let wanted = match frame_len(&self.reading) {
            Some(len) => (4 + len.min(MAX_FRAME)).saturating_sub(self.reading.len()),
            None => READ_ROOM,
        };
        if self.reading.is_empty() && self.reading.capacity() > KEEP_BUFFER {
            self.reading = BytesMut::new(); // of a large answer; it lives on where that is still looked at
        }
        if self.reading.capacity() - self.reading.len() < wanted.max(1) {
            self.reading.reserve(wanted.max(READ_BUFFER));
        }
    }

    /// Answer all calls whose frames are complete.
    fn parse(&mut self, received_ns: u64) -> Result<(), Error> {
        let connection = self.connection;
        let mut answered = 0;
        let mut state = connection.state();
        let mut outcome = Ok(());
        while let Some(len) = frame_len(&self.reading) {
            if len > MAX_FRAME {
                outcome = Err(garbage(connection));
                break;
            }
            if self.reading.len() < 4 + len {
                break;
            }
            self.reading.advance(4);
            let frame = self.reading.split_to(len).freeze();
            outcome = deliver(connection, &mut state, frame, received_ns, &mut self.wakers);
            answered += 1;
            if outcome.is_err() {
                break;
            }
        }
        drop(state);
        self.counters.answered(answered);
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
        outcome
    }
}

/// What the four bytes at the start say; none while they are not there.
pub(crate) fn frame_len(bytes: &[u8]) -> Option<usize> {
    let (len, _) = bytes.split_first_chunk::<4>()?;
    Some(u32::from_be_bytes(*len) as usize)
}

fn garbage(connection: &Connection) -> Error {
    unreadable(&connection.server)
}

fn unreadable(server: &Address) -> Error {
    Error::Protocol {
        server: server.clone(),
        what: "bytes that are no response",
    }
}

/// Give one response to its call. An error ends the connection: garbage, or the server's refusal of our header.
fn deliver(
    connection: &Connection,
    state: &mut State,
    frame: Bytes,
    received_ns: u64,
    wakers: &mut Vec<Waker>,
) -> Result<(), Error> {
    let response = frame::read(&frame).ok_or_else(|| garbage(connection))?;
    let sent_ns = state.sent_ns(response.id);
    let stamps = stamps(sent_ns.unwrap_or(0), received_ns);
    let answer = content(&frame, response.content, &connection.server, stamps);
    if sent_ns.is_none() {
        return match answer {
            Err(refusal) if response.id == NO_CALL => Err(refusal),
            _ => Err(garbage(connection)),
        };
    }
    wakers.extend(state.answer(response.id, answer));
    Ok(())
}

/// What a response says.
fn content(
    frame: &Bytes,
    content: Content,
    server: &Address,
    stamps: Stamps,
) -> Result<Reply, Error> {
    match content {
        Content::Answer(message, cells) => Ok(Reply {
            message: frame::part(frame, message),
            cells: frame::part(frame, cells),
            stamps,
        }),
        Content::Exception(range) => {
            let decoded = pb::ExceptionResponse::decode(&frame[range]);
            let exception = decoded.map_err(|_| unreadable(server))?;
            let exception = Exception::of_response(exception, server, stamps);
            Err(Error::Server(Box::new(exception)))
        }
    }
}

/// What the response in `frame` (without its length) says.
pub(crate) fn answer(frame: &Bytes, server: &Address, stamps: Stamps) -> Result<Reply, Error> {
    let response = frame::read(frame).ok_or_else(|| unreadable(server))?;
    content(frame, response.content, server, stamps)
}

/// A connection for a caller that reads and writes it itself; its header is written.
pub(crate) async fn open(
    server: &Address,
    service: Service,
    config: &PoolConfig,
) -> Result<std::net::TcpStream, Error> {
    let opened = async {
        let mut stream = connect(server, config.connect_timeout).await?;
        stream
            .write_all(&hello::bytes(service, &config.user))
            .await?;
        stream.into_std()
    };
    opened.await.map_err(|error| Error::Connect {
        server: server.clone(),
        source: Arc::new(error),
    })
}
