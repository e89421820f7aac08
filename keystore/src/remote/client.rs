//! What is asked of a key server.

use alloc::sync::Arc;
use core::fmt;

use base64ct::{Base64, Encoding};
use pq_keys::any::AnyPublicKey;
use pq_keys::classical::ClassicalAlgorithm;
use zeroize::Zeroizing;

use super::error::RemoteError;
use super::messages::{Answer, Create, Exported, Item, Made, Results, Shown, Use};
use super::mount::{Mount, data};
use super::transport::{Transport, TransportResponse};
use crate::name::{KeyName, Version};
use crate::policy::Input;
use crate::versioned::Versioned;

/// A signature, and the version that made it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RemoteSignature {
    /// Which version of the key.
    pub version: Version,
    /// The signature, as in certificates.
    pub signature: Vec<u8>,
}

/// A key as the server shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RemoteKey {
    /// Its versions, the oldest first.
    pub versions: Vec<RemoteVersion>,
    /// Whether private keys may be exported, if the server says it: Vault does, too.
    pub exportable: Option<bool>,
}

impl RemoteKey {
    /// The newest version that the server calls enabled.
    pub(super) fn newest_enabled(&self) -> Option<Version> {
        let mut newest_first = self.versions.iter().rev();
        let enabled = newest_first.find(|one| one.state.as_deref() == Some("enabled"));
        enabled.map(|one| one.version)
    }
}

/// A version of a key as the server shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RemoteVersion {
    /// Its number.
    pub version: Version,
    /// Its state, such as `enabled`, if the server has states: Vault has none.
    pub state: Option<String>,
}

/// Keys of a server that speaks Vault's Transit API, such as [`Door`](crate::door) does. Clones share connections.
#[derive(Clone)]
pub struct RemoteStore {
    mount: Arc<Mount>,
    /// By which hash keys sign that have a choice, if that is named.
    hash: Option<&'static str>,
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteStore")
            .field("mount", &self.mount.path)
            .finish_non_exhaustive()
    }
}

impl RemoteStore {
    /// The keys under a mount, such as `transit`, for the owner of a token, or of the certificate that the transport shows.
    pub fn new(transport: impl Transport + 'static, mount: &str, token: Option<&str>) -> Self {
        let mount = Mount {
            transport: Box::new(transport),
            path: mount.into(),
            token: token.map(|token| Zeroizing::new(token.into())),
            namespace: None,
        };
        Self {
            mount: Arc::new(mount),
            hash: None,
        }
    }

    /// The same keys, for those that sign like this one. Vault signs by SHA-256 unless another hash is named: for keys of
    /// ECDSA-P384, which sign by SHA-384 here, it is named. A [`RemoteSigner`](super::RemoteSigner) does that by itself.
    #[must_use]
    pub fn for_key(&self, key: &AnyPublicKey) -> Self {
        let hash = match key {
            AnyPublicKey::Classical(key) if key.algorithm() == ClassicalAlgorithm::EcdsaP384 => {
                Some("sha2-384")
            }
            _ => None,
        };
        Self {
            hash,
            ..self.clone()
        }
    }

    /// Makes a new key of a type that the server knows, such as `mldsa-65`. Returns the version that this request made, which
    /// nobody else has made: `None` if there was such a key already, or if the server is one that doesn't say it.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`], [`RemoteError::Answer`], and those of the transport, after which there may be the key.
    pub fn create(
        &self,
        name: &str,
        key_type: &str,
        exportable: bool,
    ) -> Result<Option<Version>, RemoteError> {
        let body = Create {
            r#type: key_type,
            exportable,
        };
        made(
            &self
                .mount
                .write(&format!("keys/{}", checked(name)?), &body, false)?,
        )
    }

    /// Makes a new version of a key, and returns which one this request made; `None` if the server is one that doesn't say it.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`], [`RemoteError::Answer`], and those of the transport, after which there may be a new version.
    pub fn rotate(&self, name: &str) -> Result<Option<Version>, RemoteError> {
        let target = format!("keys/{}/rotate", checked(name)?);
        made(&self.mount.write(&target, &serde_json::Map::new(), false)?)
    }

