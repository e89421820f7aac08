//! The directory (RFC 8555, section 7.1.1), and what a server says about itself there.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The URLs of a server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Directory {
    /// Where nonces are.
    pub new_nonce: String,
    /// Where accounts are made.
    pub new_account: String,
    /// Where orders are made.
    pub new_order: String,
    /// Where authorizations are made without an order, on servers that have that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_authz: Option<String>,
    /// Where certificates are revoked.
    pub revoke_cert: String,
    /// Where accounts get other keys.
    pub key_change: String,
    /// Before the identifier of a certificate: when to renew it (RFC 9773).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal_info: Option<String>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// What a server says about itself.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The terms of service, to which who makes an account has to agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_of_service: Option<String>,
    /// A page about the CA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// The names by which the CA is named in CAA records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caa_identities: Vec<String>,
    /// Whether accounts have to be bound to one that exists elsewhere.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub external_account_required: bool,
    /// The profiles of certificates, each with a text for people (draft-ietf-acme-profiles).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, String>,
}
