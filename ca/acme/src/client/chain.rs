//! Whether a chain that came is for the key and the names that were ordered, and belongs together.

use pq_keys::SubjectKey;
use pq_x509::certificate::{AlternativeName, Certificate, CertificateError, SignatureError};
use pq_x509::verification::classical_algorithms;
use thiserror::Error;

use crate::identifier::Identifier;
use crate::objects::Time;

/// Why a chain is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// It can't be read.
    #[error("{0}")]
    Read(CertificateError),
    /// It is for another key.
    #[error("it is for another key")]
    OtherKey,
    /// It is not for one of the names.
    #[error("it is not for {0}")]
    LacksName(Identifier),
    /// It is over.
    #[error("it expired at {0}")]
    Expired(Time),
    /// A certificate was not issued by the next one.
    #[error("{issued} was not issued by what follows it in the chain, {by}: {why}")]
    NotIssuedBy {
        /// The certificate.
        issued: String,
        /// The next one.
        by: String,
        /// What is wrong.
        why: String,
    },
}

/// The first of some names that a certificate is not for.
pub fn lacking_name<'n>(leaf: &Certificate, names: &'n [Identifier]) -> Option<&'n Identifier> {
    let has = |wanted: &AlternativeName| {
        leaf.alternative_names().any(|name| match (&name, wanted) {
            (AlternativeName::Dns(name), AlternativeName::Dns(wanted)) => {
                name.eq_ignore_ascii_case(wanted)
            }
            (name, wanted) => name == wanted,
        })
    };
    names.iter().find(|name| !has(&(*name).clone().into()))
}

/// Reads a chain, and checks it.
pub(super) fn check(
    pem: &[u8],
    key: &(impl SubjectKey + ?Sized),
    names: &[Identifier],
    now: Time,
) -> Result<Vec<Certificate>, ChainError> {
    let chain = Certificate::chain_from_pem(pem).map_err(ChainError::Read)?;
    let [leaf, ..] = chain.as_slice() else {
        return Err(ChainError::OtherKey);
    };
    if leaf.spki() != key.spki() {
        return Err(ChainError::OtherKey);
    }
    if let Some(lacking) = lacking_name(leaf, names) {
        return Err(ChainError::LacksName(lacking.clone()));
    }
    let end = Time::from(leaf.not_after());
    if end <= now {
        return Err(ChainError::Expired(end));
    }
    for pair in chain.windows(2) {
        let (issued, by) = (&pair[0], &pair[1]);
        let not = |why: String| ChainError::NotIssuedBy {
            issued: issued.describe_subject(),
            by: by.describe_subject(),
            why,
        };
        if issued.issuer_der() != by.subject_der() {
            return Err(not("it names another issuer".into()));
        }
        match issued.verify_signature(by, classical_algorithms().unwrap_or_default()) {
            // What can't be verified here may be verified by others.
            Ok(())
            | Err(
                SignatureError::UnsupportedAlgorithm(_)
                | SignatureError::UnsupportedParameters { .. },
            ) => {}
            Err(error) => return Err(not(error.to_string())),
        }
    }
    Ok(chain)
}
