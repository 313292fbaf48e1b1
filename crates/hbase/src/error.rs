//! What can go wrong, and what the caller must do about it.

mod exception;

pub use exception::Exception;
pub(crate) use exception::Meaning;

use crate::names::{Address, NotAName, TableName};
use crate::stamps::Stamps;
use crate::zookeeper::ZooKeeperError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// What helps after an error. Whatever caches the error proved wrong are already corrected when the caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The region is elsewhere: try again, it will be looked up (or its new server is known already).
    Relocate,
    /// The server cannot do it just now: try again after a pause.
    Pause,
    /// The connection broke or could not be made: try again after a short pause, over a new connection and a fresh location.
    Reconnect,
    /// Trying again will not help.
    GiveUp,
}

/// Why an attempt failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server answered with an exception.
    #[error("{0}")]
    Server(Box<Exception>),
    /// No connection could be made.
    #[error("cannot connect to {server}: {source}")]
    Connect {
        /// Where to.
        server: Address,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// The connection broke with this call out: a write may or may not have been done.
    #[error("the connection to {server} was lost: {reason}")]
    Lost {
        /// Whose connection.
        server: Address,
        /// How it ended.
        reason: Arc<str>,
    },
    /// No answer in time: a write may or may not have been done.
    #[error("no answer from {what} within {after:?}")]
    Timeout {
        /// Who or what was waited for.
        what: String,
        /// How long.
        after: Duration,
    },
    /// None of the servers of the registry answers; one reason for each.
    #[error("no server answers the connection registry: {0}")]
    Registry(String),
    /// ZooKeeper could not be asked.
    #[error("{0}")]
    ZooKeeper(Arc<ZooKeeperError>),
    /// The region is assigned to no server just now (it moves, splits, or its server died).
    #[error("region {0} is on no server just now")]
    Unassigned(String),
    /// There is no such table.
    #[error("table {0} does not exist")]
    NoTable(TableName),
    /// The table is there, but was taken out of service.
    #[error("table {0} is disabled: enable it first")]
    Disabled(TableName),
    /// Bytes that are not HBase's protocol.
    #[error("{server} answered something else than expected: {what}")]
    Protocol {
        /// Who.
        server: Address,
        /// What was wrong.
        what: &'static str,
    },
    /// The caller asked for something that cannot be sent.
    #[error("{0}")]
    Input(String),
}

impl Error {
    /// What helps.
    pub fn action(&self) -> Action {
        match self {
            Self::Server(exception) => exception.action(),
            Self::Connect { .. } | Self::Lost { .. } | Self::Protocol { .. } => Action::Reconnect,
            Self::Timeout { .. } | Self::Registry(_) | Self::ZooKeeper(_) | Self::Unassigned(_) => {
                Action::Pause
            }
            Self::NoTable(_) | Self::Disabled(_) | Self::Input(_) => Action::GiveUp,
        }
    }

    /// The server shed load: pause longer.
    pub fn overloaded(&self) -> bool {
        matches!(self, Self::Server(exception) if exception.overloaded())
    }

    /// The server's exception, if it answered with one.
    pub fn exception(&self) -> Option<&Exception> {
        match self {
            Self::Server(exception) => Some(exception),
            _ => None,
        }
    }

    /// When the request was written and its answer read, if there was an answer.
    pub fn stamps(&self) -> Option<Stamps> {
        self.exception().map(|exception| exception.stamps)
    }
}

impl From<NotAName> for Error {
    fn from(error: NotAName) -> Self {
        Self::Input(error.0)
    }
}

impl From<ZooKeeperError> for Error {
    fn from(error: ZooKeeperError) -> Self {
        Self::ZooKeeper(Arc::new(error))
    }
}
