//! Private keys: which are accepted, who loads them, and what they sign.

use alloc::sync::Arc;
use std::sync::Mutex;

use pq_core::ml_dsa;
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, PrivateKeyForm, SignatureAlgorithm, SigningKey, SubjectKey,
};
use rustls::crypto::{CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, SignatureScheme};
use rustls_pq::Builder;

use crate::peers::{Pki, any_base, bases};

#[test]
fn every_form_of_every_set() {
    for (name, base) in bases() {
        let provider = Builder::new(base).build().unwrap();
        for (algorithm, scheme, signature_len) in SETS {
            let key = SigningKey::generate(algorithm).unwrap();
            for form in [
                PrivateKeyForm::Seed,
                PrivateKeyForm::Expanded,
                PrivateKeyForm::Both,
            ] {
                println!("{name}: {algorithm}, {form:?}");
                let der = key.to_pkcs8_der_as(form).unwrap();
                let loaded = load(&provider, &der).unwrap();
                assert_eq!(loaded.public_key(), Some(key.spki()));
                assert_eq!(loaded.algorithm(), rustls::SignatureAlgorithm::Unknown(0));

                let signer = loaded
                    .choose_scheme(&[SignatureScheme::ED25519, scheme])
                    .unwrap();
                assert_eq!(signer.scheme(), scheme);
                let signatures = [(); 2].map(|()| signer.sign(MESSAGE).unwrap());
                for signature in &signatures {
                    assert_eq!(signature.len(), signature_len);
                    assert_eq!(key.verifying_key().verify(MESSAGE, signature), Ok(()));
                }
                assert_ne!(signatures[0], signatures[1], "not hedged");
            }
        }
    }
}

/// A key signs with its own scheme or not at all.
#[test]
fn no_scheme_in_common() {
    let provider = Builder::new(any_base()).build().unwrap();
    for (algorithm, scheme, _) in SETS {
        let der = SigningKey::generate(algorithm)
            .unwrap()
            .to_pkcs8_der()
            .unwrap();
        let key = load(&provider, &der).unwrap();
        let mut others = provider
            .signature_verification_algorithms
            .supported_schemes();
        others.retain(|other| *other != scheme);
        assert_eq!(
            others.len() + 1,
            provider.signature_verification_algorithms.mapping.len()
        );
        assert!(key.choose_scheme(&others).is_none());
        assert!(key.choose_scheme(&[]).is_none());
    }
}

/// A provider that signs with one of the schemes of a key only, whatever the peer would rather have.
#[test]
fn a_key_signs_with_what_the_provider_allows() {
    use SignatureScheme as Scheme;
    let der = PrivateKeyDer::from_pem_slice(include_bytes!("rsa-2048.pem")).unwrap();
    for allowed in [Scheme::RSA_PSS_SHA256, Scheme::RSA_PSS_SHA512] {
        let base = any_base();
        let keys = rustls_pq::sign::KeyProvider::new(base.key_provider, base.secure_random);
        let keys = keys.restrict_to([allowed]);
        let key = keys.load_private_key(der.clone_key()).unwrap();
        let others = [
            Scheme::RSA_PSS_SHA256,
            Scheme::RSA_PSS_SHA384,
            Scheme::RSA_PSS_SHA512,
        ];
        let offers = [others.to_vec(), others.iter().rev().copied().collect()];
        for offered in offers {
            assert_eq!(key.choose_scheme(&offered).unwrap().scheme(), allowed);
        }
        assert!(key.choose_scheme(&[Scheme::RSA_PSS_SHA384]).is_none());
    }
}

/// TLS has schemes for pure signatures only (draft-reddy-tls-slhdsa).
#[test]
fn keys_of_hash_slh_dsa_do_not_sign() {
    let provider = Builder::new(any_base())
        .experimental_slh_dsa()
        .build()
        .unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_128f).unwrap();
    let mut der = key.to_pkcs8_der().unwrap().to_vec();
    assert!(load(&provider, &der).is_ok());
    // The last arc of the identifier: HashSLH-DSA-SHA2-128f-with-SHA256.
    assert_eq!(der[17], 21);
    der[17] = 36;
    assert!(SigningKey::from_pkcs8_der(&der).is_ok());
    let error = load(&provider, &der).unwrap_err().to_string();
    assert!(
        error.contains("HashSLH-DSA-SHA2-128f; use an ML-DSA key"),
        "{error}"
    );
}

