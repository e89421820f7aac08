//! Key usages.

use const_oid::db::rfc5280::ID_CE_KEY_USAGE;
use x509_cert::ext::pkix::KeyUsages;

use super::keys::{Family, key_of};
use super::{BUT_LISTS, CERTIFICATES};
use crate::certificate::{KeyUsageError, key_usage};
use crate::linting::document::Document;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-key-usage-empty",
        "RFC 5280 section 4.2.1.3",
        "keyUsage has at least one usage",
        BUT_LISTS,
        |document| {
            let is_empty = document.key_usage()?.is_empty();
            is_empty.then(|| "keyUsage has no usage; add one, or leave it out".into())
        },
    ),
    Rule::error(
        "x690-named-bits",
        "X.690 section 11.2.2",
        "keyUsage has no zero bits after its last usage",
        BUT_LISTS,
        trailing_zeros,
    ),
    Rule::error(
        "rfc5280-key-cert-sign-without-ca",
        "RFC 5280 sections 4.2.1.3 and 4.2.1.9",
        "keyCertSign is only in certificates of CAs",
        BUT_LISTS,
        |document| {
            let signs = document.key_usage()?.contains(KeyUsages::KeyCertSign);
            (signs && !document.is_ca())
                .then(|| "keyUsage has keyCertSign, and this is no CA's".into())
        },
    ),
    Rule::error(
        "rfc5280-ca-without-key-usage",
        "RFC 5280 section 4.2.1.3",
        "a CA's certificate has keyUsage",
        CERTIFICATES,
        |certificate| {
            let has_none = certificate.is_ca() && certificate.lacks(ID_CE_KEY_USAGE);
            has_none.then(|| "is a CA's, and has no keyUsage".into())
        },
    ),
    Rule::warning(
        "rfc5280-ca-without-key-cert-sign",
        "RFC 5280 sections 4.2.1.3 and 4.2.1.9",
        "a CA's keyUsage has keyCertSign",
        CERTIFICATES,
        |certificate| {
            let signs = certificate.key_usage()?.contains(KeyUsages::KeyCertSign);
            (certificate.is_ca() && !signs)
                .then(|| "is a CA's, and its keyUsage lacks keyCertSign".into())
        },
    ),
    Rule::warning(
        "rfc5280-encipher-only",
        "RFC 5280 section 4.2.1.3",
        "encipherOnly and decipherOnly occur only with keyAgreement",
        BUT_LISTS,
        |document| {
            let usages = document.key_usage()?;
            let only = usages & (KeyUsages::EncipherOnly | KeyUsages::DecipherOnly);
            let is_alone = !only.is_empty() && !usages.contains(KeyUsages::KeyAgreement);
            is_alone
                .then(|| "encipherOnly or decipherOnly means nothing without keyAgreement".into())
        },
    ),
    Rule::error(
        "rfc9881-key-usage",
        "RFC 9881 section 5",
        "a key of ML-DSA is for signatures, and for nothing else",
        BUT_LISTS,
        |document| algorithm(document, Family::MlDsa),
    ),
    Rule::error(
        "rfc9909-key-usage",
        "RFC 9909 section 6",
        "a key of SLH-DSA is for signatures, and for nothing else",
        BUT_LISTS,
        |document| algorithm(document, Family::SlhDsa),
    ),
    Rule::error(
        "rfc9935-key-usage",
        "RFC 9935 section 5",
        "a key of ML-KEM is for keyEncipherment, and for nothing else",
        BUT_LISTS,
        |document| algorithm(document, Family::MlKem),
    ),
    Rule::error(
        "draft-composite-key-usage",
        "draft-ietf-lamps-pq-composite-sigs-19 section 5.2",
        "a key of Composite ML-DSA is for signatures, and for nothing else",
        BUT_LISTS,
        |document| {
            let oid = document.key.as_ref()?.algorithm.oid;
            match key_usage::check_key(oid, document.key_usage()?) {
                Err(KeyUsageError::ForbiddenForCompositeKey { composite, usage }) => Some(format!(
                    "keyUsage has {usage}, and a key of {composite} can only sign"
                )),
                _ => None,
            }
        },
    ),
];

fn algorithm(document: &Document<'_>, family: Family) -> Option<String> {
    let algorithm = key_of(document, family)?;
    let error = key_usage::check_algorithm(Some(algorithm), document.key_usage()?).err()?;
    Some(match error {
        KeyUsageError::ForbiddenForSignatureKey { usage, .. } => {
            format!("keyUsage has {usage}, and a key of {algorithm} can only sign")
        }
        KeyUsageError::NotKeyEnciphermentOnly { usage, .. } => {
            format!("keyUsage is {usage}, and a key of {algorithm} is for keyEncipherment only")
        }
        KeyUsageError::NothingToSign(_) => format!(
            "keyUsage has none of digitalSignature, nonRepudiation, keyCertSign and cRLSign, and a \
             key of {algorithm} can only sign"
        ),
        other => other.to_string(),
    })
}

fn trailing_zeros(document: &Document<'_>) -> Option<String> {
    let value = document.content(ID_CE_KEY_USAGE)?.value();
    // The last bit must be a usage.
    let is_shortest = match value {
        [unused, .., last] => *unused < 8 && last & (1 << *unused) != 0,
        [unused] => *unused == 0,
        [] => false,
    };
    (!is_shortest).then(|| "keyUsage has zero bits after its last usage; leave them out".into())
}
