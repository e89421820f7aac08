//! The table `[keys]`, with a key of each algorithm, RSA keys of several lengths, and keys that are unknown or
//! malformed.

use pq_ca::policy::{KeyAlgorithm, Policy, Wanted};
use pq_x509::keys::{Algorithm, KeyError};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;

use crate::policy::{ecdsa, refusals, rsa, spki};

/// The refusals of a policy with these lines in `[keys]`, the first of which is line 2.
fn refused(keys: &str, key: &SubjectPublicKeyInfoDer<'_>) -> Vec<String> {
    let text = format!("[keys]\n{keys}\n[names]\ndns = ['.']\n[usages]\nprofiles = ['server']\n");
    let wanted = Wanted::new(key).unwrap().dns_name("a.org");
    refusals(&text, &wanted)
}

/// A key of each algorithm that a policy may name.
fn all_keys() -> Vec<(KeyAlgorithm, SubjectPublicKeyInfoDer<'static>)> {
    KeyAlgorithm::all()
        .map(|algorithm| {
            let key = match algorithm {
                KeyAlgorithm::PostQuantum(algorithm) => {
                    let algorithm: Algorithm = algorithm;
                    spki(&algorithm.oid().to_string(), None, &[1; 32])
                }
                KeyAlgorithm::Composite(composite) => {
                    spki(&composite.oid().to_string(), None, &[1; 32])
                }
                KeyAlgorithm::EcdsaP256 => ecdsa("1.2.840.10045.3.1.7"),
                KeyAlgorithm::EcdsaP384 => ecdsa("1.3.132.0.34"),
                KeyAlgorithm::Ed25519 => spki("1.3.101.112", None, &[1; 32]),
                KeyAlgorithm::Rsa => rsa(3072),
                other => panic!("a test is missing for {other}"),
            };
            (algorithm, key)
        })
        .collect()
}

#[test]
fn an_algorithm_permits_its_keys_and_no_others() {
    for (permitted, _) in all_keys() {
        let keys = format!("algorithms = [\"{permitted}\"]");
        for (algorithm, key) in all_keys() {
            let expected = match algorithm == permitted {
                true => vec![],
                false => vec![
                    format!(
                        "policy.toml:2: keys.algorithms permits \"{permitted}\", not \
                         \"{algorithm}\"; make a key of another algorithm, or permit it there"
                    ),
                    format!("  2 | {keys}"),
                ],
            };
            assert_eq!(refused(&keys, &key), expected);
        }
    }
}

#[test]
fn without_a_list_no_key_is_permitted() {
    for (algorithm, key) in all_keys() {
        assert_eq!(
            refused("", &key),
            [format!(
                "policy.toml: keys.algorithms is not set, and by default permits no key, so not \
                 \"{algorithm}\"; make a key of another algorithm, or permit it by algorithms = \
                 [\"{algorithm}\"] below [keys]"
            )]
        );
    }
}

#[test]
fn rsa_keys_have_a_minimum_of_bits() {
    let keys = "algorithms = ['RSA']";
    for bits in [3072, 3073, 4096, 8192] {
        assert_eq!(refused(keys, &rsa(bits)), [""; 0], "{bits}");
    }
    for bits in [2048, 3071] {
        assert_eq!(
            refused(keys, &rsa(bits)),
            [format!(
                "policy.toml: keys.rsa-min-bits is not set, and by default permits RSA keys of \
                 3072 bits or more, not of {bits}; make a longer key, or permit it by rsa-min-bits \
                 = {bits} below [keys]"
            )]
        );
    }
    let keys = "algorithms = ['RSA']\nrsa-min-bits = 4096";
    assert_eq!(refused(keys, &rsa(4096)), [""; 0]);
    assert_eq!(
        refused(keys, &rsa(4095)),
        [
            "policy.toml:3: keys.rsa-min-bits permits RSA keys of 4096 bits or more, not of 4095; \
             make a longer key, or permit it there",
            "  3 | rsa-min-bits = 4096",
        ]
    );
    let keys = "algorithms = ['RSA']\nrsa-min-bits = 2048";
    assert_eq!(refused(keys, &rsa(2048)), [""; 0]);
    assert_eq!(
        refused(keys, &rsa(2047)),
        ["the RSA key has 2047 bits, and no policy permits fewer than 2048; make a longer key"]
    );
}

#[test]
fn keys_that_no_policy_names_are_forbidden() {
    let every = KeyAlgorithm::all().map(|algorithm| format!("'{algorithm}'"));
    let keys = format!("algorithms = [{}]", every.collect::<Vec<_>>().join(", "));
    for (key, oid) in [
        // P-521; an EC key whose parameters are not the name of a curve; Ed448; DSA
        (ecdsa("1.3.132.0.35"), "1.3.132.0.35"),
        (
            spki("1.2.840.10045.2.1", None, &[4; 65]),
            "1.2.840.10045.2.1",
        ),
        (spki("1.3.101.113", None, &[1; 57]), "1.3.101.113"),
        (
            spki("1.2.840.10040.4.1", None, &[1; 57]),
            "1.2.840.10040.4.1",
        ),
        // HashML-DSA-65
        (
            spki("2.16.840.1.101.3.4.3.33", None, &[1; 57]),
            "2.16.840.1.101.3.4.3.33",
        ),
    ] {
        assert_eq!(
            refused(&keys, &key),
            [format!(
                "the key is of algorithm or curve {oid}, which no policy permits; make a key of \
                 ML-DSA-65 or of another algorithm that keys.algorithms may list"
            )]
        );
    }
}

#[test]
fn malformed_keys_are_refused() {
    let whole = rsa(2048);
    for malformed in [
        SubjectPublicKeyInfoDer::from(&[][..]),
        SubjectPublicKeyInfoDer::from(&whole[..whole.len() - 1]),
        SubjectPublicKeyInfoDer::from([&whole[..], &[0]].concat()),
        spki("1.2.840.113549.1.1.1", None, &[1; 32]),
        spki("1.2.840.113549.1.1.1", None, &[]),
        // a negative modulus
        spki(
            "1.2.840.113549.1.1.1",
            None,
            &[0x30, 6, 2, 1, 0xff, 2, 1, 3],
        ),
    ] {
        assert!(matches!(Wanted::new(&malformed), Err(KeyError::Der(_))));
    }
}

#[test]
fn algorithms_are_read_in_either_case() {
    let text = "[keys]\nalgorithms = ['ml-dsa-65', 'ed25519', 'rsa']";
    assert!(Policy::parse(text, "policy.toml").is_ok());
}
