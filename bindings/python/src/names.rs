//! The names of algorithms, hash functions, forms of keys, key usages and reasons.

use alloc::borrow::Cow;
use core::fmt::Display;
use core::str::FromStr;

use pq_keys::PrivateKeyForm;
use pq_keys::signing::PreHash;
use pq_x509::certificate::KeyUsages;
use pq_x509::revocation::CrlReason;
use pq_x509::validation::Purpose;
use pyo3::PyResult;

use crate::errors::OrRaise;
use crate::errors::exceptions::UnknownAlgorithm;

/// Finds the item with this name, in upper or lower case.
fn find<T: Copy, N: Display>(
    what: &str,
    name: &str,
    all: impl IntoIterator<Item = T> + Clone,
    name_of: impl Fn(T) -> N,
) -> PyResult<T> {
    let mut found = all.clone().into_iter();
    if let Some(found) = found.find(|item| name_of(*item).to_string().eq_ignore_ascii_case(name)) {
        return Ok(found);
    }
    let known: Vec<_> = all
        .into_iter()
        .map(|item| name_of(item).to_string())
        .collect();
    let known = known.join(", ");
    Err(UnknownAlgorithm::new_err(format!(
        "\"{}\" is not a {what} known here; known: {known}",
        shown(name)
    )))
}

/// The algorithm of this name.
pub(crate) fn algorithm<A: FromStr<Err = pq_keys::UnknownAlgorithm>>(name: &str) -> PyResult<A> {
    // The error quotes the name. So it is made for the name as it may be shown, which is unknown as well.
    name.parse().or_else(|_| shown(name).parse()).or_raise()
}

pub(crate) fn pre_hash(name: &str) -> PyResult<PreHash> {
    find(
        "hash function",
        name,
        PreHash::ALL.iter().copied(),
        PreHash::name,
    )
}

pub(crate) fn form(name: &str) -> PyResult<PrivateKeyForm> {
    const FORMS: [(PrivateKeyForm, &str); 3] = [
        (PrivateKeyForm::Seed, "seed"),
        (PrivateKeyForm::Expanded, "expanded"),
        (PrivateKeyForm::Both, "both"),
    ];
    Ok(find("form of private keys", name, FORMS, |form| form.1)?.0)
}

pub(crate) fn purpose(name: &str) -> PyResult<Purpose> {
    const PURPOSES: [(Purpose, &str); 3] = [
        (Purpose::ServerAuth, "server_auth"),
        (Purpose::ClientAuth, "client_auth"),
        (Purpose::Documents, "documents"),
    ];
    Ok(find("purpose", name, PURPOSES, |purpose| purpose.1)?.0)
}

/// The key usages by their names in RFC 5280 section 4.2.1.3.
pub(crate) const KEY_USAGES: [(KeyUsages, &str); 9] = [
    (KeyUsages::DigitalSignature, "digitalSignature"),
    (KeyUsages::NonRepudiation, "nonRepudiation"),
    (KeyUsages::KeyEncipherment, "keyEncipherment"),
    (KeyUsages::DataEncipherment, "dataEncipherment"),
    (KeyUsages::KeyAgreement, "keyAgreement"),
    (KeyUsages::KeyCertSign, "keyCertSign"),
    (KeyUsages::CRLSign, "cRLSign"),
    (KeyUsages::EncipherOnly, "encipherOnly"),
    (KeyUsages::DecipherOnly, "decipherOnly"),
];

pub(crate) fn key_usage(name: &str) -> PyResult<KeyUsages> {
    Ok(find("key usage", name, KEY_USAGES, |usage| usage.1)?.0)
}

/// The name in RFC 5280 section 4.2.1.12 of a purpose in extKeyUsage, or the identifier.
pub(crate) fn name_of_purpose(oid: String) -> String {
    let name = match &*oid {
        "2.5.29.37.0" => "anyExtendedKeyUsage",
        "1.3.6.1.5.5.7.3.1" => "serverAuth",
        "1.3.6.1.5.5.7.3.2" => "clientAuth",
        "1.3.6.1.5.5.7.3.3" => "codeSigning",
        "1.3.6.1.5.5.7.3.4" => "emailProtection",
        "1.3.6.1.5.5.7.3.8" => "timeStamping",
        "1.3.6.1.5.5.7.3.9" => "OCSPSigning",
        _ => return oid,
    };
    name.into()
}

/// The reasons by their names in RFC 5280 section 5.3.1.
const REASONS: [(CrlReason, &str); 10] = [
    (CrlReason::Unspecified, "unspecified"),
    (CrlReason::KeyCompromise, "keyCompromise"),
    (CrlReason::CaCompromise, "cACompromise"),
    (CrlReason::AffiliationChanged, "affiliationChanged"),
    (CrlReason::Superseded, "superseded"),
    (CrlReason::CessationOfOperation, "cessationOfOperation"),
    (CrlReason::CertificateHold, "certificateHold"),
    (CrlReason::RemoveFromCRL, "removeFromCRL"),
    (CrlReason::PrivilegeWithdrawn, "privilegeWithdrawn"),
    (CrlReason::AaCompromise, "aACompromise"),
];

pub(crate) fn reason(name: &str) -> PyResult<CrlReason> {
    Ok(find("reason", name, REASONS, |reason| reason.1)?.0)
}

pub(crate) fn name_of_reason(reason: CrlReason) -> &'static str {
    let found = REASONS.iter().find(|(other, _)| *other == reason);
    found.map_or("unspecified", |(_, name)| name)
}

/// A wrong name as it may be shown in an error: as it is no name, it may be a secret, or harm a log. Known names are
/// shorter, and plain.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    const MAX: usize = 32;
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '`');
    if name.len() <= MAX && name.chars().all(plain) {
        return name.into();
    }
    let mut shown: String = name
        .chars()
        .take(MAX)
        .map(|c| if plain(c) { c } else { '?' })
        .collect();
    if name.chars().nth(MAX).is_some() {
        shown.push_str("...");
    }
    shown.into()
}
