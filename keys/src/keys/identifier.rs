//! Finds the algorithm of a key in DER.

use const_oid::ObjectIdentifier;
use der::{Decode, Header, SliceReader, Tag};
use spki::AlgorithmIdentifierRef;

use super::algorithm::{Algorithm, PreHashRow, SignatureAlgorithm};
use super::error::KeyError;

impl Algorithm {
    /// The algorithm that an AlgorithmIdentifier names.
    ///
    /// # Errors
    ///
    /// [`KeyError::UnsupportedAlgorithm`] for an unknown object identifier, such as those of
    /// HashSLH-DSA, [`KeyError::HashMlDsa`] for HashML-DSA's, and
    /// [`KeyError::ParametersPresent`] if there are parameters: all algorithms here
    /// demand that they be absent, and NULL is not absent (RFC 9881, RFC 9909,
    /// RFC 9935).
    pub fn from_identifier(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, KeyError> {
        match Self::of_key(identifier)? {
            (algorithm, None) => Ok(algorithm),
            (_, Some(_)) => Err(KeyError::UnsupportedAlgorithm(identifier.oid)),
        }
    }

    /// The algorithm that the AlgorithmIdentifier of a key names, and for a key of HashSLH-DSA
    /// also the row of HashSLH-DSA.
    pub(crate) fn of_key(
        identifier: &AlgorithmIdentifierRef<'_>,
    ) -> Result<(Self, Option<&'static PreHashRow>), KeyError> {
        let oid = identifier.oid;
        let found = match Self::from_oid(oid) {
            Some(algorithm) => (algorithm, None),
            None if is_hash_ml_dsa(oid) => return Err(KeyError::HashMlDsa(oid)),
            None => {
                let (set, row) = pre_hash(oid).ok_or(KeyError::UnsupportedAlgorithm(oid))?;
                (set.into(), Some(row))
            }
        };
        match identifier.parameters {
            None => Ok(found),
            Some(_) => Err(KeyError::ParametersPresent(found.0)),
        }
    }

    /// The algorithm with this object identifier, if this crate has it; for HashSLH-DSA, the
    /// parameter set.
    pub fn of_oid(oid: ObjectIdentifier) -> Option<Self> {
        Self::from_oid(oid).or_else(|| Some(pre_hash(oid)?.0.into()))
    }

    /// The algorithm that a PKCS#8 private key claims, if this crate has it; for HashSLH-DSA, its
    /// parameter set.
    ///
    /// This looks only at the start: the headers of the two outer SEQUENCEs, the version
    /// and the object identifier. It ignores parameters, what follows, and lengths that reach
    /// beyond the end. So it recognizes a damaged key, and reading the key then tells what is
    /// wrong with it.
    pub fn of_pkcs8_der(der: &[u8]) -> Option<Self> {
        let mut reader = SliceReader::new(der).ok()?;
        let enter_sequence = |reader: &mut SliceReader<'_>| {
            let header = Header::decode(reader).ok()?;
            header.tag().assert_eq(Tag::Sequence).ok()
        };
        enter_sequence(&mut reader)?;
        u8::decode(&mut reader).ok()?;
        enter_sequence(&mut reader)?;
        Self::of_oid(ObjectIdentifier::decode(&mut reader).ok()?)
    }
}

/// Whether this is one of HashML-DSA's three identifiers, with SHA-512, which RFC 9881 section 8.3
/// excludes from certificates. (RFC 9909 allows those of HashSLH-DSA.)
pub fn is_hash_ml_dsa(oid: ObjectIdentifier) -> bool {
    matches!(
        oid.as_bytes(),
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 32..=34]
    )
}

/// The set of SLH-DSA whose pre-hash variant has this identifier (RFC 9909), and that variant's row.
pub(super) fn pre_hash(oid: ObjectIdentifier) -> Option<(SignatureAlgorithm, &'static PreHashRow)> {
    SignatureAlgorithm::ALL.iter().find_map(|set| {
        let row = set.row().pre_hash.as_ref()?;
        (row.oid == oid).then_some((*set, row))
    })
}

#[cfg(test)]
mod tests {
    use der::Encode;

    use super::*;

    #[test]
    fn pkcs8_is_known_by_its_start() {
        for algorithm in Algorithm::ALL {
            let identifier = algorithm.identifier().to_der().unwrap();
            let version = [2, 1, 0];
            // The lengths are those of a whole key, but only its start is there.
            let start = [&[0x30, 0x82, 0x0f, 0xff][..], &version, &identifier].concat();
            for end in [&[][..], &[5, 0], &[0xff; 40]] {
                let der = [&start, end].concat();
                assert_eq!(Algorithm::of_pkcs8_der(&der), Some(*algorithm));
            }
            for cut in 0..start.len() {
                assert_eq!(Algorithm::of_pkcs8_der(&start[..cut]), None, "{cut}");
            }
        }
        // An EC key (id-ecPublicKey), and an EncryptedPrivateKeyInfo's start.
        let ec = hex::decode("308187020100301306072a8648ce3d0201").unwrap();
        let encrypted = hex::decode("3081f9305306092a864886f70d01050d").unwrap();
        for other in [ec, encrypted] {
            assert_eq!(Algorithm::of_pkcs8_der(&other), None);
        }
    }

    #[test]
    fn parameters_are_refused_even_when_null() {
        for algorithm in Algorithm::ALL {
            let identifier = AlgorithmIdentifierRef {
                parameters: Some(der::asn1::AnyRef::NULL),
                ..algorithm.identifier()
            };
            assert_eq!(
                Algorithm::from_identifier(&identifier),
                Err(KeyError::ParametersPresent(*algorithm))
            );
        }
    }
}
