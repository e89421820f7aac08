//! Signs and verifies COSE_Sign1: tagged or not, with its content or detached, with or without external data.

use pq_keys::Signer;

use super::error::CoseError;
use super::header::{self, Headers};
use super::key::{CoseKey, describe, known};
use crate::akp::{self, Algorithm, NoKey};
use crate::encoding::cbor::{self, Reader, Writer};

/// The settings of a COSE_Sign1 (RFC 9052, section 4.2).
///
/// Signer and verifier have to agree on them and on the key. By default there is no external data, and the
/// message has the tag 18.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sign1<'a> {
    external_aad: &'a [u8],
    is_untagged: bool,
}

impl<'a> Sign1<'a> {
    /// The default settings: tagged, and without external data.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds external data: it is signed, but not sent in the message (RFC 9052, section 4.3).
    #[must_use]
    pub fn external_aad(self, external_aad: &'a [u8]) -> Self {
        Self {
            external_aad,
            ..self
        }
    }

    /// Leaves the tag out, for contexts where only a COSE_Sign1 is possible.
    #[must_use]
    pub fn untagged(self) -> Self {
        Self {
            is_untagged: true,
            ..self
        }
    }

    /// Signs a content and, if given, the key's identifier. The message contains both.
    ///
    /// # Errors
    ///
    /// [`CoseError::Key`], if the key's algorithm has no number in COSE; [`CoseError::Sign`], if the key did not
    /// sign.
    pub fn sign<S: Signer + ?Sized>(
        &self,
        payload: &[u8],
        kid: Option<&[u8]>,
        key: &S,
    ) -> Result<Vec<u8>, CoseError> {
        self.message(payload, false, kid, key)
    }

    /// Signs a content that is not in the message: the verifier gets it separately.
    ///
    /// # Errors
    ///
    /// The errors of [`sign`](Self::sign).
    pub fn sign_detached<S: Signer + ?Sized>(
        &self,
        payload: &[u8],
        kid: Option<&[u8]>,
        key: &S,
    ) -> Result<Vec<u8>, CoseError> {
        self.message(payload, true, kid, key)
    }

    /// Verifies a message that contains its content, with one or several [`CoseKey`]s.
    ///
    /// If a header names a key, only keys with this identifier or without any are tried. Otherwise every key of
    /// the algorithm is tried.
    ///
    /// # Errors
    ///
    /// A [`CoseError`] that says why the message is refused.
    pub fn verify<'m, 'k>(
        &self,
        message: &'m [u8],
        keys: &'k (impl AsRef<[CoseKey]> + ?Sized),
    ) -> Result<VerifiedSign1<'m, 'k>, CoseError> {
        let message = self.read(message)?;
        let payload = message.payload.ok_or(CoseError::Detached)?;
        let key = self.key(&message, payload, keys.as_ref())?;
        Ok(VerifiedSign1 { payload, key })
    }

    /// Verifies a message that does not contain its content, and returns the key that verified it.
    ///
    /// # Errors
    ///
    /// A [`CoseError`] that says why the message is refused; [`CoseError::NotDetached`], if it contains its
    /// content.
    pub fn verify_detached<'k>(
        &self,
        message: &[u8],
        payload: &[u8],
        keys: &'k (impl AsRef<[CoseKey]> + ?Sized),
    ) -> Result<&'k CoseKey, CoseError> {
        let message = self.read(message)?;
        match message.payload {
            Some(_) => Err(CoseError::NotDetached),
            None => self.key(&message, payload, keys.as_ref()),
        }
    }

    fn message<S: Signer + ?Sized>(
        &self,
        payload: &[u8],
        is_detached: bool,
        kid: Option<&[u8]>,
        key: &S,
    ) -> Result<Vec<u8>, CoseError> {
        let protected = header::protected(Algorithm::of_signer(key)?, kid);
        let signature = key.sign(&self.signed(&protected, payload))?;
        let mut bytes = Vec::new();
        let mut writer = Writer(&mut bytes);
        if !self.is_untagged {
            writer.tag(TAG);
        }
        writer.array(4);
        writer.bytes(&protected);
        writer.map(0);
        match is_detached {
            true => writer.null(),
            false => writer.bytes(payload),
        }
        writer.bytes(&signature);
        Ok(bytes)
    }

    /// The Sig_structure (RFC 9052, section 4.4).
    fn signed(&self, protected: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer(&mut bytes);
        writer.array(4);
        writer.text("Signature1");
        writer.bytes(protected);
        writer.bytes(self.external_aad);
        writer.bytes(payload);
        bytes
    }

    fn read<'m>(&self, message: &'m [u8]) -> Result<Message<'m>, CoseError> {
        cbor::read(message, |reader: &mut Reader<'m>| {
            let tag = reader.tag()?;
            let expected = (!self.is_untagged).then_some(TAG);
            if tag != expected {
                return Err(CoseError::Tag {
                    found: tag.map_or_else(|| "no tag".into(), |tag| format!("the tag {tag}")),
                    untagged: self.is_untagged,
                });
            }
            reader.array(4, "a COSE_Sign1, an array of four,")?;
            let protected = reader.bytes("the protected header")?;
            Ok(Message {
                protected,
                headers: Headers::read(protected, reader)?,
                payload: reader.bytes_or_null("the content")?,
                signature: reader.bytes("the signature")?,
            })
        })
    }

    fn key<'k>(
        &self,
        message: &Message<'_>,
        payload: &[u8],
        keys: &'k [CoseKey],
    ) -> Result<&'k CoseKey, CoseError> {
        let Headers { algorithm, kid } = message.headers;
        let signed = self.signed(message.protected, payload);
        let found = akp::verify(keys, kid, known(algorithm), &signed, message.signature);
        found.map_err(|why| match why {
            NoKey::None => CoseError::NoKeys,
            NoKey::OtherKid => CoseError::NoSuchKey,
            NoKey::OtherAlgorithm(keys) => CoseError::OtherAlgorithm {
                found: describe(algorithm),
                keys,
            },
            NoKey::Invalid => CoseError::Invalid,
        })
    }
}

/// The tag of COSE_Sign1 (RFC 9052, section 2).
const TAG: u64 = 18;

struct Message<'m> {
    /// As it was signed.
    protected: &'m [u8],
    headers: Headers<'m>,
    payload: Option<&'m [u8]>,
    signature: &'m [u8],
}

/// A content whose signature is valid.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedSign1<'m, 'k> {
    payload: &'m [u8],
    key: &'k CoseKey,
}

impl<'m, 'k> VerifiedSign1<'m, 'k> {
    /// The content.
    pub fn payload(&self) -> &'m [u8] {
        self.payload
    }

    /// The key that verified the signature.
    pub fn key(&self) -> &'k CoseKey {
        self.key
    }
}
