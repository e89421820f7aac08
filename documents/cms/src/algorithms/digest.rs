//! The hash functions that messages may be signed with, and how their AlgorithmIdentifiers are written and read (RFC
//! 5754, section 2).

use const_oid::ObjectIdentifier;
use const_oid::db::{fips202, rfc5912};
use pq_keys::signing::PreHash;
use spki::{AlgorithmIdentifierOwned, AlgorithmIdentifierRef};

/// The hash functions that RFC 9882 and RFC 9814 name, with their identifiers. SHAKE128 gives 32 bytes
/// and SHAKE256 64 (RFC 8702).
const DIGESTS: [(PreHash, ObjectIdentifier); 8] = [
    (PreHash::Sha256, rfc5912::ID_SHA_256),
    (PreHash::Sha384, rfc5912::ID_SHA_384),
    (PreHash::Sha512, rfc5912::ID_SHA_512),
    (PreHash::Sha3_256, fips202::ID_SHA_3_256),
    (PreHash::Sha3_384, fips202::ID_SHA_3_384),
    (PreHash::Sha3_512, fips202::ID_SHA_3_512),
    (PreHash::Shake128, fips202::ID_SHAKE_128),
    (PreHash::Shake256, fips202::ID_SHAKE_256),
];

/// The hash functions that messages may be signed with: SHA-2 and SHA-3 with at least 256 bits, SHAKE128 and
/// SHAKE256.
pub fn digests() -> impl Iterator<Item = PreHash> {
    DIGESTS.iter().map(|(digest, _)| *digest)
}

/// How a message names a hash function: without parameters (RFC 5754, section 2; RFC 8702).
pub(crate) fn digest_identifier(digest: PreHash) -> Option<AlgorithmIdentifierOwned> {
    let (_, oid) = DIGESTS.iter().find(|(known, _)| *known == digest)?;
    Some(AlgorithmIdentifierOwned {
        oid: *oid,
        parameters: None,
    })
}

/// The hash function that a message names. Parameters are absent or, as older programs write for SHA-2,
/// NULL (RFC 5754, section 2).
pub(crate) fn digest_named(identifier: &AlgorithmIdentifierRef<'_>) -> Option<PreHash> {
    let (digest, _) = DIGESTS.iter().find(|(_, oid)| *oid == identifier.oid)?;
    let is_sha_2 = matches!(digest, PreHash::Sha256 | PreHash::Sha384 | PreHash::Sha512);
    match identifier.parameters {
        None => Some(*digest),
        Some(parameters) if is_sha_2 && parameters.is_null() => Some(*digest),
        Some(_) => None,
    }
}
