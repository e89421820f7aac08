//! Turns a key of any kind into the kind that a command takes, or says why not.

use pq_hpke::{RecipientKey, RecipientPublicKey};
use pq_keys::any::{AnyPrivateKey, AnyPublicKey};
use pq_keys::{DecapsulationKey, EncapsulationKey, SigningKey, VerifyingKey};

use super::error::KeyError;

/// A kind of keys that some commands take, out of all that `K` may be.
pub(crate) trait Narrow<K>: Sized {
    fn narrow(key: K) -> Result<Self, KeyError>;
}

/// For commands that take only keys of one post-quantum algorithm.
macro_rules! post_quantum_only {
    ($from:ident: $($narrow:ident),+) => {$(
        impl Narrow<$from> for $narrow {
            fn narrow(key: $from) -> Result<Self, KeyError> {
                match key {
                    $from::PostQuantum(key) => Ok(key.try_into()?),
                    $from::XWing(_) => Err(KeyError::OnlyForFiles),
                    $from::Composite(key) => Err(KeyError::NotOfOneAlgorithm(key.algorithm())),
                    $from::Classical(key) => Err(KeyError::NotPostQuantum(key.algorithm().into())),
                    $from::Agreement(key) => Err(KeyError::NotPostQuantum(key.algorithm().into())),
                }
            }
        }
    )+};
}
post_quantum_only!(AnyPrivateKey: SigningKey, DecapsulationKey);
post_quantum_only!(AnyPublicKey: VerifyingKey, EncapsulationKey);

impl Narrow<AnyPrivateKey> for RecipientKey {
    fn narrow(key: AnyPrivateKey) -> Result<Self, KeyError> {
        match key {
            AnyPrivateKey::XWing(key) => Ok(key.into()),
            other => Ok(DecapsulationKey::narrow(other)?.try_into()?),
        }
    }
}

impl Narrow<AnyPublicKey> for RecipientPublicKey {
    fn narrow(key: AnyPublicKey) -> Result<Self, KeyError> {
        match key {
            AnyPublicKey::XWing(key) => Ok((*key).into()),
            other => Ok(EncapsulationKey::narrow(other)?.try_into()?),
        }
    }
}
