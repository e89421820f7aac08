//! What keys in memory sign, and how public keys verify it: a message, a digest or µ.

use pq_keys::any::{AnyAlgorithm, AnyKeyError, AnyPrivateKey, AnyPublicKey};
use pq_keys::signing::{Digest, HashedMessage, SignatureOptions, SigningVariant};
use pq_keys::{KeyError, PrivateKey, PublicKey};

use super::error::StoreError;
use crate::policy::Input;

pub(super) fn cannot(algorithm: AnyAlgorithm, what: &'static str) -> StoreError {
    StoreError::Algorithm { algorithm, what }
}

/// What ML-DSA and SLH-DSA sign if the input is not the message.
pub(super) fn hashed(
    algorithm: AnyAlgorithm,
    input: Input<'_>,
) -> Result<Option<HashedMessage>, StoreError> {
    Ok(match input {
        Input::Message { .. } => None,
        Input::Mu(mu) => Some(HashedMessage::from_mu(*mu)),
        Input::Digest {
            hash,
            digest,
            context,
        } => {
            let digest = Digest::from_bytes(hash, digest);
            let digest = digest.map_err(|_| cannot(algorithm, "take a digest of this length"))?;
            Some(HashedMessage::from_digest(digest, context))
        }
    })
}

pub(super) const TAKES_MESSAGES: &str = "sign or verify a digest or µ; give the message";

pub(super) fn sign_by(key: &AnyPrivateKey, input: Input<'_>) -> Result<Vec<u8>, StoreError> {
    let algorithm = key.algorithm();
    let hashed = hashed(algorithm, input)?;
    let made: Result<_, AnyKeyError> = match (key, input) {
        (
            AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)),
            Input::Message { message, context },
        ) => {
            let options = SignatureOptions::new().context(context);
            key.sign_with(message, &options, SigningVariant::Hedged)
                .map_err(Into::into)
        }
        (AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)), _) => match hashed {
            Some(hashed) => key
                .sign_hashed(&hashed, SigningVariant::Hedged)
                .map_err(Into::into),
            None => return Err(cannot(algorithm, "sign this")),
        },
        (AnyPrivateKey::Composite(key), Input::Message { message, context }) => {
            key.sign_with_context(message, context).map_err(Into::into)
        }
        (
            AnyPrivateKey::Classical(key),
            Input::Message {
                message,
                context: [],
            },
        ) => key.sign(message).map_err(Into::into),
        (AnyPrivateKey::Classical(key), Input::Message { .. }) => {
            Err(AnyKeyError::NoContext(key.algorithm()))
        }
        (AnyPrivateKey::Composite(_) | AnyPrivateKey::Classical(_), _) => {
            return Err(cannot(algorithm, TAKES_MESSAGES));
        }
        _ => return Err(cannot(algorithm, "sign")),
    };
    Ok(made?)
}

/// Verifies; `false` if the signature isn't valid.
pub(super) fn verify_by(
    key: &AnyPublicKey,
    input: Input<'_>,
    signature: &[u8],
) -> Result<bool, StoreError> {
    let algorithm = key.algorithm();
    let verified = match (key, input) {
        (_, Input::Message { message, context }) => {
            key.verify_with_context(message, signature, context)
        }
        (AnyPublicKey::PostQuantum(PublicKey::Verifying(key)), _) => {
            match hashed(algorithm, input)? {
                Some(hashed) => key.verify_hashed(&hashed, signature).map_err(Into::into),
                None => return Err(cannot(algorithm, "verify this")),
            }
        }
        _ => return Err(cannot(algorithm, TAKES_MESSAGES)),
    };
    verdict(algorithm, verified)
}

/// `false` if the signature isn't valid.
pub(super) fn verdict(
    algorithm: AnyAlgorithm,
    verified: Result<(), AnyKeyError>,
) -> Result<bool, StoreError> {
    match verified {
        Ok(()) => Ok(true),
        Err(error) if error.is_invalid_signature() => Ok(false),
        Err(AnyKeyError::NotASignatureKey(_)) => Err(cannot(algorithm, "verify")),
        Err(AnyKeyError::PostQuantum(KeyError::NoMu(_))) => Err(cannot(algorithm, "verify µ")),
        Err(error) => Err(error.into()),
    }
}
