//! Encodings of keys: the algorithm identifier, and private keys (section 4 of the draft).

use der::asn1::OctetStringRef;
use der::{Decode, Encode};
use pkcs8::PrivateKeyInfoRef;
use spki::AlgorithmIdentifierRef;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::algorithm::CompositeAlgorithm;
use super::error::{CompositeKeyError, of_classical};
use crate::classical::{ClassicalAlgorithm, ClassicalKey};

/// The combination that a key's AlgorithmIdentifier names.
pub(super) fn algorithm(
    identifier: &AlgorithmIdentifierRef<'_>,
) -> Result<CompositeAlgorithm, CompositeKeyError> {
    let algorithm = CompositeAlgorithm::from_oid(identifier.oid)?;
    match identifier.parameters {
        None => Ok(algorithm),
        Some(_) => Err(CompositeKeyError::ParametersPresent(algorithm)),
    }
}

/// Reads the classical half of a private key. Only one encoding is allowed.
pub(super) fn read(
    algorithm: CompositeAlgorithm,
    bytes: &[u8],
) -> Result<ClassicalKey, CompositeKeyError> {
    let classical = algorithm.classical();
    let key = match classical {
        ClassicalAlgorithm::Ed25519 => ClassicalKey::from_raw(classical, bytes),
        _ => ClassicalKey::from_der(bytes),
    }
    .map_err(of_classical(algorithm))?;
    let is_exact = key.algorithm() == classical && bool::from(write(&key).ct_eq(bytes));
    match is_exact {
        true => Ok(key),
        false => Err(CompositeKeyError::Malformed {
            algorithm,
            reason: "its classical half is of another algorithm, or not in the one encoding of section \
                     4 of the draft; have it exported again by a conforming tool",
        }),
    }
}

/// Writes the classical half of a private key: the seed of Ed25519; ECPrivateKey with its curve and
/// without its public key; RSAPrivateKey.
pub(super) fn write(key: &ClassicalKey) -> Zeroizing<Vec<u8>> {
    let ec = |head: &[u8], tail: &[u8]| {
        let scalar = key.to_raw().expect("a key on a curve is a scalar");
        Zeroizing::new([head, &scalar, tail].concat())
    };
    match key.algorithm() {
        ClassicalAlgorithm::Ed25519 => ec(&[], &[]),
        ClassicalAlgorithm::EcdsaP256 => ec(P256_HEAD, P256_TAIL),
        ClassicalAlgorithm::EcdsaP384 => ec(P384_HEAD, P384_TAIL),
        ClassicalAlgorithm::Rsa2048 | ClassicalAlgorithm::Rsa3072 | ClassicalAlgorithm::Rsa4096 => {
            let pkcs8 = key.to_pkcs8_der();
            let info = PrivateKeyInfoRef::from_der(&pkcs8).expect("it was written as PKCS#8");
            info.private_key.as_bytes().to_vec().into()
        }
    }
}

/// Writes PKCS#8 of version 1 around both halves. The buffer has its full length from the beginning, so
/// that it is never moved.
pub(super) fn pkcs8(algorithm: CompositeAlgorithm, key: &[u8]) -> Zeroizing<Vec<u8>> {
    let key = OctetStringRef::new(key).expect("it is shorter than DER allows");
    let info = PrivateKeyInfoRef::new(algorithm.identifier(), key);
    Zeroizing::new(info.to_der().expect("it is shorter than DER allows"))
}

// ECPrivateKey (RFC 5915) around the scalar: version 1 and the head of an OCTET STRING before it, the
// name of the curve after it.
const P256_HEAD: &[u8] = &[0x30, 49, 2, 1, 1, 4, 32];
const P256_TAIL: &[u8] = &[
    0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];
const P384_HEAD: &[u8] = &[0x30, 62, 2, 1, 1, 4, 48];
const P384_TAIL: &[u8] = &[0xa0, 7, 6, 5, 0x2b, 0x81, 0x04, 0x00, 0x22];
