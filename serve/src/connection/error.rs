//! Why a connection ended.

use std::io;

use rustls_pq::Refusal;

/// Why a connection ended before its time. None of these concerns other connections.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("the handshake failed: {0}")]
    Handshake(#[source] io::Error),
    #[error("the handshake took too long")]
    HandshakeTimeout,
    #[error("a newer handshake took the place of this one")]
    PushedOut,
    #[error("the handshake failed: {0}{option}", option = option_for(.0))]
    Refused(#[source] Refusal),
    #[error("the certificate of a resumed session is no longer good: {0}")]
    ResumedClient(#[source] rustls::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("the connection lasted too long")]
    TooLong,
}

/// Which of the [options](crate::options) helps the next client.
fn option_for(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::RevocationUnknown { .. } => {
            "; --crl names the files with these lists, and with --crl-leaf-only, the list of the CA that issued the \
             client's certificate is enough"
        }
        _ => "",
    }
}
