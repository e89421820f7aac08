//! The lists of a provider, for classical algorithms alone: what this crate adds has its own tests.

use alloc::collections::BTreeSet;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{AlgorithmIdentifier, alg_id};
use rustls::{NamedGroup, SignatureScheme, SupportedCipherSuite};
use rustls_pq::Group;

use super::{ours, rustls_own};
use crate::peers::bases;

/// There are exactly these differences, each with a reason.
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
                let common = |these: &[String], those: &[String]| {
                    let common = these.iter().filter(|it| those.contains(it)).cloned();
                    common.collect::<Vec<_>>()
                };
                let missing = only(&theirs, &ours);
                let more = only(&ours, &theirs);
                let is_reordered = common(&ours, &theirs) != common(&theirs, &ours);
                if ours != theirs {
                    found.insert((base, like, list.name, missing, more, is_reordered));
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
                difference.is_reordered,
            )
        })
        .collect();
    assert_eq!(found, expected);
}

/// The table in the documentation of `base` is right for the bases that are compiled in.
#[test]
fn table_of_bases() {
    let lines = include_str!("../../../src/base/base_table.md").lines();
    let mut rows = lines.map(|line| {
        let cells = line.trim_matches('|').split('|');
        cells.map(str::trim).collect::<Vec<_>>()
    });
    let names = rows.next().unwrap();
    let rows: Vec<_> = rows.skip(1).collect();
    let labels = rows.iter().map(|row| row[0]);
    assert!(labels.eq(PROPERTIES.iter().map(|(label, _)| *label)));
    for (name, base) in bases() {
        let name = name.replace("aws-lc-rs", "AWS-LC");
        let column = names.iter().position(|it| *it == name).unwrap();
        for (row, (label, of)) in rows.iter().zip(PROPERTIES) {
            assert_eq!(row[column], of(&base), "{name}: {label}");
        }
    }
}

type Property = (&'static str, fn(&CryptoProvider) -> String);

const PROPERTIES: [Property; 5] = [
    ("verifies P-521 signatures", |base| {
        let algorithms = base.signature_verification_algorithms;
        let schemes = algorithms.supported_schemes();
        let in_handshakes = schemes.contains(&SignatureScheme::ECDSA_NISTP521_SHA512);
        let mut in_chains = algorithms.all.iter();
        let in_chains = in_chains.any(|it| it.public_key_alg_id() == alg_id::ECDSA_P521);
        assert_eq!(in_handshakes, in_chains);
        yes_or_no(in_chains)
    }),
    (
        "verifies P-256 and P-384 signatures with SHA-512 in chains",
        |base| {
            let algorithms = base.signature_verification_algorithms.all.iter();
            let with = |key| {
                algorithms.clone().any(|it| {
                    it.signature_alg_id() == alg_id::ECDSA_SHA512 && it.public_key_alg_id() == key
                })
            };
            let [p256, p384] = [alg_id::ECDSA_P256, alg_id::ECDSA_P384].map(with);
            assert_eq!(p256, p384);
            yes_or_no(p256)
        },
    ),
    ("groups on P-521", |base| {
        let mut groups = base.kx_groups.iter();
        yes_or_no(groups.any(|group| group.name() == NamedGroup::secp521r1))
    }),
    ("first cipher suite of TLS 1.3", |base| {
        let mut suites = base.cipher_suites.iter();
        let first = suites.find(|suite| suite.tls13().is_some()).unwrap();
        format!("{:?}", first.suite())
    }),
    ("first ECDSA scheme", |base| {
        let schemes = base.signature_verification_algorithms.supported_schemes();
        let mut names = schemes.iter().map(|scheme| format!("{scheme:?}"));
        names.find(|name| name.starts_with("ECDSA")).unwrap()
    }),
];

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
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
            // Their order doesn't matter.
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
    /// Entries that only rustls's own list has.
    missing: &'static [&'static str],
    more: &'static [&'static str],
    /// Whether the common entries are in another order.
    is_reordered: bool,
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
        is_reordered: true,
        reason: "graviola prefers AES-128-GCM to AES-256-GCM, as browsers do",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: SUITES,
        missing: &[],
        more: &[],
        is_reordered: true,
        reason: "graviola prefers AES-128-GCM to AES-256-GCM, as browsers do",
    },
    Difference {
        base: "graviola",
        like: "aws-lc-rs",
        list: SCHEMES,
        missing: &["ECDSA_NISTP521_SHA512"],
        more: &[],
        is_reordered: true,
        reason: "graviola has no P-521, and prefers P-256 to P-384, which takes three times as long",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: SCHEMES,
        missing: &[],
        more: &[],
        is_reordered: true,
        reason: "graviola prefers P-256 to P-384, which takes three times as long",
    },
    Difference {
        base: "graviola",
        like: "aws-lc-rs",
        list: IN_CHAINS,
        missing: &BY_P521,
        more: &[],
        is_reordered: false,
        reason: "graviola has no P-521",
    },
    Difference {
        base: "graviola",
        like: "ring",
        list: IN_CHAINS,
        missing: &[],
        more: &[WITH_SHA512[0], WITH_SHA512[1]],
        is_reordered: false,
        reason: "ring has no ECDSA with SHA-512",
    },
    Difference {
        base: "aws-lc-rs",
        like: "ring",
        list: SCHEMES,
        missing: &[],
        more: &["ECDSA_NISTP521_SHA512"],
        is_reordered: false,
        reason: "ring has no P-521",
    },
    Difference {
        base: "aws-lc-rs",
        like: "ring",
        list: IN_CHAINS,
        missing: &[],
        more: &BY_P521_OR_WITH_SHA512,
        is_reordered: false,
        reason: "ring has neither P-521 nor ECDSA with SHA-512",
    },
    Difference {
        base: "ring",
        like: "aws-lc-rs",
        list: SCHEMES,
        missing: &["ECDSA_NISTP521_SHA512"],
        more: &[],
        is_reordered: false,
        reason: "ring has no P-521",
    },
    Difference {
        base: "ring",
        like: "aws-lc-rs",
        list: IN_CHAINS,
        missing: &BY_P521_OR_WITH_SHA512,
        more: &[],
        is_reordered: false,
        reason: "ring has neither P-521 nor ECDSA with SHA-512",
    },
];

fn is_post_quantum(scheme: SignatureScheme) -> bool {
    rustls_pq::verify::ML_DSA
        .mapping
        .iter()
        .any(|(known, _)| *known == scheme)
}

/// The name of an identifier, in words if the lists differ in it.
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
