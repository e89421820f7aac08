//! What a ledger knows of a certificate.

use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::{CrlReason, pem};

use super::serial_number::SerialNumber;

/// A certificate that is to be kept.
#[derive(Clone, Debug)]
pub struct NewEntry<'a> {
    /// What it says, and how it came to be.
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

    /// [`to_pem`](Self::to_pem) behind what a text already has, such as other certificates.
    pub fn append_pem(&self, text: &mut String) {
        pem::append(text, "CERTIFICATE", &self.certificate);
    }
}

/// What is known of a certificate that was kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// What it says, and how it came to be. This never changes.
    pub issued: Issued,
    /// Whether it was revoked.
    pub state: State,
}

impl Entry {
    /// Whether the certificate's time is over: `now` is after its last second.
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

/// What a certificate says, and how it came to be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Issued {
    /// Its serial number, which no other of the ledger has.
    pub serial_number: SerialNumber,
    /// The CA's name for the key that signed it, such as `root` or `issuing`. Revocation lists are
    /// made for each.
    pub issuer: String,
    /// Its subject, for people to read.
    pub subject: String,
    /// Its DNS names and IP addresses, as text.
    pub names: Vec<String>,
    /// The first second in which it is valid.
    pub not_before: UnixTime,
    /// The last second in which it is valid.
    pub not_after: UnixTime,
    /// The policy's name for what it is used for, such as `server`.
    pub profile: String,
    /// The algorithm of the key in it, such as `ML-DSA-65`.
    pub key_algorithm: String,
    /// Who asked for it.
    pub by: String,
    /// When it was issued.
    pub at: UnixTime,
}

/// Whether a certificate was revoked. That it expired is a matter of time, and not of this: see
/// [`Entry::is_expired`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum State {
    /// It was not, or it was on hold and is no longer.
    Valid,
    /// It was, or it is on hold.
    Revoked(Revocation),
}

/// That a certificate no longer holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Revocation {
    /// Since when.
    pub at: UnixTime,
    /// Why (RFC 5280 section 5.3.1).
    pub reason: CrlReason,
    /// Who said so.
    pub by: String,
}

impl Revocation {
    /// Whether this can be taken back, or replaced by another reason: a certificate on hold may be
    /// released, and nothing else (RFC 5280 section 5.3.1).
    pub fn is_hold(&self) -> bool {
        self.reason == CrlReason::CertificateHold
    }
}
