//! Accounts (RFC 8555, sections 7.1.2 and 7.3).

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An account, as a server shows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Account<'a> {
    /// Its state.
    pub status: AccountStatus,
    /// Where its holder can be reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contact: Vec<Cow<'a, str>>,
    /// Whether its holder agreed to the terms of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_of_service_agreed: Option<bool>,
    /// The proof that bound it to another account.
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    pub external_account_binding: Option<Cow<'a, RawValue>>,
    /// Where its orders are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<Cow<'a, str>>,
}

/// The state of an account.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountStatus {
    /// It may be used.
    Valid,
    /// Its holder ended it.
    Deactivated,
    /// The CA ended it.
    Revoked,
}

/// The request for an account.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAccount<'a> {
    /// Where its holder can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Vec<String>>,
    /// Whether its holder agrees to the terms of service.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub terms_of_service_agreed: bool,
    /// Whether no account is to be made, if there is none for the key.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub only_return_existing: bool,
    /// The proof that binds it to another account: see [`jws::external_account`](crate::jws::external_account).
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    pub external_account_binding: Option<&'a RawValue>,
}

/// The request to change an account, or to end it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountUpdate {
    /// Where its holder can be reached from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Vec<String>>,
    /// Whether its holder agrees to the terms of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms_of_service_agreed: Option<bool>,
    /// [`Deactivated`](AccountStatus::Deactivated) ends the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<AccountStatus>,
}

/// The content that the new key of an account signs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyChange<'a> {
    /// The account's URL.
    #[serde(borrow)]
    pub account: Cow<'a, str>,
    /// Its key until now, a JSON Web Key.
    #[serde(borrow)]
    pub old_key: &'a RawValue,
}

/// Orders of an account, a page of them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct OrdersList {
    /// Their URLs.
    pub orders: Vec<String>,
}
