//! JOSE and COSE keys, which other rooms get as DER.

use core::fmt;

use pq_jose::AkpError;
use pq_jose::cose::{CoseError, CoseKey, CosePrivateKey};
use pq_jose::jwk::{Jwk, JwkError, JwkSet, PrivateJwk};
use pq_jose::jwt::further_claims;
use pq_keys::{KeyError, SigningKey, VerifyingKey};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::error::DocumentError;
use crate::files::Source;
use crate::kind::Kind;
pub(super) use crate::kind::{is_map, is_object, is_set, text};

/// Whether a key is private or public, and its DER.
pub(super) type KeyDer = (Kind, Zeroizing<Vec<u8>>);

/// A set of JSON Web Keys, for whoever only looks at it: its keys are read one by one.
pub(crate) struct KeySet(String);

impl KeySet {
    pub(super) fn read(text: &str, file: &str) -> Result<Self, DocumentError> {
        match JwkSet::from_json(text) {
            Ok(_) => Ok(Self(text.into())),
            Err(error) => Err(DocumentError::Jwk {
                file: file.into(),
                error,
            }),
        }
    }

    /// What each key says that it is, and the key, or why it isn't read.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&NamedKey, Result<Jwk, JwkError>)) {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            keys: Vec<&'a RawValue>,
        }

        let set: Members<'_> = serde_json::from_str(&self.0).expect("it was read before");
        for member in set.keys {
            each(&NamedKey::of(member.get()), Jwk::from_json(member.get()));
        }
    }
}

/// What a JSON Web Key says that it is (RFC 7517 section 4), whatever type it has.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamedKey {
    kty: Value,
    crv: Value,
    alg: Value,
    kid: Value,
    /// The private parts of the other types (RFC 7518 section 6).
    d: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
    /// Why it can't be used, if its algorithm could.
    #[serde(skip)]
    unfit: Option<JwkError>,
}

impl NamedKey {
    fn of(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The key in a text, if it is a sound one that isn't read here.
    pub(super) fn of_other(text: &str) -> Option<Self> {
        let error = Jwk::from_json(text).err()?;
        let is_unfit = matches!(error, JwkError::NotForThis(_));
        (is_unfit || is_of_another_kind(&error)).then(|| Self {
            unfit: is_unfit.then_some(error),
            ..Self::of(text)
        })
    }

    /// Why it can't be used, if its algorithm could.
    pub(crate) fn unfit(&self) -> Option<&JwkError> {
        self.unfit.as_ref()
    }
}

impl fmt::Display for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kty.as_str().unwrap_or("a key of no type"))?;
        for (what, value) in [(", ", &self.crv), (", alg ", &self.alg)] {
            if let Some(value) = value.as_str() {
                write!(f, "{what}{value}")?;
            }
        }
        if self.d.is_some() || self.k.is_some() {
            f.write_str(", with its private part")?;
        }
        match self.kid.as_str() {
            Some(kid) => write!(f, ", key id \"{kid}\""),
            None => Ok(()),
        }
    }
}

/// Whether a key is refused only because it is of another type or algorithm.
pub(crate) fn is_of_another_kind(error: &JwkError) -> bool {
    matches!(
        error,
        JwkError::KeyType(_) | JwkError::Key(AkpError::Algorithm(_))
    )
}

/// A JSON Web Key, private or public.
pub(super) fn of_jwk(text: &str, file: &str) -> Result<KeyDer, DocumentError> {
    let read = match PrivateJwk::from_json(text) {
        Err(JwkError::NotPrivate) => Jwk::from_json(text).map(|key| public(key.verifying_key())),
        Err(error) => Err(error),
        Ok(key) => return private(key.signing_key(), file),
    };
    read.map_err(|error| DocumentError::Jwk {
        file: file.into(),
        error,
    })
}

/// A COSE_Key, private or public.
pub(super) fn of_cose(bytes: &[u8], file: &str) -> Result<KeyDer, DocumentError> {
    let read = match CosePrivateKey::from_cbor(bytes) {
        Err(CoseError::NotPrivate) => {
            CoseKey::from_cbor(bytes).map(|key| public(key.verifying_key()))
        }
        Err(error) => Err(error),
        Ok(key) => return private(key.signing_key(), file),
    };
    read.map_err(|error| match error {
        // Any bytes may begin as a map does. A COSE_Key begins with its type, whose label is 1 (RFC 9052 section 7).
        CoseError::Cbor(_) if bytes.get(1) != Some(&1) => {
            DocumentError::Unknown { file: file.into() }
        }
        error => DocumentError::Cose {
            file: file.into(),
            error,
        },
    })
}

fn private(key: &SigningKey, file: &str) -> Result<KeyDer, DocumentError> {
    let der = key.to_pkcs8_der();
    let der = der.map_err(|error: KeyError| DocumentError::Key {
        file: file.into(),
        error: error.into(),
    })?;
    Ok((Kind::PrivateKey, der))
}

fn public(key: &VerifyingKey) -> KeyDer {
    let der = Zeroizing::new(key.to_spki_der().to_vec());
    (Kind::PublicKey, der)
}

/// Whether a text is meant to be a token: three parts of base64url, of which the first is an object of JSON (RFC 7515
/// section 7.1).
pub(super) fn is_token(bytes: &[u8]) -> bool {
    let parts: Vec<&[u8]> = bytes.trim_ascii().splitn(4, |byte| *byte == b'.').collect();
    let is_base64url = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    matches!(&*parts, [header, _, _] if header.starts_with(b"eyJ"))
        && parts.iter().all(|part| part.iter().all(is_base64url))
}

/// More than a token may have, so that the library reports a longer one.
const LIMIT: usize = 1024 * 1024;

/// A token, without the white space around it.
pub(crate) fn token(source: &Source) -> Result<Zeroizing<String>, DocumentError> {
    let bytes = source.read(LIMIT)?;
    // Other bytes than UTF-8 are not a token either, and refused as such.
    let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
    Ok(Zeroizing::new(text.trim_ascii().to_owned()))
}

/// The claims of a token to sign.
pub(crate) fn claims(source: &Source) -> Result<Map<String, Value>, DocumentError> {
    let bytes = source.read(LIMIT)?;
    further_claims(&bytes).map_err(|error| DocumentError::Claims {
        file: source.to_string(),
        error,
    })
}
