//! Keys that are elsewhere: what they sign with in TLS, and whether what they return is a signature.

use alloc::sync::Arc;
use core::fmt;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use pq_keys::encoding::identifier_in;
use pq_x509::keys::{SignError, Signer};
use pq_x509::verification;
use pq_x509::x509_cert::der::EncodeValue;
use pq_x509::x509_cert::der::referenced::OwnedToRef;
use pq_x509::x509_cert::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use rustls::sign::SigningKey;
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

use crate::algorithms::{KeyAlgorithm, Signature};
use crate::tls::other;

/// Whether a signature that comes from outside is verified before it is sent.
///
/// A signer that has changed its key, a damaged token or a faulty network returns what is no signature by the key
/// of the certificate. Every client would refuse it, and none could say why. A faulty signature can also give the key
/// away, as those of RSA and ECDSA do if a computation goes wrong.
///
/// Verifying costs what it costs a client, on the thread of the handshake: for ML-DSA-65 less than half of what a signature
/// costs, for ECDSA on P-256 twice as much (some 90 µs with graviola, where a signature takes 50 µs). Keys that recur are kept
/// ready for it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignatureCheck {
    /// Each signature is verified under the public key of the leaf.
    #[default]
    Each,
    /// Signatures are sent as they come. For a signer in the same process that verifies them itself.
    LeftOut,
}

/// Why a handshake was not signed by a [`Signer`](pq_x509::keys::Signer) that is elsewhere: the error of rustls around it is
/// [`Error::Other`](rustls::Error::Other).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The signer failed.
    #[error("{0}")]
    Signer(SignError),

    /// What the signer returned is no signature by the key of the certificate.
    #[error(
        "what the signer returned is no signature by the key of the certificate; if its key was changed, replace the \
         chain and the signer together"
    )]
    WrongSignature,
}

impl SigningError {
    /// Whether the next handshake may succeed without anybody's help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Signer(error) => error.is_transient(),
            Self::WrongSignature => false,
        }
    }
}

/// Why a signer can't sign handshakes.
#[derive(Debug)]
pub(crate) enum UnfitSigner {
    /// It isn't for this key, or TLS has no scheme for it.
    NoScheme { signature: String },
    /// Nobody here can verify what it signs.
    Unverifiable { signature: String },
    /// The provider signs with other schemes only.
    NotAllowed(Error),
}

/// A key whose private half is elsewhere, as rustls takes it.
#[derive(Clone)]
pub(crate) struct ExternalKey(Arc<External>);

struct External {
    signer: Arc<dyn Signer>,
    spki: SubjectPublicKeyInfoDer<'static>,
    scheme: SignatureScheme,
    algorithm: KeyAlgorithm,
    /// Verifies the signatures, under the key in the BIT STRING.
    check: Option<(&'static dyn SignatureVerificationAlgorithm, Vec<u8>)>,
}

impl ExternalKey {
    /// The key of `signer`, whose public half is `spki`, for `algorithm`.
    pub(crate) fn new(
        signer: Arc<dyn Signer>,
        spki: &SubjectPublicKeyInfoRef<'_>,
        algorithm: KeyAlgorithm,
        check: SignatureCheck,
        provider: &CryptoProvider,
    ) -> Result<Self, UnfitSigner> {
        let identifier = signer.signature_algorithm();
        let signature = Signature::of(&identifier.owned_to_ref());
        let scheme = scheme_for(algorithm, signature).ok_or_else(|| UnfitSigner::NoScheme {
            signature: signature.to_string(),
        })?;
        super::check_allowed(provider, algorithm, scheme).map_err(UnfitSigner::NotAllowed)?;
        let check = match check {
            SignatureCheck::LeftOut => None,
            SignatureCheck::Each => {
                let unverifiable = || UnfitSigner::Unverifiable {
                    signature: signature.to_string(),
                };
                let verification =
                    verification_of(scheme, &spki.algorithm, provider).ok_or_else(unverifiable)?;
                let key = spki.subject_public_key.as_bytes();
                Some((verification, key.ok_or_else(unverifiable)?.to_vec()))
            }
        };
        Ok(Self(Arc::new(External {
            spki: signer.spki().into_owned(),
            signer,
            scheme,
            algorithm,
            check,
        })))
    }
}

impl SigningKey for ExternalKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn rustls::sign::Signer>> {
        offered
            .contains(&self.0.scheme)
            .then(|| Box::new(self.clone()) as _)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.0.spki.as_ref().into())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        match self.0.algorithm {
            KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::EcdsaP521 => {
                SignatureAlgorithm::ECDSA
            }
            KeyAlgorithm::Ed25519 => SignatureAlgorithm::ED25519,
            KeyAlgorithm::Ed448 => SignatureAlgorithm::ED448,
            KeyAlgorithm::Rsa { .. } => SignatureAlgorithm::RSA,
            // TLS 1.2 has no others.
            KeyAlgorithm::PostQuantum(_) | KeyAlgorithm::HashSlhDsa(_) | KeyAlgorithm::Other(_) => {
                SignatureAlgorithm::Unknown(0)
            }
        }
    }
}

