//! The envelope that certificates, requests and revocation lists share: a body, an algorithm and a
//! signature over the body (SIGNED{} of X.509).

use core::ops::RangeInclusive;

use const_oid::db::rfc5912::RSA_ENCRYPTION;
use der::asn1::{AnyRef, BitStringRef, UintRef};
use der::referenced::OwnedToRef;
use der::{Decode, EncodeValue, Header, Reader, Sequence, SliceReader};
use pki_types::{AlgorithmIdentifier, SignatureVerificationAlgorithm};
use pq_keys::encoding::syntax::{self, Element, whole_octets};
use pq_keys::encoding::to_der;
use pq_keys::errors::from_causes;
use pq_keys::{SignError, Signer};
use spki::{
    AlgorithmIdentifierOwned, AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef,
};

use crate::verification;

/// Why the signature of a certificate, request or revocation list was not accepted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The structure around the signature, or the key, is malformed.
    #[error("the signature, its algorithm or the key has {}", syntax::found(*.0))]
    Der(der::Error),
    /// Neither this crate nor an algorithm given verifies this kind of signature.
    #[error(
        "no verification algorithm for signatures of algorithm {0}; pass one for it, or sign \
         with ML-DSA"
    )]
    UnsupportedAlgorithm(ObjectIdentifier),
    /// The signature or the key is of an algorithm that is verified, but not with these parameters.
    #[error(
        "{of} is of algorithm {algorithm} with parameters that are not verified here, such as a curve, a size of the key, a \
         length of the salt, or a NULL where there must be none; have it made again without them"
    )]
    UnsupportedParameters {
        /// What has the parameters: "the signature" or "the key".
        of: &'static str,
        /// Its algorithm.
        algorithm: ObjectIdentifier,
    },
    /// The key is not of the algorithm that the signature claims.
    #[error("the signature claims algorithm {signature} and the key is of algorithm {key}")]
    AlgorithmMismatch {
        /// Algorithm of the signature.
        signature: ObjectIdentifier,
        /// Algorithm of the public key.
        key: ObjectIdentifier,
    },
    /// The signature does not verify.
    #[error(
        "the signature does not verify under this key: the contents or the signature were altered, or another key made it"
    )]
    Invalid,
}

from_causes!(SignatureError: Der(der::Error));

/// Signs a body, and puts body, signature and the signer's algorithm (which some bodies name, too) in the
/// envelope.
pub(crate) fn seal(
    body: &[u8],
    algorithm: &AlgorithmIdentifierOwned,
    signer: &(impl Signer + ?Sized),
) -> Result<Vec<u8>, SealError> {
    let signature = signer.sign(body)?;
    Ok(envelope(body, algorithm, &signature)?)
}

/// Puts body, algorithm and signature in the envelope.
pub(crate) fn envelope(
    body: &[u8],
    algorithm: &AlgorithmIdentifierOwned,
    signature: &[u8],
) -> der::Result<Vec<u8>> {
    to_der(&Envelope {
        body: AnyRef::from_der(body)?,
        algorithm: algorithm.owned_to_ref(),
        signature: BitStringRef::from_bytes(signature)?,
    })
}

