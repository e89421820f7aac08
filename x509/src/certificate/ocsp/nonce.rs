//! The nonce extension of requests and responses (RFC 9654): made, read and written.

use const_oid::db::rfc6960::ID_PKIX_OCSP_NONCE;
use der::asn1::{OctetString, OctetStringRef};
use der::{Decode, Encode};
use pq_keys::encoding::syntax::SyntaxError;
use pq_keys::random;
use pq_keys::random::RandomnessError;
use x509_cert::ext::Extension;

use super::error::InvalidOcspNonce;
use crate::certificate::form;

/// Ties a response to one request, so that no older response is taken for it (RFC 9654): 1 to 128
/// bytes that nobody can foresee.
///
/// Responses that are signed in advance, and staples, have none.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct OcspNonce(Vec<u8>);

impl OcspNonce {
    /// 32 random bytes, the length of RFC 9654 section 2.1 for requests.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] if the operating system gave none.
    pub fn random() -> Result<Self, RandomnessError> {
        let mut bytes = vec![0; 32];
        random::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A nonce of these bytes. Less than 32 bytes are for tests only.
    ///
    /// # Errors
    ///
    /// [`InvalidOcspNonce`] for no bytes, and for more than 128.
    pub fn new(bytes: &[u8]) -> Result<Self, InvalidOcspNonce> {
        match bytes.len() {
            1..=128 => Ok(Self(bytes.to_vec())),
            len => Err(InvalidOcspNonce(len)),
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The nonce among the extensions of a request or response, if there is one.
    pub(super) fn read<E>(extensions: &[Extension]) -> Result<Option<Self>, E>
    where
        E: From<SyntaxError> + From<InvalidOcspNonce>,
    {
        let mut nonces = extensions
            .iter()
            .filter(|e| e.extn_id == ID_PKIX_OCSP_NONCE);
        let Some(extension) = nonces.next() else {
            return Ok(None);
        };
        // A nonce is an OCTET STRING within that of the extension.
        let value = extension.extn_value.as_bytes();
        let nonce = <&OctetStringRef>::from_der(value)
            .map_err(|error| form::of_extension(extension.extn_id, value, error))?;
        Ok(Some(Self::new(nonce.as_bytes())?))
    }

    pub(crate) fn to_extension(&self) -> der::Result<Extension> {
        Ok(Extension {
            extn_id: ID_PKIX_OCSP_NONCE,
            critical: false,
            extn_value: OctetString::new(OctetStringRef::new(&self.0)?.to_der()?)?,
        })
    }
}
