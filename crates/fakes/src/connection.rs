//! One connection: bytes that came and were not understood yet, bytes that are to leave.

use crate::stamp::Stamp;
use std::io::{self, Read, Write};
use std::net::TcpStream;

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
    /// Bytes of `output` that are written already.
    written: usize,
}

impl Connection {
    /// Of a socket that was just accepted.
    pub fn new(socket: TcpStream, dialect: Dialect) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            dialect,
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

    /// Write what is to leave; true when all has left, false when the socket is full.
    pub fn write(&mut self) -> io::Result<bool> {
        while self.written < self.output.len() {
            match self.socket.write(&self.output[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.written = 0;
        Ok(true)
    }
}
