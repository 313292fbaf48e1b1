//! The floor: frames that were built beforehand go out on one connection as others are answered, and nothing else is done.
//!
//! A client that builds its requests, paces, verifies and reports cannot cost less than this one.

use std::io::{Read, Write};
use std::iter::Cycle;
use std::net::TcpStream;
use std::slice::Iter;
use std::time::Instant;
use steelyard_peers::{Failure, Meter, Task};

const HEADER: usize = 9;
const STREAM: usize = 2;
const READY: u8 = 0x02;
const RESULT: u8 = 0x08;
/// Frames that are built beforehand; then they come again.
const FRAMES: u64 = 4096;
/// Most bytes of one read.
const READ: usize = 256 << 10;
const CONSISTENCY_ONE: [u8; 2] = [0, 1];
/// Values follow, and the answer needs no metadata (`native_protocol_v4.spec`, section 4.1.4).
const FLAGS: u8 = 0x01 | 0x02;

/// A request of protocol version 4, on stream 0.
fn frame(opcode: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&[4, 0, 0, 0, opcode], &length[..], body].concat()
}

fn short(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

/// Body length of the answer at the front, if it is there as a whole.
fn whole(received: &[u8]) -> Option<usize> {
    let length: [u8; 4] = received.get(5..HEADER)?.try_into().ok()?;
    let length = u32::from_be_bytes(length) as usize;
    (received.len() >= HEADER + length).then_some(length)
}

/// The body of the one answer to a request, which must have this opcode.
fn ask(socket: &mut TcpStream, request: &[u8], opcode: u8) -> Result<Vec<u8>, Failure> {
    socket.write_all(request)?;
    let mut received = vec![0; HEADER];
    socket.read_exact(&mut received)?;
    let length = u32::from_be_bytes([received[5], received[6], received[7], received[8]]);
    let mut body = vec![0; length as usize];
    socket.read_exact(&mut body)?;
    if received[4] == opcode {
        Ok(body)
    } else {
        Err(String::from_utf8_lossy(&body).into_owned().into())
    }
}

/// The EXECUTE frames of many operations.
fn prepared(socket: &mut TcpStream, task: &Task) -> Result<Vec<Vec<u8>>, Failure> {
    let startup = [&[0, 1], &short(b"CQL_VERSION")[..], &short(b"3.0.0")].concat();
    ask(socket, &frame(0x01, &startup), READY)?;
    let answer = ask(
        socket,
        &frame(0x09, &long(task.statement().as_bytes())),
        RESULT,
    )?;
    let length = usize::from(u16::from_be_bytes([answer[4], answer[5]]));
    let id = short(&answer[6..6 + length]); // after the kind of the result
    let head = [
        &id[..],
        &CONSISTENCY_ONE,
        &[FLAGS, 0, 1 + u8::from(task.writes)],
    ]
    .concat();
    let value = if task.writes {
        long(task.value().as_bytes())
    } else {
        Vec::new()
    };
    let one = |number| {
        let body = [&head[..], &long(task.key(number).as_bytes()), &value].concat();
        frame(0x0A, &body)
    };
    Ok((0..FRAMES.min(task.rows)).map(one).collect())
}

/// The frames going round, the streams that are free for the next ones, and what was received.
struct Replay<'a> {
    socket: TcpStream,
    frames: Cycle<Iter<'a, Vec<u8>>>,
    sent: Vec<Instant>,
    free: Vec<usize>,
    out: Vec<u8>,
    received: Vec<u8>,
    space: Vec<u8>,
    meter: Meter,
}

impl<'a> Replay<'a> {
    fn new(socket: TcpStream, task: &Task, frames: &'a [Vec<u8>]) -> Self {
        Self {
            socket,
            frames: frames.iter().cycle(),
            sent: vec![Instant::now(); task.in_flight],
            free: (0..task.in_flight).collect(),
            out: Vec::new(),
            received: Vec::new(),
            space: vec![0; READ],
            meter: Meter::new(task),
        }
    }

    /// A frame for every free stream, in one write.
    fn send(&mut self) -> Result<(), Failure> {
        self.out.clear();
        let now = Instant::now();
        for stream in self.free.drain(..) {
            let at = self.out.len() + STREAM;
            self.out
                .extend_from_slice(self.frames.next().expect("it goes round"));
            self.out[at..at + 2].copy_from_slice(&(stream as u16).to_be_bytes());
            self.sent[stream] = now;
        }
        self.meter.writes += 1;
        Ok(self.socket.write_all(&self.out)?)
    }

    /// What one read brings; false once the window is over.
    fn receive(&mut self) -> Result<bool, Failure> {
        let count = self.socket.read(&mut self.space)?;
        if count == 0 {
            return Err("the node closed the connection".into());
        }
        self.meter.reads += 1;
        self.received.extend_from_slice(&self.space[..count]);
        let (now, mut at, mut open) = (Instant::now(), 0, true);
        while let Some(length) = whole(&self.received[at..]) {
            let (head, body) = self.received[at..].split_at(HEADER);
            if head[4] != RESULT {
                return Err(String::from_utf8_lossy(&body[..length]).into_owned().into());
            }
            let stream = usize::from(u16::from_be_bytes([head[2], head[3]]));
            open &= self.meter.done(self.sent[stream], now);
            self.free.push(stream);
            at += HEADER + length;
        }
        self.received.drain(..at);
        Ok(open)
    }
}

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let mut socket = TcpStream::connect(task.node)?;
    socket.set_nodelay(true)?;
    let frames = prepared(&mut socket, &task)?;
    let mut replay = Replay::new(socket, &task, &frames);
    replay.send()?;
    while replay.receive()? {
        if !replay.free.is_empty() {
            replay.send()?;
        }
    }
    println!("{}", replay.meter.report()?);
    Ok(())
}
