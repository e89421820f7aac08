//! Which certificate issued which: certificates put in order, from the end entity's to the highest
//! CA's.
//!
//! It says nothing of trust, time or purpose: see [`ChainValidator`](pq_x509::validation::ChainValidator).
//!
//! This room uses [`keys`](crate::keys) and [`words`](crate::words).

use pq_x509::certificate::{Certificate, SignatureError};

use crate::keys::other_verification;
use crate::words::of_signature_error;

/// The certificates in their order as a chain: each is issued by the one after it, and signed with
/// its key. Copies of a certificate are left out.
pub(crate) fn in_order(certificates: &[Certificate]) -> Result<Vec<&Certificate>, NotAChain> {
    // Whoever made the file decides how long this takes.
    if certificates.len() > MAX_CERTIFICATES {
        return Err(NotAChain::TooMany(certificates.len()));
    }
    let mut rest: Vec<&Certificate> = Vec::new();
    for certificate in certificates {
        if !rest.contains(&certificate) {
            rest.push(certificate);
        }
    }
    let mut chain = Vec::new();
    let mut next = Some(lowest(&rest)?);
    while let Some(at) = next {
        let certificate = rest.remove(at);
        chain.push(certificate);
        next = match is_self_signed(certificate) {
            true => None,
            false => issuer_of(certificate, &rest)?,
        };
    }
    match (chain.last(), rest.first()) {
        (Some(last), Some(extra)) => Err(NotAChain::Extra {
            extra: extra.describe_subject(),
            last: last.describe_subject(),
            issuer: last.describe_issuer(),
        }),
        _ => Ok(chain),
    }
}

/// Several times as many as webpki follows.
const MAX_CERTIFICATES: usize = 32;

/// Whether the certificate's own key signed it, as that of a root does. A certificate of a CA's new key that the old one
/// signed has one name twice, too.
pub(crate) fn is_self_signed(certificate: &Certificate) -> bool {
    certificate.is_self_signed(other_verification())
}

/// The place of the certificate that issued none of the others.
fn lowest(certificates: &[&Certificate]) -> Result<usize, NotAChain> {
    // Of the other name alone, a root has no issuer but itself, and a CA that changed its key has issued with one of both.
    let has_issued = |one: &Certificate, other: &Certificate| {
        let is_link = other.issuer() == other.subject();
        other.issuer() == one.subject()
            && (!is_link || other.verify_signature(one, other_verification()).is_ok())
    };
    let issued_another = |one: &Certificate| {
        let mut others = certificates.iter().filter(|other| **other != one);
        others.any(|other| has_issued(one, other))
    };
    let mut found = (0..certificates.len()).filter(|at| !issued_another(certificates[*at]));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(NotAChain::TwoEnds {
            one: certificates[one].describe_subject(),
            other: certificates[other].describe_subject(),
        }),
        (None, _) => Err(NotAChain::Circle),
    }
}

/// The place of the certificate whose key signed this one, if any has the issuer's name.
fn issuer_of(
    certificate: &Certificate,
    candidates: &[&Certificate],
) -> Result<Option<usize>, NotAChain> {
    let mut refused = None;
    for (at, candidate) in candidates.iter().enumerate() {
        if candidate.subject() == certificate.issuer() {
            match certificate.verify_signature(candidate, other_verification()) {
                Ok(()) => return Ok(Some(at)),
                Err(error) => refused = Some(error),
            }
        }
    }
    let Some(error) = refused else {
        return Ok(None);
    };
    let (subject, issuer) = (
        certificate.describe_subject(),
        certificate.describe_issuer(),
    );
    let reason = of_signature_error(&error);
    Err(match error {
        SignatureError::UnsupportedAlgorithm(_) | SignatureError::UnsupportedParameters { .. } => {
            NotAChain::Unverifiable {
                subject,
                issuer,
                reason,
            }
        }
        _ => NotAChain::Signature {
            subject,
            issuer,
            reason,
        },
    })
}

