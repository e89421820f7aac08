//! Bases that already have some post-quantum algorithms.

use core::ptr;

use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SupportedKxGroup};
use rustls::{Error, NamedGroup, ProtocolVersion, SignatureScheme, SupportedCipherSuite};
use rustls_pq::{Builder, Group, Profile};

use super::names;
use crate::peers::{any_base, bases};

/// Our algorithms replace the base's: each name occurs once, and it makes no difference whether the
/// base had it.
#[test]
fn replaces_what_the_base_has() {
    for (name, base) in bases() {
        println!("{name}");
        let mut classical = base.clone();
        classical
            .kx_groups
            .retain(|group| !Group::POST_QUANTUM.contains(&group.name().into()));
        let from_classical = Builder::new(classical)
            .profile(Profile::All)
            .build()
            .unwrap();
        let from_base = Builder::new(base).profile(Profile::All).build().unwrap();
        assert_eq!(names(&from_base), names(&from_classical));
        for (one, other) in from_base.kx_groups.iter().zip(&from_classical.kx_groups) {
            assert!(ptr::addr_eq(*one, *other), "{one:?}");
        }

        let schemes = from_base
            .signature_verification_algorithms
            .supported_schemes();
        for ours in rustls_pq::verify::ML_DSA.mapping {
            let count = schemes.iter().filter(|scheme| **scheme == ours.0).count();
            assert_eq!(count, 1);
        }
    }
}

/// rustls uses groups in TLS 1.2, too, unless they say otherwise. A profile's versions hold nevertheless.
#[test]
fn a_group_for_every_version() {
    #[derive(Debug)]
    struct Theirs;

    impl SupportedKxGroup for Theirs {
        fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
            unreachable!("nobody connects")
        }

        fn name(&self) -> NamedGroup {
            NamedGroup::X25519MLKEM768
        }
    }

    // Without x25519, so that the hybrid is not ours.
    let base = CryptoProvider {
        kx_groups: vec![&Theirs],
        ..any_base()
    };
    let is_tls12 =
        |suite: &SupportedCipherSuite| suite.version().version == ProtocolVersion::TLSv1_2;
    let build = |profile| Builder::new(base.clone()).profile(profile).build().unwrap();
    assert!(build(Profile::Default).cipher_suites.iter().any(is_tls12));
    let strict = build(Profile::RequirePq);
    assert!(names(&strict).contains(&Group::X25519MLKEM768));
    assert!(!strict.cipher_suites.iter().any(is_tls12));
}

/// Building over our own provider changes nothing.
#[test]
fn base_that_is_ours() {
    for (_, base) in bases() {
        let once = Builder::new(base).profile(Profile::All).build().unwrap();
        let twice = Builder::new(once.clone()).build().unwrap();
        assert_eq!(names(&once), names(&twice));
        for (one, other) in once.kx_groups.iter().zip(&twice.kx_groups) {
            assert!(ptr::addr_eq(*one, *other));
        }
        let [once, twice] =
            [once, twice].map(|provider| provider.signature_verification_algorithms);
        assert_eq!(once.supported_schemes(), twice.supported_schemes());
        assert_eq!(once.all.len(), twice.all.len());
    }
}

/// Building leaks memory only once.
#[test]
fn building_again_makes_nothing_new() {
    for (_, base) in bases() {
        let build = || {
            Builder::new(base.clone())
                .profile(Profile::All)
                .signature_schemes([
                    SignatureScheme::ML_DSA_65,
                    SignatureScheme::ECDSA_NISTP256_SHA256,
                ])
                .build()
                .unwrap()
        };
        let (first, second) = (build(), build());
        for (one, other) in first.kx_groups.iter().zip(&second.kx_groups) {
            assert!(ptr::addr_eq(*one, *other));
        }
        assert!(ptr::addr_eq(first.key_provider, second.key_provider));
        let [first, second] =
            [first, second].map(|provider| provider.signature_verification_algorithms);
        assert!(ptr::eq(first.all, second.all));
        assert!(ptr::eq(first.mapping, second.mapping));
    }
}
