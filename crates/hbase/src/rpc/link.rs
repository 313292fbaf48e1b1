//! The I/O of one connection, as one task: connect, say hello, then write what waits and read what comes until it breaks.

use super::connection::{Caller, Connection, Outcome, State};
use super::frame::{self, Content, Frames, LENGTH, NO_CALL};
use super::{Reply, Service, hello};
use crate::error::{Error, Exception};
use crate::names::Address;
use crate::pb;
use crate::stamps::{Stamps, monotonic_ns};
use bytes::Bytes;
use prost::Message;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use steelyard_multiplexer::{Counters, Incoming, Traffic};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

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
                incoming: Incoming::default(),
                answered: Vec::new(),
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
        self.0.close(self.0.lost("its runtime was shut down"));
    }
}

struct Link<'a> {
    connection: &'a Connection,
    counters: &'a Counters,
    stream: TcpStream,
    /// Being written: `written` bytes are.
    writing: Vec<u8>,
    written: usize,
    incoming: Incoming<Frames>,
    /// Answers to be given out once the lock is free; kept for its memory.
    answered: Vec<(Caller, Outcome)>,
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
            return Poll::Ready(self.connection.lost(&error.to_string()));
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
            self.counters.add(Traffic {
                writes: 1,
                bytes_out: n as u64,
                ..Traffic::default()
            });
        }
        Poll::Ready(Ok(()))
    }

    /// Take what callers left to be written; false if that is nothing. Callers that come later wake `context`.
    fn next_batch(&mut self, context: &Context<'_>) -> bool {
        self.written = 0;
        self.writing.clear();
        let mut state = self.connection.state();
        let taken = state.take_outgoing(&mut self.writing, context, monotonic_ns);
        self.counters.add(Traffic {
            requests: taken.unwrap_or(0),
            ..Traffic::default()
        });
        taken.is_some()
    }

    /// One `read()`, and all the answers it completed.
    fn read(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Ok(room) = self.incoming.room() else {
            return Poll::Ready(Err(unreadable(&self.connection.server)));
        };
        let mut room = ReadBuf::new(room);
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut room));
        let bytes = room.filled().len();
        Poll::Ready(match read {
            Err(error) => Err(self.connection.lost(&error.to_string())),
            Ok(()) if bytes == 0 => Err(self.connection.lost("the server closed it")),
            Ok(()) => {
                self.incoming.received(bytes);
                self.parse(bytes, monotonic_ns())
            }
        })
    }

    /// Answer all calls whose frames are complete by the `bytes` read at `received_ns`.
    fn parse(&mut self, bytes: usize, received_ns: u64) -> Result<(), Error> {
        let mut done = Traffic {
            reads: 1,
            bytes_in: bytes as u64,
            ..Traffic::default()
        };
        let mut state = self.connection.state();
        let outcome = loop {
            match self.incoming.next_frame() {
                Ok(None) => break Ok(()),
                Ok(Some(_)) => done.answers += 1,
                Err(_) => break Err(unreadable(&self.connection.server)),
            }
            let frame = self.incoming.take_frame().slice(LENGTH..);
            let server = &self.connection.server;
            match deliver(server, &mut state, &frame, received_ns) {
                Ok(answer) => self.answered.extend(answer),
                Err(error) => break Err(error),
            }
        };
        drop(state);
        self.counters.add(done);
        for (caller, answer) in self.answered.drain(..) {
            let _given_up = caller.send(answer);
        }
        outcome
    }
}

fn unreadable(server: &Address) -> Error {
    Error::Protocol {
        server: server.clone(),
        what: "bytes that are no response",
    }
}

/// Whose answer `frame` (without its length) is, and the answer; none if nobody waits for it.
///
/// # Errors
/// What ends the connection: garbage, or the server's refusal of our header.
fn deliver(
    server: &Address,
    state: &mut State,
    frame: &Bytes,
    received_ns: u64,
) -> Result<Option<(Caller, Outcome)>, Error> {
    let response = frame::read(frame).ok_or_else(|| unreadable(server))?;
    let stamped = |sent_ns| Stamps {
        sent_ns,
        received_ns,
    };
    if response.id == NO_CALL {
        let refusal = content(frame, response.content, server, stamped(0)).err();
        return Err(refusal.unwrap_or_else(|| unreadable(server)));
    }
    let asked = state.requests.answered(response.id);
    let Some((caller, sent_ns)) = asked.map_err(|_| unreadable(server))? else {
        return Ok(None);
    };
    let answer = content(frame, response.content, server, stamped(sent_ns));
    Ok(Some((caller, answer)))
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
        Content::Exception(range) => Err(refusal(&frame[range], server, stamps)),
    }
}

/// The error that an ExceptionResponse tells.
#[cold]
fn refusal(message: &[u8], server: &Address, stamps: Stamps) -> Error {
    match pb::ExceptionResponse::decode(message) {
        Ok(exception) => Error::Server(Box::new(Exception::of_response(exception, server, stamps))),
        Err(_) => unreadable(server),
    }
}

/// The message and the cells of the response in `frame` (without its length), where they lie.
pub(crate) fn answer<'a>(
    frame: &'a [u8],
    server: &Address,
    stamps: Stamps,
) -> Result<(&'a [u8], &'a [u8]), Error> {
    let response = frame::read(frame).ok_or_else(|| unreadable(server))?;
    match response.content {
        Content::Answer(message, cells) => Ok((&frame[message], &frame[cells])),
        Content::Exception(range) => Err(refusal(&frame[range], server, stamps)),
    }
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
