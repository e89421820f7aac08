//! Which hash function a signature algorithm requires, allows or has by default, and by which algorithm a signature is
//! verified, also for classical and composite ones.

use const_oid::ObjectIdentifier;
use const_oid::db::{rfc5912, rfc8410};
use der::asn1::{AnyRef, ContextSpecific};
use der::{Decode, Reader, TagNumber};
use pq_keys::SignatureAlgorithm;
use pq_keys::identifiers::CompositeIdentifier;
use pq_keys::signing::PreHash;
use pq_x509::verification::{Mode, parameter_set};
use spki::AlgorithmIdentifierRef;

use super::digest::{digest_identifier, digest_named};

/// Why a hash function and a signature algorithm don't belong in one message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Weakness {
    /// The hash function is weaker than the signature algorithm: a collision is easier to find than a forgery
    /// (RFC 9882, section 3.3; RFC 9814, section 4).
    #[error(
        "{digest} is weaker than {algorithm}, which takes digests of {} bytes or more; sign with \
         SHA-512 or SHAKE256",
        .algorithm.least_digest_len()
    )]
    Digest {
        /// The signature algorithm.
        algorithm: SignatureAlgorithm,
        /// The hash function.
        digest: PreHash,
    },
    /// CMS doesn't use this hash function with these algorithms.
    #[error("{0} is no hash function for messages; sign with SHA-512 or SHAKE256")]
    NotForMessages(PreHash),
    /// HashSLH-DSA, which RFC 9814 doesn't allow in messages.
    #[error(
        "{0} of a hash (HashSLH-DSA) is not allowed in messages (RFC 9814); sign with a pure SLH-DSA key"
    )]
    HashSlhDsa(SignatureAlgorithm),
}

/// Refuses a hash function that an algorithm's signatures can't be used with.
///
/// Only ML-DSA and SLH-DSA are checked here. Whoever supplies another algorithm decides for it.
pub(crate) fn weakness(signature: ObjectIdentifier, digest: PreHash) -> Result<(), Weakness> {
    if digest_identifier(digest).is_none() {
        return Err(Weakness::NotForMessages(digest));
    }
    match parameter_set(signature) {
        Some((algorithm, Mode::PreHash)) => Err(Weakness::HashSlhDsa(algorithm)),
        // The lists of RFC 9882, and 2n bytes for SLH-DSA.
        Some((algorithm, Mode::Pure)) if digest.digest_len() < algorithm.least_digest_len() => {
            Err(Weakness::Digest { algorithm, digest })
        }
        _ => Ok(()),
    }
}

/// RSA signatures (PKCS #1 v1.5), each with its hash function. Other programs use the same one for the
/// content.
const RSA: [(ObjectIdentifier, PreHash); 3] = [
    (rfc5912::SHA_256_WITH_RSA_ENCRYPTION, PreHash::Sha256),
    (rfc5912::SHA_384_WITH_RSA_ENCRYPTION, PreHash::Sha384),
    (rfc5912::SHA_512_WITH_RSA_ENCRYPTION, PreHash::Sha512),
];

/// The same for other classical algorithms (RFC 5754, section 3.3; RFC 8419, section 3.1).
const OTHERS: [(ObjectIdentifier, PreHash); 4] = [
    (rfc5912::ECDSA_WITH_SHA_256, PreHash::Sha256),
    (rfc5912::ECDSA_WITH_SHA_384, PreHash::Sha384),
    (rfc5912::ECDSA_WITH_SHA_512, PreHash::Sha512),
    (rfc8410::ID_ED_25519, PreHash::Sha512),
];

/// The hash function that belongs to a classical or a composite algorithm. A composite has the one that it
/// hashes its message with (draft-ietf-lamps-cms-composite-sigs). RSASSA-PSS names it in its parameters.
fn own_digest(signature: &AlgorithmIdentifierRef<'_>) -> Option<PreHash> {
    if signature.oid == rfc5912::ID_RSASSA_PSS {
        return pss_digest(signature.parameters?).ok().flatten();
    }
    if let Some(composite) = CompositeIdentifier::from_oid(signature.oid) {
        return Some(composite.pre_hash());
    }
    let mut known = RSA.iter().chain(&OTHERS);
    let (_, digest) = known.find(|(oid, _)| *oid == signature.oid)?;
    Some(*digest)
}

/// hashAlgorithm of RSASSA-PSS-params (RFC 4055, section 3.1). Its default, SHA-1, is not supported here.
fn pss_digest(parameters: AnyRef<'_>) -> der::Result<Option<PreHash>> {
    parameters.sequence(|reader| {
        let hash =
            ContextSpecific::<AlgorithmIdentifierRef<'_>>::decode_explicit(reader, TagNumber(0))?;
        // The other parameters matter only for verifying the signature.
        while !reader.is_finished() {
            AnyRef::decode(reader)?;
        }
        Ok::<_, der::Error>(hash.and_then(|hash| digest_named(&hash.value)))
    })
}