    /// A key with its versions.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`], of which [`is_no_key`](RemoteError::is_no_key) tells that there is none,
    /// [`RemoteError::Answer`], and those of the transport.
    pub fn show(&self, name: &str) -> Result<RemoteKey, RemoteError> {
        let shown: Shown = data(&self.mount.read(&format!("keys/{}", checked(name)?))?)?;
        let versions = shown.keys.into_iter().map(|(version, shown)| {
            Ok(RemoteVersion {
                version: version.parse()?,
                state: shown.state,
            })
        });
        let mut versions = versions.collect::<Result<Vec<_>, RemoteError>>()?;
        versions.sort_by_key(|one| one.version);
        Ok(RemoteKey {
            versions,
            exportable: shown.exportable,
        })
    }

    /// The public key of a version, or of the newest one, with its number.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`], [`RemoteError::Answer`], [`RemoteError::Key`], and those of the transport.
    pub fn public_key(
        &self,
        name: &str,
        version: Option<Version>,
    ) -> Result<(Version, AnyPublicKey), RemoteError> {
        let asked = version;
        let version = version.map_or_else(|| "latest".into(), |version| version.to_string());
        let target = format!("export/public-key/{}/{version}?format=der", checked(name)?);
        let exported: Exported = data(&self.mount.read(&target)?)?;
        let mut keys = exported.keys.into_iter();
        let (Some((version, key)), None) = (keys.next(), keys.next()) else {
            return Err(RemoteError::Answer("it has not one public key"));
        };
        let version = version.parse()?;
        if asked.is_some_and(|asked| asked != version) {
            return Err(RemoteError::Answer("it has another version's public key"));
        }
        let key = Base64::decode_vec(&key);
        let key = key.map_err(|_| RemoteError::Answer("its public key is no base64"))?;
        Ok((version, AnyPublicKey::from_spki_der(&key)?))
    }

    /// Signs by a version, or by the newest one.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`], [`RemoteError::Answer`], and those of the transport.
    pub fn sign(
        &self,
        name: &str,
        version: Option<Version>,
        input: Input<'_>,
    ) -> Result<RemoteSignature, RemoteError> {
        let body = self.with_hash(one(version, input, None)?);
        let response = self
            .mount
            .write(&format!("sign/{}", checked(name)?), &body, true)?;
        signature(data(&response)?, version)
    }

    /// Verifies a signature by the version that made it.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Refused`] also if the version may not verify, [`RemoteError::Answer`], and those of the transport.
    pub fn verify(
        &self,
        name: &str,
        version: Version,
        input: Input<'_>,
        signature: &[u8],
    ) -> Result<bool, RemoteError> {
        let body = one(None, input, Some(Versioned::write(version, signature)))?;
        let body = self.with_hash(body);
        let response = self
            .mount
            .write(&format!("verify/{}", checked(name)?), &body, true)?;
        valid(data(&response)?)
    }

    /// Signs several messages in one request. Each has its own result.
    ///
    /// # Errors
    ///
    /// Those of [`sign`](Self::sign), if no message has a result.
    pub fn sign_batch(
        &self,
        name: &str,
        version: Option<Version>,
        messages: &[&[u8]],
    ) -> Result<Vec<Result<RemoteSignature, RemoteError>>, RemoteError> {
        let items = messages.iter().map(|message| Item {
            input: Base64::encode_string(message),
            signature: None,
        });
        let body = self.with_hash(batch(version, items.collect()));
        let response = self
            .mount
            .write(&format!("sign/{}", checked(name)?), &body, true)?;
        let results = results(&response, messages.len())?;
        Ok(results
            .into_iter()
            .map(|result| signature(result, version))
            .collect())
    }

