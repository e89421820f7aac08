//! EncryptedPrivateKeyInfo (RFC 5958 section 3), and the parameters of PBES2, PBKDF2 (RFC 8018 appendix A)
//! and scrypt (RFC 7914 section 7).

use const_oid::ObjectIdentifier;
use der::Sequence;
use der::asn1::{OctetStringRef, Uint};
use spki::AlgorithmIdentifierRef;

pub(crate) const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
pub(crate) const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
pub(super) const SCRYPT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11591.4.11");
pub(crate) const HMAC_WITH_SHA_1: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.2.7");

/// The derive macros take paths only, not references.
type Octets<'a> = &'a OctetStringRef;

/// ```text
/// EncryptedPrivateKeyInfo ::= SEQUENCE {
///   encryptionAlgorithm  EncryptionAlgorithmIdentifier,
///   encryptedData        EncryptedData }
/// ```
#[derive(Sequence)]
pub(super) struct EncryptedPrivateKeyInfo<'a> {
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    pub(super) encrypted: Octets<'a>,
}

/// ```text
/// PBES2-params ::= SEQUENCE {
///   keyDerivationFunc AlgorithmIdentifier {{PBES2-KDFs}},
///   encryptionScheme AlgorithmIdentifier {{PBES2-Encs}} }
/// ```
#[derive(Sequence)]
pub(super) struct Pbes2Params<'a> {
    pub(super) key_derivation: AlgorithmIdentifierRef<'a>,
    pub(super) cipher: AlgorithmIdentifierRef<'a>,
}

/// ```text
/// PBKDF2-params ::= SEQUENCE {
///   salt CHOICE {
///     specified OCTET STRING,
///     otherSource AlgorithmIdentifier {{PBKDF2-SaltSources}} },
///   iterationCount INTEGER (1..MAX),
///   keyLength INTEGER (1..MAX) OPTIONAL,
///   prf AlgorithmIdentifier {{PBKDF2-PRFs}} DEFAULT algid-hmacWithSHA1 }
/// ```
///
/// There are no other sources of salts.
#[derive(Sequence)]
pub(crate) struct Pbkdf2Params<'a> {
    pub(crate) salt: Octets<'a>,
    pub(crate) iterations: Uint,
    pub(crate) key_len: Option<Uint>,
    pub(crate) prf: Option<AlgorithmIdentifierRef<'a>>,
}

/// ```text
/// scrypt-params ::= SEQUENCE {
///   salt OCTET STRING,
///   costParameter INTEGER (1..MAX),
///   blockSize INTEGER (1..MAX),
///   parallelizationParameter INTEGER (1..MAX),
///   keyLength INTEGER (1..MAX) OPTIONAL }
/// ```
#[derive(Sequence)]
pub(super) struct ScryptParams<'a> {
    pub(super) salt: Octets<'a>,
    pub(super) n: Uint,
    pub(super) r: Uint,
    pub(super) p: Uint,
    pub(super) key_len: Option<Uint>,
}

/// GCMParameters of RFC 5084: a SEQUENCE of the nonce and the length of the tag, by default 12 bytes.
#[derive(Sequence)]
pub(super) struct GcmParameters<'a> {
    pub(super) nonce: Octets<'a>,
    pub(super) tag_len: Option<u8>,
}

pub(crate) fn number(value: impl Into<u64>) -> der::Result<Uint> {
    Uint::new(&value.into().to_be_bytes())
}

/// The number, or `u64::MAX` if it is larger.
pub(crate) fn saturated(number: &Uint) -> u64 {
    let bytes = number.as_bytes();
    let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match bytes.len() {
        0..=8 => bytes.iter().fold(0, fold),
        _ => u64::MAX,
    }
}