/// The digest that every verifier of an algorithm supports: the one of RFC 9814 for SLH-DSA, SHA-512 for
/// ML-DSA and Ed25519 (RFC 9882, RFC 8419), and their own for ECDSA, RSA and composites.
pub(crate) fn usual_digest(signature: &AlgorithmIdentifierRef<'_>) -> PreHash {
    match parameter_set(signature.oid) {
        Some((algorithm, _)) => algorithm.usual_pre_hash(),
        None => own_digest(signature).unwrap_or(PreHash::Sha512),
    }
}

/// The algorithm to verify a signature with: the one that the message names. Only `rsaEncryption` stands for
/// another, PKCS #1 v1.5 with the message's digest (RFC 3370, section 3.2). ECDSA has no parameters (RFC 5754, section
/// 3.3), but GnuPG writes NULL, which says nothing and is not signed.
///
/// `None` if the signature has its own hash function and the message has another. RFC 4056, section 3, forbids
/// that for RSASSA-PSS.
pub(crate) fn verified_as<'a>(
    signature: &AlgorithmIdentifierRef<'a>,
    digest: PreHash,
) -> Option<AlgorithmIdentifierRef<'a>> {
    if signature.oid == rfc5912::RSA_ENCRYPTION {
        let (oid, _) = RSA.iter().find(|(_, own)| *own == digest)?;
        return Some(AlgorithmIdentifierRef {
            oid: *oid,
            parameters: Some(AnyRef::NULL),
        });
    }
    let fits = match own_digest(signature) {
        Some(own) => own == digest,
        None => signature.oid != rfc5912::ID_RSASSA_PSS,
    };
    let has_null = signature
        .parameters
        .is_some_and(|parameters| parameters.is_null());
    let is_ecdsa = OTHERS[..3].iter().any(|(oid, _)| *oid == signature.oid);
    fits.then_some(AlgorithmIdentifierRef {
        oid: signature.oid,
        parameters: signature.parameters.filter(|_| !(is_ecdsa && has_null)),
    })
}

#[cfg(test)]
mod tests {
    use const_oid::db::rfc5912::{ID_RSASSA_PSS, ID_SHA_256};

    use super::*;

    /// RSASSA-PSS-params with this hash function, if any, and a salt.
    fn parameters(hash: Option<[u8; 13]>) -> Vec<u8> {
        let hash = hash.map(|hash| [&[0xa0, 0x0d][..], &hash].concat());
        let fields = [hash.unwrap_or_default(), vec![0xa2, 3, 2, 1, 32]].concat();
        [&[0x30, fields.len() as u8][..], &fields].concat()
    }

    /// As GnuPG writes it.
    #[test]
    fn ecdsa_with_null() {
        for (oid, digest) in &OTHERS[..3] {
            for parameters in [None, Some(AnyRef::NULL)] {
                let signature = AlgorithmIdentifierRef {
                    oid: *oid,
                    parameters,
                };
                let verified = verified_as(&signature, *digest).unwrap();
                assert_eq!((verified.oid, verified.parameters), (*oid, None));
                assert_eq!(verified_as(&signature, PreHash::Sha3_256), None);
            }
        }
        let null = AlgorithmIdentifierRef {
            oid: rfc8410::ID_ED_25519,
            parameters: Some(AnyRef::NULL),
        };
        assert_eq!(verified_as(&null, PreHash::Sha512), Some(null));
    }

    #[test]
    fn a_pss_signature_has_its_digest_in_its_parameters() {
        let sha_256 = [0x30, 11, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
        assert_eq!(&sha_256[4..], ID_SHA_256.as_bytes());
        let with = parameters(Some(sha_256));
        let without = parameters(None);
        for (parameters, digest) in [
            (Some(&*with), Some(PreHash::Sha256)),
            (Some(&*without), None),
            (Some(&with[..7]), None),
            (None, None),
        ] {
            let signature = AlgorithmIdentifierRef {
                oid: ID_RSASSA_PSS,
                parameters: parameters.and_then(|der| AnyRef::from_der(der).ok()),
            };
            for hash in [PreHash::Sha256, PreHash::Sha384, PreHash::Sha512] {
                let verified = verified_as(&signature, hash);
                assert_eq!(verified.is_some(), digest == Some(hash), "{parameters:?}");
            }
            let usual = digest.unwrap_or(PreHash::Sha512);
            assert_eq!(usual_digest(&signature), usual);
        }
    }
}
