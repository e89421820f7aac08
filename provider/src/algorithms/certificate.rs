//! The algorithms in a certificate: of its key and of its signature. `Algorithms::relied_on` says which signatures of a
//! chain count, and why a classical one can't hide.

use pq_keys::encoding::identifier_in;
use pq_x509::x509_cert::Certificate;
use pq_x509::x509_cert::der::referenced::OwnedToRef;
use pq_x509::x509_cert::der::{self, Decode};

use super::{KeyAlgorithm, Signature, oid};

/// The name of an algorithm of keys or signatures, from the contents of its AlgorithmIdentifier.
pub(crate) fn name_of(identifier: &[u8]) -> String {
    match identifier_in(identifier) {
        Ok(algorithm) if algorithm.oid == oid::EC_PUBLIC_KEY => {
            KeyAlgorithm::from(pq_keys::KeyAlgorithm::of_identifier(&algorithm)).to_string()
        }
        Ok(algorithm) if algorithm.oid == oid::RSA => "RSA".into(),
        Ok(algorithm) => Signature::of(&algorithm).to_string(),
        Err(_) => "an algorithm without a name".into(),
    }
}

/// The algorithms of a certificate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Algorithms {
    pub(crate) key: KeyAlgorithm,
    signature: Signature,
    /// Whether issuer and subject are the same and the certificate's key is of an algorithm that
    /// makes such signatures. The signature itself is not verified.
    looks_self_signed: bool,
}

impl Algorithms {
    pub(crate) fn of(certificate: &[u8]) -> Result<Self, der::Error> {
        Ok(Self::in_certificate(&Certificate::from_der(certificate)?))
    }

    pub(crate) fn in_certificate(certificate: &Certificate) -> Self {
        let tbs = certificate.tbs_certificate();
        let spki = tbs.subject_public_key_info().owned_to_ref();
        let algorithm = certificate.signature_algorithm().owned_to_ref();
        let signature = Signature::of(&algorithm);
        let is_self_issued = tbs.subject() == tbs.issuer() && !tbs.subject().is_empty();
        Self {
            key: KeyAlgorithm::of(&spki),
            signature,
            looks_self_signed: is_self_issued
                && match (spki.algorithm.oid, signature) {
                    (oid::EC_PUBLIC_KEY, Signature::Ecdsa(_))
                    | (oid::RSA, Signature::RsaPkcs1(_) | Signature::RsaPss(_)) => true,
                    // All others have one identifier for keys and signatures.
                    (key, _) => key == algorithm.oid,
                },
        }
    }

    /// The signatures that trust in a chain, leaf first, may rest on: all except those of CAs
    /// that look self-signed, which are trusted as they are or not at all.
    ///
    /// A certificate that is only self-issued still counts (RFC 5280, section 3.2): a CA that
    /// changes its key signs the new one with the old one, under one name, and verifiers rely on
    /// that signature. A certificate that looks self-signed could be such a link too, and this
    /// function can't tell. But it hides no classical signature where it matters. If the signatures
    /// that count are all post-quantum, then so are all on the path that was verified:
    ///
    /// * The leaf's signature always counts.
    /// * A post-quantum signature is verified with a post-quantum key. If this key is in another
    ///   certificate, the signature of that certificate either counts, or looks as if its own key
    ///   had made it. It is post-quantum in both cases, and so on up to the root's key.
    pub(crate) fn relied_on(chain: &[Self]) -> impl Iterator<Item = Signature> {
        chain
            .iter()
            .enumerate()
            .filter(|(index, certificate)| *index == 0 || !certificate.looks_self_signed)
            .map(|(_, certificate)| certificate.signature)
    }
}
