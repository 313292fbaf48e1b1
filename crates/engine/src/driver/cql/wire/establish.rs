//! Making a connection: TCP, TLS if asked for, and CQL's handshake (`native_protocol_v4.spec`, sections 4.1.1 to 4.1.3).

use super::frame::{self, HEADER, Header, Malformed, ServerError, opcode};
use crate::net::Socket;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A node that has not finished the handshake within this is not there.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CQL_VERSION: &str = "3.0.0";
/// The one authenticator that is spoken (SASL PLAIN, RFC 4616); others answer with a challenge.
const EMPTY_AUTHORISATION: u8 = 0;

/// How every node is spoken to.
#[derive(Clone)]
pub(crate) struct Access {
    /// TLS, if it is on.
    pub tls: Option<Arc<ClientConfig>>,
    /// User and password, if the plan gives them.
    pub credentials: Option<(String, String)>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no answer within {} s", CONNECT_TIMEOUT.as_secs())]
    Silent,
    #[error("{0}")]
    Malformed(Malformed),
    #[error("the server refuses: {0}")]
    Server(String),
    #[error("the server asks for a user and a password")]
    Credentials,
    #[error("the server answered with something else than the handshake")]
    Unexpected,
}

impl From<Malformed> for Refused {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl Access {
    /// Connect to the node at `address`: a socket on which requests can be sent.
    pub(crate) async fn connect(&self, address: SocketAddr) -> Result<Socket, Refused> {
        tokio::time::timeout(CONNECT_TIMEOUT, self.establish(address))
            .await
            .map_err(|_| Refused::Silent)?
    }

    async fn establish(&self, address: SocketAddr) -> Result<Socket, Refused> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let Some(tls) = &self.tls else {
            self.shake_hands(&mut stream).await?;
            return Ok(Socket::new(stream.into_std()?, None)?);
        };
        let name = ServerName::from(address.ip());
        let mut stream = TlsConnector::from(Arc::clone(tls))
            .connect(name, stream)
            .await?;
        self.shake_hands(&mut stream).await?;
        let (stream, tls) = stream.into_inner();
        Ok(Socket::new(stream.into_std()?, Some(tls))?)
    }

    async fn shake_hands(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ) -> Result<(), Refused> {
        let (mut header, mut body) = ask(stream, opcode::STARTUP, |out| {
            out.extend_from_slice(&1_u16.to_be_bytes());
            frame::short_text(out, "CQL_VERSION");
            frame::short_text(out, CQL_VERSION);
        })
        .await?;
        if header.opcode == opcode::AUTHENTICATE {
            let (user, password) = self.credentials.as_ref().ok_or(Refused::Credentials)?;
            (header, body) = ask(stream, opcode::AUTH_RESPONSE, |out| {
                frame::bytes(out, &plain(user, password));
            })
            .await?;
        }
        match header.opcode {
            opcode::READY | opcode::AUTH_SUCCESS => Ok(()),
            opcode::ERROR => Err(Refused::Server(
                ServerError::read(header.message(&body)?)?.message,
            )),
            _ => Err(Refused::Unexpected),
        }
    }
}

fn plain(user: &str, password: &str) -> Vec<u8> {
    [
        &[EMPTY_AUTHORISATION],
        user.as_bytes(),
        &[0],
        password.as_bytes(),
    ]
    .concat()
}

async fn ask(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    opcode: u8,
    message: impl FnOnce(&mut Vec<u8>),
) -> Result<(Header, Vec<u8>), Refused> {
    let mut out = Vec::new();
    frame::append(&mut out, 0, opcode, message);
    stream.write_all(&out).await?;
    stream.flush().await?;
    let mut head = [0; HEADER];
    stream.read_exact(&mut head).await?;
    let header = Header::read(&head)?.ok_or(Refused::Unexpected)?;
    let mut body = vec![0; header.length];
    stream.read_exact(&mut body).await?;
    Ok((header, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_travel_as_sasl_plain() {
        assert_eq!(plain("me", "secret"), b"\0me\0secret");
    }
}
