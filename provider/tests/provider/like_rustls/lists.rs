//! What is on the lists of a provider, classical algorithms alone: what this crate adds has tests of
//! its own.

use alloc::collections::BTreeSet;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{AlgorithmIdentifier, alg_id};
use rustls::{SignatureScheme, SupportedCipherSuite};
use rustls_pq::Group;

use super::{ours, rustls_own};

/// Exactly these differences, each for its reason.
#[test]
fn same_lists_or_a_reason() {
    let mut found = BTreeSet::new();
    for (base, ours) in ours() {
        for (like, theirs) in rustls_own() {
            for list in LISTS {
                let [ours, theirs] = [&ours, &theirs].map(|provider| (list.of)(provider));
                let only = |these: &[String], those: &[String]| {
                    let only: Vec<_> = these.iter().filter(|it| !those.contains(it)).collect();
                    format!("{only:?}")
                };
                let missing = only(&theirs, &ours);
                let more = only(&ours, &theirs);
                if ours != theirs {
                    found.insert((base, like, list.name, missing, more));
                }
            }
        }
    }

    let compiled = |name: &&str| ours().iter().any(|(base, _)| base == name);
    let expected: BTreeSet<_> = DIFFERENCES
        .iter()
        .filter(|difference| compiled(&difference.base) && compiled(&difference.like))
        .map(|difference| {
            assert!(!difference.reason.is_empty());
            let items = |items: &[&str]| format!("{items:?}");
            (
                difference.base,
                difference.like,
                difference.list,
                items(difference.missing),
                items(difference.more),
            )
        })
        .collect();
    assert_eq!(found, expected);
}

struct List {
    name: &'static str,
    of: fn(&CryptoProvider) -> Vec<String>,
}

const LISTS: [List; 4] = [
    List {
        name: "cipher suites, with what signs in TLS 1.2",
        of: |provider| {
            let suites = provider.cipher_suites.iter();
            suites
                .map(|suite| match suite {
                    SupportedCipherSuite::Tls12(tls12) => {
                        format!("{:?} with {:?}", suite.suite(), tls12.sign)
                    }
                    SupportedCipherSuite::Tls13(_) => format!("{:?}", suite.suite()),
                })
                .collect()
        },
    },
    List {
        name: "signature schemes",
        of: |provider| {
            let algorithms = provider.signature_verification_algorithms;
            let mut schemes = algorithms.supported_schemes();
            schemes.retain(|scheme| !is_post_quantum(*scheme));
            schemes.iter().map(|scheme| format!("{scheme:?}")).collect()
        },
    },
    List {
        name: "signatures in chains",
        of: |provider| {
            let algorithms = provider.signature_verification_algorithms.all.iter();
            let mut names: Vec<_> = algorithms
                .filter(|algorithm| algorithm.signature_alg_id() != algorithm.public_key_alg_id())
                .map(|algorithm| {
                    format!(
                        "{} by {}",
                        name_of(algorithm.signature_alg_id()),
                        name_of(algorithm.public_key_alg_id())
                    )
                })
                .collect();
            // Their order means nothing.
            names.sort();
            names
        },
    },
    List {
        name: "classical groups",
        of: |provider| {
            let groups = provider.kx_groups.iter();
            groups
                .map(|group| Group::from(group.name()))
                .filter(|group| !group.is_post_quantum())
                .map(|group| group.to_string())
                .collect()
        },
    },
];

struct Difference {
    base: &'static str,
    like: &'static str,
    list: &'static str,
    /// What rustls's own has and ours hasn't; where this and the next are empty, the order differs.
    missing: &'static [&'static str],
    more: &'static [&'static str],
    reason: &'static str,
}

const SUITES: &str = LISTS[0].name;
const SCHEMES: &str = LISTS[1].name;
const IN_CHAINS: &str = LISTS[2].name;

const BY_P521: [&str; 3] = [
    "ECDSA with SHA-256 by P-521",
    "ECDSA with SHA-384 by P-521",
    "ECDSA with SHA-512 by P-521",
];

const WITH_SHA512: [&str; 3] = [
    "ECDSA with SHA-512 by P-256",
    "ECDSA with SHA-512 by P-384",
    "ECDSA with SHA-512 by P-521",
];

const BY_P521_OR_WITH_SHA512: [&str; 5] = [
    BY_P521[0],
    BY_P521[1],
    WITH_SHA512[0],
    WITH_SHA512[1],
    WITH_SHA512[2],
];

const DIFFERENCES: &[Difference] = &[
    Difference {
        base: "graviola",
        like: "aws-lc-rs",
        list: SUITES,
        missing: &[],
        more: &[],
        reason: "graviola prefers AES-128-GCM to AES-256-GCM, as browsers do",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: SUITES,
        missing: &[],
        more: &[],
        reason: "graviola prefers AES-128-GCM to AES-256-GCM, as browsers do",
    },
    Difference {
        base: "graviola",
        like: "aws-lc-rs",
        list: SCHEMES,
        missing: &["ECDSA_NISTP521_SHA512"],
        more: &[],
        reason: "graviola has no P-521",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: SCHEMES,
        missing: &[],
        more: &[],
        reason: "graviola prefers P-256 to P-384, which takes three times as long",
    },
    Difference {
        base: "graviola",
        like: "aws-lc-rs",
        list: IN_CHAINS,
        missing: &BY_P521,
        more: &[],
        reason: "graviola has no P-521",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: IN_CHAINS,
        missing: &[],
        more: &[WITH_SHA512[0], WITH_SHA512[1]],
        reason: "ring has no ECDSA with SHA-512",
    },
    Difference {
        base: "aws-lc-rs",
        like: "ring",
        list: SCHEMES,
        missing: &[],
        more: &["ECDSA_NISTP521_SHA512"],
        reason: "ring has no P-521",
    },
    Difference {
        base: "aws-lc-rs",
        like: "ring",
        list: IN_CHAINS,
        missing: &[],
        more: &BY_P521_OR_WITH_SHA512,
        reason: "ring has neither P-521 nor ECDSA with SHA-512",
    },
    Difference {
        base: "ring",
        like: "aws-lc-rs",
        list: SCHEMES,
        missing: &["ECDSA_NISTP521_SHA512"],
        more: &[],
        reason: "ring has no P-521",
    },
    Difference {
        base: "ring",
        like: "aws-lc-rs",
        list: IN_CHAINS,
        missing: &BY_P521_OR_WITH_SHA512,
        more: &[],
        reason: "ring has neither P-521 nor ECDSA with SHA-512",
    },
];

fn is_post_quantum(scheme: SignatureScheme) -> bool {
    rustls_pq::verify::ML_DSA
        .mapping
        .iter()
        .any(|(known, _)| *known == scheme)
}

/// In words where it is one of those that differ.
fn name_of(id: AlgorithmIdentifier) -> String {
    let names = [
        (alg_id::ECDSA_P256, "P-256"),
        (alg_id::ECDSA_P384, "P-384"),
        (alg_id::ECDSA_P521, "P-521"),
        (alg_id::ECDSA_SHA256, "ECDSA with SHA-256"),
        (alg_id::ECDSA_SHA384, "ECDSA with SHA-384"),
        (alg_id::ECDSA_SHA512, "ECDSA with SHA-512"),
    ];
    match names.iter().find(|(known, _)| *known == id) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("{id:02x?}"),
    }
}
