//! Tests of signing keys: both forms of a key, what is refused, and what is wiped.

extern crate alloc;

use alloc::{format, vec};

use super::{Secrets, SigningKey, Space, s_len};
use crate::Error;
use crate::arch::{Portable, check_wiped, part};
use crate::dimension::Dimension;
use crate::hash::lanes;
use crate::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreHash};

fn expanded<P: ParameterSet>(key: &SigningKey<P>) -> ([u8; 4896], usize) {
    let mut bytes = [0; 4896];
    let expanded = key.to_expanded();
    bytes[..P::SIGNING_KEY_LEN].copy_from_slice(expanded.as_ref());
    (bytes, P::SIGNING_KEY_LEN)
}

/// A key is restored from both forms, and signs the same.
#[test]
fn keys_come_back() {
    fn check<P: ParameterSet>() {
        for i in 0..5 {
            let key = SigningKey::<P>::from_seed(&[i; 32]);
            assert_eq!(key.seed(), Some(&[i; 32]));
            let (bytes, len) = expanded(&key);
            let parsed = SigningKey::<P>::from_expanded(&bytes[..len]).unwrap();
            assert_eq!(parsed.seed(), None);
            assert_eq!(expanded(&parsed), (bytes, len));
            assert_eq!(parsed.verifying_key(), key.verifying_key());
            assert_eq!(
                parsed.sign(b"message", b"context", &[9; 32]),
                key.sign(b"message", b"context", &[9; 32])
            );
        }
    }

    check::<MlDsa44>();
    check::<MlDsa65>();
    check::<MlDsa87>();
}

/// Every part of an expanded key except K is checked against the others.
#[test]
fn inconsistent_keys_are_refused() {
    fn check<P: ParameterSet>() {
        let (bytes, len) = expanded(&SigningKey::<P>::from_seed(&[3; 32]));
        let parse = |bytes: &[u8]| SigningKey::<P>::from_expanded(bytes).map(|_| ());
        let s_end = 128 + s_len::<P>() * (P::K::N + P::L::N);

        for position in [0, 31, 64, 127, s_end, len - 1] {
            let mut changed = bytes;
            changed[position] ^= 0x10;
            assert_eq!(parse(&changed[..len]), Err(Error::InconsistentKey));
        }
        // no other part depends on K
        let mut changed = bytes;
        changed[40] ^= 1;
        assert_eq!(parse(&changed[..len]), Ok(()));

        for position in [128, s_end - 1] {
            // all ones: η − (2^bits − 1) is out of range for both η
            let mut changed = bytes;
            changed[position] = 0xff;
            assert_eq!(parse(&changed[..len]), Err(Error::SecretOutOfRange));
            // zeros: η, which is in range
            let mut changed = bytes;
            changed[position] = if changed[position] == 0 { 0x11 } else { 0 };
            assert_eq!(parse(&changed[..len]), Err(Error::InconsistentKey));
        }

        for wrong in [0, 1, len - 1] {
            let expected = Error::WrongLength {
                expected: len,
                actual: wrong,
            };
            assert_eq!(parse(&bytes[..wrong]), Err(expected));
        }
    }

    check::<MlDsa44>();
    check::<MlDsa65>();
    check::<MlDsa87>();
}

/// The smallest coefficient that is out of range, at every position of a byte.
#[test]
fn every_coefficient_out_of_range_is_refused() {
    fn check<P: ParameterSet>() {
        let (bytes, len) = expanded(&SigningKey::<P>::from_seed(&[4; 32]));
        let bits = s_len::<P>() / 32;
        for coefficient in [0, 1, 2, 3, 4, 5, 6, 7, 255, 256 * (P::K::N + P::L::N) - 1] {
            let mut changed = bytes;
            for bit in 0..bits {
                let i = coefficient * bits + bit;
                let value = (2 * P::ETA as u8 + 1) >> bit & 1;
                let byte = &mut changed[128 + i / 8];
                *byte = *byte & !(1 << (i % 8)) | value << (i % 8);
            }
            let parsed = SigningKey::<P>::from_expanded(&changed[..len]).map(|_| ());
            assert_eq!(parsed, Err(Error::SecretOutOfRange));
        }
    }

    check::<MlDsa44>();
    check::<MlDsa65>();
    check::<MlDsa87>();
}

#[test]
fn long_contexts_and_wrong_digests_are_refused() {
    let key = SigningKey::<MlDsa44>::from_seed(&[5; 32]);
    let context = [0; 256];
    let too_long = Err(Error::ContextTooLong);
    assert!(key.sign(b"", &context[1..], &[0; 32]).is_ok());
    assert_eq!(key.sign(b"", &context, &[0; 32]), too_long);
    assert_eq!(key.sign_deterministic(b"", &context), too_long);
    for &hash in PreHash::ALL {
        assert_eq!(key.hash_sign(hash, b"", &context, &[0; 32]), too_long);
        let digest = [0; 65];
        let len = hash.digest_len();
        for wrong in [0, len - 1, len + 1] {
            let expected = Error::WrongLength {
                expected: len,
                actual: wrong,
            };
            assert_eq!(
                key.sign_digest(hash, &digest[..wrong], b"", &[0; 32]),
                Err(expected)
            );
        }
    }
}

/// FIPS 204, section 5.4.1: the digest is at least as strong as the key.
#[test]
fn weak_hashes_are_not_signed() {
    fn check<P: ParameterSet>(least: usize) {
        let key = SigningKey::<P>::from_seed(&[5; 32]);
        for &hash in PreHash::ALL {
            let actual = hash.digest_len();
            let expected = (actual < least).then_some(Error::WeakHash { least, actual });
            let signed = key.hash_sign(hash, b"", b"", &[0; 32]);
            assert_eq!(signed.err(), expected, "{hash}");
            let signed = key.sign_digest(hash, &[0; 64][..actual], b"", &[0; 32]);
            assert_eq!(signed.err(), expected, "{hash}");
        }
    }

    check::<MlDsa44>(32);
    check::<MlDsa65>(48);
    check::<MlDsa87>(64);
}

#[test]
fn debug_output_tells_no_secret() {
    let key = SigningKey::<MlDsa65>::from_seed(&[6; 32]);
    assert_eq!(format!("{key:?}"), "SigningKey<ML-DSA-65>(..)");
}

#[test]
fn secrets_are_wiped() {
    fn check<P: ParameterSet>() {
        let key = SigningKey::<P>::from_seed(&[7; 32]);
        check_wiped(key.secrets, |secrets| {
            // all fields, so that nobody forgets a new one
            let Secrets {
                seed,
                k,
                s1,
                s2,
                t0_hat,
            } = secrets;
            vec![
                part(secrets, "the seed", seed.as_ref().unwrap()),
                part(secrets, "K", k),
                part(secrets, "s₁", s1),
                part(secrets, "s₂", s2),
                part(secrets, "t₀", t0_hat),
            ]
        });
        // and as part of a key
        check_wiped(SigningKey::<P>::from_seed(&[7; 32]), |key| {
            vec![part(key, "K", &key.secrets.k)]
        });

        let mut key = SigningKey::<P>::zero();
        let mut space = Space::zero();
        lanes::serve(
            Portable,
            &mut key.generation(Portable, &[7; 32], &mut space),
        );
        check_wiped(space, |space| {
            let Space { expanded, vectors } = space;
            let (s1_hat, t) = vectors.parts();
            vec![
                part(space, "ρ′ and K", expanded),
                part(space, "ŝ₁", s1_hat),
                part(space, "t", t),
            ]
        });
    }

    check::<MlDsa44>();
    check::<MlDsa65>();
    check::<MlDsa87>();
}
