//! A private key that is ready to be used: in memory, or in a token. What it signs, and how public keys verify that.

use alloc::sync::Arc;

use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::der::Any;
use pq_keys::signing::PreHash;
use pq_keys::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use pq_keys::{Algorithm, KeyError, PrivateKey, PublicKey, SignatureAlgorithm, Signer, SubjectKey};
use zeroize::Zeroizing;

use super::error::{Damage, StoreError};
use super::signatures::{TAKES_MESSAGES, cannot, hashed, sign_by, verify_by};
use crate::custody::answers::InvalidAnswer;
use crate::custody::{Token, TokenError, TokenInput};
use crate::policy::Input;
use crate::record::TokenPlace;

/// A private key that is ready to be used.
pub(super) enum HeldKey {
    /// In memory.
    Here(AnyPrivateKey),
    /// In a token.
    InToken(KeyInToken),
}

/// A private key in a token, with its public half.
pub(super) struct KeyInToken {
    pub(super) place: TokenPlace,
    pub(super) token: Arc<dyn Token>,
    /// In the form that verifies fastest.
    pub(super) public: AnyPublicKey,
}

impl HeldKey {
    /// Signs. What a token signed is verified before it is given out.
    pub(super) fn sign(&self, input: Input<'_>) -> Result<Vec<u8>, StoreError> {
        match self {
            Self::Here(key) => sign_by(key, input),
            Self::InToken(key) => key.sign(input),
        }
    }

    /// Decapsulates a secret of ML-KEM or X-Wing.
    pub(super) fn decapsulate(&self, ciphertext: &[u8]) -> Result<Zeroizing<[u8; 32]>, StoreError> {
        let mut secret = Zeroizing::new([0; 32]);
        match self {
            Self::Here(AnyPrivateKey::PostQuantum(PrivateKey::Decapsulation(key))) => {
                key.decapsulate_into(ciphertext, &mut secret)
                    .map_err(AnyKeyError::from)?;
            }
            Self::Here(AnyPrivateKey::XWing(key)) => {
                key.decapsulate_into(ciphertext, &mut secret)
                    .map_err(AnyKeyError::from)?;
            }
            Self::Here(key) => return Err(cannot(key.algorithm(), "decapsulate")),
            Self::InToken(key) => return key.decapsulate(ciphertext),
        }
        Ok(secret)
    }

    /// The public key as SubjectPublicKeyInfo, and the identifier of signatures.
    pub(super) fn as_signer(&self) -> Result<(Vec<u8>, AlgorithmIdentifierOwned), StoreError> {
        match self {
            Self::Here(key) => {
                let key = AnySigningKey::try_from(key.clone())?;
                Ok((key.spki().to_vec(), key.signature_algorithm()))
            }
            Self::InToken(key) => {
                let algorithm = key.public.algorithm();
                let identifier = signature_algorithm(algorithm)?;
                Ok((key.public.to_spki_der().into(), identifier))
            }
        }
    }
}

impl KeyInToken {
    fn failed(&self, error: impl Into<TokenError>) -> StoreError {
        let error = match error.into() {
            // A copy of a token, which its maker's means restored in another one, has its keys. This one is none.
            error @ TokenError::NoObject(_) => check_made_in(&self.place, &*self.token)
                .err()
                .unwrap_or(error),
            error => error,
        };
        StoreError::Token {
            token: self.place.token.clone(),
            error,
        }
    }

    fn sign(&self, input: Input<'_>) -> Result<Vec<u8>, StoreError> {
        let algorithm = self.public.algorithm();
        check_token_input(algorithm, input)?;
        let request = TokenInput {
            object: &self.place.object,
            algorithm,
            input,
        };
        let signature = self.token.sign(&request);
        let signature = signature.map_err(|error| self.failed(error))?;
        match verify_by(&self.public, input, &signature)? {
            true => Ok(signature),
            false => Err(self.failed(InvalidAnswer::Signature)),
        }
    }

    /// Checks that the token has the private key of the public one, by using it once. That is no use that is counted.
    pub(super) fn try_out(&self) -> Result<(), StoreError> {
        let AnyPublicKey::PostQuantum(PublicKey::Encapsulation(public)) = &self.public else {
            let message = b"pq-keystore tries out a key in a token";
            return self.sign(Input::message(message)).map(drop);
        };
        let mut secret = Zeroizing::new([0; 32]);
        let ciphertext = public
            .encapsulate_into(&mut secret)
            .map_err(AnyKeyError::from)?;
        match self.decapsulate(&ciphertext)? == secret {
            true => Ok(()),
            false => Err(self.failed(InvalidAnswer::Attribute(
                "it decapsulates by another private key",
            ))),
        }
    }

