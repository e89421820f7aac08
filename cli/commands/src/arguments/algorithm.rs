//! Algorithms on the command line, by their standard's name in any case. For an older name (Kyber, Dilithium), another
//! name of a curve or a misspelling, the error suggests the right name.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::keys::Algorithm;

/// Reads the name of an algorithm, in upper or lower case, and suggests one for a name that is not quite
/// right.
#[derive(Clone, Debug)]
pub(crate) struct AlgorithmParser;

impl TypedValueParser for AlgorithmParser {
    type Value = Algorithm;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        let name = value.to_string_lossy();
        Algorithm::named(&name).ok_or_else(|| {
            let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
            let argument = argument.map_or_else(String::new, Arg::to_string);
            let mut insert = |kind, value| error.insert(kind, value);
            insert(ContextKind::InvalidArg, ContextValue::String(argument));
            insert(
                ContextKind::InvalidValue,
                ContextValue::String(name.to_string()),
            );
            insert(
                ContextKind::ValidValue,
                ContextValue::Strings(names().map(Into::into).collect()),
            );
            if let Some(nearest) = nearest(&name) {
                insert(
                    ContextKind::SuggestedValue,
                    ContextValue::String(nearest.into()),
                );
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().map(PossibleValue::new)))
    }
}

/// All names, for help.
pub(crate) fn list_of_algorithms() -> String {
    let agreement = Algorithm::all().filter(|one| matches!(one, Algorithm::Agreement(_)));
    let agreement: Vec<_> = agreement.map(Algorithm::name).collect();
    format!(
        "{}, and {} for encrypted messages",
        list_of_store_algorithms(),
        agreement.join(", ")
    )
}

/// The names of those that a key store has keys of, for help.
pub(crate) fn list_of_store_algorithms() -> String {
    let list = |of_kind: fn(Algorithm) -> bool| {
        let some = Algorithm::all().filter(|one| of_kind(*one));
        some.map(Algorithm::name).collect::<Vec<_>>().join(", ")
    };
    format!(
        "{}; to encrypt files, {} (ML-KEM-768 and X25519, from a draft); composites of ML-DSA and a \
         classical algorithm, from a draft: {}; classical, not safe against quantum computers: {}",
        list(|one| matches!(one, Algorithm::PostQuantum(_))),
        Algorithm::XWing,
        list(|one| matches!(one, Algorithm::Composite(_))),
        list(|one| matches!(one, Algorithm::Classical(_)))
    )
}

fn names() -> impl Iterator<Item = &'static str> {
    Algorithm::all().map(Algorithm::name)
}

/// The algorithm that was probably meant.
fn nearest(name: &str) -> Option<&'static str> {
    let wanted = letters_and_digits(name);
    if let Some((_, name)) = OTHER_NAMES.iter().find(|(other, _)| *other == wanted) {
        return Some(name);
    }
    let likeness = |name: &str| strsim::jaro(&wanted, &letters_and_digits(name));
    let nearest = names().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) > 0.7).then_some(nearest)
}

/// Names of the sets from before they were standards, and names of curves elsewhere.
const OTHER_NAMES: [(&str, &str); 15] = [
    ("dilithium2", "ML-DSA-44"),
    ("dilithium3", "ML-DSA-65"),
    ("dilithium5", "ML-DSA-87"),
    ("kyber512", "ML-KEM-512"),
    ("kyber768", "ML-KEM-768"),
    ("kyber1024", "ML-KEM-1024"),
    ("ec", "ECDSA-P256"),
    ("ecdsa", "ECDSA-P256"),
    ("p256", "ECDSA-P256"),
    ("prime256v1", "ECDSA-P256"),
    ("secp256r1", "ECDSA-P256"),
    ("p384", "ECDSA-P384"),
    ("secp384r1", "ECDSA-P384"),
    ("rsa", "RSA-3072"),
    ("eddsa", "Ed25519"),
];

fn letters_and_digits(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|character| character.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_and_former_names_are_understood() {
        for (name, meant) in [
            ("mldsa65", "ML-DSA-65"),
            ("ml_kem_768", "ML-KEM-768"),
            ("ML-DSA-66", "ML-DSA-65"),
            ("slhdsa-sha2-128s", "SLH-DSA-SHA2-128s"),
            ("Dilithium3", "ML-DSA-65"),
            ("kyber-1024", "ML-KEM-1024"),
            ("ECDSA-P-256", "ECDSA-P256"),
            ("secp384r1", "ECDSA-P384"),
            ("ed-25519", "Ed25519"),
            ("RSA", "RSA-3072"),
            ("rsa4096", "RSA-4096"),
            ("mldsa65-p256-sha512", "MLDSA65-ECDSA-P256-SHA512"),
            ("mldsa44_ed25519", "MLDSA44-Ed25519-SHA512"),
        ] {
            assert_eq!(nearest(name), Some(meant), "{name}");
        }
        assert_eq!(nearest("falcon"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn other_names_lead_to_algorithms() {
        for (_, known) in OTHER_NAMES {
            assert!(names().any(|name| name == known));
        }
    }
}