/// The randomness is the base's, and the context is empty.
#[test]
fn hedged_with_the_randomness_of_the_base() {
    let provider = Builder::new(CryptoProvider {
        secure_random: &Sevens,
        ..any_base()
    })
    .build()
    .unwrap();
    let der = SigningKey::from_seed(SignatureAlgorithm::MlDsa65, &[9; 32])
        .unwrap()
        .to_pkcs8_der()
        .unwrap();
    let signature = load(&provider, &der)
        .unwrap()
        .choose_scheme(&[SignatureScheme::ML_DSA_65])
        .unwrap()
        .sign(MESSAGE)
        .unwrap();

    let expected = ml_dsa::SigningKey::<ml_dsa::MlDsa65>::from_seed(&[9; 32])
        .sign(MESSAGE, &[], &[7; 32])
        .unwrap();
    assert_eq!(signature, expected.as_bytes());
}

#[test]
fn randomness_fails() {
    let provider = Builder::new(CryptoProvider {
        secure_random: &Broken,
        ..any_base()
    })
    .build()
    .unwrap();
    let der = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[9; 32])
        .unwrap()
        .to_pkcs8_der()
        .unwrap();
    let signer = load(&provider, &der)
        .unwrap()
        .choose_scheme(&[SignatureScheme::ML_DSA_44])
        .unwrap();
    assert_eq!(signer.sign(MESSAGE), Err(Error::FailedToGetRandomBytes));
}

/// A malformed key that claims to be ML-DSA gets an error that says so, and never reaches the base.
#[test]
fn malformed_keys() {
    for (algorithm, _, _) in SETS {
        let key = SigningKey::from_seed(algorithm, &[1; 32]).unwrap();
        let seed = key.to_pkcs8_der().unwrap();
        let expanded = key.to_pkcs8_der_as(PrivateKeyForm::Expanded).unwrap();
        let both = key.to_pkcs8_der_as(PrivateKeyForm::Both).unwrap();

        let truncated = seed[..seed.len() - 1].to_vec();
        let trailing = [&seed[..], &[0]].concat();
        // 30 34 | 02 01 00 | 30 0b 06 09 .. (13 bytes) | 04 22 | 80 20 seed
        let mut short_seed = seed[..seed.len() - 1].to_vec();
        short_seed[1] -= 1;
        short_seed[19] -= 1;
        short_seed[21] -= 1;
        let mut wrong_tag = seed.to_vec();
        wrong_tag[20] = 0x81;
        let mut with_null = seed.to_vec();
        with_null[1] += 2;
        with_null[6] += 2;
        with_null.splice(18..18, [5, 0]);
        // 30 82 .. | 02 01 00 | 30 0b .. | 04 82 .. | 30 82 .. | 04 20 seed | 04 82 .. key
        let mut other_seed = both.to_vec();
        other_seed[4 + 3 + 13 + 4 + 4 + 2] ^= 1;
        // ρ, K, tr, then s₁: another ρ gives another t.
        let mut inconsistent = expanded.to_vec();
        inconsistent[4 + 3 + 13 + 4 + 4] ^= 1;

        for (what, der, says) in [
            ("truncated", truncated, "DER"),
            ("trailing byte", trailing, "DER"),
            ("seed of 31 bytes", short_seed, "31"),
            ("unknown form", wrong_tag, "no known form"),
            ("NULL parameters", with_null, "parameters"),
            ("seed of another key", other_seed, "seed"),
            ("contradicts itself", inconsistent, "match"),
        ] {
            let (base, seen) = recording_base();
            let provider = Builder::new(base).build().unwrap();
            let error = load(&provider, &der).unwrap_err();
            println!("{algorithm}, {what}: {error}");
            assert!(matches!(error, Error::Other(_)), "{what}: {error:?}");
            assert!(error.to_string().contains(says), "{what}: {error}");
            assert!(seen.lock().unwrap().is_empty(), "{what}: the base saw it");
        }
    }
}

/// An ML-KEM key is recognised, though it can't sign.
#[test]
fn ml_kem_keys() {
    let provider = Builder::new(any_base()).build().unwrap();
    for &algorithm in KemAlgorithm::ALL {
        let der = DecapsulationKey::generate(algorithm)
            .unwrap()
            .to_pkcs8_der()
            .unwrap();
        let error = load(&provider, &der).unwrap_err().to_string();
        assert!(error.contains(algorithm.name()), "{error}");
        assert!(error.contains("key that signs"), "{error}");
    }
}

