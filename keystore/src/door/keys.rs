//! Keys are created, shown, listed, configured, rotated, trimmed and deleted.

use alloc::collections::BTreeMap;
use core::time::Duration;

use base64ct::{Base64, Encoding};
use pq_keys::any::AnyPublicKey;
use serde::{Deserialize, Serialize};

use super::algorithms::{KeyType, algorithm, encapsulates, has_pem, version_name};
use super::body::{
    self, Asked, Flag, NO_DERIVED_KEYS, NO_MANAGED_KEYS, Number, Parameter, Period, Text, is_set,
    refuse_asked,
};
use super::call::{Call, version_len};
use super::paths::parameter;
use super::refusal::Refusal;
use super::response::Response;
use super::system::time;
use crate::name::{KeyId, KeyName, Version};
use crate::policy::{Policy, Verb};
use crate::record::{Origin, VersionState};
use crate::store::{KeyDetails, StoreError};

/// The most names in one list.
const MAX_LISTED: usize = 10_000;

/// What a name takes in a list, with what is made on the way.
const LISTED_LEN: usize = 256;

/// The most damaged keys that are told one by one.
const MAX_WARNINGS: usize = 100;

/// How long a destruction waits for keys that may not be deleted, if the policy of new keys doesn't say it.
const NOT_DELETED_BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest time between rotations, as with Vault.
const SHORTEST_ROTATION: Duration = Duration::from_secs(60 * 60);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    parameter_set: Option<Parameter>,
    exportable: Option<Flag>,
    derived: Option<Flag>,
    convergent_encryption: Option<Flag>,
    allow_plaintext_backup: Option<Flag>,
    auto_rotate_period: Option<Period>,
    key_size: Option<Number>,
    context: Option<Asked>,
    managed_key_name: Option<Asked>,
    managed_key_id: Option<Asked>,
    hybrid_key_type_pqc: Option<Asked>,
    hybrid_key_type_ec: Option<Asked>,
}

pub(super) fn create(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Create, name)?;
    let body: Create<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    refuse_asked(&[("context", body.context)], NO_DERIVED_KEYS)?;
    let managed = [
        ("managed_key_name", body.managed_key_name),
        ("managed_key_id", body.managed_key_id),
    ];
    refuse_asked(&managed, NO_MANAGED_KEYS)?;
    let hybrid = [
        ("hybrid_key_type_pqc", body.hybrid_key_type_pqc),
        ("hybrid_key_type_ec", body.hybrid_key_type_ec),
    ];
    refuse_asked(
        &hybrid,
        "is for another form than these keys have: composite keys have a type of their own, such as mldsa65-ecdsa-p256-sha512",
    )?;
    let key_type = body.r#type.as_ref();
    let key_type = key_type.ok_or_else(|| Refusal::bad("type is needed, such as ml-dsa"))?;
    let parameter_set = body.parameter_set.map(|Parameter(set)| set);
    let algorithm = algorithm(key_type.as_str(), parameter_set.as_deref())?;
    for (field, value) in [
        ("derived", body.derived),
        ("convergent_encryption", body.convergent_encryption),
        ("allow_plaintext_backup", body.allow_plaintext_backup),
    ] {
        refuse_set(field, value)?;
    }
    if body.key_size.is_some_and(|Number(size)| size != 0) {
        return Err(Refusal::bad(
            "key_size is for keys of HMAC, which there are none of here",
        ));
    }
    let mut policy = new_policy(call, is_set(body.exportable));
    if let Some(period) = body.auto_rotate_period {
        policy.rotate_after = rotation(period)?;
    }
    match call
        .store
        .create_key(call.principal, name, algorithm, &policy)
    {
        Err(StoreError::Exists(_)) => already(call, name, |key| {
            key.algorithm == algorithm && key.policy.exportable == policy.exportable
        }),
        created => made(&created.map_err(deleted)?),
    }
}

/// Which version a request made. Vault says what the key's newest one is, which may be another's by then.
#[derive(Serialize)]
struct Made<'a> {
    name: &'a str,
    key_version: u32,
}

