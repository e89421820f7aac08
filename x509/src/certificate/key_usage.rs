//! Which key usages a certificate may have for which key.

use const_oid::ObjectIdentifier;
use der::asn1::BitStringRef;
use der::flagset::FlagSet;
use der::{Decode, Tag};
use pq_keys::identifiers::CompositeIdentifier;
use pq_keys::{Algorithm, KemAlgorithm, SignatureAlgorithm};
use x509_cert::ext::pkix::KeyUsages;

/// Why a certificate's key usage was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyUsageError {
    /// A key that signs carries a usage for encryption or key agreement.
    #[error(
        "key usage {usage} is forbidden for a key of {algorithm}, which can only sign \
         (RFC 9881, RFC 9909)"
    )]
    ForbiddenForSignatureKey {
        /// The key's algorithm.
        algorithm: SignatureAlgorithm,
        /// The usages given, by their names in RFC 5280.
        usage: String,
    },
    /// A composite key, which signs, carries a usage for encryption or key agreement.
    #[error(
        "key usage {usage} is forbidden for a key of {composite}, which can only sign \
         (draft-ietf-lamps-pq-composite-sigs section 5.2)"
    )]
    ForbiddenForCompositeKey {
        /// The key's algorithm.
        composite: CompositeIdentifier,
        /// The usages given, by their names in RFC 5280.
        usage: String,
    },
    /// A key that signs carries none of the usages for signatures.
    #[error(
        "a key of {0} needs at least one of digitalSignature, nonRepudiation, keyCertSign and \
         cRLSign in its key usage (RFC 9881, RFC 9909)"
    )]
    NothingToSign(SignatureAlgorithm),
    /// A key for a KEM carries another usage than keyEncipherment.
    #[error(
        "key usage of a key of {algorithm} must be keyEncipherment and nothing else, not \
         {usage} (RFC 9935)"
    )]
    NotKeyEnciphermentOnly {
        /// The key's algorithm.
        algorithm: KemAlgorithm,
        /// The usages given, by their names in RFC 5280.
        usage: String,
    },
    /// A CA certificate for a key that cannot sign.
    #[error("a key of {0} cannot sign, so it cannot be the key of a CA")]
    KemKeyAsCa(KemAlgorithm),
    /// A CA certificate whose key usage lacks keyCertSign.
    #[error(
        "the key usage of a CA certificate must include keyCertSign (RFC 5280 section 4.2.1.3)"
    )]
    CaWithoutKeyCertSign,
    /// A CA that signs revocation lists whose key usage lacks cRLSign.
    #[error(
        "the key usage of a CA that signs revocation lists must include cRLSign (RFC 5280 section \
         4.2.1.3)"
    )]
    CaWithoutCrlSign,
    /// An end-entity certificate with keyCertSign.
    #[error(
        "keyCertSign is for CA certificates only (RFC 5280 section 4.2.1.9); issue a CA \
         certificate, or leave this usage out"
    )]
    KeyCertSignWithoutCa,
    /// An end entity that authenticates by signing, without digitalSignature.
    #[error(
        "the key usage of a certificate that authenticates in TLS 1.3 must include \
         digitalSignature (RFC 8446 section 4.4.2.2)"
    )]
    WithoutDigitalSignature,
    /// A signer of documents without digitalSignature and nonRepudiation.
    #[error(
        "the key usage of a certificate that signs documents must include digitalSignature or nonRepudiation (RFC \
         8550 section 4.4.2)"
    )]
    WithoutSigningDocuments,
    /// A KeyUsage extension with no usage in it.
    #[error("the key usage is empty; at least one usage must be set (RFC 5280 section 4.2.1.3)")]
    Empty,
}

/// Reads the value of a keyUsage extension. Bits for which RFC 5280 section 4.2.1.3 has no usage say nothing.
pub(crate) fn from_der(der: &[u8]) -> der::Result<FlagSet<KeyUsages>> {
    let bits = BitStringRef::from_der(der)?;
    let unused = (1 << bits.unused_bits()) - 1;
    if bits
        .raw_bytes()
        .last()
        .is_some_and(|last| last & unused != 0)
    {
        // X.690 section 11.2.1
        return Err(Tag::BitString.value_error().into());
    }
    let octets = bits.raw_bytes().iter().take(2).enumerate();
    // The first usage is the first bit of the string, and the lowest of the set.
    let usages = octets.fold(0, |usages, (place, octet)| {
        usages | u16::from(octet.reverse_bits()) << (8 * place)
    });
    Ok(FlagSet::new_truncated(usages))
}

