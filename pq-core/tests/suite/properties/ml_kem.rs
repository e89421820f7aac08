//! Properties of ML-KEM.

use core::ops::Range;

use pq_core::Error;
use pq_core::ml_kem::{Ciphertext, DecapsulationKey, EncapsulationKey, ParameterSet, internal};
use proptest::prelude::any;
use sha3::{Digest, Sha3_256};

use super::{check, check_parser, flipped};
use crate::peers::implicit_rejection;
use crate::stream::Stream;

macro_rules! tests {
    ($($module:ident: $set:ident $(#[$slow:meta])?),* $(,)?) => {
        $(
            mod $module {
                use pq_core::ml_kem::$set;

                #[test]
                fn decapsulation_inverts_encapsulation() {
                    super::decapsulation_inverts_encapsulation::<$set>();
                }

                #[test]
                $(#[$slow])?
                fn flipped_ciphertexts_are_rejected_implicitly() {
                    super::flipped_ciphertexts_are_rejected_implicitly::<$set>();
                }

                #[test]
                fn keys_and_ciphertexts_survive_a_round_trip() {
                    super::keys_and_ciphertexts_survive_a_round_trip::<$set>();
                }

                #[test]
                fn parsers_take_no_other_length() {
                    super::parsers_take_no_other_length::<$set>();
                }

                #[test]
                fn unreduced_coefficients_are_refused() {
                    super::unreduced_coefficients_are_refused::<$set>();
                }

                #[test]
                fn flipped_expanded_keys_are_refused() {
                    super::flipped_expanded_keys_are_refused::<$set>();
                }

                #[test]
                fn inconsistent_expanded_keys_are_refused() {
                    super::inconsistent_expanded_keys_are_refused::<$set>();
                }

                #[test]
                fn debug_shows_no_secrets() {
                    super::debug_shows_no_secrets::<$set>();
                }
            }
        )*
    };
}

tests!(
    ml_kem_512: MlKem512,
    ml_kem_768: MlKem768 #[ignore = "takes seconds: `.ci/run core_tests` runs it"],
    ml_kem_1024: MlKem1024 #[ignore = "takes seconds: `.ci/run core_tests` runs it"],
);

const Q: u16 = 3329;

fn decapsulation_inverts_encapsulation<P: ParameterSet>() {
    check(64, any::<[[u8; 32]; 3]>(), |[d, z, m]| {
        let key = DecapsulationKey::<P>::from_seed(&seed(d, z));
        let (ciphertext, secret) = key.encapsulation_key().encapsulate(&m);
        assert_eq!(key.decapsulate(&ciphertext), secret);
        on_each_backend!(backend => {
            let key = internal::keygen::<P, _>(backend, &d, &z);
            let (c, k) = internal::encaps(backend, key.encapsulation_key(), &m);
            assert_eq!((&c, &k), (&ciphertext, &secret));
            assert_eq!(internal::decaps(backend, &key, &c), secret);
        });
    });
}

/// Flips every bit of one ciphertext, and random bits of others.
fn flipped_ciphertexts_are_rejected_implicitly<P: ParameterSet>() {
    let check_flip = |key: &DecapsulationKey<P>, ciphertext: &Ciphertext<P>, bit| {
        let c = flipped(ciphertext.as_bytes(), bit);
        let expected = implicit_rejection(key.to_expanded().as_ref(), &c);
        let c = Ciphertext::from_bytes(&c).expect("of the right length");
        assert_eq!(key.decapsulate(&c).as_bytes(), &expected);
        on_each_backend!(backend => {
            assert_eq!(internal::decaps(backend, key, &c).as_bytes(), &expected);
        });
    };
    let key = key::<P>(b"flipped ciphertexts");
    let (ciphertext, _) = key.encapsulation_key().encapsulate(&[1; 32]);
    for bit in 0..8 * P::CIPHERTEXT_LEN {
        check_flip(&key, &ciphertext, bit);
    }
    let inputs = (any::<[[u8; 32]; 3]>(), 0..8 * P::CIPHERTEXT_LEN);
    check(64, inputs, |([d, z, m], bit)| {
        let key = DecapsulationKey::<P>::from_seed(&seed(d, z));
        let (ciphertext, _) = key.encapsulation_key().encapsulate(&m);
        check_flip(&key, &ciphertext, bit);
    });
}

fn keys_and_ciphertexts_survive_a_round_trip<P: ParameterSet>() {
    check(64, any::<[[u8; 32]; 3]>(), |[d, z, m]| {
        let seed = seed(d, z);
        let key = DecapsulationKey::<P>::from_seed(&seed);
        assert_eq!(key.seed(), Some(&seed));

        let ek = key.encapsulation_key();
        assert_eq!(ek.as_bytes().len(), P::ENCAPSULATION_KEY_LEN);
        let parsed_ek = EncapsulationKey::from_bytes(ek.as_bytes()).expect("a valid key");
        assert_eq!(&parsed_ek, ek);
        assert_eq!(parsed_ek.as_bytes(), ek.as_bytes());

        let dk = key.to_expanded();
        assert_eq!(dk.as_ref().len(), P::DECAPSULATION_KEY_LEN);
        let parsed = DecapsulationKey::<P>::from_expanded(dk.as_ref()).expect("a valid key");
        assert_eq!(parsed.to_expanded().as_ref(), dk.as_ref());
        assert_eq!(parsed.encapsulation_key(), ek);
        assert_eq!(parsed.seed(), None);

        let (ciphertext, secret) = parsed_ek.encapsulate(&m);
        assert_eq!(ciphertext.as_bytes().len(), P::CIPHERTEXT_LEN);
        let parsed_ciphertext =
            Ciphertext::from_bytes(ciphertext.as_bytes()).expect("of the right length");
        assert_eq!(parsed_ciphertext, ciphertext);
        assert_eq!(parsed.decapsulate(&parsed_ciphertext), secret);
    });
}

fn parsers_take_no_other_length<P: ParameterSet>() {
    check_parser(P::ENCAPSULATION_KEY_LEN, EncapsulationKey::<P>::from_bytes);
    check_parser(
        P::DECAPSULATION_KEY_LEN,
        DecapsulationKey::<P>::from_expanded,
    );
    check_parser(P::CIPHERTEXT_LEN, Ciphertext::<P>::from_bytes);
}

/// Tries each coefficient at the limits of what is accepted and refused, and each refused value somewhere.
fn unreduced_coefficients_are_refused<P: ParameterSet>() {
    let ek = key::<P>(b"unreduced").encapsulation_key().clone();
    let coefficients = (P::ENCAPSULATION_KEY_LEN - 32) / 3 * 2;
    let parse = |coefficient, value| {
        let mut ek = ek.as_bytes().to_vec();
        write_coefficient(&mut ek, coefficient, value);
        EncapsulationKey::<P>::from_bytes(&ek).map(|parsed| {
            assert_eq!(parsed.as_bytes(), ek);
        })
    };
    for coefficient in 0..coefficients {
        for value in [0, Q - 1] {
            assert_eq!(parse(coefficient, value), Ok(()), "{coefficient}: {value}");
        }
        for value in [Q, 4095] {
            let error = Err(Error::UnreducedCoefficient);
            assert_eq!(parse(coefficient, value), error, "{coefficient}: {value}");
        }
    }
    let mut random = Stream::new(P::NAME.as_bytes());
    for value in Q..4096 {
        for _ in 0..4 {
            let coefficient = random.below(coefficients);
            let error = Err(Error::UnreducedCoefficient);
            assert_eq!(parse(coefficient, value), error, "{coefficient}: {value}");
        }
    }
}

/// Flips a bit of every byte of dk: all of dk is checked except z, which can be any 32 bytes.
fn flipped_expanded_keys_are_refused<P: ParameterSet>() {
    let dk = key::<P>(b"flipped keys").to_expanded();
    let dk = dk.as_ref();
    let mut random = Stream::new(P::NAME.as_bytes());
    let Parts { ek, hash, z, .. } = parts::<P>();
    for byte in 0..P::DECAPSULATION_KEY_LEN {
        let bit = 8 * byte + random.below(8);
        let flipped = flipped(dk, bit);
        let parsed = DecapsulationKey::<P>::from_expanded(&flipped);
        if z.contains(&byte) {
            let key = parsed.expect("z is not checked");
            assert_eq!(key.to_expanded().as_ref(), flipped);
            continue;
        }
        let error = parsed.expect_err("a flipped bit");
        let expected = if ek.contains(&byte) {
            matches!(error, Error::UnreducedCoefficient | Error::HashMismatch)
        } else if hash.contains(&byte) {
            error == Error::HashMismatch
        } else {
            matches!(error, Error::SecretOutOfRange | Error::InconsistentKey)
        };
        assert!(expected, "bit {bit}: {error:?}");
    }
}

/// Keys with parts that are valid, but do not belong together.
fn inconsistent_expanded_keys_are_refused<P: ParameterSet>() {
    let Parts {
        secret,
        ek,
        hash,
        z,
    } = parts::<P>();
    let valid = key::<P>(b"one key").to_expanded();
    let valid = valid.as_ref();
    let other = key::<P>(b"another").to_expanded();
    let other = other.as_ref();
    let parse = |dk: &[u8]| DecapsulationKey::<P>::from_expanded(dk).map(|_| ());

    let mut dk = valid.to_vec();
    dk[secret.clone()].copy_from_slice(&other[secret.clone()]);
    assert_eq!(parse(&dk), Err(Error::InconsistentKey), "another's ŝ");

    let mut dk = valid.to_vec();
    dk[ek.start..hash.end].copy_from_slice(&other[ek.start..hash.end]);
    assert_eq!(
        parse(&dk),
        Err(Error::InconsistentKey),
        "another's ek and H"
    );

    let mut dk = valid.to_vec();
    dk[ek.clone()].copy_from_slice(&other[ek.clone()]);
    assert_eq!(parse(&dk), Err(Error::HashMismatch), "another's ek");

    let mut dk = valid.to_vec();
    write_coefficient(&mut dk[ek.clone()], 17, Q);
    rehash(&mut dk, &ek, &hash);
    assert_eq!(
        parse(&dk),
        Err(Error::UnreducedCoefficient),
        "an unreduced ek"
    );

    // one bit of t̂, then of ρ, with a corrected hash
    for bit in [1, 8 * (ek.len() - 1)] {
        let mut dk = valid.to_vec();
        let flipped = flipped(&dk[ek.clone()], bit);
        dk[ek.clone()].copy_from_slice(&flipped);
        rehash(&mut dk, &ek, &hash);
        assert_eq!(parse(&dk), Err(Error::InconsistentKey), "bit {bit} of ek");
    }

    for coefficient in 0..secret.len() / 3 * 2 {
        let mut dk = valid.to_vec();
        write_coefficient(&mut dk, coefficient, Q);
        assert_eq!(parse(&dk), Err(Error::SecretOutOfRange), "{coefficient}");
    }

    let mut dk = valid.to_vec();
    dk[z.clone()].copy_from_slice(&other[z]);
    assert_eq!(parse(&dk), Ok(()), "any z will do");
}

/// Values that differ only in a secret look the same.
fn debug_shows_no_secrets<P: ParameterSet>() {
    let keys = [[1; 32], [2; 32]].map(|z| DecapsulationKey::<P>::from_seed(&seed([0; 32], z)));
    let [one, other] = keys.each_ref().map(|key| format!("{key:?}"));
    assert_eq!(one, other);

    let secrets = [[1; 32], [2; 32]].map(|m| keys[0].encapsulation_key().encapsulate(&m).1);
    assert_ne!(secrets[0], secrets[1]);
    let [one, other] = secrets.map(|secret| format!("{secret:?}"));
    assert_eq!(one, other);
}

/// The positions of the parts of dk = ŝ ‖ ek ‖ H(ek) ‖ z.
struct Parts {
    secret: Range<usize>,
    ek: Range<usize>,
    hash: Range<usize>,
    z: Range<usize>,
}

fn parts<P: ParameterSet>() -> Parts {
    let secret_len = P::ENCAPSULATION_KEY_LEN - 32;
    let hash = secret_len + P::ENCAPSULATION_KEY_LEN;
    Parts {
        secret: 0..secret_len,
        ek: secret_len..hash,
        hash: hash..hash + 32,
        z: hash + 32..P::DECAPSULATION_KEY_LEN,
    }
}

/// Replaces the hash in dk with that of the ek in dk.
fn rehash(dk: &mut [u8], ek: &Range<usize>, hash: &Range<usize>) {
    let digest = Sha3_256::digest(&dk[ek.clone()]);
    dk[hash.clone()].copy_from_slice(&digest);
}

/// Overwrites one coefficient of an encoding by ByteEncode₁₂ (FIPS 203, algorithm 5).
fn write_coefficient(bytes: &mut [u8], coefficient: usize, value: u16) {
    for bit in 0..12 {
        let at = 12 * coefficient + bit;
        bytes[at / 8] &= !(1 << (at % 8));
        bytes[at / 8] |= u8::from(value >> bit & 1 == 1) << (at % 8);
    }
}

fn key<P: ParameterSet>(label: &[u8]) -> DecapsulationKey<P> {
    DecapsulationKey::from_seed(&Stream::new(label).array())
}

fn seed(d: [u8; 32], z: [u8; 32]) -> [u8; 64] {
    let mut seed = [0; 64];
    seed[..32].copy_from_slice(&d);
    seed[32..].copy_from_slice(&z);
    seed
}
