//! The hash functions of HashML-DSA and HashSLH-DSA, by name, as values of an option.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pq_keys::signing::PreHash;

/// Reads the name of a hash function, in upper or lower case if its option ignores case.
pub(crate) fn pre_hash() -> impl TypedValueParser<Value = PreHash> {
    PossibleValuesParser::new(names()).try_map(|name| {
        let mut all = PreHash::ALL.iter();
        let found = all.find(|hash| hash.name().eq_ignore_ascii_case(&name));
        found.copied().ok_or("no such hash function")
    })
}

/// All names, for help.
pub(crate) fn list_of_pre_hashes() -> String {
    names().collect::<Vec<_>>().join(", ")
}

fn names() -> impl Iterator<Item = &'static str> {
    PreHash::ALL.iter().map(|hash| hash.name())
}
