//! The types of RFC 7292 and RFC 9879 of which the MAC of a file consists.

use const_oid::ObjectIdentifier;
use der::Sequence;
use der::asn1::{OctetStringRef, Uint};
use spki::AlgorithmIdentifierRef;

pub(super) const PBMAC1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.14");

/// The derive macros take paths only, not references.
type Octets<'a> = &'a OctetStringRef;

/// ```text
/// MacData ::= SEQUENCE {
///   mac         DigestInfo,
///   macSalt     OCTET STRING,
///   iterations  INTEGER DEFAULT 1 }
/// ```
#[derive(Sequence)]
pub struct MacData<'a> {
    pub(super) mac: DigestInfo<'a>,
    pub(super) salt: Octets<'a>,
    pub(super) iterations: Option<Uint>,
}

/// ```text
/// DigestInfo ::= SEQUENCE {
///   digestAlgorithm AlgorithmIdentifier,
///   digest OCTET STRING }
/// ```
#[derive(Sequence)]
pub(super) struct DigestInfo<'a> {
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    pub(super) digest: Octets<'a>,
}

/// ```text
/// PBMAC1-params ::= SEQUENCE {
///   keyDerivationFunc AlgorithmIdentifier {{PBMAC1-KDFs}},
///   messageAuthScheme AlgorithmIdentifier {{PBMAC1-MACs}} }
/// ```
#[derive(Sequence)]
pub(super) struct Pbmac1Params<'a> {
    pub(super) key_derivation: AlgorithmIdentifierRef<'a>,
    pub(super) mac: AlgorithmIdentifierRef<'a>,
}
