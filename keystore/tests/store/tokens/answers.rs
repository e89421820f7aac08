//! Answers of modules in every form, and in none.

use pq_keys::SubjectKey;
use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnyPublicKey, AnySigningKey};
use pq_keystore::custody::answers::{self, InvalidAnswer, MAX_ATTRIBUTE_LEN, PublicAttributes};
use proptest::prelude::*;

use crate::kit::named;

const ECDSA: [(&str, usize); 2] = [("ECDSA-P256", 65), ("ECDSA-P384", 97)];

fn with_value(value: &[u8]) -> PublicAttributes {
    PublicAttributes {
        value: Some(value.into()),
        ..PublicAttributes::default()
    }
}

fn with_point(point: &[u8]) -> PublicAttributes {
    PublicAttributes {
        point: Some(point.into()),
        ..PublicAttributes::default()
    }
}

fn public(algorithm: &str) -> AnyPublicKey {
    AnyPrivateKey::generate(named(algorithm))
        .unwrap()
        .public_half()
}

#[test]
fn raw_keys_are_read() {
    for algorithm in ["ML-DSA-44", "ML-KEM-768", "SLH-DSA-SHAKE-128f"] {
        let key = public(algorithm);
        let raw = key.as_bytes();
        let read = answers::public_key(named(algorithm), &with_value(raw)).unwrap();
        assert_eq!(read.spki(), key.spki());
        for wrong in [&raw[1..], &[raw, b"\0"].concat(), b""] {
            answers::public_key(named(algorithm), &with_value(wrong)).unwrap_err();
        }
        let missing = answers::public_key(named(algorithm), &PublicAttributes::default());
        assert_eq!(missing.unwrap_err(), InvalidAnswer::Missing("CKA_VALUE"));
    }
    let long = with_value(&vec![0; MAX_ATTRIBUTE_LEN]);
    let refused = answers::public_key(named("ML-DSA-44"), &long).unwrap_err();
    assert!(matches!(refused, InvalidAnswer::Length { .. }));
    // FIPS 203, section 7.2.
    let unreduced = answers::public_key(named("ML-KEM-768"), &with_value(&[0xff; 1184]));
    assert!(matches!(
        unreduced.unwrap_err(),
        InvalidAnswer::PublicKey { .. }
    ));
    for algorithm in ["X-Wing", "MLDSA65-Ed25519-SHA512", "X25519"] {
        answers::public_key(named(algorithm), &with_value(&[1; 32])).unwrap_err();
    }
}

#[test]
fn points_are_read_in_both_forms() {
    for (algorithm, len) in ECDSA {
        let key = public(algorithm);
        let point = key.as_bytes();
        assert_eq!(point.len(), len);
        let wrapped = [&[4, len as u8], point].concat();
        for form in [point, &wrapped] {
            let read = answers::public_key(named(algorithm), &with_point(form)).unwrap();
            assert_eq!(read.spki(), key.spki());
        }
        let mut off_curve = point.to_vec();
        off_curve[len - 1] ^= 1;
        let mut compressed = point[..=len / 2].to_vec();
        compressed[0] = 2;
        let mut of_other_length = wrapped.clone();
        of_other_length[1] += 1;
        for wrong in [off_curve, compressed, of_other_length, vec![0], vec![4]] {
            answers::public_key(named(algorithm), &with_point(&wrong)).unwrap_err();
        }
    }
    let key = public("Ed25519");
    let wrapped = [b"\x04\x20", key.as_bytes()].concat();
    for form in [key.as_bytes(), &wrapped] {
        let read = answers::public_key(named("Ed25519"), &with_point(form)).unwrap();
        assert_eq!(read.spki(), key.spki());
    }
}

#[test]
fn signatures_of_ecdsa_are_written_as_in_certificates() {
    for (algorithm, len) in [("ECDSA-P256", 32), ("ECDSA-P384", 48)] {
        let key =
            AnySigningKey::try_from(AnyPrivateKey::generate(named(algorithm)).unwrap()).unwrap();
        for _ in 0..40 {
            // Both numbers, as PKCS#11 gives them, from the DER of each.
            let der = key.sign(b"message").unwrap();
            let (r, rest) = der[2..].split_at(2 + usize::from(der[3]));
            let mut raw = Vec::new();
            for number in [r, rest] {
                let bytes = &number[2..];
                let bytes = bytes.strip_prefix(&[0]).unwrap_or(bytes);
                raw.extend(vec![0; len - bytes.len()]);
                raw.extend(bytes);
            }
            assert_eq!(
                answers::signature(named(algorithm), raw.clone()).unwrap(),
                der
            );
            raw.pop();
            answers::signature(named(algorithm), raw).unwrap_err();
        }
        // Zeros are a signature of nothing, but have an encoding.
        let zeros = answers::signature(named(algorithm), vec![0; 2 * len]).unwrap();
        assert_eq!(zeros, [0x30, 6, 2, 1, 0, 2, 1, 0]);
        key.public_half().verify(b"message", &zeros).unwrap_err();
    }
    assert_eq!(*answers::secret(&[7; 32]).unwrap(), [7; 32]);
    for len in [0, 31, 33] {
        answers::secret(&vec![7; len]).unwrap_err();
    }
}

proptest! {
    /// Whatever a module answers: a key of the algorithm that was asked for, or an error.
    #[test]
    fn any_answer_gives_a_key_or_an_error(
        index in any::<prop::sample::Index>(),
        value in prop::option::of(prop::collection::vec(any::<u8>(), 0..2000)),
        point in prop::option::of(prop::collection::vec(any::<u8>(), 0..100)),
        modulus in prop::option::of(prop::collection::vec(any::<u8>(), 0..513)),
        exponent in prop::option::of(prop::collection::vec(any::<u8>(), 0..5)),
    ) {
        let algorithms: Vec<_> = AnyAlgorithm::all().collect();
        let algorithm = algorithms[index.index(algorithms.len())];
        let attributes = PublicAttributes { value, point, modulus, exponent };
        if let Ok(key) = answers::public_key(algorithm, &attributes) {
            prop_assert_eq!(key.algorithm(), algorithm);
        }
        let answer = attributes.modulus.unwrap_or_default();
        if let Ok(signature) = answers::signature(algorithm, answer) {
            prop_assert!(!signature.is_empty());
        }
    }
}
