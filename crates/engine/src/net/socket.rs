//! A connected socket that never blocks, with TLS in it if there is any, and with the kernel's stamps of what it received.

use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Encrypted bytes read at a time.
const RECORDS: usize = 16 << 10;

/// A connection's socket.
pub struct Socket {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    /// The kernel agreed to stamp what it receives.
    stamped: bool,
    /// Of the bytes read last: when they came, CLOCK_REALTIME ns.
    stamp_ns: Option<u64>,
}

impl Socket {
    /// Take over a stream, on which `tls` was agreed if it was.
    pub fn new(stream: TcpStream, tls: Option<ClientConnection>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stamped: ask_for_stamps(stream.as_fd()),
            stream,
            tls: tls.map(Box::new),
            stamp_ns: None,
        })
    }

    /// When the kernel received the last of the bytes that the last read brought, CLOCK_REALTIME ns; none if it does not tell.
    pub const fn stamp_ns(&self) -> Option<u64> {
        self.stamp_ns
    }

    /// Whether the kernel agreed to stamp what it receives; where it did not there is the time of the read.
    pub const fn stamped(&self) -> bool {
        self.stamped
    }

    /// Whether its bytes are ciphered: one read may then leave deciphered ones behind.
    pub const fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether TLS holds bytes that it could not write yet.
    pub fn writes_more(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            let (read, stamp_ns) = receive(&self.stream, into)?;
            self.stamp_ns = stamp_ns;
            return Ok(read);
        };
        loop {
            match tls.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            let mut records = [0; RECORDS];
            let (read, stamp_ns) = receive(&self.stream, &mut records)?;
            self.stamp_ns = stamp_ns;
            let mut rest = &records[..read];
            loop {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets().map_err(io::Error::other)?;
                if rest.is_empty() {
                    break;
                }
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.stream.write(bytes);
        };
        let taken = tls.writer().write(bytes)?;
        self.flush()?;
        if taken == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    /// Write the records that TLS holds, as far as the socket takes them.
    fn flush(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        while tls.wants_write() {
            match tls.write_tls(&mut self.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

/// Ask the kernel for stamps of what `socket` receives; whether it agreed.
fn ask_for_stamps(socket: BorrowedFd<'_>) -> bool {
    let yes: libc::c_int = 1;
    // SAFETY: `yes` is valid for the call.
    let refused = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const yes).cast(),
            size_of_val(&yes) as u32,
        )
    };
    refused == 0
}

/// One `recvmsg()`: how many bytes it brought, and when the kernel received the last of them, CLOCK_REALTIME ns.
fn receive(stream: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let mut control = [0_u64; 8];
    // SAFETY: an all-zero msghdr is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: `message` names buffers that are valid for the call.
    let read = unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, 0) };
    if read < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((read as usize, stamp(&message)))
}

fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer that `message` names, and says how much of it; the header is in it.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        if header.is_null()
            || (*header).cmsg_level != libc::SOL_SOCKET
            || (*header).cmsg_type != libc::SCM_TIMESTAMPNS
        {
            return None;
        }
        let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(header).cast());
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::realtime_ns;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn a_refusal_of_the_kernel_is_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        assert!(ask_for_stamps(listener.as_fd()));
        let no_socket = std::fs::File::open("/dev/null").expect("it is there");
        assert!(!ask_for_stamps(no_socket.as_fd()));
    }

    #[test]
    fn bytes_that_lay_unread_have_the_stamp_of_their_arrival() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("it")).expect("a stream");
        let (mut server, _) = listener.accept().expect("a client");
        let mut socket = Socket::new(stream, None).expect("a socket");
        let mut room = [0; 100];
        let nothing = socket.read(&mut room).expect_err("it does not block");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        // The kernel begins to stamp a moment after the first socket has asked for it.
        for _ in 0..100 {
            let before = realtime_ns();
            server.write_all(b"answer").expect("room");
            let after = realtime_ns();
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(socket.read(&mut room).expect("bytes"), 6);
            if let Some(stamp) = socket.stamp_ns() {
                assert!(
                    (before..=after).contains(&stamp),
                    "{before} {stamp} {after}"
                );
                return;
            }
        }
        panic!("no bytes were stamped");
    }

    /// The kernel itself puts segments that wait together, and keeps the newest stamp.
    #[test]
    fn answers_that_are_read_together_have_the_stamp_of_the_last() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("it")).expect("a stream");
        let (mut server, _) = listener.accept().expect("a client");
        server.set_nodelay(true).expect("an option");
        let mut socket = Socket::new(stream, None).expect("a socket");
        let mut room = [0; 100];
        for _ in 0..100 {
            server.write_all(b"first").expect("room");
            std::thread::sleep(Duration::from_millis(5));
            let between = realtime_ns();
            server.write_all(b"second").expect("room");
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(socket.read(&mut room).expect("bytes"), 11);
            if let Some(stamp) = socket.stamp_ns() {
                assert!(stamp >= between, "{stamp} {between}");
                return;
            }
        }
        panic!("no bytes were stamped");
    }
}
