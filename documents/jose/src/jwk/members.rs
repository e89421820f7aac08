//! The members of a JSON Web Key, read and written.

use serde::Deserialize;

use super::error::JwkError;
use crate::akp::{AkpError, Algorithm, PublicKey};
use crate::encoding::json::{Plain, present};
use crate::encoding::{base64url, shown};

/// The only supported key type.
pub(super) const AKP: &str = "AKP";

/// The members that name the type and the algorithm of a key.
#[derive(Deserialize)]
pub(super) struct Kind {
    kty: String,
    #[serde(default, deserialize_with = "present")]
    alg: Option<String>,
}

impl Kind {
    pub(super) fn algorithm(self) -> Result<Algorithm, JwkError> {
        if self.kty != AKP {
            return Err(JwkError::KeyType(shown(&self.kty)));
        }
        let name = self.alg.ok_or(JwkError::Missing("alg"))?;
        let unknown = || AkpError::Algorithm(shown(&name));
        Ok(Algorithm::of_name(&name).ok_or_else(unknown)?)
    }
}

/// The other members of a key. They are read only after its kind is known, since other kinds may give them other types.
#[derive(Deserialize)]
pub(super) struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present", rename = "pub")]
    public: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present", rename = "priv")]
    pub(super) private: Option<Plain<'a>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) kid: Option<String>,
    #[serde(default, deserialize_with = "present", rename = "use")]
    use_: Option<String>,
    #[serde(default, deserialize_with = "present")]
    key_ops: Option<Vec<String>>,
}

impl Members<'_> {
    /// Refuses a key that is not for signatures, or not for this operation.
    pub(super) fn check_use(&self, operation: &str) -> Result<(), JwkError> {
        if self.use_.as_ref().is_some_and(|use_| use_ != "sig") {
            return Err(JwkError::NotForThis("use"));
        }
        let is_in = |operations: &Vec<String>| operations.iter().any(|one| one == operation);
        match self.key_ops.as_ref().is_none_or(is_in) {
            true => Ok(()),
            false => Err(JwkError::NotForThis("key_ops")),
        }
    }

    pub(super) fn public_key(&self, algorithm: Algorithm) -> Result<PublicKey, JwkError> {
        let text = self.public.ok_or(JwkError::Missing("pub"))?.0;
        let bytes = base64url::decode(text).map_err(base64_error("pub"))?;
        Ok(PublicKey::from_bytes(algorithm, &bytes)?)
    }
}

pub(super) fn base64_error(member: &'static str) -> impl Fn(base64url::Base64Error) -> JwkError {
    move |error| JwkError::Base64 { member, error }
}

/// The members of a thumbprint in their order, without whitespace (RFC 7638, section 3).
pub(super) fn canonical(key: &PublicKey) -> String {
    let public = base64url::encode(key.key().as_bytes());
    format!(
        r#"{{"alg":"{}","kty":"{AKP}","pub":"{public}"}}"#,
        key.algorithm()
    )
}

/// Writes a key, with or without its private part, into one buffer that is long enough.
pub(super) fn write(key: &PublicKey, kid: Option<&str>, seed: Option<&[u8]>) -> String {
    let kid = kid.map(|kid| format!(r#""kid":{},"#, serde_json::Value::from(kid)));
    let start = format!(
        r#"{{{}"kty":"{AKP}","alg":"{}","pub":""#,
        kid.unwrap_or_default(),
        key.algorithm()
    );
    let public = key.key().as_bytes();
    let secret_len = seed.map_or(0, |seed| PRIVATE.len() + base64url::encoded_len(seed.len()));
    let public_len = base64url::encoded_len(public.len());
    let mut text = String::with_capacity(start.len() + public_len + secret_len + END.len());
    text.push_str(&start);
    base64url::encode_to(public, &mut text);
    if let Some(seed) = seed {
        text.push_str(PRIVATE);
        base64url::encode_secret_to(seed, &mut text);
    }
    text.push_str(END);
    text
}

const PRIVATE: &str = r#"","priv":""#;
const END: &str = r#""}"#;
