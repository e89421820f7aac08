//! The errors of a CA's calls: refusals by the policy, failures of the ledger, and the CA's own rules, such as that a
//! revoked certificate is not renewed.

use pq_keys::encoding::rfc3339;
use pq_x509::issuing::IssueError;
use pq_x509::keys::KeyError;
use pq_x509::revocation::CrlReason;

use crate::ledger::{LedgerError, NoRandomness, Revocation, SerialNumber};
use crate::policy::Forbidden;

/// Why a CA did not do what was asked. Nothing was issued or revoked, unless
/// [`changed_nothing`](Self::changed_nothing) says that this is not certain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// The policy forbids it.
    #[error("the policy forbids this certificate:\n{0}")]
    Forbidden(Forbidden),
    /// The policy permits a name that the CA's own certificate does not permit.
    #[error(
        "the CA's own certificate does not permit {name}, so nobody would accept a certificate for that \
         name, whatever the policy says; ask a CA whose name constraints permit it"
    )]
    OutsideConstraints {
        /// The name that is not permitted.
        name: String,
    },
    /// The policy permits a profile that the CA's own certificate does not permit.
    #[error(
        "the CA's own certificate does not permit the purposes of the profile \"{profile}\", by its extended key usage, so \
         hardly anybody would accept such a certificate; name another profile, or have the CA certified again without the extension"
    )]
    OutsidePurposes {
        /// The profile.
        profile: &'static str,
    },
    /// The certificate can't be made.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The key of a certificate can't be read.
    #[error("the key: {0}")]
    Key(KeyError),
    /// The ledger failed, or refused it: the certificate is another issuer's, for example.
    #[error(transparent)]
    Ledger(LedgerError),
    /// A certificate that was revoked is not renewed.
    #[error(
        "the certificate with serial number {number} was revoked ({}), so it is not renewed; order a \
         new one, for a new key if the old one may be known to others",
        pq_x509::revocation::reason_name(*reason)
    )]
    Revoked {
        /// Its serial number.
        number: SerialNumber,
        /// Why it was revoked.
        reason: CrlReason,
    },
    /// Another CA was to be certified whose certificate was revoked, or is on hold: that would get round it.
    #[error(
        "the certificate of {subject} with serial number {number} {} since {} ({}, by {}), and another one would get round \
         that: {}ask who did it; --despite-revocation certifies the CA all the same",
        match .revocation.is_hold() { true => "is on hold", false => "is revoked" },
        rfc3339(.revocation.at),
        pq_x509::revocation::reason_name(.revocation.reason),
        .revocation.by,
        match .revocation.is_hold() {
            true => format!("release it (\"pqtls ca reinstate {number}\"), or "),
            false => String::new(),
        }
    )]
    Barred {
        /// The other CA.
        subject: String,
        /// The number of its certificate.
        number: SerialNumber,
        /// Its revocation or hold.
        revocation: Revocation,
    },
    /// The certificate is a CA's, which can't be renewed in this way.
    #[error(
        "the certificate with serial number {0} belongs to a CA; to have a new key with a \
         new certificate issue, roll over to one (\"pqtls ca rollover\")"
    )]
    OfACa(SerialNumber),
}

impl AuthorityError {
    /// Whether nothing was issued or revoked for certain. After a failure of the ledger's disk, for example, the
    /// ledger may have the certificate nevertheless.
    pub fn changed_nothing(&self) -> bool {
        match self {
            Self::Ledger(error) => error.changed_nothing(),
            _ => true,
        }
    }
}

impl From<Forbidden> for AuthorityError {
    fn from(cause: Forbidden) -> Self {
        Self::Forbidden(cause)
    }
}

impl From<KeyError> for AuthorityError {
    fn from(cause: KeyError) -> Self {
        Self::Key(cause)
    }
}

impl From<LedgerError> for AuthorityError {
    fn from(cause: LedgerError) -> Self {
        match cause {
            LedgerError::Revoked { number, reason } => Self::Revoked { number, reason },
            cause => Self::Ledger(cause),
        }
    }
}

impl From<NoRandomness> for AuthorityError {
    fn from(error: NoRandomness) -> Self {
        Self::Ledger(error.into())
    }
}