    /// Verifies several signatures of messages in one request.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Self::verify), if no signature has a result.
    pub fn verify_batch(
        &self,
        name: &str,
        signatures: &[(&[u8], &RemoteSignature)],
    ) -> Result<Vec<Result<bool, RemoteError>>, RemoteError> {
        let items = signatures.iter().map(|(message, signed)| Item {
            input: Base64::encode_string(message),
            signature: Some(Versioned::write(signed.version, &signed.signature)),
        });
        let body = self.with_hash(batch(None, items.collect()));
        let response = self
            .mount
            .write(&format!("verify/{}", checked(name)?), &body, true)?;
        let results = results(&response, signatures.len())?;
        Ok(results.into_iter().map(valid).collect())
    }

    /// The request with the hash that is named. What is prehashed by another would be something else.
    fn with_hash(&self, body: Use) -> Use {
        Use {
            hash_algorithm: self.hash.filter(|_| !body.prehashed),
            ..body
        }
    }
}

/// The name, if it is one that a path can have.
fn checked(name: &str) -> Result<&str, RemoteError> {
    KeyName::new("x", "x", name)?;
    Ok(name)
}

fn one(
    version: Option<Version>,
    input: Input<'_>,
    signature: Option<String>,
) -> Result<Use, RemoteError> {
    let (bytes, context, prehashed) = match input {
        Input::Message { message, context } => (message, context, false),
        Input::Mu(mu) => (&mu[..], &[][..], true),
        Input::Digest { .. } => {
            return Err(RemoteError::Answer("digests are not sent; send messages"));
        }
    };
    Ok(Use {
        prehashed,
        input: Some(Base64::encode_string(bytes)),
        signature_context: Some(context)
            .filter(|context| !context.is_empty())
            .map(Base64::encode_string),
        signature,
        ..batch_of(version, None)
    })
}

fn batch(version: Option<Version>, items: Vec<Item>) -> Use {
    batch_of(version, Some(items))
}

fn batch_of(version: Option<Version>, batch_input: Option<Vec<Item>>) -> Use {
    Use {
        key_version: version.map(Version::get),
        prehashed: false,
        // Keys of RSA sign in this way only, and others have no choice.
        signature_algorithm: Some("pkcs1v15"),
        hash_algorithm: None,
        input: None,
        signature_context: None,
        signature: None,
        batch_input,
    }
}

/// Which version was made, if the server says it.
fn made(response: &TransportResponse) -> Result<Option<Version>, RemoteError> {
    if response.body.is_empty() {
        return Ok(None);
    }
    let made: Option<Made> = data(response)?;
    let Some(number) = made.and_then(|made| made.key_version) else {
        return Ok(None);
    };
    let version = Version::new(number).ok_or(RemoteError::Answer("no version has number 0"))?;
    Ok(Some(version))
}

fn results(response: &TransportResponse, count: usize) -> Result<Vec<Answer>, RemoteError> {
    let results: Results = data(response)?;
    match results.batch_results.len() == count {
        true => Ok(results.batch_results),
        false => Err(RemoteError::Answer("a batch has another number of results")),
    }
}

fn refused(answer: Answer) -> RemoteError {
    match answer.error {
        Some(error) => RemoteError::Refused {
            status: 400,
            errors: vec![error],
        },
        None => RemoteError::Answer("it has no result"),
    }
}

/// The signature in an answer, which has to be by the version that was asked for.
fn signature(answer: Answer, asked: Option<Version>) -> Result<RemoteSignature, RemoteError> {
    let Some(text) = &answer.signature else {
        return Err(refused(answer));
    };
    let signature = Versioned::parse(text);
    let signature = signature.ok_or(RemoteError::Answer("its signature is no signature"))?;
    match asked.is_none_or(|asked| asked == signature.version) {
        true => Ok(RemoteSignature {
            version: signature.version,
            signature: signature.bytes,
        }),
        false => Err(RemoteError::Answer("another version signed")),
    }
}

/// Beside an error, `valid` says nothing.
fn valid(answer: Answer) -> Result<bool, RemoteError> {
    let valid = answer.valid.filter(|_| answer.error.is_none());
    valid.ok_or_else(|| refused(answer))
}