impl rustls::sign::Signer for ExternalKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let External {
            signer,
            check,
            algorithm,
            ..
        } = &*self.0;
        let signature =
            sign_caught(signer, message).map_err(|error| other(SigningError::Signer(error)))?;
        // The chain was measured with a signature of this length.
        let fits = signature.len() <= algorithm.max_signature_len();
        let verified = match check {
            Some((verification, key)) if fits => verification
                .verify_signature(key, message, &signature)
                .is_ok(),
            _ => fits,
        };
        match verified {
            true => Ok(signature),
            false => Err(other(SigningError::WrongSignature)),
        }
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme
    }
}

impl fmt::Debug for ExternalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalKey")
            .field("scheme", &self.0.scheme)
            .field("is_checked", &self.0.check.is_some())
            .finish_non_exhaustive()
    }
}

/// Signs; a panic of somebody else's code becomes an error.
pub(super) fn sign_caught(signer: &dyn Signer, message: &[u8]) -> Result<Vec<u8>, SignError> {
    catch_unwind(AssertUnwindSafe(|| signer.sign(message)))
        .unwrap_or_else(|_| Err(SignError::new(SignerPanicked)))
}

#[derive(Debug, thiserror::Error)]
#[error("the signer panicked, and standard error may say why")]
struct SignerPanicked;

/// The scheme for signatures of this kind by such a key in TLS 1.3.
fn scheme_for(key: KeyAlgorithm, signature: Signature) -> Option<SignatureScheme> {
    let schemes: &[SignatureScheme] = match key {
        KeyAlgorithm::Rsa { .. } if matches!(signature, Signature::RsaPss(_)) => &[
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
        ],
        key => {
            return key
                .only_scheme()
                .filter(|scheme| signature.is_covered_by(*scheme));
        }
    };
    let mut schemes = schemes.iter().copied();
    schemes.find(|scheme| signature.is_covered_by(*scheme))
}

/// What verifies signatures with this scheme by a key of this kind: of this crate, of the provider, or of graviola if the
/// provider verifies less than it signs.
fn verification_of(
    scheme: SignatureScheme,
    key: &AlgorithmIdentifierRef<'_>,
    provider: &CryptoProvider,
) -> Option<&'static dyn SignatureVerificationAlgorithm> {
    let mut key_identifier = Vec::new();
    key.encode_value(&mut key_identifier).ok()?;
    let fits = |algorithm: &&&'static dyn SignatureVerificationAlgorithm| {
        let identifier = algorithm.signature_alg_id();
        *algorithm.public_key_alg_id() == *key_identifier
            && identifier_in(&identifier)
                .is_ok_and(|identifier| Signature::of(&identifier).is_covered_by(scheme))
    };
    let theirs = provider.signature_verification_algorithms.all;
    let known = verification::ALL.iter().chain(theirs).chain(of_graviola());
    known.clone().find(fits).copied()
}

#[cfg(feature = "graviola")]
fn of_graviola() -> &'static [&'static dyn SignatureVerificationAlgorithm] {
    // An error says that this CPU can't run it.
    verification::classical_algorithms().unwrap_or(&[])
}

#[cfg(not(feature = "graviola"))]
fn of_graviola() -> &'static [&'static dyn SignatureVerificationAlgorithm] {
    &[]
}