/// What can go wrong in [`seal`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    #[error(transparent)]
    Der(#[from] der::Error),
    #[error(transparent)]
    Sign(#[from] SignError),
}

/// Verifies the signature of an envelope under a key, by the algorithms of this crate and those
/// given.
pub(crate) fn verify(
    der: &[u8],
    key: &SubjectPublicKeyInfoRef<'_>,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> Result<(), SignatureError> {
    let envelope = Envelope::from_der(der)?;
    let signature = whole_octets(envelope.signature)?;
    verify_message(body(der)?, &envelope.algorithm, signature, key, algorithms)
}

/// Verifies a signature that is in no envelope, in the same way.
pub(crate) fn verify_message(
    message: &[u8],
    signature_algorithm: &AlgorithmIdentifierRef<'_>,
    signature: &[u8],
    key: &SubjectPublicKeyInfoRef<'_>,
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> Result<(), SignatureError> {
    let identifier = contents(signature_algorithm)?;
    let all = || verification::ALL.iter().chain(algorithms);
    let mut candidates = all()
        .filter(|candidate| *candidate.signature_alg_id() == *identifier)
        .peekable();
    if candidates.peek().is_none() {
        let algorithm = signature_algorithm.oid;
        let mut known = all().map(|one| one.signature_alg_id());
        return Err(match known.any(|known| is_of(&known, algorithm)) {
            true => SignatureError::UnsupportedParameters {
                of: "the signature",
                algorithm,
            },
            false => SignatureError::UnsupportedAlgorithm(algorithm),
        });
    }
    let key_algorithm = contents(&key.algorithm)?;
    let mut keys = candidates.clone().map(|one| one.public_key_alg_id());
    // A kind of its own, such as RSA's for PSS alone, has the name of its signatures.
    let is_of_kind = key.algorithm.oid == signature_algorithm.oid
        || keys.any(|known| is_of(&known, key.algorithm.oid));
    let algorithm = candidates
        .find(|candidate| *candidate.public_key_alg_id() == *key_algorithm)
        .ok_or(match is_of_kind {
            true => SignatureError::UnsupportedParameters {
                of: "the key",
                algorithm: key.algorithm.oid,
            },
            false => SignatureError::AlgorithmMismatch {
                signature: signature_algorithm.oid,
                key: key.algorithm.oid,
            },
        })?;
    let key_bytes = whole_octets(key.subject_public_key)?;
    let verified = algorithm.verify_signature(key_bytes, message, signature);
    verified.map_err(|_| match is_rsa_of_other_size(key_bytes) {
        true if key.algorithm.oid == RSA_ENCRYPTION => SignatureError::UnsupportedParameters {
            of: "the key",
            algorithm: key.algorithm.oid,
        },
        _ => SignatureError::Invalid,
    })
}

/// Whether a key of RSA is of a size that algorithms refuse to verify with, whatever the signature is.
fn is_rsa_of_other_size(key: &[u8]) -> bool {
    const USUAL: RangeInclusive<usize> = 2048..=8192;
    let numbers = Vec::<UintRef<'_>>::from_der(key).unwrap_or_default();
    let is_other = |modulus: &UintRef<'_>| {
        let zeros = modulus
            .as_bytes()
            .first()
            .map_or(0, |byte| byte.leading_zeros());
        !USUAL.contains(&(8 * modulus.as_bytes().len() - zeros as usize))
    };
    numbers.first().is_some_and(is_other)
}

/// The bytes that are signed, without a copy: those of a revocation list are too long to copy.
pub(crate) fn body(envelope: &[u8]) -> der::Result<&[u8]> {
    let mut reader = SliceReader::new(envelope)?;
    Header::decode(&mut reader)?;
    reader.tlv_bytes()
}

/// The names of issuer and subject in a certificate, in DER.
pub(crate) fn names(certificate: &[u8]) -> Option<[&[u8]; 2]> {
    const VERSION: u8 = 0xa0;
    let mut fields = fields(certificate, VERSION)?;
    // after serial number and algorithm, with the validity between them
    Some([fields.nth(2)?.whole, fields.nth(1)?.whole])
}

/// The name of the issuer in a revocation list, in DER.
pub(crate) fn issuer_of_list(list: &[u8]) -> Option<&[u8]> {
    const VERSION: u8 = 2;
    Some(fields(list, VERSION)?.nth(1)?.whole)
}

/// The name of the subject in a request, in DER.
pub(crate) fn subject_of_request(request: &[u8]) -> Option<&[u8]> {
    const VERSION: u8 = 2;
    Some(fields(request, VERSION)?.next()?.whole)
}

/// The fields of a body, without the optional first one, which has this tag.
fn fields(envelope: &[u8], first: u8) -> Option<impl Iterator<Item = Element<'_>>> {
    let body = syntax::elements(body(envelope).ok()?).next()?;
    let mut fields = syntax::elements(body.value).peekable();
    fields.next_if(|field| field.tag == first);
    Some(fields)
}

