use const_oid::ObjectIdentifier;
use const_oid::db::{rfc5912, rfc8410};
use der::asn1::AnyRef;
use pq_x509::verification::{Mode, parameter_set};
use pq_x509::{CompositeIdentifier, PreHash, SignatureAlgorithm};
use spki::AlgorithmIdentifierRef;

use super::digest::digest_identifier;

/// Why a hash function and a signature algorithm don't belong in one message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Weakness {
    /// The digest is easier to collide than the signature to forge (RFC 9882, section 3.3; RFC 9814,
    /// section 4).
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
    /// None of the hash functions that CMS has for these algorithms.
    #[error("{0} is no hash function for messages; sign with SHA-512 or SHAKE256")]
    NotForMessages(PreHash),
    /// HashSLH-DSA, which RFC 9814 keeps out of messages.
    #[error(
        "{0} of a hash (HashSLH-DSA) is not for messages (RFC 9814); sign with a key of pure SLH-DSA"
    )]
    HashSlhDsa(SignatureAlgorithm),
}

/// What keeps an algorithm's signatures from going with a digest.
///
/// Of algorithms that are not ours nothing is known here. Whoever gives one decides on it.
pub(crate) fn weakness(signature: ObjectIdentifier, digest: PreHash) -> Result<(), Weakness> {
    if digest_identifier(digest).is_none() {
        return Err(Weakness::NotForMessages(digest));
    }
    match parameter_set(signature) {
        Some((algorithm, Mode::PreHash)) => Err(Weakness::HashSlhDsa(algorithm)),
        // As the lists of RFC 9882 have it, and for SLH-DSA 2n bytes.
        Some((algorithm, Mode::Pure)) if digest.digest_len() < algorithm.least_digest_len() => {
            Err(Weakness::Digest { algorithm, digest })
        }
        _ => Ok(()),
    }
}

/// Signatures of RSA by PKCS #1 v1.5, with the hash function of each, which other programs use for the
/// content as well.
const RSA: [(ObjectIdentifier, PreHash); 3] = [
    (rfc5912::SHA_256_WITH_RSA_ENCRYPTION, PreHash::Sha256),
    (rfc5912::SHA_384_WITH_RSA_ENCRYPTION, PreHash::Sha384),
    (rfc5912::SHA_512_WITH_RSA_ENCRYPTION, PreHash::Sha512),
];

/// The same of other classical algorithms (RFC 5754, section 3.3; RFC 8419, section 3.1).
const OTHERS: [(ObjectIdentifier, PreHash); 4] = [
    (rfc5912::ECDSA_WITH_SHA_256, PreHash::Sha256),
    (rfc5912::ECDSA_WITH_SHA_384, PreHash::Sha384),
    (rfc5912::ECDSA_WITH_SHA_512, PreHash::Sha512),
    (rfc8410::ID_ED_25519, PreHash::Sha512),
];

/// The hash function that belongs to a classical or a composite algorithm. That of a composite is the one
/// of its message (draft-ietf-lamps-cms-composite-sigs).
fn own_digest(signature: ObjectIdentifier) -> Option<PreHash> {
    if let Some(composite) = CompositeIdentifier::from_oid(signature) {
        return Some(composite.pre_hash());
    }
    let mut known = RSA.iter().chain(&OTHERS);
    let (_, digest) = known.find(|(oid, _)| *oid == signature)?;
    Some(*digest)
}

/// The digest that every verifier knows for an algorithm's signatures: for SLH-DSA that of RFC 9814, for
/// ML-DSA and Ed25519 SHA-512 (RFC 9882, RFC 8419), and for ECDSA, RSA and composites their own.
pub(crate) fn usual_digest(signature: ObjectIdentifier) -> PreHash {
    match parameter_set(signature) {
        Some((algorithm, _)) => algorithm.usual_pre_hash(),
        None => own_digest(signature).unwrap_or(PreHash::Sha512),
    }
}

/// The algorithm to verify a signature by: that which the message names, but for RSA, where `rsaEncryption`
/// stands for PKCS #1 v1.5 with the message's digest (RFC 3370, section 3.2).
///
/// `None` for a signature with a hash function of its own that is not the message's.
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
    own_digest(signature.oid)
        .is_none_or(|own| own == digest)
        .then_some(*signature)
}
