//! Rules for extensions of any kind.

use alloc::collections::BTreeSet;

use pq_keys::encoding::syntax::{self, SyntaxError};

use super::{ALL, CERTIFICATES};
use crate::certificate::PROCESSED;
use crate::linting::document::{Document, Extension, known};
use crate::linting::listed::Listed;
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-extension-list",
        "RFC 5280 sections 4.1.2.9 and 5.1.2.7",
        "a list of extensions is not empty",
        ALL,
        |document| {
            let is_empty = document.extension_list?.value().is_empty();
            is_empty.then(|| "has an empty list of extensions; leave it out".into())
        },
    ),
    Rule::error(
        "rfc5280-extension-repeated",
        "RFC 5280 section 4.2",
        "there is at most one extension of each kind",
        ALL,
        |document| {
            let mut seen = BTreeSet::new();
            let repeated: Listed = (document.extensions.iter())
                .filter(|one| !seen.insert(one.oid))
                .map(Extension::name)
                .collect();
            Some(format!("has more than one {}", repeated.text()?))
        },
    ),
    Rule::error(
        "rfc5280-extension-syntax",
        "RFC 5280 section 4.2",
        "the contents of an extension have the form that RFC 5280 defines",
        ALL,
        extension_syntax,
    ),
    Rule::error(
        "rfc5280-extension-empty",
        "RFC 5280 section 4.2",
        "an extension that is a list of names, purposes, policies or locations is not empty",
        ALL,
        |document| {
            let is_empty = |one: &&Extension<'_>| {
                let is_list = known(one.oid).is_some_and(|known| known.is_list);
                is_list && one.content().is_some_and(|list| list.value().is_empty())
            };
            let empty: Listed = (document.extensions.iter())
                .filter(is_empty)
                .map(Extension::name)
                .collect();
            Some(format!("has an empty {}; leave it out", empty.text()?))
        },
    ),
    Rule::notice(
        "rfc5280-critical-extension",
        "RFC 5280 section 4.2",
        "relying parties process all critical extensions",
        CERTIFICATES,
        |certificate| {
            let critical: Listed = (certificate.extensions.iter())
                .filter(|one| one.critical && !PROCESSED.contains(&one.oid))
                .map(Extension::name)
                .collect();
            let extensions = critical.text()?;
            Some(format!(
                "{extensions} is critical, and software that does not process it, such as rustls, refuses \
                 the certificate"
            ))
        },
    ),
];

fn extension_syntax(document: &Document<'_>) -> Option<String> {
    let of_entries = document.revoked().flat_map(|entry| entry.extensions());
    let all = document.extensions.iter().copied().chain(of_entries);
    let malformed: Listed = all
        .filter_map(|one| {
            let decode = known(one.oid)?.decode;
            let value = one.contents.value();
            // Some values take a hundred times as much memory when they are decoded.
            if let Err(error) = syntax::check_number(value) {
                return Some(format!("{}: it {error}", one.name()));
            }
            let name = one.name();
            match decode(value).err()? {
                // The texts of `der` blame the encoding.
                SyntaxError::Der(error) if syntax::is_der(value) => {
                    Some(format!("{name} has {}", syntax::found(error)))
                }
                SyntaxError::Form { found, .. } => Some(format!("{name} has {found}")),
                error => Some(format!("{name}: it {error}")),
            }
        })
        .collect();
    malformed.text()
}
