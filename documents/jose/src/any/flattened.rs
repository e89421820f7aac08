//! Signatures in the flattened form, with one protected header and no other.

use pq_keys::Signer;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::algorithm::AnyJwsAlgorithm;
use super::ecdsa;
use super::error::AnyJwsError;
use super::key::{AnyJwk, number_len};
use crate::encoding::base64url;
use crate::encoding::json::{self, Object, Plain, present};

/// A content with one signature and one header, which is signed. Nothing is verified yet.
#[derive(Clone, Debug)]
pub struct Flattened<'a> {
    protected: &'a str,
    header: Vec<u8>,
    payload: &'a str,
    signature: Vec<u8>,
}

impl<'a> Flattened<'a> {
    /// Reads a text of at most `limit` bytes. An unprotected header is refused, and so are several signatures. Whoever uses
    /// the header has to refuse critical members (`crit`) and unencoded contents (`b64`).
    ///
    /// # Errors
    ///
    /// An [`AnyJwsError`] that says what is wrong with it.
    pub fn from_json(text: &'a [u8], limit: usize) -> Result<Self, AnyJwsError> {
        let read = json::read(text, limit);
        let part = "JSON Web Signature";
        let Object(members): Object<Members<'a>> =
            read.map_err(|error| AnyJwsError::Json { part, error })?;
        let refuse = |member, problem| Err(AnyJwsError::Member { member, problem });
        if members.header.is_some() {
            return refuse("header", "is an unprotected header, which nobody signed");
        }
        if members.signatures.is_some() {
            return refuse("signatures", "is there, but one signature is expected");
        }
        let present = |member, value: Option<Plain<'a>>| {
            let problem = "of the JSON Web Signature is missing";
            let missing = AnyJwsError::Member { member, problem };
            value.map(|value| value.0).ok_or(missing)
        };
        let protected = present("protected", members.protected)?;
        let payload = present("payload", members.payload)?;
        let signature = present("signature", members.signature)?;
        let decode = |member, text| {
            base64url::decode(text).map_err(|error| AnyJwsError::Base64 { member, error })
        };
        Ok(Self {
            protected,
            header: decode("protected", protected)?,
            payload,
            signature: decode("signature", signature)?,
        })
    }

    /// The protected header. Anybody may have written it until the signature is verified.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// What is signed: the header and the content in base64url.
    pub fn signed(&self) -> Vec<u8> {
        [self.protected, self.payload].join(".").into_bytes()
    }

    /// The signature, or the MAC.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// Verifies the signature by this key. What the header says of the algorithm is not compared with it.
    ///
    /// # Errors
    ///
    /// [`AnyJwsError::Invalid`] if it is not valid.
    pub fn verify(&self, key: &AnyJwk) -> Result<(), AnyJwsError> {
        key.verify(&self.signed(), &self.signature)
    }

    /// The content.
    ///
    /// # Errors
    ///
    /// [`AnyJwsError::Base64`] if it is none.
    pub fn payload(&self) -> Result<Vec<u8>, AnyJwsError> {
        let member = "payload";
        base64url::decode(self.payload).map_err(|error| AnyJwsError::Base64 { member, error })
    }
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    protected: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    signature: Option<Plain<'a>>,
    #[serde(default, deserialize_with = "present")]
    header: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    signatures: Option<IgnoredAny>,
}

/// Signs a message, in the form of JOSE.
///
/// # Errors
///
/// [`AnyJwsError::Algorithm`] if the key's signatures have no name in JOSE, and [`AnyJwsError::Sign`] if it doesn't sign.
pub fn sign(message: &[u8], key: &(impl Signer + ?Sized)) -> Result<Vec<u8>, AnyJwsError> {
    let oid = key.signature_algorithm().oid;
    let algorithm = AnyJwsAlgorithm::of_signatures(oid);
    let algorithm = algorithm.ok_or_else(|| AnyJwsError::Algorithm(oid.to_string()))?;
    let signature = key.sign(message)?;
    match number_len(algorithm) {
        None => Ok(signature),
        Some(len) => {
            let malformed = |error| AnyJwsError::Sign(pq_keys::SignError::new(error));
            ecdsa::from_der(&signature, len).map_err(malformed)
        }
    }
}

/// Writes a content with a signature by this key. `header` is JSON, and has to name the algorithm.
///
/// # Errors
///
/// Those of [`sign`].
pub fn write_flattened(
    header: &[u8],
    payload: &[u8],
    key: &(impl Signer + ?Sized),
) -> Result<String, AnyJwsError> {
    write_flattened_with(header, payload, |signed| sign(signed, key))
}

/// Writes a content with what this function makes of header and content in base64url: a signature or a MAC.
///
/// # Errors
///
/// Those of the function.
pub fn write_flattened_with<E>(
    header: &[u8],
    payload: &[u8],
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
) -> Result<String, E> {
    let mut signed = base64url::encode(header);
    let header_len = signed.len();
    signed.push('.');
    base64url::encode_to(payload, &mut signed);
    let signature = sign(signed.as_bytes())?;
    let (protected, payload) = signed.split_at(header_len);
    let payload = &payload[1..];
    let signature = base64url::encode(&signature);
    Ok(format!(
        r#"{{"protected":"{protected}","payload":"{payload}","signature":"{signature}"}}"#
    ))
}
