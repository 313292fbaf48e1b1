//! The connections of a session to its servers: which there are, which have something to write, and what every protocol does
//! alike when one can be read or written, or ends.

use super::session::Turn;
use super::traffic::Counters;
use crate::net::{self, KernelClock, Poller, Ready, Socket};
use crate::recorder::Lag;
use std::io;
use steelyard_multiplexer::{Answer, Framing, Full, Malformed};

/// A connection, and what its protocol keeps with it.
pub(crate) struct Open<P: Protocol> {
    pub connection: net::Connection<P::Frames, P::Tag>,
    pub kept: P::Kept,
    /// It is in the list of those that have something to write.
    collects: bool,
}

impl<P: Protocol> Open<P> {
    /// What the poller knows it by.
    pub const fn token(&self) -> u32 {
        self.connection.token()
    }

    /// Take a request, which leaves with the connection's next write.
    ///
    /// # Errors
    /// [`Full`] while the connection takes none.
    pub fn request(
        &mut self,
        tag: P::Tag,
        encode: impl FnOnce(u32, &mut Vec<u8>),
    ) -> Result<u32, Full> {
        self.connection.requests.request(tag, encode)
    }
}

/// All connections of a session, each at the place of its token.
pub(crate) struct Connections<P: Protocol> {
    open: Vec<Option<Open<P>>>,
    /// Those whose requests wait for the next flush.
    collecting: Vec<u32>,
    clock: KernelClock,
    lag: Lag,
    /// Of a socket so far the kernel refused to stamp what comes.
    unstamped: bool,
}

impl<P: Protocol> Default for Connections<P> {
    fn default() -> Self {
        Self {
            open: Vec::new(),
            collecting: Vec::new(),
            clock: KernelClock::default(),
            lag: Lag::default(),
            unstamped: false,
        }
    }
}

impl<P: Protocol> Connections<P> {
    /// Add a connection whose handshake is done; its token.
    pub fn add(&mut self, socket: Socket, kept: P::Kept, poller: &Poller) -> io::Result<u32> {
        let free = self.open.iter().position(Option::is_none);
        let place = free.unwrap_or(self.open.len());
        self.unstamped |= !socket.stamped();
        let connection = net::Connection::new(socket, place as u32, poller)?;
        if free.is_none() {
            self.open.push(None);
        }
        self.open[place] = Some(Open {
            connection,
            kept,
            collects: false,
        });
        Ok(place as u32)
    }

    /// Connection `token`, to take a request that leaves with the next flush.
    #[inline]
    pub fn sending(&mut self, token: u32) -> Option<&mut Open<P>> {
        let open = self.open[token as usize].as_mut()?;
        if !std::mem::replace(&mut open.collects, true) {
            self.collecting.push(token);
        }
        Some(open)
    }

    /// Nobody waits any more for request `id` of connection `token`; when it was sent, ns, if it was.
    pub fn abandon(&mut self, token: u32, id: u32) -> Option<u64> {
        let open = self.open[token as usize].as_mut()?;
        let sent_ns = open.connection.requests.abandon(id);
        (sent_ns > 0).then_some(sent_ns)
    }

    /// Those that are open.
    pub fn iter(&self) -> impl Iterator<Item = &Open<P>> {
        self.open.iter().flatten()
    }

    /// Those that are open, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Open<P>> {
        self.open.iter_mut().flatten()
    }

    /// Tokens given so far: all that are open are below this.
    pub fn tokens(&self) -> u32 {
        self.open.len() as u32
    }

    /// As [`Session::take_lag`](super::session::Session::take_lag).
    pub fn take_lag(&mut self) -> Option<Lag> {
        let lag = std::mem::take(&mut self.lag);
        (lag.count > 0).then_some(lag)
    }

    /// As [`Session::unanswered`](super::session::Session::unanswered).
    pub fn unanswered(&self) -> Option<usize> {
        let of = |open: &Open<P>| open.connection.requests.unanswered();
        (!self.unstamped).then(|| self.iter().map(of).sum())
    }
}

