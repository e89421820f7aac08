//! A version of a remote key as a signer.

use core::fmt;

use pq_keys::any::{AnyKeyError, AnyPublicKey};
use pq_keys::classical::ClassicalAlgorithm;
use pq_keys::encoding::identifier_in;
use pq_keys::pki_types::{SubjectPublicKeyInfoDer, alg_id};
use pq_keys::signing::{HashedMessage, SignatureOptions};
use pq_keys::spki::AlgorithmIdentifierOwned;
use pq_keys::{Algorithm, KeyError, PublicKey, SignError, Signer, SubjectKey};

use super::client::RemoteStore;
use super::error::RemoteError;
use crate::name::Version;
use crate::policy::Input;

/// The length of µ, in bytes.
const MU_LEN: usize = 64;

/// One version of a key behind a network, which signs for pq-x509, pq-cms, pq-jose and pq-ssh.
///
/// It asks each time, keeps nothing but the public key, and verifies each signature by it. Of ML-DSA it sends µ, 64 bytes,
/// whatever the message's length.
/// It stays with its version when the key is rotated: [another](Self::newest) is of the new version. An error says in
/// [`RemoteError::retry`], which [`SignError::get_ref`] gives access to, whether trying again helps.
#[derive(Clone)]
pub struct RemoteSigner {
    store: RemoteStore,
    name: String,
    version: Version,
    key: AnyPublicKey,
    algorithm: AlgorithmIdentifierOwned,
}

impl fmt::Debug for RemoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSigner")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl RemoteSigner {
    /// The newest version of a key that signs: of those that the server calls enabled, if it has states, and of all if it has
    /// none or calls none so.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteStore::public_key`], and [`RemoteError::Key`] if it is no key that signs.
    pub fn newest(store: &RemoteStore, name: &str) -> Result<Self, RemoteError> {
        let version = match store.show(name) {
            Ok(shown) => shown.newest_enabled(),
            // A server may give public keys to those to whom it shows no key. It says itself what else is wrong.
            Err(RemoteError::Refused { .. }) => None,
            Err(error) => return Err(error),
        };
        Self::of(store, name, version)
    }

    /// One version of a key.
    ///
    /// # Errors
    ///
    /// As [`newest`](Self::newest).
    pub fn at(store: &RemoteStore, name: &str, version: Version) -> Result<Self, RemoteError> {
        Self::of(store, name, Some(version))
    }

    fn of(store: &RemoteStore, name: &str, version: Option<Version>) -> Result<Self, RemoteError> {
        let (version, key) = store.public_key(name, version)?;
        let algorithm = signature_algorithm(&key)?;
        Ok(Self {
            store: store.for_key(&key),
            name: name.into(),
            version,
            key,
            algorithm,
        })
    }

    /// Which version it is.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The public key.
    pub fn public_key(&self) -> &AnyPublicKey {
        &self.key
    }

    /// Signs a message, of which µ is sent where there is one, or a µ of ML-DSA, and verifies the signature before anybody gets
    /// it.
    ///
    /// # Errors
    ///
    /// Those of [`RemoteStore::sign`], and [`RemoteError::WrongSignature`].
    pub fn sign_input(&self, input: Input<'_>) -> Result<Vec<u8>, RemoteError> {
        let mu = match input {
            Input::Message { message, context } => self.mu(message, context)?,
            _ => None,
        };
        let input = mu.as_ref().map_or(input, Input::Mu);
        let signed = self.store.sign(&self.name, Some(self.version), input)?;
        let verified = match (&self.key, input) {
            (key, Input::Message { message, context }) => {
                key.verify_with_context(message, &signed.signature, context)
            }
            (AnyPublicKey::PostQuantum(PublicKey::Verifying(key)), Input::Mu(mu)) => key
                .verify_hashed(&HashedMessage::from_mu(*mu), &signed.signature)
                .map_err(AnyKeyError::from),
            _ => return Err(RemoteError::Answer("the key can't verify what it signed")),
        };
        match verified {
            Ok(()) => Ok(signed.signature),
            Err(error) if error.is_invalid_signature() => Err(RemoteError::WrongSignature),
            Err(error) => Err(error.into()),
        }
    }

    /// The µ of a message, if the key has one.
    fn mu(&self, message: &[u8], context: &[u8]) -> Result<Option<[u8; MU_LEN]>, RemoteError> {
        let AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) = &self.key else {
            return Ok(None);
        };
        match key.hasher(&SignatureOptions::new().context(context)) {
            Ok(mut hasher) => {
                hasher.update(message);
                Ok(hasher.finish().mu().copied())
            }
            Err(KeyError::CannotStream(_)) => Ok(None),
            Err(error) => Err(AnyKeyError::from(error).into()),
        }
    }
}

/// The identifier of the signatures that belong to a public key.
fn signature_algorithm(key: &AnyPublicKey) -> Result<AlgorithmIdentifierOwned, RemoteError> {
    let no_signer = || RemoteError::from(AnyKeyError::NotASignatureKey(key.algorithm()));
    let plain = |oid| AlgorithmIdentifierOwned {
        oid,
        parameters: None,
    };
    let identifier = match key {
        AnyPublicKey::PostQuantum(PublicKey::Verifying(key)) => {
            return Ok(plain(Algorithm::Signature(key.algorithm()).oid()));
        }
        AnyPublicKey::Composite(key) => return Ok(plain(key.algorithm().oid())),
        AnyPublicKey::Classical(key) => match key.algorithm() {
            ClassicalAlgorithm::EcdsaP256 => alg_id::ECDSA_SHA256,
            ClassicalAlgorithm::EcdsaP384 => alg_id::ECDSA_SHA384,
            ClassicalAlgorithm::Ed25519 => alg_id::ED25519,
            ClassicalAlgorithm::Rsa2048
            | ClassicalAlgorithm::Rsa3072
            | ClassicalAlgorithm::Rsa4096 => alg_id::RSA_PKCS1_SHA256,
            _ => return Err(no_signer()),
        },
        _ => return Err(no_signer()),
    };
    let read = identifier_in(&identifier);
    let read = read.map_err(|_| no_signer())?;
    Ok(AlgorithmIdentifierOwned {
        oid: read.oid,
        parameters: read.parameters.map(Into::into),
    })
}

impl SubjectKey for RemoteSigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.to_spki_der().into()
    }
}

impl Signer for RemoteSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.algorithm.clone()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.sign_input(Input::message(message))
            .map_err(|error| match error.retry() {
                true => SignError::transient(error),
                false => SignError::new(error),
            })
    }
}