#[derive(Sequence)]
struct Envelope<'a> {
    body: AnyRef<'a>,
    algorithm: AlgorithmIdentifierRef<'a>,
    signature: BitStringRef<'a>,
}

/// Whether an identifier as in `rustls-pki-types` has this object identifier.
pub(crate) fn is_of(identifier: &AlgorithmIdentifier, oid: ObjectIdentifier) -> bool {
    let first = syntax::elements(identifier).next();
    first.is_some_and(|first| first.value == oid.as_bytes())
}

/// An AlgorithmIdentifier as in `rustls-pki-types`: without its outer tag and length.
fn contents(identifier: &AlgorithmIdentifierRef<'_>) -> der::Result<Vec<u8>> {
    let mut contents = Vec::new();
    identifier.encode_value(&mut contents)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use der::asn1::{Any, BitString, Null};
    use pki_types::{InvalidSignature, alg_id};
    use spki::SubjectPublicKeyInfoOwned;

    use super::*;

    const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
    const SHA256_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

    /// An algorithm that refuses every signature.
    #[derive(Debug)]
    struct Refusing(AlgorithmIdentifier);

    impl SignatureVerificationAlgorithm for Refusing {
        fn verify_signature(&self, _: &[u8], _: &[u8], _: &[u8]) -> Result<(), InvalidSignature> {
            Err(InvalidSignature)
        }

        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            alg_id::RSA_ENCRYPTION
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            self.0
        }
    }

    fn rsa_key(oid: ObjectIdentifier, modulus: &[u8]) -> SubjectPublicKeyInfoOwned {
        let numbers = [modulus, &[1, 0, 1]].map(|number| UintRef::new(number).unwrap());
        SubjectPublicKeyInfoOwned {
            algorithm: AlgorithmIdentifierOwned {
                oid,
                parameters: Some(Null.into()),
            },
            subject_public_key: BitString::from_bytes(&to_der(&numbers.to_vec()).unwrap()).unwrap(),
        }
    }

    /// What a key can't verify was not altered, and of no other key, as far as is known.
    #[test]
    fn signatures_that_no_key_of_rsa_here_verifies_are_not_called_altered() {
        let (pkcs1, pss) = (
            Refusing(alg_id::RSA_PKCS1_SHA256),
            Refusing(alg_id::RSA_PSS_SHA256),
        );
        let verify = |key: &SubjectPublicKeyInfoOwned, signature: AlgorithmIdentifierRef<'_>| {
            let key = key.owned_to_ref();
            verify_message(b"message", &signature, &[1; 128], &key, &[&pkcs1, &pss]).unwrap_err()
        };
        let null = Any::null();
        let of_pkcs1 = AlgorithmIdentifierRef {
            oid: SHA256_RSA,
            parameters: Some((&null).into()),
        };
        let unsupported = |of, algorithm| SignatureError::UnsupportedParameters { of, algorithm };
        for (bytes, expected) in [
            (128, unsupported("the key", RSA_ENCRYPTION)),
            (255, unsupported("the key", RSA_ENCRYPTION)),
            (256, SignatureError::Invalid),
            (1024, SignatureError::Invalid),
            (1025, unsupported("the key", RSA_ENCRYPTION)),
        ] {
            let key = rsa_key(RSA_ENCRYPTION, &vec![0xff; bytes]);
            assert_eq!(verify(&key, of_pkcs1), expected, "{bytes}");
        }
        // A key for PSS alone has the identifier of its signatures.
        let pss = pss.signature_alg_id();
        let pss = [&[0x30, u8::try_from(pss.len()).unwrap()], &*pss].concat();
        let pss = AlgorithmIdentifierRef::from_der(&pss).unwrap();
        let key = rsa_key(RSA_PSS, &[0xff; 256]);
        assert_eq!(verify(&key, pss), unsupported("the key", RSA_PSS));
    }
}
