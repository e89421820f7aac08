//! All errors of the program, in the words that it prints. One of them says which phase took too long.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tls_server::{PkiError, TlsError};

use crate::diagnosis::Diagnosis;
use crate::target::NotATarget;
use crate::trust::TrustError;

/// Why there is no report: what happened and what to do. The text has the cause's text in it, so there is
/// no `source` that would repeat it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Configuration(#[from] TlsError),
    #[error("TLS can't be configured like this: {0}")]
    Rustls(rustls::Error),
    #[error("the server's certificate can't be verified: {0}")]
    Verifier(rustls::client::VerifierBuilderError),
    #[error("OCSP responses can't be checked: {0}")]
    Validator(pq_x509::ValidationError),

    #[error("{phase} took longer than {} s; try again, or allow more with --timeout", .limit.as_secs())]
    TimedOut { phase: Phase, limit: Duration },
    #[error(
        "{host} can't be resolved ({error}); check the name, or give an address with --connect"
    )]
    Resolve { host: String, error: io::Error },
    #[error("{host} has no address; check the name, or give an address with --connect")]
    NoAddress { host: String },
    #[error("no connection to {server}: {}; {}", list(.attempts), advice(.attempts))]
    Connect {
        server: String,
        attempts: Vec<(SocketAddr, io::Error)>,
    },
    #[error("{0}")]
    Tls(Box<Diagnosis>),
    #[error("the request can't be sent: {0}")]
    Request(hyper::http::Error),
    #[error("the server didn't answer the request by the rules of HTTP: {}", with_causes(.0))]
    Http(hyper::Error),
    #[error("the answer's body can't be read: {0}")]
    Body(Box<dyn Error + Send + Sync>),
    #[error("the answer's body is larger than {limit} bytes, more than this program takes")]
    TooLarge { limit: usize },

    #[error("no certificates for a server of our own: {0}")]
    Pki(PkiError),
    #[error(transparent)]
    Key(#[from] pq_x509::KeyError),
    #[error("a server of our own can't listen on the loopback address: {0}")]
    Listen(io::Error),
    #[error(transparent)]
    Target(#[from] NotATarget),
    #[error("the report can't be written: {0}")]
    Output(io::Error),
}

/// What the client does one after the other, each within a time limit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Resolve,
    Connect,
    Handshake,
    Request,
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
