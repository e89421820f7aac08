//! The rules: a file for each table of the policy, with its keys, their defaults, and what they forbid.
//!
//! This room uses [`forbidden`](super::forbidden), [`wanted`](super::wanted),
//! [`values`](super::values) and [`file`](super::file).

mod acme;
mod est;
mod keys;
mod names;
mod narrower;
mod status;
mod subject;
mod usages;
mod validity;

use serde::Deserialize;

use super::file::{optional_table, table};
pub(crate) use acme::Acme;
pub(crate) use est::Est;
use keys::Keys;
use names::Names;
pub(crate) use status::Status;
use subject::Subject;
pub(crate) use usages::Usages;
pub(crate) use validity::Validity;

/// The tables of the file. A missing table counts as empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table",
    rename_all = "kebab-case"
)]
pub(crate) struct Rules {
    #[serde(deserialize_with = "table")]
    pub(crate) names: Names,
    #[serde(deserialize_with = "table")]
    pub(crate) subject: Subject,
    #[serde(deserialize_with = "table")]
    pub(crate) keys: Keys,
    #[serde(deserialize_with = "table")]
    pub(crate) validity: Validity,
    #[serde(deserialize_with = "table")]
    pub(crate) usages: Usages,
    #[serde(deserialize_with = "table")]
    pub(crate) revocation_lists: Status,
    #[serde(deserialize_with = "table")]
    pub(crate) ocsp: Status,
    #[serde(deserialize_with = "optional_table")]
    pub(crate) acme: Option<Acme>,
    #[serde(deserialize_with = "optional_table")]
    pub(crate) est: Option<Est>,
}
