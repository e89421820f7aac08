//! Reads and writes public and private JSON Web Keys, and makes their thumbprints (RFC 7638). Reading leaves no copy of
//! a private part behind.

use core::slice;

use pq_keys::{SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use super::error::JwkError;
use super::members::{Kind, Members, base64_error, canonical, write};
use crate::akp::{Algorithm, Identified, PrivateKey, PublicKey, Thumbprint, signs_by_its_key};
use crate::encoding::base64url;
use crate::encoding::json::{self, Object};

/// A JSON Web Key that verifies signatures of the algorithm that it names.
#[derive(Clone, Debug)]
pub struct Jwk {
    key: PublicKey,
    kid: Option<String>,
}

impl Jwk {
    /// A key without an identifier.
    ///
    /// # Errors
    ///
    /// [`JwkError::Key`], if its algorithm has no name in JOSE.
    pub fn new(key: VerifyingKey) -> Result<Self, JwkError> {
        Ok(Self {
            key: PublicKey::new(key)?,
            kid: None,
        })
    }

    /// Reads a public key of at most 64 KiB. A key with a private part is refused: see
    /// [`PrivateJwk::from_json`].
    ///
    /// # Errors
    ///
    /// A [`JwkError`] that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, JwkError> {
        let (algorithm, members) = read(text)?;
        Self::from_members(algorithm, members)
    }

    pub(super) fn from_members(
        algorithm: Algorithm,
        members: Members<'_>,
    ) -> Result<Self, JwkError> {
        if members.private.is_some() {
            return Err(JwkError::Private);
        }
        members.check_use("verify")?;
        Ok(Self {
            key: members.public_key(algorithm)?,
            kid: members.kid,
        })
    }

    /// The key as one line of JSON without a line feed.
    pub fn to_json(&self) -> String {
        write(&self.key, self.kid(), None)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    /// The key itself.
    pub fn verifying_key(&self) -> &VerifyingKey {
        self.key.key()
    }

    /// The key's identifier (`kid`), if it has one. Verifiers find the key by it.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// The same key with this identifier.
    #[must_use]
    pub fn with_kid(self, kid: impl Into<String>) -> Self {
        Self {
            kid: Some(kid.into()),
            ..self
        }
    }

    /// The same key with its [`thumbprint`](Self::thumbprint) as its identifier, as in the examples of
    /// RFC 9964.
    #[must_use]
    pub fn with_thumbprint_as_kid(self) -> Self {
        let kid = self.thumbprint().to_string();
        self.with_kid(kid)
    }

    /// The SHA-256 of the members `alg`, `kty` and `pub` (RFC 7638; RFC 9964, section 6).
    pub fn thumbprint(&self) -> Thumbprint {
        Thumbprint::of(canonical(&self.key).as_bytes())
    }
}

impl Identified for Jwk {
    type Kid = str;

    fn kid(&self) -> Option<&str> {
        self.kid()
    }

    fn public(&self) -> &PublicKey {
        &self.key
    }
}

/// One key can be given where several keys are accepted.
impl AsRef<[Self]> for Jwk {
    fn as_ref(&self) -> &[Self] {
        slice::from_ref(self)
    }
}

impl TryFrom<VerifyingKey> for Jwk {
    type Error = JwkError;

    fn try_from(key: VerifyingKey) -> Result<Self, JwkError> {
        Self::new(key)
    }
}

/// A JSON Web Key that signs: a seed.
///
/// It is a [`Signer`](pq_keys::Signer) as its [`signing_key`](Self::signing_key) is.
#[derive(Clone, Debug)]
pub struct PrivateJwk {
    key: PrivateKey,
    public: Jwk,
}

impl PrivateJwk {
    /// A key without an identifier.
    ///
    /// # Errors
    ///
    /// [`JwkError::Key`], if its algorithm has no name in JOSE, or if the key has no seed.
    pub fn new(key: SigningKey) -> Result<Self, JwkError> {
        Ok(Self::of(PrivateKey::new(key)?, None))
    }

    /// Reads a private key of at most 64 KiB. It has to contain its public part, which has to match. No copy of the
    /// private part is left behind, except `text` itself, which the caller has to wipe.
    ///
    /// # Errors
    ///
    /// A [`JwkError`] that says what is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, JwkError> {
        let (algorithm, members) = read(text)?;
        let seed = members.private.ok_or(JwkError::NotPrivate)?.0;
        members.check_use("sign")?;
        let seed = base64url::decode_secret(seed).map_err(base64_error("priv"))?;
        let public = members.public_key(algorithm)?;
        Ok(Self::of(
            PrivateKey::from_parts(public, &seed)?,
            members.kid,
        ))
    }

    /// The key as one line of JSON without a line feed.
    ///
    /// # Errors
    ///
    /// [`JwkError::Key`], if the key has no seed. Every `PrivateJwk` has one.
    pub fn to_json(&self) -> Result<Zeroizing<String>, JwkError> {
        let seed = self.key.seed()?;
        let text = write(self.key.public(), self.public.kid(), Some(seed));
        Ok(Zeroizing::new(text))
    }

    /// The public half, with the same identifier.
    pub fn public(&self) -> &Jwk {
        &self.public
    }

    /// The key itself.
    pub fn signing_key(&self) -> &SigningKey {
        self.key.key()
    }

    /// The same key with this identifier.
    #[must_use]
    pub fn with_kid(self, kid: impl Into<String>) -> Self {
        Self {
            public: self.public.with_kid(kid),
            ..self
        }
    }

    /// The same key with the [thumbprint](Jwk::thumbprint) of its public half as its identifier.
    #[must_use]
    pub fn with_thumbprint_as_kid(self) -> Self {
        Self {
            public: self.public.with_thumbprint_as_kid(),
            ..self
        }
    }

    fn of(key: PrivateKey, kid: Option<String>) -> Self {
        let public = Jwk {
            key: key.public().clone(),
            kid,
        };
        Self { key, public }
    }
}

impl TryFrom<SigningKey> for PrivateJwk {
    type Error = JwkError;

    fn try_from(key: SigningKey) -> Result<Self, JwkError> {
        Self::new(key)
    }
}

signs_by_its_key!(PrivateJwk);

/// A key has a few kilobytes; this leaves room for many certificates in it.
const LIMIT: usize = 64 * 1024;

fn read(text: &str) -> Result<(Algorithm, Members<'_>), JwkError> {
    let Object(kind) = json::read::<Object<Kind>>(text.as_bytes(), LIMIT)?;
    let algorithm = kind.algorithm()?;
    Ok((algorithm, json::read_checked(text.as_bytes())?))
}
