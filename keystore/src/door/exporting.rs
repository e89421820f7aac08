//! Private keys are exported, where the policy said so at their creation, and public keys.

use alloc::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use pq_keys::any::{AnyPrivateKey, AnyPublicKey, Readable};
use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

use super::MAX_BATCH;
use super::algorithms::{KeyType, encapsulates};
use super::call::{Call, version_len};
use super::keys::{are_gone, public_key};
use super::paths::parameter;
use super::quoting::Quoted;
use super::refusal::Refusal;
use super::response::Response;
use crate::name::{KeyName, Version};
use crate::policy::Verb;
use crate::record::VersionState;
use crate::store::StoreError;

/// A text that is wiped.
struct Secret(Zeroizing<String>);

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[derive(Serialize)]
struct Exported {
    name: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_set: Option<String>,
    keys: BTreeMap<u32, Secret>,
}

#[derive(Clone, Copy)]
enum Format {
    /// What Vault has by default.
    Default,
    Pem,
    Der,
    Raw,
}

pub(super) fn export(
    call: &Call<'_>,
    kind: &str,
    name: &KeyName,
    version: Option<&str>,
) -> Result<Response, Refusal> {
    let verb = match kind {
        "signing-key" | "encryption-key" => Verb::Export,
        "public-key" => Verb::Show,
        _ => {
            return Err(Refusal::bad(format!(
                "invalid export type: {}",
                Quoted(kind)
            )));
        }
    };
    let known = call.store.versions(call.principal, verb, name);
    let (policy, versions) = match known {
        Err(StoreError::NotFound(_)) => return Err(Refusal::nothing()),
        known => known?,
    };
    if are_gone(&versions) {
        return Err(Refusal::nothing());
    }
    let algorithm = call.store.algorithm(call.principal, verb, name)?;
    let format = match parameter(call.query, "format") {
        None | Some("" | "default") => Format::Default,
        Some("pem") => Format::Pem,
        Some("der") => Format::Der,
        Some("raw") => Format::Raw,
        Some(_) => return Err(Refusal::bad("format is pem, der or raw")),
    };
    match (kind, encapsulates(algorithm)) {
        ("signing-key", true) => return Err(Refusal::bad("signing-key is for keys that sign")),
        ("encryption-key", false) => {
            return Err(Refusal::bad("encryption-key is for keys that encapsulate"));
        }
        _ => {}
    }
    let wanted = wanted(name, version, policy.min_version, &versions, |state| {
        verb == Verb::Show || state == VersionState::Enabled
    })?;
    // Of public keys, all are read.
    let read = match verb {
        Verb::Export => wanted.len(),
        _ => versions.len(),
    };
    call.reserve(read * version_len(algorithm))?;
    let mut keys = BTreeMap::new();
    match verb {
        Verb::Export => {
            for version in wanted {
                let der = call.store.export(call.principal, &name.at(version))?;
                keys.insert(version.get(), private(&der, format)?);
            }
        }
        _ => {
            for shown in call.store.show(call.principal, name)?.versions {
                if wanted.contains(&shown.version) {
                    keys.insert(shown.version.get(), public(&shown.public_key, format));
                }
            }
        }
    }
    let KeyType {
        name: key_type,
        parameter_set,
    } = KeyType::of(algorithm);
    Response::data(&Exported {
        name: name.name().into(),
        r#type: key_type,
        parameter_set,
        keys,
    })
}

/// The versions that are asked for, none of which is below the minimum; `is_given` says which are given to those who ask for
/// all.
fn wanted(
    name: &KeyName,
    version: Option<&str>,
    minimum: Version,
    versions: &[(Version, VersionState)],
    is_given: impl Fn(VersionState) -> bool,
) -> Result<Vec<Version>, Refusal> {
    let newest = versions.last().map(|(version, _)| *version);
    let wanted: Vec<_> = match version {
        Some("latest") => newest.into_iter().collect(),
        None => versions
            .iter()
            .filter(|(version, state)| *version >= minimum && is_given(*state))
            .map(|(version, _)| *version)
            .collect(),
        Some(text) => {
            let version: Result<Version, _> = text.strip_prefix('v').unwrap_or(text).parse();
            let version = version.map_err(|_| Refusal::bad("invalid key version"))?;
            if version < minimum {
                return Err(Refusal::bad(
                    "version for export is below minimum decryption version",
                ));
            }
            match versions.iter().any(|(known, _)| *known == version) {
                true => vec![version],
                false => return Err(StoreError::VersionNotFound(name.at(version)).into()),
            }
        }
    };
    match wanted.len() {
        0..=MAX_BATCH => Ok(wanted),
        _ => Err(Refusal::bad(format!(
            "there are more than {MAX_BATCH} versions; name one"
        ))),
    }
}

fn public(key: &AnyPublicKey, format: Format) -> Secret {
    Secret(Zeroizing::new(match format {
        Format::Default => public_key(key),
        Format::Pem => key.to_spki_pem(),
        Format::Der => Base64::encode_string(key.to_spki_der()),
        Format::Raw => Base64::encode_string(key.as_bytes()),
    }))
}

/// PKCS#8, of which Vault's own forms are different for each algorithm.
fn private(der: &[u8], format: Format) -> Result<Secret, Refusal> {
    match format {
        Format::Default | Format::Pem => {
            let key = AnyPrivateKey::from_der(der).map_err(StoreError::from)?;
            let pem = key.to_pkcs8_pem().map_err(StoreError::from)?;
            Ok(Secret(pem))
        }
        Format::Der => Ok(Secret(Zeroizing::new(Base64::encode_string(der)))),
        Format::Raw => Err(Refusal::bad("private keys are exported as pem or der")),
    }
}
