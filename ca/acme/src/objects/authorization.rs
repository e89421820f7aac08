//! Authorizations (RFC 8555, sections 7.1.4 and 7.5).

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::challenge::Challenge;
use super::time::Time;
use crate::identifier::Identifier;

/// That an account may have certificates for an identifier, or what it has to do for that.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Authorization<'a> {
    /// The identifier, without `*.`.
    pub identifier: Cow<'a, Identifier>,
    /// Its state.
    pub status: AuthorizationStatus,
    /// Until when it holds, or has to be made valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
    /// One of these has to be answered.
    #[serde(default)]
    pub challenges: Vec<Challenge<'a>>,
    /// Whether it is for `*.` before the identifier.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub wildcard: bool,
}

/// The state of an authorization (RFC 8555, section 7.1.6).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthorizationStatus {
    /// No challenge was met yet.
    Pending,
    /// It holds.
    Valid,
    /// A challenge was not met.
    Invalid,
    /// The account gave it up.
    Deactivated,
    /// It held, or could have been made valid, until its time was over.
    Expired,
    /// The CA took it back.
    Revoked,
}

/// The request to give up an authorization, or to end an account.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Deactivation {
    /// [`Deactivated`](AuthorizationStatus::Deactivated).
    pub status: AuthorizationStatus,
}

impl Deactivation {
    /// The request.
    pub const REQUEST: Self = Self {
        status: AuthorizationStatus::Deactivated,
    };
}
