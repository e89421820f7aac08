//! Verifies the signatures that were read, all of them or at least one, and says which key made each.

use super::error::JwsError;
use super::header::Header;
use super::parse::{Jws, Signature};
use crate::akp::{self, Algorithm, NoKey};
use crate::encoding::{base64url, shown};
use crate::jwk::Jwk;

/// A content with one or several valid signatures.
#[derive(Clone, Debug)]
pub struct Verified<'k> {
    payload: Vec<u8>,
    signatures: Vec<VerifiedSignature<'k>>,
}

/// A valid signature: its header and its key.
#[derive(Clone, Debug)]
pub struct VerifiedSignature<'k> {
    header: Header,
    key: &'k Jwk,
}

impl<'k> Verified<'k> {
    /// The content.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Takes the content out.
    pub fn into_payload(self) -> Vec<u8> {
        self.payload
    }

    /// The valid signatures, at least one. Each key is there once, with its first valid signature, however often it
    /// signed.
    pub fn signatures(&self) -> &[VerifiedSignature<'k>] {
        &self.signatures
    }
}

impl<'k> VerifiedSignature<'k> {
    /// The protected header, which was signed with the content.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The key that verified the signature.
    pub fn key(&self) -> &'k Jwk {
        self.key
    }
}

impl Jws<'_> {
    /// Verifies every signature, each with one of these keys: a [`Jwk`], a [`JwkSet`](crate::jwk::JwkSet),
    /// or several [`Jwk`]s.
    ///
    /// If the header names a key (`kid`), only keys with this identifier or without any are tried. Otherwise every
    /// key of the algorithm is tried.
    ///
    /// # Errors
    ///
    /// A [`JwsError`] that says why one of the signatures is refused; [`JwsError::Detached`], if the
    /// content is missing. A detached signature in the compact form looks like a signature of an empty content,
    /// so it is [`JwsError::Invalid`].
    pub fn verify<'k>(
        &self,
        keys: &'k (impl AsRef<[Jwk]> + ?Sized),
    ) -> Result<Verified<'k>, JwsError> {
        let payload = self.payload.ok_or(JwsError::Detached)?;
        let signatures = self.each(payload, keys.as_ref());
        self.verified(payload, signatures.collect::<Result<_, _>>()?)
    }

    /// Verifies the signatures, at least one of which has to be valid. The result has only the valid ones.
    ///
    /// # Errors
    ///
    /// If no signature is valid: the error of the first one.
    pub fn verify_any<'k>(
        &self,
        keys: &'k (impl AsRef<[Jwk]> + ?Sized),
    ) -> Result<Verified<'k>, JwsError> {
        let payload = self.payload.ok_or(JwsError::Detached)?;
        let mut refused = None;
        let mut valid = Vec::new();
        for signature in self.each(payload, keys.as_ref()) {
            match signature {
                Ok(signature) => valid.push(signature),
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        match refused {
            Some(error) if valid.is_empty() => Err(error),
            _ => self.verified(payload, valid),
        }
    }

    /// Verifies every signature of a content that was sent separately. Each key is in the result once.
    ///
    /// # Errors
    ///
    /// The errors of [`verify`](Self::verify); [`JwsError::NotDetached`], if the signature contains a content.
    pub fn verify_detached<'k>(
        &self,
        payload: &[u8],
        keys: &'k (impl AsRef<[Jwk]> + ?Sized),
    ) -> Result<Vec<VerifiedSignature<'k>>, JwsError> {
        if self.payload.is_some_and(|payload| !payload.is_empty()) {
            return Err(JwsError::NotDetached);
        }
        let payload = base64url::encode(payload);
        let signatures = self.each(&payload, keys.as_ref());
        Ok(one_of_each(signatures.collect::<Result<_, _>>()?))
    }

    fn verified<'k>(
        &self,
        payload: &str,
        signatures: Vec<VerifiedSignature<'k>>,
    ) -> Result<Verified<'k>, JwsError> {
        let part = "content";
        let payload = base64url::decode(payload);
        Ok(Verified {
            payload: payload.map_err(|error| JwsError::Base64 { part, error })?,
            signatures: one_of_each(signatures),
        })
    }

    fn each<'k>(
        &self,
        payload: &str,
        keys: &'k [Jwk],
    ) -> impl Iterator<Item = Result<VerifiedSignature<'k>, JwsError>> {
        self.signatures.iter().map(move |signature| {
            Ok(VerifiedSignature {
                key: signature.verify(payload, keys)?,
                header: signature.header.clone(),
            })
        })
    }
}

/// The first signature by each key. Whoever counts signatures counts signers.
fn one_of_each(signatures: Vec<VerifiedSignature<'_>>) -> Vec<VerifiedSignature<'_>> {
    let mut kept: Vec<VerifiedSignature<'_>> = Vec::new();
    for signature in signatures {
        let key = signature.key.verifying_key();
        if !kept.iter().any(|kept| kept.key.verifying_key() == key) {
            kept.push(signature);
        }
    }
    kept
}

impl Signature<'_> {
    /// The key that the signature is valid under.
    fn verify<'k>(&self, payload: &str, keys: &'k [Jwk]) -> Result<&'k Jwk, JwsError> {
        let claimed = self.header.algorithm().unwrap_or_default();
        let algorithm = Algorithm::of_name(claimed);
        let kid = self.kid.as_deref();
        let signed = [self.encoded_header, payload].join(".");
        let found = akp::verify(keys, kid, algorithm, signed.as_bytes(), &self.signature);
        found.map_err(|why| match why {
            NoKey::None => JwsError::NoKeys,
            NoKey::OtherKid => JwsError::NoSuchKey(shown(kid.unwrap_or_default())),
            NoKey::OtherAlgorithm(keys) => JwsError::OtherAlgorithm {
                found: shown(claimed),
                keys,
            },
            NoKey::Invalid => JwsError::Invalid,
        })
    }
}
