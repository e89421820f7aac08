//! Explains why TLS failed: the refusal, what the server sent, and which option of this program helps.

use std::fmt;

use rustls_pq::Refusal;

use crate::chain::CertificateSummary;

/// A failure of TLS, and what is known about its circumstances.
#[derive(Debug)]
pub(crate) struct Diagnosis {
    pub(crate) refusal: Refusal,
    /// The server's host and port.
    pub(crate) server: String,
    /// The names of the roots.
    pub(crate) roots: String,
    /// Where the roots are from.
    pub(crate) roots_from: String,
    /// What the server sent, as far as it got.
    pub(crate) chain: Vec<CertificateSummary>,
    /// What the OCSP response or revocation lists say about it, if it was refused because of them.
    pub(crate) revocation: Option<String>,
    /// Whether the chain was verified before things went wrong.
    pub(crate) is_chain_good: bool,
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
    /// What this program knows besides the refusal, and which of its options help.
    fn circumstances(&self) -> Option<String> {
        let roots_from = &self.roots_from;
        Some(
            match (&self.refusal, self.chain.first(), self.chain.last()) {
                (Refusal::UnknownIssuer, _, Some(top)) => format!(
                    "{top} was issued by {}, and the roots of {roots_from} are {}; name another file \
                 with --ca",
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
                (Refusal::Revoked | Refusal::OcspResponse, ..) => self.revocation.clone()?,
                (Refusal::RevocationUnknown { .. }, ..) => {
                    let advice = "--crl names files with lists; with --crl-leaf-only, the list of the CA \
                                  that issued the server's certificate is enough";
                    let known = self.revocation.iter().map(String::as_str);
                    known.chain([advice]).collect::<Vec<_>>().join("; ")
                }
                (Refusal::WrongName { .. }, ..) => "--server-name says which name to expect".into(),
                (Refusal::WrongPurpose { .. }, Some(leaf), _) => format!("it is the certificate of {leaf}"),
                (Refusal::NothingInCommon { .. }, ..) => {
                    "--groups and --profile say what to offer, and --mixed-chains also offers signatures \
                     of another kind than the roots' keys"
                        .into()
                }
                (Refusal::ClientCertificateRequired, ..) => {
                    "name its files with --client-cert and --client-key".into()
                }
                (Refusal::CertificateRefused { .. }, ..) => {
                    "name the files of another one with --client-cert and --client-key".into()
                }
                _ => return None,
            },
        )
    }
}