fn made(id: &KeyId) -> Result<Response, Refusal> {
    Response::data(&Made {
        name: id.name().name(),
        key_version: id.version().get(),
    })
}

/// The policy of a new key.
pub(super) fn new_policy(call: &Call<'_>, exportable: bool) -> Policy {
    Policy {
        exportable,
        ..call.template.clone()
    }
}

/// Why there can't be a key of a name, in words for who makes one.
pub(super) fn deleted(error: StoreError) -> Refusal {
    match error {
        StoreError::Deleted(name) => Refusal::bad(format!(
            "key {} was deleted, and its name is not used again: signatures and the audit log name its versions; take another name",
            name.name()
        )),
        error => error.into(),
    }
}

/// With Vault, creating a key that is there already does nothing, and tells the key. It does so here if it is such a key, and
/// whoever asks may see that.
pub(super) fn already(
    call: &Call<'_>,
    name: &KeyName,
    is_wanted: impl Fn(&KeyDetails) -> bool,
) -> Result<Response, Refusal> {
    let there = || Refusal::bad(format!("key {} exists already", name.name()));
    match call.store.show(call.principal, name) {
        Ok(key) if is_wanted(&key) => shown(
            call,
            name,
            &[format!("key {} already existed", name.name())],
        ),
        Ok(_) | Err(StoreError::Denied { .. }) => Err(there()),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn refuse_set(field: &str, value: Option<Flag>) -> Result<(), Refusal> {
    match is_set(value) {
        true => Err(Refusal::bad(format!("{field} is not supported"))),
        false => Ok(()),
    }
}

/// How old a version may become; 0 is for any age.
pub(super) fn rotation(Period(period): Period) -> Result<Option<Duration>, Refusal> {
    match period {
        Duration::ZERO => Ok(None),
        period if period < SHORTEST_ROTATION => Err(Refusal::bad(
            "auto_rotate_period must be 0 to disable or at least an hour",
        )),
        period => Ok(Some(period)),
    }
}

#[derive(Serialize)]
struct Key {
    name: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_set: Option<String>,
    keys: BTreeMap<u32, KeyVersion>,
    latest_version: u32,
    /// 0 where nothing was trimmed.
    min_available_version: u32,
    min_decryption_version: u32,
    /// 0 where all versions sign that there are.
    min_encryption_version: u32,
    deletion_allowed: bool,
    exportable: bool,
    allow_plaintext_backup: bool,
    derived: bool,
    imported_key: bool,
    /// Who rotates a key is for grants and policies to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported_key_allow_rotation: Option<bool>,
    auto_rotate_period: u64,
    supports_signing: bool,
    supports_encryption: bool,
    supports_decryption: bool,
    supports_derivation: bool,
}

#[derive(Serialize)]
struct KeyVersion {
    creation_time: String,
    name: &'static str,
    public_key: String,
    /// Not of Vault: its state in the store.
    state: &'static str,
}

pub(super) fn read(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    if parameter(call.query, "context").is_some_and(|context| !context.is_empty()) {
        call.require(Verb::Show, name)?;
        return Err(Refusal::bad(format!("context {NO_DERIVED_KEYS}")));
    }
    shown(call, name, &[])
}

/// A key, and what the client should know besides.
fn shown(call: &Call<'_>, name: &KeyName, warnings: &[String]) -> Result<Response, Refusal> {
    let nothing = |error| match error {
        StoreError::NotFound(_) => Refusal::nothing(),
        error => error.into(),
    };
    let found = call.store.algorithm(call.principal, Verb::Show, name);
    let version_len = version_len(found.map_err(nothing)?);
    let found = call.store.versions(call.principal, Verb::Show, name);
    let (_, versions) = found.map_err(nothing)?;
    call.reserve(versions.len() * version_len)?;
    let key = match call.store.show(call.principal, name) {
        Err(StoreError::NotFound(_)) => return Err(Refusal::nothing()),
        Ok(key) if is_deleted(&key) => return Err(Refusal::nothing()),
        key => key?,
    };
    let KeyType {
        name: key_type,
        parameter_set,
    } = KeyType::of(key.algorithm);
    // With Vault, versions below the minimum are in an archive, and not shown.
    let of_use = key.versions.iter();
    let of_use = of_use.filter(|version| version.version >= key.policy.min_version);
    let versions = of_use.map(|version| {
        let shown = KeyVersion {
            creation_time: time(version.created),
            name: version_name(key.algorithm),
            public_key: public_key(&version.public_key),
            state: version.state.name(),
        };
        (version.version.get(), shown)
    });
    let is_kem = encapsulates(key.algorithm);
    let number = |version: Option<Version>| version.map_or(0, Version::get);
    let first = key.versions.first().map(|first| first.version);
    let mut origins = key.versions.iter().map(|version| version.origin);
    let is_imported = origins.any(|origin| origin == Origin::Imported);
    let key = Key {
        name: name.name().into(),
        r#type: key_type,
        parameter_set,
        keys: versions.collect(),
        latest_version: number(key.versions.last().map(|last| last.version)),
        min_available_version: number(first.filter(|first| *first != Version::FIRST)),
        min_decryption_version: first
            .map_or(key.policy.min_version, |first| {
                key.policy.min_version.max(first)
            })
            .get(),
        min_encryption_version: number(
            Some(key.policy.min_signing_version).filter(|version| *version != Version::FIRST),
        ),
        deletion_allowed: key.policy.destroy_after.is_zero(),
        exportable: key.policy.exportable,
        allow_plaintext_backup: false,
        derived: false,
        imported_key: is_imported,
        imported_key_allow_rotation: is_imported.then_some(true),
        auto_rotate_period: key.policy.rotate_after.map_or(0, |age| age.as_secs()),
        supports_signing: !is_kem,
        supports_encryption: is_kem,
        supports_decryption: is_kem,
        supports_derivation: false,
    };
    Response::data_with(&key, warnings)
}

/// A public key as Vault shows it: PEM, or raw in base64.
pub(super) fn public_key(key: &AnyPublicKey) -> String {
    match has_pem(key.algorithm()) {
        true => key.to_spki_pem(),
        false => Base64::encode_string(key.as_bytes()),
    }
}

/// Whether a key was deleted by the door: nothing of it is left that is of use.
fn is_deleted(key: &KeyDetails) -> bool {
    key.versions.iter().all(|version| version.state.is_gone())
}

/// The same of its versions.
pub(super) fn are_gone(versions: &[(Version, VersionState)]) -> bool {
    versions.iter().all(|(_, state)| state.is_gone())
}

#[derive(Serialize)]
struct Names {
    keys: Vec<String>,
}

pub(super) fn list(call: &Call<'_>) -> Result<Response, Refusal> {
    let (tenant, purpose) = (&*call.mount.tenant, &*call.mount.purpose);
    let pages = match parameter(call.query, "limit").map(str::parse::<i64>) {
        None => None,
        // All, as with OpenBao.
        Some(Ok(..=0)) => None,
        Some(limit) => {
            let limit = limit.ok().and_then(|limit| usize::try_from(limit).ok());
            let limit = limit.filter(|limit| *limit <= MAX_LISTED);
            Some(
                limit
                    .ok_or_else(|| Refusal::bad(format!("limit is a number up to {MAX_LISTED}")))?,
            )
        }
    };
    let limit = pages.unwrap_or(MAX_LISTED);
    let after = parameter(call.query, "after").filter(|after| !after.is_empty());
    let after = after.map(|name| KeyName::new(tenant, purpose, name));
    let mut after = after
        .transpose()
        .map_err(|error| Refusal::bad(error.to_string()))?;
    call.reserve(limit * LISTED_LEN)?;
    let mut keys = Vec::new();
    let mut damaged = Damaged::default();
    loop {
        let page = call
            .store
            .list(call.principal, Some(tenant), after.as_ref(), 100)?;
        for error in page.damaged {
            damaged.add(call, &error);
        }
        for key in page.keys {
            if key.name.purpose() != purpose {
                continue;
            }
            // Of most keys the newest version says that they are there.
            if key.state.is_gone() {
                let found = call.store.versions(call.principal, Verb::Show, &key.name);
                match found.map(|(_, versions)| versions) {
                    Ok(versions) if are_gone(&versions) => continue,
                    // It was listed, so it stays so.
                    Ok(_) | Err(StoreError::Denied { .. }) => {}
                    Err(StoreError::NotFound(_)) => continue,
                    Err(error @ StoreError::Damaged { .. }) => {
                        damaged.add(call, &error);
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if keys.len() == limit {
                return match pages {
                    Some(_) => damaged.beside(keys),
                    None => Err(Refusal::bad(format!(
                        "there are more than {MAX_LISTED} keys; list them in pages, by limit and after"
                    ))),
                };
            }
            keys.push(key.name.name().to_owned());
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return damaged.beside(keys),
        }
    }
}

/// What is damaged, and so not listed.
#[derive(Default)]
struct Damaged {
    /// For the client.
    warnings: Vec<String>,
    /// For the log.
    problems: Vec<String>,
    /// Those beyond the most that are told.
    others: usize,
}

impl Damaged {
    fn add(&mut self, call: &Call<'_>, error: &StoreError) {
        let StoreError::Damaged { row, .. } = error else {
            return self.say("a key can't be read".into(), error);
        };
        let (tenant, purpose) = (&*call.mount.tenant, &*call.mount.purpose);
        let name = row.strip_prefix("key/").and_then(|row| {
            let row = row.strip_prefix(tenant)?.strip_prefix('/')?;
            row.strip_prefix(purpose)?.strip_prefix('/')
        });
        match name {
            Some(name) => self.say(format!("key {name} is damaged, and not listed"), error),
            // It is under another mount.
            None if row.starts_with("key/") => {}
            None => self.say("keys are not listed, as a row is damaged".into(), error),
        }
    }

    fn say(&mut self, warning: String, error: &StoreError) {
        if self.warnings.contains(&warning) {
            return;
        }
        if self.warnings.len() == MAX_WARNINGS {
            self.others += 1;
            return;
        }
        self.warnings.push(warning);
        self.problems.push(error.to_string());
    }

    /// The answer with these keys.
    fn beside(mut self, keys: Vec<String>) -> Result<Response, Refusal> {
        if self.others > 0 {
            let others = format!("{} more are damaged", self.others);
            self.warnings.push(others.clone());
            self.problems.push(others);
        }
        let problem = Some(self.problems.join("; ")).filter(|problem| !problem.is_empty());
        match (keys.is_empty(), problem) {
            (true, None) => Err(Refusal::nothing()),
            (true, problem) => Err(Refusal {
                problem,
                errors: self.warnings,
                ..Refusal::internal("")
            }),
            (false, problem) => Ok(Response {
                problem,
                ..Response::data_with(&Names { keys }, &self.warnings)?
            }),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configure<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    min_decryption_version: Option<Number>,
    min_encryption_version: Option<Number>,
    deletion_allowed: Option<Flag>,
    exportable: Option<Flag>,
    allow_plaintext_backup: Option<Flag>,
    auto_rotate_period: Option<Period>,
}

pub(super) fn configure(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::SetPolicy, name)?;
    let body: Configure<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    refuse_set("allow_plaintext_backup", body.allow_plaintext_backup)?;
    let rotate_after = body.auto_rotate_period.map(rotation).transpose()?;
    let not_deleted_before = match call.template.destroy_after {
        Duration::ZERO => NOT_DELETED_BEFORE,
        time => time,
    };
    // 0 is the first version to verify, and any to sign.
    let version = |number: Number| number.version().unwrap_or(Version::FIRST);
    let changed = call
        .store
        .change_policy(call.principal, name, |policy, [first, newest]| {
            // What was trimmed is no version to begin with any more.
            if first != Version::FIRST {
                for (number, problem) in [
                    (
                        body.min_encryption_version,
                        "min encryption version should not be less than min available version",
                    ),
                    (
                        body.min_decryption_version,
                        "min decryption version should not be less than min available version",
                    ),
                ] {
                    if number.is_some_and(|Number(number)| number < first.get()) {
                        return Err(StoreError::Policy(problem));
                    }
                }
            }
            if let Some(number) = body.min_decryption_version {
                policy.min_version = version(number);
            }
            if let Some(number) = body.min_encryption_version {
                policy.min_signing_version = version(number);
            }
            if let Some(rotate_after) = rotate_after {
                policy.rotate_after = rotate_after;
            }
            if let Some(Flag(exportable)) = body.exportable {
                policy.exportable = exportable;
            }
            match body.deletion_allowed {
                Some(Flag(true)) => policy.destroy_after = Duration::ZERO,
                Some(Flag(false)) if policy.destroy_after.is_zero() => {
                    policy.destroy_after = not_deleted_before;
                }
                _ => {}
            }
            let floor = policy.min_signing_version;
            match () {
                () if policy.min_version > newest || floor > newest => Err(StoreError::Policy(
                    "no minimum may be above the newest version of the key",
                )),
                () if floor != Version::FIRST && floor < policy.min_version => {
                    Err(StoreError::Policy(
                        "min_encryption_version may not be below min_decryption_version",
                    ))
                }
                () => Ok(()),
            }
        });
    changed.map_err(no_key)?;
    Ok(Response::done())
}

pub(super) fn no_key(error: StoreError) -> Refusal {
    match error {
        StoreError::NotFound(name) | StoreError::Deleted(name) => Refusal::bad(format!(
            "no existing key named {} could be found",
            name.name()
        )),
        error => error.into(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rotate<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    managed_key_name: Option<Asked>,
    managed_key_id: Option<Asked>,
}

pub(super) fn rotate(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Rotate, name)?;
    let body: Rotate<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let managed = [
        ("managed_key_name", body.managed_key_name),
        ("managed_key_id", body.managed_key_id),
    ];
    refuse_asked(&managed, NO_MANAGED_KEYS)?;
    let rotated = call.store.rotate(call.principal, name);
    made(&rotated.map_err(no_key)?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trim<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    min_available_version: Option<Number>,
}

pub(super) fn trim(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    call.require(Verb::Destroy, name)?;
    let body: Trim<'_> = body::read(call.body)?;
    call.check_named(name, &body.name)?;
    let Some(Number(number)) = body.min_available_version else {
        return Err(Refusal::bad("missing min_available_version"));
    };
    let found = call.store.versions(call.principal, Verb::Destroy, name);
    let (policy, versions) = found.map_err(no_key)?;
    if are_gone(&versions) {
        return Err(no_key(StoreError::Deleted(name.clone())));
    }
    let first = versions.first().map_or(Version::FIRST, |(first, _)| *first);
    // In the order of Vault's path_trim.go. There, no minimum of decryption is 0.
    let refused = match Version::new(number) {
        _ if first != Version::FIRST && number < first.get() => {
            Err("minimum available version cannot be decremented")
        }
        _ if policy.min_signing_version == Version::FIRST => Err(
            "minimum available version cannot be set when minimum encryption version is not set",
        ),
        Some(before) if before > policy.min_signing_version => {
            Err("minimum available version cannot be greater than minimum encryption version")
        }
        Some(before) if before > policy.min_version => {
            Err("minimum available version cannot be greater than minimum decryption version")
        }
        Some(before) => Ok(before),
        None => Err("minimum available version should be positive"),
    };
    let before = refused.map_err(Refusal::bad)?;
    let trimmed = call.store.trim(call.principal, name, before);
    trimmed.map_err(|error| match error {
        StoreError::State { id, .. } => Refusal::bad(format!(
            "version {} is of use; min_available_version may not be above min_decryption_version",
            id.version()
        )),
        error => no_key(error),
    })?;
    Ok(Response::done())
}

/// Whoever lost the answer asks again, and is told that it is done.
pub(super) fn delete(call: &Call<'_>, name: &KeyName) -> Result<Response, Refusal> {
    for verb in [Verb::Destroy, Verb::Schedule, Verb::Disable] {
        call.require(verb, name)?;
    }
    call.store.delete(call.principal, name).map_err(no_key)?;
    Ok(Response::done())
}
