//! The rules, by topic. To add one, add a row to the table of its file, a function that says what breaks
//! the rule (or nothing), and a case to the tests, which demand one for every rule.
//!
//! These files use the rest of the [parent module](super), and what that may use.

mod alternative_names;
mod constraints;
mod criticality;
mod encoding;
mod extensions;
mod fields;
mod key_identifiers;
mod key_usage;
mod keys;
mod lists;
mod locations;
mod names;
mod policies;
mod requests;
mod servers;
mod validity;

use super::document::Kind;
use super::rule::Rule;

/// All rules, in the order in which [`lint`](super::lint) checks them.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

static TABLES: &[&[Rule]] = &[
    encoding::RULES,
    fields::RULES,
    names::RULES,
    validity::RULES,
    keys::RULES,
    extensions::RULES,
    criticality::RULES,
    constraints::RULES,
    key_usage::RULES,
    key_identifiers::RULES,
    alternative_names::RULES,
    policies::RULES,
    locations::RULES,
    servers::RULES,
    lists::RULES,
    requests::RULES,
];

const ALL: &[Kind] = &[Kind::Certificate, Kind::RevocationList, Kind::Request];
const CERTIFICATES: &[Kind] = &[Kind::Certificate];
const LISTS: &[Kind] = &[Kind::RevocationList];
const REQUESTS: &[Kind] = &[Kind::Request];
const BUT_LISTS: &[Kind] = &[Kind::Certificate, Kind::Request];
const BUT_REQUESTS: &[Kind] = &[Kind::Certificate, Kind::RevocationList];