/// Why certificates are not one chain.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAChain {
    #[error("there are {0}, and no chain has more than {MAX_CERTIFICATES}")]
    TooMany(usize),
    #[error("both {one} and {other} issued none of the others; a chain has one lowest certificate")]
    TwoEnds { one: String, other: String },
    #[error("each of them issued another one of them; a chain has a lowest certificate")]
    Circle,
    #[error(
        "{extra} is not part of it: the chain ends with {last}, which {issuer} issued; leave {extra} out, \
         or add the certificates between"
    )]
    Extra {
        extra: String,
        last: String,
        issuer: String,
    },
    #[error("{subject} is not signed with the key of {issuer}: {reason}")]
    Signature {
        subject: String,
        issuer: String,
        reason: String,
    },
    #[error("whether {issuer} issued {subject} can't be told: {reason}")]
    Unverifiable {
        subject: String,
        issuer: String,
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use pq_keys::{SignatureAlgorithm, SigningKey};
    use pq_x509::issuing::{CertificateBuilder, Issuer};

    use super::*;

    fn key() -> SigningKey {
        SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
    }

    fn root(name: &str) -> Issuer<SigningKey> {
        Issuer::self_signed(CertificateBuilder::ca(name), key()).unwrap()
    }

    #[test]
    fn certificates_in_any_order_become_a_chain() {
        let root = root("Root");
        let ca = root.issue_ca(CertificateBuilder::ca("CA"), key()).unwrap();
        let leaf = ca
            .issue(CertificateBuilder::server().dns_name("a.example"), &key())
            .unwrap();
        let [root, ca] = [root.certificate(), ca.certificate()].map(Clone::clone);
        let chain = [leaf.clone(), ca.clone(), root.clone()];
        for mixed in [
            vec![leaf.clone(), ca.clone(), root.clone()],
            vec![root.clone(), leaf.clone(), ca.clone()],
            vec![ca.clone(), root.clone(), leaf.clone(), ca.clone()],
        ] {
            let ordered = in_order(&mixed).unwrap();
            assert!(ordered.into_iter().eq(&chain));
        }
        assert_eq!(in_order(core::slice::from_ref(&root)).unwrap(), [&root]);
        assert!(matches!(
            in_order(&[leaf.clone(), root]),
            Err(NotAChain::TwoEnds { .. })
        ));
        assert!(matches!(
            in_order(&vec![leaf.clone(); MAX_CERTIFICATES + 1]),
            Err(NotAChain::TooMany(_))
        ));
        let other = self::root("Other").certificate().clone();
        assert!(matches!(
            in_order(&[leaf, ca, other]),
            Err(NotAChain::TwoEnds { .. })
        ));
    }

    /// A CA that changes its key certifies the new one with the old one (RFC 4210 section 4.4).
    #[test]
    fn a_new_key_that_the_old_one_certified_is_below_the_root() {
        let root = root("Root");
        let new = root
            .issue_ca(CertificateBuilder::ca("Root"), key())
            .unwrap();
        let leaf = CertificateBuilder::server().dns_name("a.example");
        let leaf = new.issue(leaf, &key()).unwrap();
        let [root, new] = [root.certificate(), new.certificate()].map(Clone::clone);
        assert_eq!(new.subject(), new.issuer());
        assert!(is_self_signed(&root) && !is_self_signed(&new));
        for mixed in [
            [root.clone(), new.clone(), leaf.clone()],
            [new.clone(), leaf.clone(), root.clone()],
        ] {
            assert_eq!(in_order(&mixed).unwrap(), [&leaf, &new, &root]);
        }
        assert_eq!(
            in_order(&[root.clone(), new.clone()]).unwrap(),
            [&new, &root]
        );
        assert_eq!(
            in_order(&[leaf.clone(), new.clone()]).unwrap(),
            [&leaf, &new]
        );
    }

    #[test]
    fn a_name_alone_issues_nothing() {
        let leaf = root("CA")
            .issue(CertificateBuilder::client().common_name("a"), &key())
            .unwrap();
        let namesake = root("CA").certificate().clone();
        assert!(matches!(
            in_order(&[leaf, namesake]),
            Err(NotAChain::Signature { .. })
        ));
    }
}
