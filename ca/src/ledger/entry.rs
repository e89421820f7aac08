//! A ledger's data about a certificate.

use pq_x509::keys::encoding::pem;
use pq_x509::pki_types::{CertificateDer, UnixTime};
use pq_x509::revocation::CrlReason;

use super::KeyHash;
use super::decision::{Evidence, PolicyId};
use super::request_id::RequestId;
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

/// What goes into a ledger about a certificate that was issued earlier, and that the ledger lacks.
#[derive(Clone, Debug)]
pub struct AdoptedEntry<'a> {
    /// The certificate.
    pub entry: NewEntry<'a>,
    /// Its revocation, if it is not to be valid.
    pub revocation: Option<Revocation>,
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
///
/// `pq_serving::demonstration::Issued` is something else: a chain with its private key, to try a server with.
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
    /// The digest of the certified key.
    pub key: KeyHash,
    /// The digests of the halves of a composite key, as [`KeyHash::halves_of`] returns them. Other keys have none.
    pub halves: Vec<KeyHash>,
    /// Who ordered the certificate.
    pub by: String,
    /// When the certificate was issued.
    pub at: UnixTime,
    /// What it was issued for, if somebody may ask for the same again: unique in the ledger.
    pub request: Option<RequestId>,
    /// Which policy permitted it. Entries of earlier versions don't say so, nor those of a CA's own keys.
    pub policy: Option<PolicyId>,
    /// On what evidence, if whoever asked for it gave any.
    pub evidence: Option<Evidence>,
}

impl Issued {
    /// The digests of the certified key and of its halves.
    pub fn keys(&self) -> impl Iterator<Item = KeyHash> {
        [self.key].into_iter().chain(self.halves.iter().copied())
    }
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
///
/// `pq_serving::Revocation` is something else: the lists by which peers are checked.
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
    /// Whether this is a hold. Only a hold can be released (RFC 5280 section 5.3.1).
    pub fn is_hold(&self) -> bool {
        self.reason == CrlReason::CertificateHold
    }

    /// Whether others may know the private key. Then the key is never certified again.
    pub fn is_compromise(&self) -> bool {
        matches!(
            self.reason,
            CrlReason::KeyCompromise | CrlReason::CaCompromise | CrlReason::AaCompromise
        )
    }

    /// What a certificate's revocation becomes when this one comes after it, or `None` if it stays as it is.
    ///
    /// A hold becomes final. Any other reason gives way to a compromise of the key, as the CA/Browser Forum asks
    /// (Baseline Requirements, section 7.2.2). The certificate was invalid since the earlier of the two times: a
    /// compromise may turn out to be older than was known, and the clock may have run ahead at the first revocation.
    pub fn after(&self, earlier: &Self) -> Option<Self> {
        let becomes_final = earlier.is_hold() && !self.is_hold();
        let is_found_compromised = self.is_compromise() && !earlier.is_compromise();
        let has_new_reason = becomes_final || is_found_compromised;
        (has_new_reason || self.at < earlier.at).then(|| Self {
            at: self.at.min(earlier.at),
            reason: match has_new_reason {
                true => self.reason,
                false => earlier.reason,
            },
            by: self.by.clone(),
        })
    }

    /// What this revocation does to a certificate: the revocation that it has from then on, if that is another one, and what
    /// this changes.
    pub(super) fn applied_to(&self, entry: &Entry) -> (Option<Self>, Change) {
        let new = self.for_certificate(&entry.issued);
        match entry.revocation() {
            None => (Some(new), Change::Revoked),
            Some(earlier) => match new.after(earlier) {
                Some(new) => (Some(new), Change::Updated(earlier.clone())),
                None => (None, Change::Unchanged),
            },
        }
    }

    /// This revocation, at the time that it gets for a certificate: not before the certificate was valid, as from a
    /// clock that was set back. It was revoked from its beginning then.
    pub fn for_certificate(&self, issued: &Issued) -> Self {
        Self {
            at: self.at.max(issued.not_before.min(issued.at)),
            ..self.clone()
        }
    }
}

/// What a revocation did to a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Revoked {
    /// The certificate's entry, as it is now.
    pub entry: Entry,
    /// What was changed.
    pub change: Change,
}

/// What a revocation changed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// The certificate was valid, and is revoked now.
    Revoked,
    /// The certificate was revoked already, and the new revocation took the place of this one, as
    /// [`Revocation::after`] says.
    Updated(Revocation),
    /// The certificate was revoked already, and stays as it was: the reason that was given now does not take the
    /// place of the earlier one.
    Unchanged,
}
