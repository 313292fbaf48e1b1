//! One connection: bytes that came and were not understood yet, bytes that are to leave.

use crate::fault::End;
use crate::stamp::Stamp;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;

/// Bytes asked for by one read.
const READ: usize = 64 << 10;

/// Which protocol it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Cql,
    Hbase,
}

/// A client's connection.
pub struct Connection {
    /// Its socket, not blocking.
    pub socket: TcpStream,
    /// What it speaks.
    pub dialect: Dialect,
    /// Place of the node it was made to.
    pub node: usize,
    /// Of HBase: the preamble and the connection header have come.
    pub greeted: bool,
    /// What came.
    pub input: Vec<u8>,
    /// What leaves with the next write.
    pub output: Vec<u8>,
    /// Stamps of the answers in `output`, without the time.
    pub leaving: Vec<Stamp>,
    /// The socket took no more: its next chance is waited for.
    pub full: bool,
    /// Answers that are withheld until the connection ends.
    withheld: Withheld,
    /// How it ends with the next write.
    end: Option<End>,
    /// It has ended on our side: what still comes is not looked at.
    pub ended: bool,
    /// Bytes of `output` that are written already.
    written: usize,
}

#[derive(Default)]
struct Withheld {
    bytes: Vec<u8>,
    answers: usize,
    /// Where the last of them begins.
    last: usize,
}

impl Connection {
    /// Of a socket that was just accepted.
    pub fn new(socket: TcpStream, dialect: Dialect, node: usize) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            dialect,
            node,
            withheld: Withheld::default(),
            end: None,
            ended: false,
            greeted: dialect == Dialect::Cql,
            input: Vec::new(),
            output: Vec::new(),
            leaving: Vec::new(),
            full: false,
            written: 0,
        })
    }

    /// Read once; false at the end.
    pub fn read(&mut self) -> bool {
        let filled = self.input.len();
        self.input.resize(filled + READ, 0);
        let read = self.socket.read(&mut self.input[filled..]);
        let count = read.as_ref().map_or(0, |count| *count);
        self.input.truncate(filled + count);
        match read {
            Ok(count) => count > 0,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }

    /// Withhold an answer; how many are withheld now.
    pub fn withhold(&mut self, answer: impl FnOnce(&mut Vec<u8>)) -> usize {
        self.withheld.last = self.withheld.bytes.len();
        answer(&mut self.withheld.bytes);
        self.withheld.answers += 1;
        self.withheld.answers
    }

    /// Let go what is withheld; whether that is something.
    pub fn release(&mut self) -> bool {
        let withheld = std::mem::take(&mut self.withheld);
        self.output.extend_from_slice(&withheld.bytes);
        withheld.answers > 0
    }

    /// Let go what is withheld with the end of the connection; of a reset half of the last answer stays here.
    pub fn end(&mut self, how: End) {
        let Withheld { bytes, last, .. } = &mut self.withheld;
        if how == End::Reset {
            bytes.truncate(usize::midpoint(*last, bytes.len()));
        }
        self.release();
        self.end = Some(how);
    }

    /// Write what is to leave; true when all has left, false when the socket is full. An error ends the connection.
    pub fn write(&mut self) -> io::Result<bool> {
        if self.end == Some(End::Fin) {
            self.option(libc::IPPROTO_TCP, libc::TCP_CORK, &1_i32)?;
        }
        while self.written < self.output.len() {
            match self.socket.write(&self.output[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.written = 0;
        match self.end.take() {
            None => {}
            Some(End::Fin) => {
                self.socket.shutdown(Shutdown::Write)?; // takes along what the cork held back
                self.ended = true;
            }
            Some(End::Reset) => {
                let at_once = libc::linger {
                    l_onoff: 1,
                    l_linger: 0,
                };
                self.option(libc::SOL_SOCKET, libc::SO_LINGER, &at_once)?;
                return Err(io::ErrorKind::ConnectionReset.into());
            }
        }
        Ok(true)
    }

    fn option<T>(&self, level: i32, name: i32, value: &T) -> io::Result<()> {
        let size = size_of::<T>() as libc::socklen_t;
        let value = (&raw const *value).cast();
        // SAFETY: the descriptor is open, and `value` is valid for its size during the call.
        match unsafe { libc::setsockopt(self.socket.as_raw_fd(), level, name, value, size) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
