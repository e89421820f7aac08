//! Orders (RFC 8555, sections 7.1.3 and 7.4).

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::time::Time;
use crate::identifier::Identifier;
use crate::problem::Problem;

/// An order, as a server shows it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Order<'a> {
    /// Its state.
    pub status: OrderStatus,
    /// Until when it has to be finalized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
    /// What the certificate is for.
    pub identifiers: Cow<'a, [Identifier]>,
    /// The requested beginning of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// The requested end of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Time>,
    /// Why there is no certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, Problem>>,
    /// The URLs of its authorizations.
    pub authorizations: Vec<String>,
    /// Where it is finalized.
    pub finalize: String,
    /// Where the certificate is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The certificate that the new one replaces (RFC 9773, section 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Cow<'a, str>>,
    /// The certificate's profile (draft-ietf-acme-profiles).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Cow<'a, str>>,
}

/// The state of an order (RFC 8555, section 7.1.6).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderStatus {
    /// Authorizations are not valid yet.
    Pending,
    /// It can be finalized.
    Ready,
    /// The certificate is being issued.
    Processing,
    /// The certificate is there.
    Valid,
    /// There will be no certificate.
    Invalid,
}

/// The request for an order. A server reads the identifiers as [`RawIdentifier`](crate::identifier::RawIdentifier)s.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewOrder<I = Identifier> {
    /// What the certificate is for.
    pub identifiers: Vec<I>,
    /// The requested beginning of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// The requested end of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Time>,
    /// The certificate that the new one replaces: its [`CertificateId`](super::CertificateId).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The certificate's profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

impl NewOrder {
    /// An order of a certificate for these, with everything else as the CA has it.
    pub fn new(identifiers: Vec<Identifier>) -> Self {
        Self {
            identifiers,
            not_before: None,
            not_after: None,
            replaces: None,
            profile: None,
        }
    }
}

/// The request to finalize an order.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Finalization<'a> {
    /// The DER of a request for a certificate (PKCS#10), in base64url.
    #[serde(borrow)]
    pub csr: Cow<'a, str>,
}
