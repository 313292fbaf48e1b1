//! Sockets, timers and wake-ups of one thread: epoll, with nothing asynchronous about it. What travels over a socket is the
//! drivers'; when something is due is the event loop's.

mod connection;
mod kernel_clock;
mod notifier;
mod poller;
mod socket;

pub use connection::{Connection, Ended};
pub use kernel_clock::KernelClock;
pub use notifier::Notifier;
pub use poller::{Poller, Ready};
pub use socket::Socket;
