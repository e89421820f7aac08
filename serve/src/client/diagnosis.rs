//! Explains why TLS failed: the refusal, and what the server sent.

use std::fmt;

use rustls_pq::Refusal;

use super::chain::CertificateSummary;

/// A failure of TLS, and what is known about its circumstances.
#[derive(Debug)]
pub struct Diagnosis {
    /// Why.
    pub refusal: Refusal,
    /// The server's host and port.
    pub server: String,
    /// The names of the roots.
    pub roots: String,
    /// Where the roots are from.
    pub roots_from: String,
    /// What the server sent, as far as it got.
    pub chain: Vec<CertificateSummary>,
    /// What the OCSP response or revocation lists say about it, if it was refused because of them.
    pub revocation: Option<String>,
    /// Whether the chain was verified before things went wrong.
    pub is_chain_good: bool,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.server, self.refusal)?;
        match self.circumstances() {
            Some(text) => write!(f, "; {text}"),
            None => Ok(()),
        }
    }
}

impl Diagnosis {
    /// What is known besides the refusal.
    fn circumstances(&self) -> Option<String> {
        let roots_from = &self.roots_from;
        Some(
            match (&self.refusal, self.chain.first(), self.chain.last()) {
                (Refusal::UnknownIssuer { .. }, _, Some(top)) => format!(
                    "{top} was issued by {}, and the roots of {roots_from} are {}",
                    top.issuer, self.roots
                ),
                (Refusal::BadSignature, Some(leaf), _) if self.is_chain_good => format!(
                    "the chain is good, but the handshake isn't signed with the key of {leaf}"
                ),
                (Refusal::BadSignature, _, Some(top)) => format!(
                    "{top} claims to be issued by {}; is {roots_from} from an earlier run of the \
                 server?",
                    top.issuer
                ),
                (
                    Refusal::Revoked | Refusal::OcspResponse | Refusal::RevocationUnknown { .. },
                    ..,
                ) => self.revocation.clone()?,
                (Refusal::WrongPurpose { .. }, Some(leaf), _) => {
                    format!("it is the certificate of {leaf}")
                }
                _ => return None,
            },
        )
    }
}