/// What tells one protocol's session from another's, and what is alike in all of them.
pub(crate) trait Protocol: Sized {
    /// What its frames look like.
    type Frames: Framing;
    /// What a request is for.
    type Tag;
    /// What is kept with each connection.
    type Kept;

    /// The session's connections.
    fn connections(&mut self) -> &mut Connections<Self>;

    /// Where traffic is counted.
    fn counters(&self) -> &Counters;

    /// Take an answer; its frame is that of `open`'s requests.
    ///
    /// # Errors
    /// [`net::Ended`] if the connection is over with it.
    fn answered(
        &mut self,
        open: &mut Open<Self>,
        answer: &Answer<Self::Tag>,
        turn: &mut Turn<'_>,
    ) -> Result<(), net::Ended>;

    /// All that waited was written: send what found no room before, if anything; whether there was.
    fn take_up(&mut self, open: &mut Open<Self>, turn: &mut Turn<'_>) -> bool {
        let _ = (open, turn);
        false
    }

    /// The connection is over: its clients are to be told.
    fn ended(&mut self, open: Open<Self>, why: net::Ended, turn: &mut Turn<'_>);

    /// Do `work` with a connection; if it ends by that, its clients are told.
    fn with(
        &mut self,
        token: u32,
        turn: &mut Turn<'_>,
        work: impl FnOnce(&mut Self, &mut Open<Self>, &mut Turn<'_>) -> Result<(), net::Ended>,
    ) {
        let place = self.connections().open.get_mut(token as usize);
        let Some(mut open) = place.and_then(Option::take) else {
            return; // it ended since the poller saw it
        };
        let before = open.connection.requests.traffic();
        let done = work(self, &mut open, turn);
        let after = open.connection.requests.traffic();
        self.counters().traffic.add(after.since(before));
        match done {
            Ok(()) => self.connections().open[token as usize] = Some(open),
            Err(why) => self.ended(open, why, turn),
        }
    }

    /// Write what was collected: one write for each connection.
    fn write_collected(&mut self, turn: &mut Turn<'_>) {
        while let Some(token) = self.connections().collecting.pop() {
            self.with(token, turn, |session, open, turn| {
                open.collects = false;
                session.write(open, turn)
            });
        }
    }

    /// A connection can be read or written.
    fn serve(&mut self, ready: Ready, turn: &mut Turn<'_>) {
        self.with(ready.token, turn, |session, open, turn| {
            if ready.readable {
                session.receive(open, turn)?;
            }
            if ready.writable || open.connection.requests.waiting() > 0 {
                session.write(open, turn)?;
            }
            Ok(())
        });
    }

    /// Read once, and give out what came.
    #[inline]
    fn receive(&mut self, open: &mut Open<Self>, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        let malformed = |error: Malformed| net::Ended(error.0);
        let mut more = self.read(open)?;
        while more {
            while let Some(answer) = open.connection.requests.next_answer().map_err(malformed)? {
                self.answered(open, &answer, turn)?;
            }
            more = open.connection.reads_on() && self.read(open)?;
        }
        Ok(())
    }

    /// One read; whether it brought bytes.
    #[inline]
    fn read(&mut self, open: &mut Open<Self>) -> Result<bool, net::Ended> {
        let Connections { clock, lag, .. } = self.connections();
        open.connection.receive(clock, lag)
    }

    /// Write what waits, and what finds room by that. What was delivered before a write failed is given out first.
    #[inline]
    fn write(&mut self, open: &mut Open<Self>, turn: &mut Turn<'_>) -> Result<(), net::Ended> {
        loop {
            if let Err(ended) = open.connection.flush(turn.poller) {
                self.receive(open, turn)?;
                return Err(ended);
            }
            if !self.take_up(open, turn) {
                return Ok(());
            }
        }
    }
}