/// The role that a certificate is issued for or used in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Role {
    Ca,
    EndEntity,
}

/// The usages of a certificate by default.
pub(crate) fn default_for(role: Role, algorithm: Option<Algorithm>) -> FlagSet<KeyUsages> {
    match (role, algorithm) {
        (Role::Ca, _) => KeyUsages::KeyCertSign | KeyUsages::CRLSign,
        (Role::EndEntity, Some(Algorithm::Kem(_))) => KeyUsages::KeyEncipherment.into(),
        (Role::EndEntity, _) => KeyUsages::DigitalSignature.into(),
    }
}

/// The rules that depend only on the algorithm of the key, which has this identifier.
pub(crate) fn check_key(
    algorithm: ObjectIdentifier,
    usages: FlagSet<KeyUsages>,
) -> Result<(), KeyUsageError> {
    let forbidden = usages & not_for_signatures();
    match CompositeIdentifier::from_oid(algorithm) {
        Some(composite) if !forbidden.is_empty() => Err(KeyUsageError::ForbiddenForCompositeKey {
            composite,
            usage: describe(forbidden),
        }),
        _ => check_algorithm(Algorithm::of_oid(algorithm), usages),
    }
}

/// The rules of RFC 9881, RFC 9909 and RFC 9935, which depend only on the key.
/// There are none for other algorithms.
pub(crate) fn check_algorithm(
    algorithm: Option<Algorithm>,
    usages: FlagSet<KeyUsages>,
) -> Result<(), KeyUsageError> {
    match algorithm {
        Some(Algorithm::Signature(algorithm)) => {
            let forbidden = usages & not_for_signatures();
            if !forbidden.is_empty() {
                return Err(KeyUsageError::ForbiddenForSignatureKey {
                    algorithm,
                    usage: describe(forbidden),
                });
            }
            if usages.is_empty() {
                return Err(KeyUsageError::NothingToSign(algorithm));
            }
            Ok(())
        }
        Some(Algorithm::Kem(algorithm)) if usages != KeyUsages::KeyEncipherment => {
            Err(KeyUsageError::NotKeyEnciphermentOnly {
                algorithm,
                usage: describe(usages),
            })
        }
        _ if usages.is_empty() => Err(KeyUsageError::Empty),
        _ => Ok(()),
    }
}

/// The rules of RFC 5280, which depend on the role.
pub(crate) fn check_role(role: Role, usages: FlagSet<KeyUsages>) -> Result<(), KeyUsageError> {
    match (role, usages.contains(KeyUsages::KeyCertSign)) {
        (Role::Ca, false) => Err(KeyUsageError::CaWithoutKeyCertSign),
        (Role::EndEntity, true) => Err(KeyUsageError::KeyCertSignWithoutCa),
        _ => Ok(()),
    }
}

/// The rule of RFC 5280 for a CA that signs revocation lists.
pub(crate) fn check_list_issuer(usages: FlagSet<KeyUsages>) -> Result<(), KeyUsageError> {
    match usages.contains(KeyUsages::CRLSign) {
        true => Ok(()),
        false => Err(KeyUsageError::CaWithoutCrlSign),
    }
}

/// The usages that a key that signs must not have.
fn not_for_signatures() -> FlagSet<KeyUsages> {
    KeyUsages::KeyEncipherment
        | KeyUsages::DataEncipherment
        | KeyUsages::KeyAgreement
        | KeyUsages::EncipherOnly
        | KeyUsages::DecipherOnly
}

