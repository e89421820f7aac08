//! Requests for certificates as EST sends them: base64 of a PKCS#10 (RFC 8951, section 3), with what binds it to its
//! connection (RFC 7030, section 3.5; RFC 9266).

use base64ct::{Base64, Encoding};
use der::oid::ObjectIdentifier;
use der::{Tag, Tagged};
use pq_x509::request::{CertificateRequest, VerifiedRequest};
use pq_x509::verification::classical_algorithms;
use subtle::ConstantTimeEq;

use super::refusal::Refusal;

/// The attribute challengePassword (RFC 2985, section 5.4.1).
pub(super) const CHALLENGE_PASSWORD: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.7");
/// The attribute ChangeSubjectName (RFC 6402, section 2.8).
const CHANGE_SUBJECT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.7.36");

/// A request that is signed by its key.
pub(super) struct Csr {
    request: CertificateRequest,
    pub(super) verified: VerifiedRequest,
}

/// Reads the body of a request, and checks that it is signed by its key. Line breaks and spaces in it don't matter.
pub(super) fn read(body: &[u8]) -> Result<Csr, Refusal> {
    let text: Vec<u8> = body
        .iter()
        .copied()
        .filter(|one| !one.is_ascii_whitespace())
        .collect();
    let bad = |why: &dyn core::fmt::Display| Refusal::Malformed(format!("The request: {why}"));
    let text = String::from_utf8(text).map_err(|_| bad(&"it is not in base64"))?;
    let der = Base64::decode_vec(&text).map_err(|_| bad(&"it is not in base64"))?;
    let request = CertificateRequest::from_der(&der).map_err(|error| bad(&error))?;
    let algorithms = classical_algorithms().unwrap_or_default();
    let verified = request.clone().verify_with(algorithms);
    let verified = verified.map_err(|error| bad(&error))?;
    Ok(Csr { request, verified })
}

impl Csr {
    pub(super) fn der(&self) -> &[u8] {
        self.request.to_der()
    }

    /// Checks what a request has beside names and a key. Returns whether it is bound to the connection.
    pub(super) fn check_attributes(
        &self,
        binding: Option<&[u8; 32]>,
        is_binding_required: bool,
    ) -> Result<bool, Refusal> {
        if self.verified.asks_for_ca() {
            return Err(Refusal::Forbidden(
                "The request asks for the certificate of a CA".into(),
            ));
        }
        let attributes = &self.request.parsed().info.attributes;
        if attributes.iter().any(|one| one.oid == CHANGE_SUBJECT_NAME) {
            return Err(Refusal::Forbidden(
            "The request asks for another subject (ChangeSubjectName): the next certificate has the names of the one before. Ask \
             the CA's operator for a user who may have the other name, and enrol with that"
                .into(),
        ));
        }
        let mut challenges = attributes
            .iter()
            .filter(|one| one.oid == CHALLENGE_PASSWORD)
            .flat_map(|one| one.values.iter());
        let not_bound = |text: &str| Err(Refusal::Malformed(text.into()));
        match (challenges.next(), challenges.next()) {
            (None, _) if is_binding_required => not_bound(
                "The CA's policy takes requests alone that are bound to their connection: put base64 of the channel binding tls-exporter \
             (RFC 9266) into the attribute challengePassword",
            ),
            (None, _) => Ok(false),
            (Some(value), None) => {
                let expected = Base64::encode_string(binding.map_or(&[], |binding| &binding[..]));
                let is_text = matches!(
                    value.tag(),
                    Tag::PrintableString | Tag::Utf8String | Tag::Ia5String | Tag::TeletexString
                );
                let is_same = value.value().ct_eq(expected.as_bytes());
                match binding.is_some() && is_text && is_same.into() {
                    true => Ok(true),
                    false => not_bound(
                        "The attribute challengePassword is not base64 of this connection's channel binding. TLS 1.3 has no tls-unique: \
                     put tls-exporter (RFC 9266) there, or leave the attribute out",
                    ),
                }
            }
            (Some(_), Some(_)) => not_bound("The attribute challengePassword is there twice"),
        }
    }
}
