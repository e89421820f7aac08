//! The default provider on the current CPU. CI runs this on a CPU that graviola supports and, under an
//! emulator, on one that it doesn't.

use alloc::sync::Arc;

use pq_x509::keys::SignatureAlgorithm;
use rustls::HandshakeKind;
use rustls_pq::{Error, Group};

use crate::peers::{Pki, client_config, connect, server_config};

#[test]
fn works_or_says_what_is_missing() {
    let graviola = graviola_refusal();
    let others = cfg!(any(feature = "aws-lc-rs", feature = "ring"));
    if let Some(refusal) = &graviola {
        eprintln!("without graviola: {refusal}");
    }
    match (graviola, rustls_pq::provider()) {
        (None, Ok(_)) => assert_handshake(),
        (Some(_), Ok(_)) if others => assert_handshake(),
        (Some(refusal), Err(error)) if !others => {
            assert_eq!(error, refusal);
            let message = error.to_string();
            assert!(message.contains("`ring`"), "{message}");
            if let Error::UnsupportedCpu { missing } = error {
                assert!(!missing.is_empty());
                for feature in missing {
                    assert!(message.contains(feature), "{message}");
                }
            }
        }
        (refusal, provider) => panic!("graviola: {refusal:?}; the default: {provider:?}"),
    }
}

fn assert_handshake() {
    let provider = rustls_pq::provider().expect("it was there a moment ago");
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let client = Arc::new(client_config(provider.clone(), pki.roots()));
    let server = Arc::new(server_config(provider, &pki.server));
    connect(&client, &server).assert_success(Group::X25519MLKEM768, HandshakeKind::Full);
}

/// Why graviola can't be used here.
fn graviola_refusal() -> Option<Error> {
    #[cfg(feature = "graviola")]
    return rustls_pq::base::graviola().err();
    #[cfg(not(feature = "graviola"))]
    return Some(Error::NoBase);
}

#[cfg(feature = "graviola")]
#[test]
fn classical_keys_are_had_or_say_what_is_missing() {
    use rustls_pq::classical::{
        ClassicalAlgorithm, ClassicalKey, ClassicalKeyError, verification_algorithms,
    };

    let made = ClassicalKey::generate(ClassicalAlgorithm::Ed25519);
    let read = ClassicalKey::from_pem(include_str!("rsa-2048.pem"));
    let results = [
        made.map(drop),
        read.map(drop),
        verification_algorithms().map(drop),
    ];
    let expected = match graviola_refusal() {
        Some(Error::UnsupportedCpu { missing }) => {
            Err(ClassicalKeyError::UnsupportedCpu { missing })
        }
        Some(Error::UnsupportedArchitecture { architecture }) => {
            Err(ClassicalKeyError::UnsupportedArchitecture { architecture })
        }
        _ => Ok(()),
    };
    for result in results {
        assert_eq!(result, expected);
    }
}