fn describe(usages: FlagSet<KeyUsages>) -> String {
    let names: Vec<&str> = usages
        .into_iter()
        .map(|usage| match usage {
            KeyUsages::DigitalSignature => "digitalSignature",
            KeyUsages::NonRepudiation => "nonRepudiation",
            KeyUsages::KeyEncipherment => "keyEncipherment",
            KeyUsages::DataEncipherment => "dataEncipherment",
            KeyUsages::KeyAgreement => "keyAgreement",
            KeyUsages::KeyCertSign => "keyCertSign",
            KeyUsages::CRLSign => "cRLSign",
            KeyUsages::EncipherOnly => "encipherOnly",
            KeyUsages::DecipherOnly => "decipherOnly",
        })
        .collect();
    match names.is_empty() {
        true => "(none)".into(),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9881, RFC 9909 and RFC 9935, over all 512 values of the extension.
    #[test]
    fn algorithm_rules_over_every_value() {
        let may_sign = KeyUsages::DigitalSignature
            | KeyUsages::NonRepudiation
            | KeyUsages::KeyCertSign
            | KeyUsages::CRLSign;
        for bits in 0..512 {
            let usages = FlagSet::<KeyUsages>::new(bits).unwrap();
            for algorithm in Algorithm::ALL {
                let allowed = match algorithm {
                    Algorithm::Signature(_) => !usages.is_empty() && may_sign.contains(usages),
                    // The third bit is keyEncipherment.
                    Algorithm::Kem(_) => bits == 0b100,
                    other => panic!("no rule for {other}"),
                };
                assert_eq!(
                    check_algorithm(Some(*algorithm), usages).is_ok(),
                    allowed,
                    "{algorithm} {bits:09b}"
                );
            }
            assert_eq!(check_algorithm(None, usages).is_ok(), bits != 0);
        }
    }

    #[test]
    fn usages_of_any_length() {
        let digital_signature = Ok(KeyUsages::DigitalSignature.into());
        assert_eq!(from_der(&[3, 2, 7, 0x80]), digital_signature);
        // Four octets, and the unassigned bit 17.
        assert_eq!(from_der(&[3, 5, 0, 0x80, 0, 0, 0]), digital_signature);
        assert_eq!(from_der(&[3, 4, 6, 0x80, 0, 0x40]), digital_signature);
        let all = from_der(&[3, 3, 7, 0xff, 0x80]).unwrap();
        assert_eq!(all, FlagSet::full());
        assert_eq!(
            from_der(&[3, 3, 4, 0, 0xf0]).unwrap(),
            KeyUsages::DecipherOnly
        );
        assert_eq!(from_der(&[3, 1, 0]), Ok(FlagSet::default()));
        for bad in [&[3, 0][..], &[3, 2, 8, 0], &[4, 1, 0], &[3, 2, 7, 0x81]] {
            assert!(from_der(bad).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn composite_keys_sign_and_nothing_else() {
        let may_not = KeyUsages::KeyEncipherment
            | KeyUsages::DataEncipherment
            | KeyUsages::KeyAgreement
            | KeyUsages::EncipherOnly
            | KeyUsages::DecipherOnly;
        for composite in CompositeIdentifier::ALL {
            for bits in 1..512 {
                let usages = FlagSet::<KeyUsages>::new(bits).unwrap();
                let allowed = (usages & may_not).is_empty();
                assert_eq!(check_key(composite.oid(), usages).is_ok(), allowed);
            }
            let none = FlagSet::default();
            assert_eq!(check_key(composite.oid(), none), Err(KeyUsageError::Empty));
        }
        let composite = CompositeIdentifier::ALL[0].oid();
        let error = check_key(composite, KeyUsages::KeyAgreement.into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "key usage keyAgreement is forbidden for a key of MLDSA44-RSA2048-PSS-SHA256, which can only \
             sign (draft-ietf-lamps-pq-composite-sigs section 5.2)"
        );
    }

    #[test]
    fn defaults_obey_the_rules() {
        for algorithm in Algorithm::ALL {
            let usages = default_for(Role::EndEntity, Some(*algorithm));
            assert_eq!(check_algorithm(Some(*algorithm), usages), Ok(()));
            assert_eq!(check_role(Role::EndEntity, usages), Ok(()));
        }
        for algorithm in SignatureAlgorithm::ALL {
            let algorithm = Some(Algorithm::from(*algorithm));
            let usages = default_for(Role::Ca, algorithm);
            assert_eq!(check_algorithm(algorithm, usages), Ok(()));
            assert_eq!(check_role(Role::Ca, usages), Ok(()));
        }
    }

    #[test]
    fn messages_name_the_usages() {
        let error = check_algorithm(
            Some(SignatureAlgorithm::MlDsa65.into()),
            KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment | KeyUsages::KeyAgreement,
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "key usage keyEncipherment, keyAgreement is forbidden for a key of ML-DSA-65, \
             which can only sign (RFC 9881, RFC 9909)"
        );
    }
}
