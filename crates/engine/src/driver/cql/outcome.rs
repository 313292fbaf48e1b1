//! How the crate's errors read as outcomes. The texts are short and without varying parts where that is possible, so that
//! equal failures count as equal.

use crate::operation::Outcome;
use scylla::errors::{
    BrokenConnectionErrorKind, ConnectionPoolError, DbError, ExecutionError, PrepareError,
    RequestAttemptError,
};

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// The histogram key.
    pub outcome: Outcome,
    /// What happened.
    pub text: String,
}

impl Failure {
    /// Nothing came back in time.
    pub fn timeout() -> Self {
        Self {
            outcome: Outcome::Timeout,
            text: "no answer in time".into(),
        }
    }

    /// A fault on our side of the wire.
    pub fn client(text: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Client,
            text: text.into(),
        }
    }
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::LastAttemptError(attempt) => attempt.into(),
            ExecutionError::PrepareError(PrepareError::AllAttemptsFailed { first_attempt }) => {
                first_attempt.into()
            }
            ExecutionError::ConnectionPoolError(pool)
            | ExecutionError::PrepareError(PrepareError::ConnectionPoolError(pool)) => pool.into(),
            ExecutionError::EmptyPlan => connection("no node may coordinate"),
            ExecutionError::RequestTimeout(_) => Self::timeout(),
            other => Self::client(other.to_string()),
        }
    }
}

impl From<ConnectionPoolError> for Failure {
    fn from(error: ConnectionPoolError) -> Self {
        connection(match error {
            ConnectionPoolError::Broken { .. } => "no connection to any node",
            ConnectionPoolError::Initializing => "the first connection is not made yet",
            _ => "no node may coordinate",
        })
    }
}

impl From<RequestAttemptError> for Failure {
    fn from(error: RequestAttemptError) -> Self {
        match error {
            RequestAttemptError::DbError(error, message) => database(&error, &message),
            RequestAttemptError::BrokenConnectionError(broken) => {
                connection(match broken.downcast_ref() {
                    Some(BrokenConnectionErrorKind::KeepaliveTimeout(_)) => {
                        "the connection gave no sign of life"
                    }
                    _ => "the connection broke",
                })
            }
            other => Self::client(other.to_string()),
        }
    }
}

fn connection(text: &str) -> Failure {
    Failure {
        outcome: Outcome::Connection,
        text: text.into(),
    }
}

fn database(error: &DbError, message: &str) -> Failure {
    let (outcome, text) = match error {
        DbError::ReadTimeout { .. } => (Outcome::Timeout, "read timeout".into()),
        DbError::WriteTimeout { .. } => (Outcome::Timeout, "write timeout".into()),
        DbError::Overloaded => (Outcome::Overloaded, "overloaded".into()),
        DbError::RateLimitReached { .. } => (Outcome::Overloaded, "rate limit reached".into()),
        DbError::Unavailable { .. } => (Outcome::Unavailable, "too few replicas alive".into()),
        DbError::IsBootstrapping => (Outcome::Unavailable, "the coordinator is joining".into()),
        DbError::ReadFailure { .. } => (Outcome::Server, "read failure on a replica".into()),
        DbError::WriteFailure { .. } => (Outcome::Server, "write failure on a replica".into()),
        // These name a fault of the request: another attempt would end the same way.
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::Unauthorized
        | DbError::AuthenticationError
        | DbError::ConfigError
        | DbError::ProtocolError => (Outcome::Client, format!("{error}: {message}")),
        other => (Outcome::Server, format!("{other}: {message}")),
    };
    Failure { outcome, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scylla::errors::WriteType;
    use scylla::statement::Consistency;

    #[test]
    fn database_errors_have_their_outcomes() {
        let consistency = Consistency::Quorum;
        let cases = [
            (
                DbError::WriteTimeout {
                    consistency,
                    received: 1,
                    required: 2,
                    write_type: WriteType::Simple,
                },
                Outcome::Timeout,
            ),
            (
                DbError::Unavailable {
                    consistency,
                    required: 2,
                    alive: 1,
                },
                Outcome::Unavailable,
            ),
            (DbError::Overloaded, Outcome::Overloaded),
            (DbError::IsBootstrapping, Outcome::Unavailable),
            (DbError::ServerError, Outcome::Server),
            (DbError::Other(77), Outcome::Server),
            (DbError::Invalid, Outcome::Client),
        ];
        for (error, expected) in cases {
            let attempt = RequestAttemptError::DbError(error.clone(), String::new());
            let failure = Failure::from(ExecutionError::LastAttemptError(attempt));
            assert_eq!(failure.outcome, expected, "{error}");
        }
    }

    #[test]
    fn a_missing_connection_is_a_connection_failure() {
        let failure = Failure::from(ExecutionError::ConnectionPoolError(
            ConnectionPoolError::Initializing,
        ));
        assert_eq!(failure.outcome, Outcome::Connection);
        assert_eq!(
            Failure::from(ExecutionError::EmptyPlan).outcome,
            Outcome::Connection
        );
    }
}
