//! A read-only ZooKeeper client: just enough to find an HBase cluster whose servers answer no registry.
//!
//! One session, one request at a time: connect, read a few nodes, close. No watches, no pings (a session that lives
//! longer than its time-out without a request is ended by the server), no writes, no authentication. `jute` is the
//! encoding, `nodes` what HBase keeps there.

mod jute;
mod nodes;
#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use jute::Reader;

/// ZooKeeper's port where an address names none.
const DEFAULT_PORT: u16 = 2181;
/// The largest answer that is read, bytes: ZooKeeper's own limit of a node (`jute.maxbuffer`) with room to spare.
const MAX_ANSWER: usize = 16 << 20;

/// Why ZooKeeper could not be asked.
#[derive(Debug, Error)]
pub enum ZooKeeperError {
    /// The quorum is an empty list.
    #[error("no ZooKeeper server is named")]
    NoServers,
    /// No server of the quorum took the session; one reason for each.
    #[error("no ZooKeeper server answers: {0}")]
    Unreachable(String),
    /// The connection broke while a request was out.
    #[error("ZooKeeper connection: {0}")]
    Io(#[from] io::Error),
    /// No answer in time.
    #[error("ZooKeeper gave no answer within {0:?}")]
    Timeout(Duration),
    /// The server refused the request with a code of its own (`KeeperException.Code`).
    #[error("ZooKeeper refused to read {path}: code {code}")]
    Refused {
        /// The node asked for.
        path: String,
        /// ZooKeeper's error code, negative.
        code: i32,
    },
    /// Bytes that are not ZooKeeper's protocol, or not what HBase writes into a node.
    #[error("ZooKeeper answered something else than expected: {0}")]
    Malformed(&'static str),
}

/// A session with one server of the quorum.
#[derive(Debug)]
pub struct ZooKeeper {
    stream: TcpStream,
    xid: i32,
    patience: Duration,
}

impl ZooKeeper {
    /// Opens a session with the first server of `quorum` (`host` or `host:port`) that takes one.
    ///
    /// `patience` bounds the connect to each server, and later each request; it is also the session's time-out.
    pub async fn connect(quorum: &[String], patience: Duration) -> Result<Self, ZooKeeperError> {
        let mut reasons = Vec::new();
        for server in quorum {
            match within(patience, Self::open(server, patience)).await {
                Ok(session) => return Ok(session),
                Err(why) => reasons.push(format!("{server}: {why}")),
            }
        }
        if reasons.is_empty() {
            Err(ZooKeeperError::NoServers)
        } else {
            Err(ZooKeeperError::Unreachable(reasons.join("; ")))
        }
    }

    /// The bytes in the node `path`; None if there is no such node.
    pub async fn data(&mut self, path: &str) -> Result<Option<Vec<u8>>, ZooKeeperError> {
        let Some(answer) = self.read(jute::GET_DATA, path).await? else {
            return Ok(None);
        };
        Ok(Some(Reader::new(&answer).buffer()?.to_vec()))
    }

    /// The names of the children of `path`, in the server's order; None if there is no such node.
    pub async fn children(&mut self, path: &str) -> Result<Option<Vec<String>>, ZooKeeperError> {
        let Some(answer) = self.read(jute::GET_CHILDREN, path).await? else {
            return Ok(None);
        };
        Reader::new(&answer).strings().map(Some)
    }

    /// Ends the session, so that the server forgets it at once instead of after its time-out.
    pub async fn close(mut self) -> Result<(), ZooKeeperError> {
        let request = jute::close(self.next_xid());
        self.ask(&request).await.map(drop)
    }

    async fn open(server: &str, patience: Duration) -> Result<Self, ZooKeeperError> {
        let stream = match server.rsplit_once(':') {
            Some(_) => TcpStream::connect(server).await?,
            None => TcpStream::connect((server, DEFAULT_PORT)).await?,
        };
        stream.set_nodelay(true)?;
        let mut session = Self {
            stream,
            xid: 0,
            patience,
        };
        session.send(&jute::connect(patience)).await?;
        let answer = session.receive().await?;
        if jute::session_refused(&answer)? {
            return Err(ZooKeeperError::Malformed("the session was refused"));
        }
        Ok(session)
    }

    /// The answer to a read of `path` behind its header; None for a node that does not exist.
    async fn read(&mut self, kind: i32, path: &str) -> Result<Option<Vec<u8>>, ZooKeeperError> {
        let request = jute::read(self.next_xid(), kind, path);
        let mut answer = self.ask(&request).await?;
        let header = jute::header(&answer)?;
        match header.error {
            0 => Ok(Some(answer.split_off(jute::HEADER))),
            jute::NO_NODE => Ok(None),
            code => Err(ZooKeeperError::Refused {
                path: path.into(),
                code,
            }),
        }
    }

    /// Sends one request and waits for the answer of the same number; anything else (a watch's event) is passed over.
    async fn ask(&mut self, request: &[u8]) -> Result<Vec<u8>, ZooKeeperError> {
        let patience = self.patience;
        within(patience, async {
            self.send(request).await?;
            loop {
                let answer = self.receive().await?;
                if jute::header(&answer)?.xid == self.xid {
                    return Ok(answer);
                }
            }
        })
        .await
    }

    fn next_xid(&mut self) -> i32 {
        self.xid += 1;
        self.xid
    }

    async fn send(&mut self, frame: &[u8]) -> Result<(), ZooKeeperError> {
        Ok(self.stream.write_all(frame).await?)
    }

    async fn receive(&mut self) -> Result<Vec<u8>, ZooKeeperError> {
        let length = self.stream.read_i32().await?;
        let length = usize::try_from(length).ok().filter(|n| *n <= MAX_ANSWER);
        let mut answer = vec![
            0;
            length.ok_or(ZooKeeperError::Malformed(
                "an answer of an impossible length"
            ))?
        ];
        self.stream.read_exact(&mut answer).await?;
        Ok(answer)
    }
}

async fn within<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, ZooKeeperError>>,
) -> Result<T, ZooKeeperError> {
    timeout(patience, work)
        .await
        .unwrap_or(Err(ZooKeeperError::Timeout(patience)))
}
