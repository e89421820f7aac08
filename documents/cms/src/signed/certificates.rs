//! SignedData with certificates alone and no signers (RFC 5652, section 5.2), which PKCS#7 calls "certs-only": EST (RFC
//! 7030) and S/MIME (RFC 8551, section 3.8) hand out certificates in it.

use const_oid::ObjectIdentifier;
use const_oid::db::rfc5911::{ID_DATA, ID_SIGNED_DATA};
use der::Encode;
use pq_x509::certificate::Certificate;

use super::error::VerificationError;
use super::message::{MAX_CERTIFICATE, MAX_CERTIFICATE_BYTES, MAX_CERTIFICATES};
use super::signing::{certificate_set, set_of};
use crate::encoding::{Fields, contents, tag, tlv};

/// The version of a SignedData with certificates alone (RFC 5652, section 5.1).
const VERSION: u8 = 1;

/// Encodes certificates as a SignedData without signers ("certs-only"), in DER. Each is there once, and DER decides about
/// the order.
///
/// ```
/// use pq_cms::{decode_certificates, encode_certificates};
/// use pq_x509::issuing::{CertificateBuilder, Issuer};
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let root = Issuer::self_signed(CertificateBuilder::ca("Example Root"), key)?;
/// let message = encode_certificates([root.certificate()])?;
/// let certificates = decode_certificates(&message)?;
/// assert_eq!(certificates[0].der(), root.certificate().der());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`VerificationError::Encoding`] if the message can't be encoded.
pub fn encode_certificates<'c>(
    certificates: impl IntoIterator<Item = &'c Certificate>,
) -> Result<Vec<u8>, VerificationError> {
    let oid = |oid: ObjectIdentifier| oid.to_der();
    let signed = tlv(
        tag::SEQUENCE,
        &[
            &VERSION.to_der()?,
            &set_of(tag::SET, Vec::new()),
            &tlv(tag::SEQUENCE, &[&oid(ID_DATA)?]),
            &certificate_set(certificates),
            &set_of(tag::SET, Vec::new()),
        ],
    );
    let content = tlv(tag::context_constructed(0), &[&signed]);
    Ok(tlv(tag::SEQUENCE, &[&oid(ID_SIGNED_DATA)?, &content]))
}

/// Reads a SignedData that has certificates alone, in DER. The certificates come in the message's order, which need not be
/// that of a set in DER: OpenSSL writes them as they were given. Revocation lists beside them are left aside.
///
/// **Nothing vouches for the certificates**: the message has no signature.
///
/// # Errors
///
/// A [`VerificationError`] if the message is malformed, of another type or not in DER, has signers or content, or has too
/// many certificates.
pub fn decode_certificates(message: &[u8]) -> Result<Vec<Certificate>, VerificationError> {
    let mut outer = Fields::of(tag::SEQUENCE, message)?;
    let content_type = outer.object_identifier()?;
    if content_type != ID_SIGNED_DATA {
        return Err(VerificationError::NotSigned(content_type));
    }
    let mut content = Fields::of(tag::context_constructed(0), outer.element()?)?;
    outer.end()?;
    let mut fields = Fields::of(tag::SEQUENCE, content.element()?)?;
    content.end()?;
    let found = fields.read()?;
    // Without signers, they are of no use.
    Fields::of(tag::SET, fields.element()?)?;
    let mut encapsulated = Fields::of(tag::SEQUENCE, fields.element()?)?;
    if encapsulated.object_identifier()? != ID_DATA || !encapsulated.is_empty() {
        return Err(VerificationError::NotCertificatesAlone("content"));
    }
    let set = fields.element_if(tag::context_constructed(0))?;
    fields.element_if(tag::context_constructed(1))?;
    let signers = fields.element()?;
    fields.end()?;
    if !Fields::of(tag::SET, signers)?.is_empty() {
        return Err(VerificationError::NotCertificatesAlone("signers"));
    }
    if found != VERSION {
        return Err(VerificationError::Version {
            found,
            expected: VERSION,
        });
    }
    set.map_or(Ok(Vec::new()), read_set)
}

/// The certificates of a set, within the limits for those of messages.
fn read_set(set: &[u8]) -> Result<Vec<Certificate>, VerificationError> {
    let too_many = |what, limit| Err(VerificationError::TooMany { what, limit });
    if contents(set)?.len() > MAX_CERTIFICATE_BYTES {
        return too_many("bytes of certificates", MAX_CERTIFICATE_BYTES);
    }
    let mut fields = Fields::of(tag::context_constructed(0), set)?;
    let mut certificates = Vec::new();
    while !fields.is_empty() {
        let der = fields.element()?;
        if der.len() > MAX_CERTIFICATE {
            return too_many("bytes in a certificate", MAX_CERTIFICATE);
        }
        if certificates.len() == MAX_CERTIFICATES {
            return too_many("certificates", MAX_CERTIFICATES);
        }
        certificates.push(Certificate::from_der(der)?);
    }
    Ok(certificates)
}