    /// Checks that the token has the private key, and no other one in its place.
    pub(super) fn check(&self) -> Result<Result<(), Damage>, StoreError> {
        let count = self.token.private_keys(&self.place.object);
        let found = match count.map_err(|error| self.failed(error)) {
            Ok(0) => Err(self.failed(TokenError::NoObject(self.place.object))),
            Ok(1) => self.try_out(),
            Ok(count) => return Ok(Err(Damage::SeveralInToken(count))),
            Err(error) => Err(error),
        };
        match found {
            Ok(()) => Ok(Ok(())),
            Err(StoreError::Token { error, .. }) if error.is_of_key() => Ok(Err(match error {
                TokenError::NoObject(_) => Damage::NotInToken,
                TokenError::Answer(InvalidAnswer::Signature | InvalidAnswer::Attribute(_)) => {
                    Damage::AnotherInToken
                }
                error => Damage::UnusableInToken(error.to_string()),
            })),
            Err(error) => Err(error),
        }
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Result<Zeroizing<[u8; 32]>, StoreError> {
        let algorithm = self.public.algorithm();
        let AnyAlgorithm::PostQuantum(Algorithm::Kem(set)) = algorithm else {
            return Err(cannot(algorithm, "decapsulate"));
        };
        if ciphertext.len() != set.ciphertext_len() {
            return Err(cannot(algorithm, "decapsulate a ciphertext of this length"));
        }
        let secret = self.token.decapsulate(&self.place.object, ciphertext);
        secret.map_err(|error| self.failed(error))
    }
}

/// Checks that a token is the one in which a private key was made, where both are known.
pub(super) fn check_made_in(place: &TokenPlace, token: &dyn Token) -> Result<(), TokenError> {
    let Some(made_in) = &place.serial else {
        return Ok(());
    };
    let at_hand = token.serial()?;
    match at_hand.as_ref() == Some(made_in) {
        true => Ok(()),
        false => Err(TokenError::AnotherToken {
            made_in: made_in.clone(),
            at_hand,
        }),
    }
}

/// The identifier of the signatures of a key in a token.
fn signature_algorithm(algorithm: AnyAlgorithm) -> Result<AlgorithmIdentifierOwned, StoreError> {
    const ECDSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
    const ECDSA_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
    const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
    const SHA256_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

    let (oid, parameters) = match algorithm {
        AnyAlgorithm::PostQuantum(Algorithm::Signature(set)) => (set.oid(), None),
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP256) => (ECDSA_SHA256, None),
        AnyAlgorithm::Classical(ClassicalAlgorithm::EcdsaP384) => (ECDSA_SHA384, None),
        AnyAlgorithm::Classical(ClassicalAlgorithm::Ed25519) => (ED25519, None),
        // Those of RSA have NULL (RFC 4055, section 5).
        AnyAlgorithm::Classical(_) => (SHA256_RSA, Some(Any::null())),
        _ => return Err(AnyKeyError::NotASignatureKey(algorithm).into()),
    };
    Ok(AlgorithmIdentifierOwned { oid, parameters })
}

/// Refuses before the token is asked what a key in memory refuses, so that both refuse the same.
fn check_token_input(algorithm: AnyAlgorithm, input: Input<'_>) -> Result<(), StoreError> {
    let signature = match algorithm {
        AnyAlgorithm::PostQuantum(Algorithm::Signature(set)) => Some(set),
        AnyAlgorithm::Classical(_) => None,
        _ => return Err(cannot(algorithm, "sign")),
    };
    let context = match (signature, input) {
        (None, Input::Message { context: [], .. }) => return Ok(()),
        (None, Input::Message { .. }) => {
            let AnyAlgorithm::Classical(classical) = algorithm else {
                return Err(cannot(algorithm, "sign"));
            };
            return Err(AnyKeyError::NoContext(classical).into());
        }
        (None, _) => return Err(cannot(algorithm, TAKES_MESSAGES)),
        (Some(_), Input::Message { context, .. }) => context,
        (Some(set), Input::Digest { hash, context, .. }) => {
            hashed(algorithm, input)?;
            check_strength(set, hash)?;
            context
        }
        (Some(set), Input::Mu(_)) => {
            return match SignatureAlgorithm::ML_DSA.contains(&set) {
                true => Ok(()),
                false => Err(AnyKeyError::from(KeyError::NoMu(set)).into()),
            };
        }
    };
    match context.len() {
        ..=255 => Ok(()),
        _ => Err(cannot(
            algorithm,
            "sign with a context of more than 255 bytes",
        )),
    }
}

fn check_strength(set: SignatureAlgorithm, hash: PreHash) -> Result<(), StoreError> {
    match hash.digest_len() < set.least_digest_len() {
        true => Err(AnyKeyError::from(KeyError::WeakPreHash {
            algorithm: set,
            hash,
        })
        .into()),
        false => Ok(()),
    }
}
