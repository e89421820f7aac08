//! What a client wants.

use core::time::Duration;

use pq_keys::Signer;
use pq_x509::request::{CertificateRequest, RequestError};

use crate::identifier::Identifier;
use crate::jws::external_account::MacAlgorithm;
use crate::objects::ChallengeKind;

/// What a client wants, of which account.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Wanted {
    /// What the certificate is to be for.
    pub names: Vec<Identifier>,
    /// The request for it, by its key.
    pub csr: CertificateRequest,
    /// The kinds of challenges that can be shown, the best first.
    pub challenges: Vec<ChallengeKind>,
    /// The certificate's profile.
    pub profile: Option<String>,
    /// The [identifier](crate::objects::CertificateId) of the certificate that the new one replaces.
    pub replaces: Option<String>,
    /// Where the account's holder can be reached, such as `mailto:a@example.org`.
    pub contact: Vec<String>,
    /// Whether the holder agrees to the terms of service.
    pub agrees: bool,
    /// Whether the key had an account before. If there is none, one is made.
    pub has_account: bool,
    /// What binds the account to one that the CA knows.
    pub external: Option<ExternalKey>,
    /// How long to wait for validation, and for the certificate, in all.
    pub patience: Duration,
}

impl Wanted {
    /// A certificate for these names, with everything else as the CA has it, by an account without a contact, within ten
    /// minutes.
    pub fn new(
        names: Vec<Identifier>,
        csr: CertificateRequest,
        challenges: Vec<ChallengeKind>,
    ) -> Self {
        Self {
            names,
            csr,
            challenges,
            profile: None,
            replaces: None,
            contact: Vec::new(),
            agrees: false,
            has_account: false,
            external: None,
            patience: Duration::from_secs(600),
        }
    }
}

/// A request for a certificate for these names, by its key.
///
/// # Errors
///
/// If the key doesn't sign.
pub fn request_for(
    names: &[Identifier],
    key: &(impl Signer + ?Sized),
) -> Result<CertificateRequest, RequestError> {
    let builder = CertificateRequest::builder();
    let builder = names.iter().fold(builder, |builder, name| {
        builder.alternative_name(name.clone().into())
    });
    builder.sign(key)
}

/// A key that a CA gave to its customer, for new accounts (RFC 8555, section 7.3.4).
#[derive(Clone)]
pub struct ExternalKey {
    /// Its identifier.
    pub kid: String,
    /// The key.
    pub key: Vec<u8>,
    /// The algorithm.
    pub algorithm: MacAlgorithm,
}

impl core::fmt::Debug for ExternalKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ExternalKey")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}
