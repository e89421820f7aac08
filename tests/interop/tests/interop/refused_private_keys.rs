//! The private keys that the working group published as examples to refuse.

use alloc::collections::BTreeMap;

use interop::openssl::Workdir;
use pq_core::Error;
use pq_x509::certificate::Certificate;
use pq_x509::keys::{
    Algorithm, KemAlgorithm, KeyError, PrivateKey, PrivateKeyForm, PublicKey, SignatureAlgorithm,
    SubjectKey,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// All of them, and what is wrong with each.
fn bad_keys() -> [(&'static str, KeyError); 7] {
    let ml_dsa = Algorithm::Signature(SignatureAlgorithm::MlDsa44);
    let ml_kem = Algorithm::Kem(KemAlgorithm::MlKem512);
    let malformed = |algorithm, error| KeyError::Malformed { algorithm, error };
    [
        ("bad-ML-DSA-44-1.priv", KeyError::SeedMismatch(ml_dsa)),
        (
            "bad-ML-DSA-44-2.priv",
            malformed(ml_dsa, Error::InconsistentKey),
        ),
        (
            "bad-ML-DSA-44-3.priv",
            malformed(ml_dsa, Error::InconsistentKey),
        ),
        ("bad-ML-KEM-512-1.priv", KeyError::SeedMismatch(ml_kem)),
        (
            "bad-ML-KEM-512-2.priv",
            malformed(ml_kem, Error::InconsistentKey),
        ),
        (
            "bad-ML-KEM-512-3.priv",
            malformed(ml_kem, Error::HashMismatch),
        ),
        ("bad-ML-KEM-512-4.priv", KeyError::SeedMismatch(ml_kem)),
    ]
}

#[test]
fn we_refuse_each_for_its_reason() {
    let Some(examples) = vectors::rfc() else {
        return;
    };
    for (name, error) in bad_keys() {
        assert_eq!(
            PrivateKey::from_pkcs8_pem(text(&examples, name)).unwrap_err(),
            error,
            "{name}"
        );
    }
    let bad = examples.keys().filter(|name| name.starts_with("bad-"));
    assert_eq!(bad.count(), bad_keys().len(), "the table names them all");
}

#[test]
fn so_does_openssl() {
    let Some(examples) = vectors::rfc() else {
        return;
    };
    let Some(work) = Workdir::new() else { return };
    for (name, _) in bad_keys() {
        work.write("bad.pem", text(&examples, name));
        work.run_failing("pkey -in bad.pem -noout");
    }
}

/// No server starts with such a key, and its operator reads why.
#[test]
fn so_does_our_provider() {
    let Some(examples) = vectors::rfc() else {
        return;
    };
    let provider = rustls_pq::provider().expect("the default provider runs here");
    let load = |name| {
        let key = PrivatePkcs8KeyDer::from_pem_slice(text(&examples, name).as_bytes())
            .expect("the file has a key");
        provider
            .key_provider
            .load_private_key(PrivateKeyDer::Pkcs8(key))
    };
    for (name, error) in bad_keys() {
        let Err(rustls::Error::Other(refusal)) = load(name) else {
            panic!("{name} is refused, and not by the base");
        };
        // A key that does not sign is refused for that reason, sound or not.
        if name.contains("ML-DSA") {
            assert_eq!(refusal.to_string(), error.to_string(), "{name}");
        }
    }
    load("ML-DSA-44-both.priv").expect("the good ones are taken");
}

/// And all the good ones, in their three forms, belong to the published public
/// keys and certificates.
#[test]
fn the_good_examples_are_taken() {
    let Some(examples) = vectors::rfc() else {
        return;
    };
    let has_forms = |algorithm: &&Algorithm| algorithm.preferred_form() == PrivateKeyForm::Seed;
    for algorithm in Algorithm::ALL.iter().filter(has_forms) {
        let public = PublicKey::from_spki_pem(text(&examples, &format!("{algorithm}.pub")))
            .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
        for form in ["seed", "expanded", "both"] {
            let name = format!("{algorithm}-{form}.priv");
            let key = PrivateKey::from_pkcs8_pem(text(&examples, &name))
                .unwrap_or_else(|err| panic!("{name}: {err}"));
            assert_eq!(key.spki(), public.spki(), "{name}");
        }
        let certificate = Certificate::from_pem(text(&examples, &format!("{algorithm}.crt")))
            .unwrap_or_else(|err| panic!("{algorithm}: {err}"));
        assert_eq!(certificate.spki(), public.spki());
    }
}

fn text<'a>(examples: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    examples
        .get(name)
        .unwrap_or_else(|| panic!("the archive has no {name}"))
}
