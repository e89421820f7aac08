//! Why a remote key did not do something.

use std::io;

use pq_keys::any::AnyKeyError;

use crate::name::InvalidName;

/// Why a response did not come.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The server can't be reached, so it has not got the request.
    #[error("the key server can't be reached: {0}")]
    Unreachable(io::Error),
    /// The connection broke. The server may have got the request.
    #[error("the connection to the key server broke: {0}")]
    Broken(io::Error),
    /// The time is up. The server may have got the request.
    #[error("the key server has not answered in time")]
    TimedOut,
    /// TLS refuses the server, or the server the client.
    #[error("TLS with the key server failed: {0}")]
    Tls(String),
    /// What came is no response that is read here.
    #[error("the key server's answer is not understood: {0}")]
    NotHttp(&'static str),
}

impl TransportError {
    /// Whether trying the same again helps.
    pub fn retry(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) | Self::TimedOut => true,
            Self::Tls(_) | Self::NotHttp(_) => false,
        }
    }
}

/// Why a remote key did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There was no response.
    #[error("{0}")]
    Transport(TransportError),
    /// The server refused.
    #[error("the key server refused with status {status}: {}", said(.errors))]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// What the server says.
        errors: Vec<String>,
    },
    /// The server's answer has not what was asked for.
    #[error("the key server's answer is not understood: {0}")]
    Answer(&'static str),
    /// A signature does not verify under the public key of the version that is to have made it.
    #[error(
        "the key server's signature does not verify under the public key that it gave before; use neither, and find out \
         which is wrong"
    )]
    WrongSignature,
    /// No key has such a name.
    #[error("{0}")]
    Name(InvalidName),
    /// The public key can't be read or used.
    #[error("{0}")]
    Key(AnyKeyError),
}

fn said(errors: &[String]) -> String {
    match errors.iter().all(|error| error.trim().is_empty()) {
        true => "it doesn't say why".into(),
        false => errors.join("; "),
    }
}

impl RemoteError {
    /// Whether the server says that there is no such key: with 404 and no word, as Vault does. Who knows no such path, or is no
    /// key server, says more.
    pub fn is_no_key(&self) -> bool {
        matches!(self, Self::Refused { status: 404, errors } if errors.is_empty())
    }

    /// Whether trying the same again helps.
    pub fn retry(&self) -> bool {
        match self {
            Self::Transport(error) => error.retry(),
            Self::Refused { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            Self::Answer(_) | Self::WrongSignature | Self::Name(_) | Self::Key(_) => false,
        }
    }
}

pq_keys::errors::from_causes!(RemoteError: Transport(TransportError), Name(InvalidName), Key(AnyKeyError));
