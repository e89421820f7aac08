//! Why there is no report: what happened, and in which phase.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustls_pq::identity::IdentityError;

use super::diagnosis::Diagnosis;
use crate::revocation::RevocationError;

/// Why there is no report. The text has the cause's text in it, so there is no `source` that would repeat it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The provider can't be built with these groups, or on this CPU.
    #[error(transparent)]
    Provider(#[from] rustls_pq::Error),
    /// The revocation lists can't be used.
    #[error(transparent)]
    Revocation(#[from] RevocationError),
    /// The client's own certificate and key can't be used.
    #[error(transparent)]
    Client(#[from] IdentityError),
    /// rustls refuses the configuration.
    #[error("TLS can't be configured like this: {0}")]
    Rustls(rustls::Error),
    /// There is no root to trust.
    #[error("the server's certificate can't be verified: {0}")]
    Verifier(rustls::client::VerifierBuilderError),
    /// A root is none by the rules for OCSP responses.
    #[error("OCSP responses can't be checked: {0}")]
    Validator(pq_x509::validation::ValidationError),

    /// A phase lasted longer than it may.
    #[error("{phase} took longer than {} s", .limit.as_secs())]
    TimedOut {
        /// Which one.
        phase: Phase,
        /// How long it may last.
        limit: Duration,
    },
    /// The host's name is unknown.
    #[error("{host} can't be resolved ({error})")]
    Resolve {
        /// The host.
        host: String,
        /// What the operating system says.
        error: io::Error,
    },
    /// The host's name leads nowhere.
    #[error("{host} has no address")]
    NoAddress {
        /// The host.
        host: String,
    },
    /// Nobody answers at any of the addresses.
    #[error("no connection to {server}: {}; {}", list(.attempts), advice(.attempts))]
    Connect {
        /// The server's host and port.
        server: String,
        /// The addresses, and why each of them failed.
        attempts: Vec<(SocketAddr, io::Error)>,
    },
    /// The handshake failed, or the connection broke off with an alert.
    #[error("{0}")]
    Tls(Box<Diagnosis>),
    /// The request is malformed.
    #[error("the request can't be sent: {0}")]
    Request(hyper::http::Error),
    /// The answer is malformed.
    #[error("the server didn't answer the request by the rules of HTTP: {}", with_causes(.0))]
    Http(hyper::Error),
    /// The body broke off.
    #[error("the answer's body can't be read: {0}")]
    Body(Box<dyn Error + Send + Sync>),
    /// The body has too many bytes.
    #[error("the answer's body is larger than {limit} bytes, more than this program takes")]
    TooLarge {
        /// How many are taken.
        limit: usize,
    },
}

/// What the client does one after the other, each within a time limit.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// Finding the host's addresses.
    Resolve,
    /// TCP.
    Connect,
    /// TLS.
    Handshake,
    /// From the request to the head of the answer.
    Request,
    /// The rest of the answer.
    Body,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the host's name",
            Self::Connect => "connecting",
            Self::Handshake => "the TLS handshake",
            Self::Request => "the answer to the request",
            Self::Body => "the body of the answer",
        })
    }
}

fn list(attempts: &[(SocketAddr, io::Error)]) -> String {
    let each: Vec<_> = attempts
        .iter()
        .map(|(address, error)| format!("{address}: {error}"))
        .collect();
    each.join(", ")
}

fn advice(attempts: &[(SocketAddr, io::Error)]) -> &'static str {
    let is_refused = |(_, error): &(_, io::Error)| error.kind() == io::ErrorKind::ConnectionRefused;
    match attempts.iter().all(is_refused) {
        true => "nothing listens there: start the server, or correct the port",
        false => "check the address, the network and the firewall",
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
