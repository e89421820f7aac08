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

impl ConnectionError {
    /// In a word, if the handshake has failed.
    pub(crate) fn failed_handshake(&self) -> Option<&'static str> {
        match self {
            Self::Handshake(_) => Some("no_client_hello"),
            Self::HandshakeTimeout => Some("timeout"),
            Self::ResumedClient(_) => Some("client_certificate"),
            Self::Refused(refusal) => Some(match refusal {
                Refusal::NoSharedGroup { .. } => "no_shared_group",
                Refusal::NoSharedSignatureScheme { .. } => "no_shared_signature_scheme",
                Refusal::NoSharedCipherSuite { .. } => "no_shared_cipher_suite",
                Refusal::NoSharedVersion => "no_shared_version",
                Refusal::NoCertificateForName { .. } => "no_certificate_for_name",
                Refusal::ClientCertificateRequired => "no_client_certificate",
                Refusal::Revoked | Refusal::RevocationUnknown { .. } => "client_revocation",
                Refusal::SignatureAlgorithm { .. }
                | Refusal::ChainTooLarge { .. }
                | Refusal::UnknownIssuer
                | Refusal::BadSignature
                | Refusal::Expired { .. }
                | Refusal::NotValidYet { .. }
                | Refusal::WrongPurpose { .. }
                | Refusal::KeyUsage { .. } => "client_certificate",
                // By the client.
                Refusal::CertificateRefused { .. } => "server_certificate",
                Refusal::Alert { .. } => "alert",
                Refusal::NotTls { .. } => "not_tls",
                Refusal::ConnectionLost { .. } => "connection_lost",
                _ => "other",
            }),
            Self::PushedOut | Self::Http(_) | Self::TooLong => None,
        }
    }
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
