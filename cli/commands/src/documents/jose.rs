//! JOSE and COSE keys, which other rooms get as DER.

use pq_jose::cose::{CoseError, CoseKey, CosePrivateKey};
use pq_jose::jwk::{Jwk, JwkError, PrivateJwk};
use pq_jose::jwt::further_claims;
use pq_keys::{KeyError, SigningKey, VerifyingKey};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::error::DocumentError;
use crate::files::Source;
use crate::kind::Kind;

/// Whether a key is private or public, and its DER.
pub(super) type KeyDer = (Kind, Zeroizing<Vec<u8>>);

/// The bytes as text, without the mark that some editors put before it (RFC 8259, section 8.1).
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a text is meant to be an object of JSON.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Whether a text is meant to be a set of JSON Web Keys.
pub(super) fn is_set(text: &str) -> bool {
    /// Everything else in the object is ignored.
    #[derive(Deserialize)]
    struct Set {
        #[serde(rename = "keys")]
        _keys: IgnoredAny,
    }

    is_object(text) && serde_json::from_str::<Set>(text).is_ok()
}

/// Whether bytes begin as a map of CBOR does, which no DER does.
pub(super) fn is_map(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first >> 5 == 5)
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
    read.map_err(|error| DocumentError::Cose {
        file: file.into(),
        error,
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
