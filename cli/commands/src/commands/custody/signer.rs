//! Keys that sign: in a file, or one version of a key in a store.

use core::fmt;

use pq_keys::any::AnyPublicKey;
use pq_keys::composite::CompositePublicKey;
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{SignError, Signer, SubjectKey, VerifyingKey};
use pq_keystore::policy::Input;
use pq_keystore::remote::RemoteSigner;
use pq_keystore::{KeyId, KeyName, StoredSigner};

use super::door::DoorKeys;
use super::key_name::{KeyLabel, KeyVersion};
use super::opened::Opened;
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
            Self::Stored(key) => key.spki(),
        }
    }
}

impl Signer for AnySigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        match self {
            Self::File(key) => key.signature_algorithm(),
            Self::Stored(key) => key.signature_algorithm(),
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
    id: KeyVersion,
    public: AnyPublicKey,
    signer: Box<Keeper>,
}

/// What signs for this process.
enum Keeper {
    Here {
        opened: Opened,
        signer: StoredSigner,
    },
    Door {
        door: DoorKeys,
        signer: RemoteSigner,
    },
}

impl fmt::Debug for KeyInStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyInStore").field(&self.id).finish()
    }
}

impl KeyInStore {
    /// The newest version that signs.
    pub(super) fn newest(opened: Opened, name: &KeyName) -> Result<Self, Failure> {
        let signer = StoredSigner::newest(&opened.store, &opened.principal, name)?;
        Self::of(opened, signer)
    }

    /// One version.
    pub(super) fn at(opened: Opened, id: &KeyId) -> Result<Self, Failure> {
        let signer = StoredSigner::at(&opened.store, &opened.principal, id)?;
        Self::of(opened, signer)
    }

    fn of(opened: Opened, signer: StoredSigner) -> Result<Self, Failure> {
        Ok(Self {
            id: signer.id().clone().into(),
            public: AnyPublicKey::from_spki_der(&signer.spki()).map_err(KeyError::from)?,
            signer: Keeper::Here { opened, signer }.into(),
        })
    }

    /// A version behind a door.
    pub(super) fn at_door(door: DoorKeys, key: &KeyLabel, signer: RemoteSigner) -> Self {
        Self {
            id: key.at(signer.version()),
            public: signer.public_key().clone(),
            signer: Keeper::Door { door, signer }.into(),
        }
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
                key: self.id.to_string(),
                algorithm: other.algorithm().name(),
            }
            .into()),
        }
    }

    /// Signs what a policy may permit: a message, or its µ.
    pub(in crate::commands) fn sign_input(&self, input: Input<'_>) -> Result<Vec<u8>, Failure> {
        match &*self.signer {
            Keeper::Here { opened, signer } => {
                let Opened { store, principal } = opened;
                Ok(store.sign_by(principal, signer.id(), input)?.signature)
            }
            Keeper::Door { door, signer } => {
                let signed = signer.sign_input(input);
                Ok(signed.map_err(|error| door.failed(error))?)
            }
        }
    }

    pub(in crate::commands) fn id(&self) -> &KeyVersion {
        &self.id
    }

    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match &*self.signer {
            Keeper::Here { signer, .. } => signer.spki(),
            Keeper::Door { signer, .. } => signer.spki(),
        }
    }

    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        match &*self.signer {
            Keeper::Here { signer, .. } => signer.signature_algorithm(),
            Keeper::Door { signer, .. } => signer.signature_algorithm(),
        }
    }

    /// Signs; the error is this program's, with what to do.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let (failure, is_transient) = match &*self.signer {
            Keeper::Here { opened, signer } => {
                let Opened { store, principal } = opened;
                match store.sign_by(principal, signer.id(), Input::message(message)) {
                    Ok(signed) => return Ok(signed.signature),
                    Err(error) => {
                        let is_transient = error.retry();
                        (StoreFailure::Store(error), is_transient)
                    }
                }
            }
            Keeper::Door { door, signer } => match signer.sign_input(Input::message(message)) {
                Ok(signature) => return Ok(signature),
                Err(error) => {
                    let failure = door.failed(error);
                    let is_transient = failure.retry();
                    (StoreFailure::Door(failure), is_transient)
                }
            },
        };
        Err(match is_transient {
            true => SignError::transient(failure),
            false => SignError::new(failure),
        })
    }
}