/// All other keys go to the base unchanged, and its answer is returned unchanged.
#[test]
fn other_keys() {
    // Ed25519 in PKCS#8: 30 2e 020100 3005 06032b6570 0422 0420 key
    let ed25519 = [
        &[
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ][..],
        &[0x42; 32],
    ]
    .concat();
    let garbage = vec![0x30, 0x03, 1, 2, 3];
    for key in [
        PrivateKeyDer::from(PrivatePkcs8KeyDer::from(ed25519)),
        PrivatePkcs8KeyDer::from(garbage.clone()).into(),
        PrivatePkcs8KeyDer::from(Vec::new()).into(),
        PrivatePkcs1KeyDer::from(garbage.clone()).into(),
        PrivateSec1KeyDer::from(garbage).into(),
    ] {
        let (base, seen) = recording_base();
        let provider = Builder::new(base).build().unwrap();
        let error = provider
            .key_provider
            .load_private_key(key.clone_key())
            .unwrap_err();
        assert_eq!(error, Error::General("the base was asked".into()));
        assert_eq!(*seen.lock().unwrap(), [key]);
    }
}

#[test]
fn classical_keys_load() {
    for (name, base) in bases() {
        println!("{name}");
        let provider = Builder::new(base.clone()).build().unwrap();
        let der = ring::signature::EcdsaKeyPair::generate_pkcs8(
            &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING,
            &ring::rand::SystemRandom::new(),
        )
        .unwrap();
        let ours = load(&provider, der.as_ref()).unwrap();
        let theirs = load(&base, der.as_ref()).unwrap();
        assert_eq!(ours.algorithm(), rustls::SignatureAlgorithm::ECDSA);
        assert_eq!(ours.public_key(), theirs.public_key());
    }
}

#[test]
fn certificate_of_another_key() {
    let provider = Builder::new(any_base()).build().unwrap();
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let key = |identity: &crate::peers::Identity| identity.key.clone_key();
    assert!(CertifiedKey::from_der(pki.server.chain.clone(), key(&pki.server), &provider).is_ok());
    assert_eq!(
        CertifiedKey::from_der(pki.server.chain.clone(), key(&pki.client), &provider).err(),
        Some(Error::InconsistentKeys(InconsistentKeys::KeyMismatch))
    );
}

/// No part of a private key is printed.
#[test]
fn debug_output_has_no_secrets() {
    let provider = Builder::new(any_base()).build().unwrap();
    let seed = [0xa5; 32];
    let key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &seed).unwrap();
    let key = load(&provider, &key.to_pkcs8_der().unwrap()).unwrap();
    let signer = key.choose_scheme(&[SignatureScheme::ML_DSA_44]).unwrap();
    for printed in [format!("{key:?}"), format!("{signer:?}")] {
        for secret in ["165, 165", "a5a5", "A5A5", "a5, a5"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }
}

const MESSAGE: &[u8] = b"what a CertificateVerify covers";

const SETS: [(SignatureAlgorithm, SignatureScheme, usize); 3] = [
    (
        SignatureAlgorithm::MlDsa44,
        SignatureScheme::ML_DSA_44,
        2420,
    ),
    (
        SignatureAlgorithm::MlDsa65,
        SignatureScheme::ML_DSA_65,
        3309,
    ),
    (
        SignatureAlgorithm::MlDsa87,
        SignatureScheme::ML_DSA_87,
        4627,
    ),
];

fn load(provider: &CryptoProvider, der: &[u8]) -> Result<Arc<dyn rustls::sign::SigningKey>, Error> {
    provider
        .key_provider
        .load_private_key(PrivatePkcs8KeyDer::from(der.to_vec()).into())
}

type Seen = Mutex<Vec<PrivateKeyDer<'static>>>;

/// A base that loads no keys, but records the keys that it was asked to load.
fn recording_base() -> (CryptoProvider, &'static Seen) {
    let recorder: &'static Recorder = Box::leak(Box::default());
    let base = CryptoProvider {
        key_provider: recorder,
        ..any_base()
    };
    (base, &recorder.seen)
}

#[derive(Debug, Default)]
struct Recorder {
    seen: Seen,
}

impl KeyProvider for Recorder {
    fn load_private_key(
        &self,
        key: PrivateKeyDer<'static>,
    ) -> Result<Arc<dyn rustls::sign::SigningKey>, Error> {
        self.seen.lock().unwrap().push(key);
        Err(Error::General("the base was asked".into()))
    }
}

#[derive(Debug)]
struct Sevens;

impl SecureRandom for Sevens {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        buf.fill(7);
        Ok(())
    }
}

#[derive(Debug)]
struct Broken;

impl SecureRandom for Broken {
    fn fill(&self, _: &mut [u8]) -> Result<(), GetRandomFailed> {
        Err(GetRandomFailed)
    }
}
