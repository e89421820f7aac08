//! A ledger's data about a certificate.

use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::{CrlReason, pem};

use super::serial_number::SerialNumber;

/// A certificate that is to be recorded.
#[derive(Clone, Debug)]
pub struct NewEntry<'a> {
    /// What the certificate says, and who ordered it when.
    pub issued: Issued,
    /// The certificate itself.
    pub certificate: CertificateDer<'a>,
}

impl NewEntry<'_> {
    /// The certificate as PEM.
    pub fn to_pem(&self) -> String {
        let mut text = String::new();
        self.append_pem(&mut text);
        text
    }

    /// Appends the result of [`to_pem`](Self::to_pem) to a text, for example after other certificates.
    pub fn append_pem(&self, text: &mut String) {
        pem::append(text, "CERTIFICATE", &self.certificate);
    }
}

/// A ledger's entry for a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// What the certificate says, and who ordered it when. This never changes.
    pub issued: Issued,
    /// Whether the certificate is revoked.
    pub state: State,
}

impl Entry {
    /// Whether the certificate has expired: `now` is after its last second.
    pub fn is_expired(&self, now: UnixTime) -> bool {
        self.issued.not_after < now
    }

    /// The revocation, if there is one.
    pub fn revocation(&self) -> Option<&Revocation> {
        match &self.state {
            State::Valid => None,
            State::Revoked(revocation) => Some(revocation),
        }
    }
}

/// What a certificate says, and who ordered it when.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Issued {
    /// The serial number, unique in the ledger.
    pub serial_number: SerialNumber,
    /// The CA's name for the key that signed the certificate, such as `root` or `issuing`. Each has its
    /// own revocation lists.
    pub issuer: String,
    /// The subject, for people to read.
    pub subject: String,
    /// The alternative names, such as DNS names and IP addresses, as text.
    pub names: Vec<String>,
    /// The first second in which the certificate is valid.
    pub not_before: UnixTime,
    /// The last second in which the certificate is valid.
    pub not_after: UnixTime,
    /// The profile, which is the policy's name for the certificate's use, such as `server`.
    pub profile: String,
    /// The algorithm of the certified key, such as `ML-DSA-65`.
    pub key_algorithm: String,
    /// Who ordered the certificate.
    pub by: String,
    /// When the certificate was issued.
    pub at: UnixTime,
}

/// Whether a certificate is revoked. For expiry, see [`Entry::is_expired`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    /// The certificate was not revoked, or was released from a hold.
    Valid,
    /// The certificate was revoked, or is on hold.
    Revoked(Revocation),
}

/// A revocation of a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Revocation {
    /// The time of the revocation.
    pub at: UnixTime,
    /// The reason (RFC 5280 section 5.3.1).
    pub reason: CrlReason,
    /// Who revoked the certificate.
    pub by: String,
}

impl Revocation {
    /// Whether this is a hold. Only a hold can be released, or replaced by another reason (RFC 5280
    /// section 5.3.1).
    pub fn is_hold(&self) -> bool {
        self.reason == CrlReason::CertificateHold
    }
}
