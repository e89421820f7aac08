//! Why a connection ended.

use std::error::Error;
use std::{io, iter};

use rustls::CertificateError;
use rustls_pq::Refusal;

use crate::lines::start;

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
    #[error("{}", with_causes(.0))]
    Http(#[from] hyper::Error),
    #[error("the connection lasted too long")]
    TooLong,
    #[error("an answer was read too slowly")]
    NotTaken,
}

impl ConnectionError {
    /// Whether the client has merely left, without a word or in the middle of one.
    pub(crate) fn is_departure(&self) -> bool {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof,
        };

        let Self::Http(error) = self else {
            return false;
        };
        let io = |error: &(dyn Error + 'static)| Some(error.downcast_ref::<io::Error>()?.kind());
        error.is_incomplete_message()
            || error.is_closed()
            || causes(error).filter_map(io).any(|kind| {
                [
                    BrokenPipe,
                    ConnectionAborted,
                    ConnectionReset,
                    NotConnected,
                    UnexpectedEof,
                ]
                .contains(&kind)
            })
    }

    /// Whether the server's own signer has failed, which the operator should act on.
    pub(crate) fn is_of_signer(&self) -> bool {
        matches!(self, Self::Refused(Refusal::NotSigned { .. }))
    }

    /// In a word, if the handshake has failed.
    pub(crate) fn failed_handshake(&self) -> Option<&'static str> {
        match self {
            Self::Handshake(_) => Some("no_client_hello"),
            Self::HandshakeTimeout => Some("timeout"),
            Self::ResumedClient(rustls::Error::NoCertificatesPresented) => {
                Some("no_client_certificate")
            }
            Self::ResumedClient(rustls::Error::InvalidCertificate(
                CertificateError::Revoked
                | CertificateError::UnknownRevocationStatus
                | CertificateError::ExpiredRevocationList
                | CertificateError::ExpiredRevocationListContext { .. },
            )) => Some("client_revocation"),
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
                | Refusal::UnknownIssuer { .. }
                | Refusal::UnknownKey
                | Refusal::BadSignature
                | Refusal::Expired { .. }
                | Refusal::NotValidYet { .. }
                | Refusal::WrongPurpose { .. }
                | Refusal::KeyUsage { .. } => "client_certificate",
                // By the client.
                Refusal::CertificateRefused { .. } => "server_certificate",
                Refusal::Alert { .. } => "alert",
                Refusal::NotSigned { .. } => "not_signed",
                Refusal::NotTls { .. } => "not_tls",
                Refusal::ConnectionLost { .. } => "connection_lost",
                _ => "other",
            }),
            Self::PushedOut | Self::Http(_) | Self::TooLong | Self::NotTaken => None,
        }
    }
}

/// hyper says what has failed, and its causes say why. With HTTP/2, that may be in the client's words.
fn with_causes(error: &hyper::Error) -> String {
    start(&causes(error).fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
}

fn causes(error: &hyper::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signer_that_fails_has_a_reason_of_its_own() {
        let error = ConnectionError::Refused(Refusal::NotSigned {
            reason: "slot 3 is empty".into(),
            is_transient: true,
        });
        assert!(error.is_of_signer());
        assert_eq!(error.failed_handshake(), Some("not_signed"));
        assert!(error.to_string().contains("slot 3 is empty"));
        assert!(!ConnectionError::HandshakeTimeout.is_of_signer());
    }

    /// What a full handshake says of such a client, a resumed one says, too.
    #[test]
    fn a_resumed_client_is_refused_for_the_same_reason() {
        use rustls::Error::{InvalidCertificate, NoCertificatesPresented};

        for (error, reason) in [
            (NoCertificatesPresented, "no_client_certificate"),
            (
                InvalidCertificate(CertificateError::Revoked),
                "client_revocation",
            ),
            (
                InvalidCertificate(CertificateError::UnknownRevocationStatus),
                "client_revocation",
            ),
            (
                InvalidCertificate(CertificateError::ExpiredRevocationList),
                "client_revocation",
            ),
            (
                InvalidCertificate(CertificateError::Expired),
                "client_certificate",
            ),
        ] {
            let error = ConnectionError::ResumedClient(error);
            assert_eq!(error.failed_handshake(), Some(reason));
        }
    }
}
