//! Requests for certificates (PKCS#10) in orders (RFC 8555, section 7.4): signed by their key, with the names of the order
//! exactly.

use alloc::collections::BTreeSet;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::{base64url, shown};
use pq_keys::SubjectKey;
use pq_keys::der::{Tag, Tagged};
use pq_keys::spki::ObjectIdentifier;
use pq_x509::certificate::AlternativeName;
use pq_x509::pki_types::SignatureVerificationAlgorithm;
use pq_x509::request::{CertificateRequest, VerifiedRequest};

use crate::identifier::Identifier;
use crate::problem::{Problem, ProblemType};

/// Decodes the member `csr` of a request.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, Problem> {
    base64url::decode(text)
        .map_err(|error| Problem::malformed(format!("the member \"csr\" is {error}")))
}

/// Checks a request for a certificate: that it is signed by its key, asks for no CA, and that its names, with the common name,
/// are exactly these, which are sorted. For whoever checks again what a server of ACME says, too.
///
/// # Errors
///
/// [`BadCsr`](ProblemType::BadCsr), with what is wrong.
pub fn check_csr(
    der: &[u8],
    identifiers: &[Identifier],
    algorithms: &[&'static dyn SignatureVerificationAlgorithm],
) -> Result<VerifiedRequest, Problem> {
    let request = CertificateRequest::from_der(der).map_err(bad)?;
    let common = common_names(&request)?;
    let verified = request.verify_with(algorithms).map_err(bad)?;
    let mut names = BTreeSet::new();
    for name in verified.alternative_names() {
        names.insert(match name {
            AlternativeName::Dns(name) => Identifier::Dns(name.to_ascii_lowercase()),
            AlternativeName::Ip(address) => Identifier::Ip(address),
            other => {
                return Err(bad(format!(
                    "it asks for {other}, which is not in the order"
                )));
            }
        });
    }
    for name in common {
        names.insert(match name.parse() {
            Ok(address) => Identifier::Ip(address),
            Err(_) => Identifier::Dns(name.to_ascii_lowercase()),
        });
    }
    if let Some(name) = names
        .iter()
        .find(|name| identifiers.binary_search(name).is_err())
    {
        let name = shown(&name.value());
        return Err(bad(format!(
            "it asks for {name}, which is not in the order"
        )));
    }
    if let Some(name) = identifiers.iter().find(|name| !names.contains(*name)) {
        return Err(bad(format!("it lacks {name}, which is in the order")));
    }
    if verified.asks_for_ca() {
        return Err(bad("it asks for the certificate of a CA"));
    }
    Ok(verified)
}

/// The key of a request, if it is one that accounts can have.
pub(super) fn account_key(request: &VerifiedRequest) -> Option<AnyJwk> {
    AnyJwk::from_spki_der(&request.spki()).ok()
}

pub(super) fn bad(why: impl core::fmt::Display) -> Problem {
    Problem::new(
        ProblemType::BadCsr,
        format!("the request for a certificate: {why}"),
    )
}

/// The common names of the subject. What is no text counts as a name that is not in the order.
fn common_names(request: &CertificateRequest) -> Result<Vec<String>, Problem> {
    let attributes = request.parsed().info.subject.iter();
    let common = attributes.filter(|attribute| attribute.oid == COMMON_NAME);
    let texts = common.map(|attribute| {
        let value = &attribute.value;
        let is_text = matches!(
            value.tag(),
            Tag::Utf8String | Tag::PrintableString | Tag::TeletexString | Tag::Ia5String
        );
        let text = core::str::from_utf8(value.value()).ok();
        text.filter(|text| is_text && text.is_ascii())
            .map(String::from)
            .ok_or_else(|| bad("its common name is not in ASCII, as the names of orders are"))
    });
    texts.collect()
}

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
