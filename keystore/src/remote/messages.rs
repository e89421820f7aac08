//! The JSON that is sent and read.

use serde::{Deserialize, Deserializer, Serialize};
use zeroize::Zeroizing;

/// A text that is wiped.
pub(super) struct Secret(pub(super) Zeroizing<String>);

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

#[derive(Serialize)]
pub(super) struct Create<'a> {
    pub(super) r#type: &'a str,
    pub(super) exportable: bool,
}

/// A request to sign, or to verify if it has a signature.
#[derive(Serialize)]
pub(super) struct Use {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key_version: Option<u32>,
    pub(super) prehashed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hash_algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) batch_input: Option<Vec<Item>>,
}

#[derive(Serialize)]
pub(super) struct Item {
    pub(super) input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Envelope<T> {
    pub(super) data: T,
}

#[derive(Deserialize)]
pub(super) struct Errors {
    pub(super) errors: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) signature: Option<String>,
    pub(super) valid: Option<bool>,
    pub(super) error: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) batch_results: Vec<Answer>,
}

#[derive(Deserialize)]
pub(super) struct Exported {
    pub(super) keys: alloc::collections::BTreeMap<String, String>,
}

/// What a request made. Servers that are not this project's don't say it.
#[derive(Deserialize)]
pub(super) struct Made {
    pub(super) key_version: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Shown {
    pub(super) keys: alloc::collections::BTreeMap<String, ShownVersion>,
    pub(super) exportable: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct ShownVersion {
    /// This project's door says it.
    pub(super) state: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Encrypt<'a> {
    pub(super) plaintext: &'a str,
    pub(super) associated_data: String,
}

#[derive(Deserialize)]
pub(super) struct Encrypted {
    pub(super) ciphertext: String,
}

#[derive(Serialize)]
pub(super) struct Decrypt<'a> {
    pub(super) ciphertext: &'a str,
    pub(super) associated_data: String,
}

#[derive(Deserialize)]
pub(super) struct Decrypted {
    pub(super) plaintext: Secret,
}

/// What a server says about a key.
#[derive(Deserialize)]
pub(super) struct Described {
    pub(super) r#type: String,
    #[serde(default)]
    pub(super) derived: bool,
}
