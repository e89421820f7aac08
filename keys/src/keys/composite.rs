//! The table of Composite ML-DSA's identifiers, all 18 of the draft. Nothing here signs or verifies.

use core::fmt;

use const_oid::ObjectIdentifier;
use pq_core::slh_dsa::PreHash;

use super::algorithm::SignatureAlgorithm;

/// An identifier of Composite ML-DSA
/// ([draft-ietf-lamps-pq-composite-sigs-19](https://datatracker.ietf.org/doc/draft-ietf-lamps-pq-composite-sigs/19/)),
/// of keys and signatures alike.
///
/// All readers know their names, and that their keys are for signatures only. The keys themselves need a
/// classical algorithm, so they are behind the feature `composite`, in the module of that name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CompositeIdentifier {
    /// Below PKIX's `alg`, 1.3.6.1.5.5.7.6.
    arc: u8,
    name: &'static str,
}

macro_rules! identifiers {
    ($($arc:literal $name:literal,)+) => {
        impl CompositeIdentifier {
            /// Every identifier.
            pub const ALL: &'static [Self] = &[$(Self { arc: $arc, name: $name }),+];

            /// The identifier with this arc below PKIX's `alg`, 1.3.6.1.5.5.7.6.
            pub const fn from_arc(arc: u8) -> Option<Self> {
                match arc {
                    $($arc => Some(Self { arc, name: $name }),)+
                    _ => None,
                }
            }
        }
    };
}

identifiers! {
    37 "MLDSA44-RSA2048-PSS-SHA256",
    38 "MLDSA44-RSA2048-PKCS15-SHA256",
    39 "MLDSA44-Ed25519-SHA512",
    40 "MLDSA44-ECDSA-P256-SHA256",
    41 "MLDSA65-RSA3072-PSS-SHA512",
    42 "MLDSA65-RSA3072-PKCS15-SHA512",
    43 "MLDSA65-RSA4096-PSS-SHA512",
    44 "MLDSA65-RSA4096-PKCS15-SHA512",
    45 "MLDSA65-ECDSA-P256-SHA512",
    46 "MLDSA65-ECDSA-P384-SHA512",
    47 "MLDSA65-ECDSA-brainpoolP256r1-SHA512",
    48 "MLDSA65-Ed25519-SHA512",
    49 "MLDSA87-ECDSA-P384-SHA512",
    50 "MLDSA87-ECDSA-brainpoolP384r1-SHA512",
    51 "MLDSA87-Ed448-SHAKE256",
    52 "MLDSA87-RSA3072-PSS-SHA512",
    53 "MLDSA87-RSA4096-PSS-SHA512",
    54 "MLDSA87-ECDSA-P521-SHA512",
}

impl CompositeIdentifier {
    /// The identifier with this object identifier.
    pub fn from_oid(oid: ObjectIdentifier) -> Option<Self> {
        match oid.as_bytes() {
            [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, arc] => Self::from_arc(*arc),
            _ => None,
        }
    }

    /// The draft's name without `id-`, such as `MLDSA65-ECDSA-P256-SHA512`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The hash function of the message (PH of the draft), which ends the name. Both halves sign the hash.
    /// CMS hashes the content with the same function (draft-ietf-lamps-cms-composite-sigs).
    pub const fn pre_hash(self) -> PreHash {
        match self.arc {
            37 | 38 | 40 => PreHash::Sha256,
            51 => PreHash::Shake256,
            _ => PreHash::Sha512,
        }
    }

    /// The algorithm of the first half. Its key stands in front of the other half's (section 4.1 of the draft).
    pub const fn ml_dsa(self) -> SignatureAlgorithm {
        match self.arc {
            ..=40 => SignatureAlgorithm::MlDsa44,
            41..=48 => SignatureAlgorithm::MlDsa65,
            49.. => SignatureAlgorithm::MlDsa87,
        }
    }

    /// The arc below PKIX's `alg`, 1.3.6.1.5.5.7.6.
    pub const fn arc(self) -> u8 {
        self.arc
    }

    /// The object identifier.
    pub fn oid(self) -> ObjectIdentifier {
        let bytes = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x06, self.arc];
        ObjectIdentifier::from_bytes(&bytes).expect("its arcs are as X.690 wants them")
    }
}

impl fmt::Display for CompositeIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_found_again() {
        let parent = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6");
        for (arc, identifier) in (37..=54).zip(CompositeIdentifier::ALL) {
            assert_eq!(CompositeIdentifier::from_arc(arc), Some(*identifier));
            assert_eq!(identifier.oid(), parent.push_arc(arc.into()).unwrap());
            let found = CompositeIdentifier::from_oid(identifier.oid());
            assert_eq!(found, Some(*identifier));
            let ml_dsa = identifier.ml_dsa().to_string().replace("ML-DSA-", "MLDSA");
            assert!(identifier.name().starts_with(&ml_dsa), "{identifier}");
            let hash = identifier.name().rsplit('-').next().unwrap();
            assert_eq!(identifier.pre_hash().name().replace('-', ""), hash);
        }
        assert_eq!(CompositeIdentifier::ALL.len(), 18);
        for other in [
            "1.3.6.1.5.5.7.6.36",
            "1.3.6.1.5.5.7.6.55",
            "1.3.6.1.5.5.7.3.37",
        ] {
            let other = ObjectIdentifier::new_unwrap(other);
            assert_eq!(CompositeIdentifier::from_oid(other), None);
        }
    }
}
