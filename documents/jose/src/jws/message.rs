//! Signs content and writes it in each form of RFC 7515: compact, flattened JSON, and general JSON with several
//! signatures.

use pq_keys::Signer;

use super::error::{JwsError, MAX_SIGNATURES};
use super::header::Header;
use crate::akp::Algorithm;
use crate::encoding::base64url;

/// A content to sign.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    payload: &'a [u8],
    is_detached: bool,
}

impl<'a> Message<'a> {
    /// A content that the signed document contains.
    pub fn new(payload: &'a [u8]) -> Self {
        Self {
            payload,
            is_detached: false,
        }
    }

    /// A content that the verifier gets separately (RFC 7515, appendix F).
    pub fn detached(payload: &'a [u8]) -> Self {
        Self {
            payload,
            is_detached: true,
        }
    }

    /// Signs the content in the compact form (RFC 7515, section 7.1).
    ///
    /// # Errors
    ///
    /// [`JwsError::Key`], if the key's algorithm has no name in JOSE; [`JwsError::Sign`], if the key did not
    /// sign.
    pub fn to_compact<S: Signer + ?Sized>(
        &self,
        header: &Header,
        key: &S,
    ) -> Result<String, JwsError> {
        let (mut text, signature) = self.signed(header, key)?;
        if self.is_detached {
            text.truncate(text.len() - base64url::encoded_len(self.payload.len()));
        }
        text.push('.');
        base64url::encode_to(&signature, &mut text);
        Ok(text)
    }

    /// Signs the content as flattened JSON, with one signature (RFC 7515, section 7.2.2).
    ///
    /// # Errors
    ///
    /// The errors of [`to_compact`](Self::to_compact).
    pub fn to_flattened<S: Signer + ?Sized>(
        &self,
        header: &Header,
        key: &S,
    ) -> Result<String, JwsError> {
        Ok(format!(
            "{{{}{}}}",
            self.payload_member(),
            self.members(header, key)?
        ))
    }

    /// Signs the content as general JSON, with each of these keys (RFC 7515, section 7.2.1).
    ///
    /// # Errors
    ///
    /// The errors of [`to_compact`](Self::to_compact); [`JwsError::NoKeys`], if there is no key, and
    /// [`JwsError::TooMany`], if there are more than 16 keys.
    pub fn to_general(&self, signers: &[(Header, &dyn Signer)]) -> Result<String, JwsError> {
        match signers.len() {
            0 => return Err(JwsError::NoKeys),
            1..=MAX_SIGNATURES => {}
            more => return Err(JwsError::TooMany(more)),
        }
        let sign = |(header, key): &(Header, &dyn Signer)| {
            let members = self.members(header, *key)?;
            Ok(format!("{{{members}}}"))
        };
        let signatures = signers
            .iter()
            .map(sign)
            .collect::<Result<Vec<_>, JwsError>>()?;
        let payload = self.payload_member();
        Ok(format!(
            "{{{payload}\"signatures\":[{}]}}",
            signatures.join(",")
        ))
    }

    fn payload_member(&self) -> String {
        match self.is_detached {
            true => String::new(),
            false => format!("\"payload\":\"{}\",", base64url::encode(self.payload)),
        }
    }

    /// The members of one signature. They contain no character that JSON has to escape.
    fn members<S: Signer + ?Sized>(&self, header: &Header, key: &S) -> Result<String, JwsError> {
        let (text, signature) = self.signed(header, key)?;
        let header = text.split('.').next().unwrap_or_default();
        let signature = base64url::encode(&signature);
        Ok(format!(
            "\"protected\":\"{header}\",\"signature\":\"{signature}\""
        ))
    }

    /// The text that was signed, and the signature.
    fn signed<S: Signer + ?Sized>(
        &self,
        header: &Header,
        key: &S,
    ) -> Result<(String, Vec<u8>), JwsError> {
        let mut text = header.encode(Algorithm::of_signer(key)?);
        text.push('.');
        base64url::encode_to(self.payload, &mut text);
        let signature = key.sign(text.as_bytes())?;
        Ok((text, signature))
    }
}
