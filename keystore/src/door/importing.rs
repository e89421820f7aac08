//! Private keys are imported, wrapped under a key of the store.

use serde::{Deserialize, Serialize};

use super::algorithms::{KeyType, algorithm};
use super::body::{
    self, Asked, Flag, NO_DERIVED_KEYS, Number, Parameter, Period, Text, refuse_asked,
};
use super::call::{Call, version_len};
use super::keys::{already, are_gone, deleted, new_policy, no_key, refuse_set, rotation};
use super::refusal::Refusal;
use super::response::Response;
use crate::name::KeyName;
use crate::policy::Verb;
use crate::store::StoreError;

#[derive(Serialize)]
struct WrappingKey {
    public_key: String,
}

/// The public key of the store under which keys are wrapped, as PEM.
pub(super) fn wrapping_key(call: &Call<'_>) -> Result<Response, Refusal> {
    let key = call.store.wrapping_key(call.principal)?;
    Response::data(&WrappingKey {
        public_key: key.to_spki_pem(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    hash_function: Option<Text<'a>>,
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    parameter_set: Option<Parameter>,
    #[serde(borrow)]
    public_key: Option<Text<'a>>,
    allow_rotation: Option<Flag>,
    derived: Option<Flag>,
    context: Option<Asked>,
    exportable: Option<Flag>,
    allow_plaintext_backup: Option<Flag>,
    auto_rotate_period: Option<Period>,
}

pub(super) fn import(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Import, name)?;
    let body: Import<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let key_type = body.r#type.as_ref();
    let key_type = key_type.ok_or_else(|| Refusal::bad("type is needed, such as ml-dsa"))?;
    let parameter_set = body.parameter_set.map(|Parameter(set)| set);
    let algorithm = algorithm(key_type.as_str(), parameter_set.as_deref())?;
    for (field, value) in [
        ("derived", body.derived),
        ("allow_plaintext_backup", body.allow_plaintext_backup),
    ] {
        refuse_set(field, value)?;
    }
    refuse_asked(&[("context", body.context)], NO_DERIVED_KEYS)?;
    if let Some(Flag(false)) = body.allow_rotation {
        return Err(Refusal::bad(
            "allow_rotation: false can't be kept here, where grants and policies say who rotates a key; leave it out, or say true",
        ));
    }
    let wrapped = wrapped(body.ciphertext, body.hash_function, body.public_key)?;
    let mut policy = new_policy(call, body::is_set(body.exportable));
    if let Some(period) = body.auto_rotate_period {
        policy.rotate_after = rotation(period)?;
    }
    let key = call.store.unwrap_key(&wrapped)?;
    if key.algorithm() != algorithm {
        let KeyType {
            name,
            parameter_set,
        } = KeyType::of(key.algorithm());
        let set = parameter_set.map(|set| format!(", parameter_set {set}"));
        let set = set.unwrap_or_default();
        return Err(Refusal::bad(format!("the key is of type {name}{set}")));
    }
    match call.store.import_key(call.principal, name, &key, &policy) {
        Err(StoreError::Exists(_)) => already(call, name, |_| false),
        imported => {
            imported.map_err(deleted)?;
            Ok(Response::done())
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportVersion<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    hash_function: Option<Text<'a>>,
    #[serde(borrow)]
    public_key: Option<Text<'a>>,
    /// Which version gets a private key that has only a public one, which none has here.
    version: Option<Number>,
}

pub(super) fn import_version(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Import, name)?;
    let body: ImportVersion<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    if body
        .version
        .is_some_and(|version| version.version().is_some())
    {
        return Err(Refusal::bad(
            "version is for keys without private keys, which there are none of here",
        ));
    }
    let wrapped = wrapped(body.ciphertext, body.hash_function, body.public_key)?;
    check_imported(call, name)?;
    let key = call.store.unwrap_key(&wrapped)?;
    let imported = call.store.import_version(call.principal, name, &key);
    imported.map_err(no_key)?;
    Ok(Response::done())
}

/// Refuses keys none of whose versions was imported, as Vault does.
fn check_imported(call: &Call<'_>, name: &KeyName) -> Result<(), Refusal> {
    let algorithm = call.store.algorithm(call.principal, Verb::Import, name);
    let version_len = version_len(algorithm.map_err(no_key)?);
    let versions = call.store.versions(call.principal, Verb::Import, name);
    let (_, versions) = versions.map_err(no_key)?;
    if are_gone(&versions) {
        return Err(no_key(StoreError::Deleted(name.clone())));
    }
    call.reserve(versions.len() * version_len)?;
    let imported = call.store.is_imported(call.principal, Verb::Import, name);
    match imported.map_err(no_key)? {
        true => Ok(()),
        false => Err(Refusal::bad(
            "the import_version endpoint can only be used with an imported key",
        )),
    }
}

/// The wrapped key of a body.
fn wrapped(
    ciphertext: Option<Text<'_>>,
    hash_function: Option<Text<'_>>,
    public_key: Option<Text<'_>>,
) -> Result<zeroize::Zeroizing<Vec<u8>>, Refusal> {
    if public_key.is_some_and(|key| !key.as_str().is_empty()) {
        return Err(Refusal::bad(
            "public_key: keys without private keys are not supported",
        ));
    }
    match hash_function.as_ref().map(Text::as_str) {
        None | Some("") => {}
        Some(hash) if hash.eq_ignore_ascii_case("SHA256") => {}
        Some(_) => return Err(Refusal::bad("hash_function: only SHA256 is supported")),
    }
    let ciphertext = ciphertext.ok_or_else(|| Refusal::bad("ciphertext is needed"))?;
    ciphertext.decode("ciphertext")
}
