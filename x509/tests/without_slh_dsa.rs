//! What a program without SLH-DSA reports about SLH-DSA: `cargo test -p pq-x509 --no-default-features`.
#![cfg(not(feature = "slh-dsa"))]

use pq_x509::keys::{Algorithm, KeyError, SignatureAlgorithm, SigningKey, VerifyingKey};
use pq_x509::verification;
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

#[test]
fn its_names_are_unknown_and_its_keys_unsupported() {
    assert_eq!(SignatureAlgorithm::ALL.len(), 3);
    assert_eq!(Algorithm::ALL.len(), 6);
    assert_eq!(verification::ALL.len(), 3);
    for name in ["SLH-DSA-SHA2-128s", "SLH-DSA-SHAKE-256f"] {
        assert!(name.parse::<SignatureAlgorithm>().is_err(), "{name}");
    }

    let oid = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.20");
    assert_eq!(verification::parameter_set(oid), None);
    let key = SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef {
            oid,
            parameters: None,
        },
        subject_public_key: der::asn1::BitStringRef::from_bytes(&[7; 32]).unwrap(),
    };
    let der = der::Encode::to_der(&key).unwrap();
    assert_eq!(
        VerifyingKey::from_spki_der(&der),
        Err(KeyError::UnsupportedAlgorithm(oid))
    );
}

#[test]
fn the_others_are_there() {
    for algorithm in SignatureAlgorithm::ALL {
        let key = SigningKey::generate(*algorithm).unwrap();
        let public = key.verifying_key().expand();
        let signature = key.sign(b"message").unwrap();
        assert_eq!(public.verify(b"message", &signature), Ok(()));
        assert!(public.verify(b"massage", &signature).is_err());
    }
}
