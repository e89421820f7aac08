use std::error::Error;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, PeerIncompatible};
use rustls_pq::Group;

use crate::chain::CertificateSummary;

/// A failure of TLS, and what is known of its circumstances.
#[derive(Debug)]
pub(crate) struct Diagnosis {
    pub(crate) error: rustls::Error,
    pub(crate) facts: Facts,
}

/// The circumstances of a failure.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The server's host and port.
    pub(crate) server: String,
    /// The groups that were offered.
    pub(crate) offered: Vec<Group>,
    /// The names of the roots.
    pub(crate) roots: String,
    /// Where the roots are from.
    pub(crate) roots_from: String,
    /// What the server sent, as far as it got.
    pub(crate) chain: Vec<CertificateSummary>,
    /// Whether the chain was verified before things went wrong.
    pub(crate) is_chain_good: bool,
    pub(crate) has_client_certificate: bool,
}

/// Finds rustls's error under those of others.
pub(crate) fn tls_cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(cause) = error.downcast_ref() {
            return Some(cause);
        }
        // The `source` of an I/O error is its content's source, not its content.
        let content = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if let Some(cause) = content.and_then(|content| content.downcast_ref()) {
            return Some(cause);
        }
        next = error.source();
    }
    None
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.facts.server;
        match &self.error {
            rustls::Error::InvalidCertificate(error) => self.bad_certificate(error, f),
            rustls::Error::AlertReceived(alert) => self.alert(*alert, f),
            rustls::Error::InvalidMessage(_) => write!(
                f,
                "{server} sent something that is not TLS ({}); is it an HTTPS server, and the \
                 right port?",
                self.error
            ),
            rustls::Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13)
            | rustls::Error::PeerIncompatible(
                PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            ) => self.no_tls13(f),
            error => write!(f, "the TLS connection to {server} failed: {error}"),
        }
    }
}

impl Diagnosis {
    fn bad_certificate(&self, error: &CertificateError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts {
            server,
            roots,
            roots_from,
            chain,
            ..
        } = &self.facts;
        let (Some(leaf), Some(top)) = (chain.first(), chain.last()) else {
            return write!(f, "the certificate of {server} was refused: {error}");
        };
        match error {
            CertificateError::UnknownIssuer => write!(
                f,
                "the certificate of {server} is not trusted: {top} was issued by {}, which is not \
                 among the roots of {roots_from} ({roots}); if you trust that issuer, name its \
                 certificate with --ca",
                top.issuer
            ),
            CertificateError::BadSignature if self.facts.is_chain_good => write!(
                f,
                "{server} presented the certificate of {leaf} but didn't sign the handshake with \
                 its key: it may not be the server that it claims to be"
            ),
            CertificateError::BadSignature => write!(
                f,
                "the certificate of {server} is not trusted: it claims to be issued by {}, but a \
                 signature in the chain is not by the key of that name; is {roots_from} from an \
                 earlier run of the server?",
                top.issuer
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                write!(
                    f,
                    "the certificate of {server} is for another name: it is for {}; connect by one \
                 of these, or say which one to expect with --server-name",
                    match leaf.names.is_empty() {
                        true => "no name at all".into(),
                        false => leaf.names.join(", "),
                    }
                )
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => write!(
                f,
                "a certificate of {server} has expired ({error}); the server needs a new one, \
                 unless this machine's clock is wrong"
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => write!(
                f,
                "a certificate of {server} is not valid yet ({error}); is this machine's clock \
                 right?"
            ),
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                write!(
                    f,
                    "the certificate of {server} ({leaf}) is not one for servers ({error})"
                )
            }
            error => write!(
                f,
                "the certificate of {server} ({leaf}) was refused: {error}"
            ),
        }
    }

    fn alert(&self, alert: AlertDescription, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts {
            server, offered, ..
        } = &self.facts;
        match alert {
            AlertDescription::HandshakeFailure => write!(
                f,
                "{server} found nothing in common with what this client offers (alert \
                 handshake_failure); the key exchange groups offered were {offered:?}: choose one \
                 that the server accepts with --groups; the server's log may list them"
            ),
            AlertDescription::CertificateRequired => write!(
                f,
                "{server} requires a client certificate (alert certificate_required); give one \
                 with --client-cert and --client-key"
            ),
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
                if self.facts.has_client_certificate =>
            {
                write!(
                    f,
                    "{server} refused the client certificate (alert {alert:?}); give one that a \
                     CA of the server's choice issued for clients"
                )
            }
            AlertDescription::ProtocolVersion => self.no_tls13(f),
            other => write!(
                f,
                "{server} ended the connection with the alert {other:?}; its log may say why"
            ),
        }
    }

    fn no_tls13(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} doesn't speak TLS 1.3, without which there is no post-quantum key exchange",
            self.facts.server
        )
    }
}
