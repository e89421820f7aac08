//! Keys that sign: in a file, or one version of a key in a store.

use core::fmt;

use pq_keys::any::AnyPublicKey;
use pq_keys::composite::CompositePublicKey;
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{SignError, Signer, SubjectKey, VerifyingKey};
use pq_keystore::policy::Input;
use pq_keystore::{KeyId, KeyName, StoreError, StoredSigner};

use super::place::Opened;
use crate::failure::{Failure, StoreFailure};
use crate::keys::{Algorithm, KeyError, Narrow, SigningKey};

/// A key that signs, wherever it is.
#[derive(Debug)]
pub(in crate::commands) enum AnySigner {
    File(SigningKey),
    Stored(KeyInStore),
}

impl AnySigner {
    pub(in crate::commands) fn algorithm(&self) -> Algorithm {
        match self {
            Self::File(key) => key.algorithm(),
            Self::Stored(key) => key.public.algorithm(),
        }
    }
}

impl SubjectKey for AnySigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::File(key) => key.spki(),
            Self::Stored(key) => key.signer.spki(),
        }
    }
}

impl Signer for AnySigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        match self {
            Self::File(key) => key.signature_algorithm(),
            Self::Stored(key) => key.signer.signature_algorithm(),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match self {
            Self::File(key) => Signer::sign(key, message),
            Self::Stored(key) => key.sign(message),
        }
    }
}

/// One version of a key in a store.
pub(in crate::commands) struct KeyInStore {
    opened: Opened,
    signer: StoredSigner,
    public: AnyPublicKey,
}

impl fmt::Debug for KeyInStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyInStore").field(self.id()).finish()
    }
}

impl KeyInStore {
    /// The newest version that signs.
    pub(in crate::commands) fn newest(opened: Opened, name: &KeyName) -> Result<Self, Failure> {
        let signer = StoredSigner::newest(&opened.store, &opened.principal, name)?;
        Self::of(opened, signer)
    }

    /// One version.
    pub(in crate::commands) fn at(opened: Opened, id: &KeyId) -> Result<Self, Failure> {
        let signer = StoredSigner::at(&opened.store, &opened.principal, id)?;
        Self::of(opened, signer)
    }

    fn of(opened: Opened, signer: StoredSigner) -> Result<Self, Failure> {
        let public = AnyPublicKey::from_spki_der(&signer.spki()).map_err(KeyError::from)?;
        Ok(Self {
            opened,
            signer,
            public,
        })
    }

    /// Its public key, which has to be a post-quantum one.
    pub(in crate::commands) fn verifying_key(&self) -> Result<VerifyingKey, Failure> {
        Ok(VerifyingKey::narrow(self.public.clone())?)
    }

    /// Its public key, which has to be a composite one.
    pub(in crate::commands) fn composite_key(&self) -> Result<CompositePublicKey, Failure> {
        match &self.public {
            AnyPublicKey::Composite(key) => Ok(key.clone()),
            other => Err(StoreFailure::NotComposite {
                key: self.id().clone(),
                algorithm: other.algorithm().name(),
            }
            .into()),
        }
    }

    /// Signs what a policy may permit: a message, or its µ.
    pub(in crate::commands) fn sign_input(&self, input: Input<'_>) -> Result<Vec<u8>, Failure> {
        let Opened { store, principal } = &self.opened;
        Ok(store.sign_by(principal, self.id(), input)?.signature)
    }

    pub(in crate::commands) fn id(&self) -> &KeyId {
        self.signer.id()
    }

    /// Signs; the error is this program's, with what to do.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let Opened { store, principal } = &self.opened;
        let signed = store.sign_by(principal, self.id(), Input::message(message));
        let failed = |error: StoreError| match error.retry() {
            true => SignError::transient(StoreFailure::Store(error)),
            false => SignError::new(StoreFailure::Store(error)),
        };
        Ok(signed.map_err(failed)?.signature)
    }
}
