//! Reads signatures in each form of RFC 7515, within limits of size and number. Nothing is verified here.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{JwsError, MAX_SIGNATURES};
use super::header::Header;
use crate::encoding::base64url;
use crate::encoding::json::{self, Object, Plain, present};

/// One or several signatures of one content, not verified yet.
#[derive(Clone, Debug)]
pub struct Jws<'a> {
    /// In base64url.
    pub(super) payload: Option<&'a str>,
    pub(super) signatures: Vec<Signature<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct Signature<'a> {
    /// The protected header as it was signed.
    pub(super) encoded_header: &'a str,
    pub(super) header: Header,
    /// Which key to look for.
    pub(super) kid: Option<String>,
    pub(super) signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Reads the compact form (RFC 7515, section 7.1), with or without its content.
    ///
    /// # Errors
    ///
    /// A [`JwsError`] that says what is wrong with it.
    pub fn from_compact(text: &'a str) -> Result<Self, JwsError> {
        let mut parts = text.splitn(4, '.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(JwsError::Parts(text.split('.').count()));
        };
        Ok(Self {
            payload: Some(payload),
            signatures: vec![Signature::read(header, None, signature)?],
        })
    }

    /// Reads the flattened or the general JSON form (RFC 7515, section 7.2), with or without its content, with at
    /// most 16 signatures, headers of 64 KiB and 64 MiB in all. Each signature needs a protected header that names its
    /// algorithm. Beside the signatures themselves, reading takes less than 16 MiB of memory.
    ///
    /// # Errors
    ///
    /// A [`JwsError`] that says what is wrong with it.
    pub fn from_json(text: &'a str) -> Result<Self, JwsError> {
        let read = json::read(text.as_bytes(), LIMIT);
        let Object(members): Object<Members<'_>> = read.map_err(|error| JwsError::Json {
            part: "JSON",
            error,
        })?;
        let Members {
            payload,
            signatures,
            protected,
            header,
            signature,
        } = members;
        let one = SignatureMembers {
            protected,
            header,
            signature,
        };
        let signatures = match signatures {
            None => vec![Object(one)],
            Some(_) if !one.is_empty() => {
                return Err(JwsError::Form(
                    "members of one signature beside \"signatures\"",
                ));
            }
            Some(signatures) => signatures,
        };
        match signatures.len() {
            0 => return Err(JwsError::Form("no signature in \"signatures\"")),
            1..=MAX_SIGNATURES => {}
            more => return Err(JwsError::TooMany(more)),
        }
        let signatures = signatures.into_iter().map(|Object(members)| members.read());
        Ok(Self {
            payload: payload.map(|payload| payload.0),
            signatures: signatures.collect::<Result<_, _>>()?,
        })
    }

    /// The protected headers, one for each signature, before anything is verified. Anybody may have written them:
    /// use them only to find the key by its identifier.
    pub fn unverified_headers(&self) -> impl Iterator<Item = &Header> {
        self.signatures.iter().map(|signature| &signature.header)
    }
}

impl<'a> Signature<'a> {
    fn read(
        encoded_header: &'a str,
        unprotected: Option<Header>,
        signature: &str,
    ) -> Result<Self, JwsError> {
        let header = Header::read(encoded_header)?;
        if let Some(unprotected) = &unprotected {
            header.check_unprotected(unprotected)?;
        }
        let kid = header.kid().or_else(|| unprotected.as_ref()?.kid());
        let part = "signature proper";
        let signature = base64url::decode(signature);
        Ok(Self {
            encoded_header,
            kid: kid.map(Into::into),
            signature: signature.map_err(|error| JwsError::Base64 { part, error })?,
            header,
        })
    }
}

/// 64 MiB. RFC 7515 does not limit the length of a content.
const LIMIT: usize = 64 * 1024 * 1024;

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    signatures: Option<Vec<Object<SignatureMembers<'a>>>>,
    #[serde(borrow, default, deserialize_with = "present")]
    protected: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    header: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    signature: Option<Plain<'a>>,
}

#[derive(Deserialize)]
struct SignatureMembers<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    protected: Option<Plain<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    header: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    signature: Option<Plain<'a>>,
}

impl<'a> SignatureMembers<'a> {
    fn is_empty(&self) -> bool {
        self.protected.is_none() && self.header.is_none() && self.signature.is_none()
    }

    fn read(self) -> Result<Signature<'a>, JwsError> {
        let missing = |member| JwsError::Member {
            member,
            problem: "is missing",
        };
        let protected = self.protected.ok_or_else(|| missing("protected"))?;
        let signature = self.signature.ok_or_else(|| missing("signature"))?;
        let header = self.header.map(Header::read_unprotected).transpose()?;
        Signature::read(protected.0, header, signature.0)
    }
}
