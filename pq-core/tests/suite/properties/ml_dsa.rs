//! Properties of ML-DSA.

use core::ops::Range;

use pq_core::Error;
use pq_core::ml_dsa::{ParameterSet, Signature, SigningKey, VerifyingKey, internal};
use proptest::prelude::any;

use super::{bytes, check, check_parser, flipped};
use crate::messages::{self, Hash};
use crate::stream::Stream;

macro_rules! tests {
    ($($module:ident: $set:ident $(#[$slow:meta])?),* $(,)?) => {
        $(
            mod $module {
                use pq_core::ml_dsa::$set;

                #[test]
                fn signatures_verify() {
                    super::signatures_verify::<$set>();
                }

                #[test]
                $(#[$slow])?
                fn flipped_signatures_are_invalid() {
                    super::flipped_signatures_are_invalid::<$set>();
                }

                #[test]
                fn flipped_inputs_are_invalid() {
                    super::flipped_inputs_are_invalid::<$set>();
                }

                #[test]
                fn arbitrary_signatures_are_invalid() {
                    super::arbitrary_signatures_are_invalid::<$set>();
                }

                #[test]
                fn messages_digests_and_contexts_are_kept_apart() {
                    super::messages_digests_and_contexts_are_kept_apart::<$set>();
                }

                #[test]
                fn contexts_have_at_most_255_bytes() {
                    super::contexts_have_at_most_255_bytes::<$set>();
                }

                #[test]
                fn digests_have_the_length_of_their_hash() {
                    super::digests_have_the_length_of_their_hash::<$set>();
                }

                #[test]
                fn keys_and_signatures_survive_a_round_trip() {
                    super::keys_and_signatures_survive_a_round_trip::<$set>();
                }

                #[test]
                fn parsers_take_no_other_length() {
                    super::parsers_take_no_other_length::<$set>();
                }

                #[test]
                fn flipped_expanded_keys_are_refused() {
                    super::flipped_expanded_keys_are_refused::<$set>();
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
    ml_dsa_44: MlDsa44,
    ml_dsa_65: MlDsa65 #[ignore = "takes seconds: `.ci/run core_tests` runs it"],
    ml_dsa_87: MlDsa87 #[ignore = "takes seconds: `.ci/run core_tests` runs it"],
);

const INVALID: Result<(), Error> = Err(Error::InvalidSignature);

fn signatures_verify<P: ParameterSet>() {
    let inputs = (any::<[[u8; 32]; 2]>(), bytes(0..300), bytes(0..256));
    check(32, inputs, |([xi, rnd], message, context)| {
        let key = SigningKey::<P>::from_seed(&xi);
        let vk = key.verifying_key();
        let mu = vk.mu(&message, &context).expect("a short context");
        let hedged = key.sign(&message, &context, &rnd).expect("a short context");
        let deterministic = key
            .sign_deterministic(&message, &context)
            .expect("a short context");
        assert_ne!(hedged, deterministic);
        assert_eq!(key.sign_mu(&mu, &rnd), hedged);
        for signature in [&hedged, &deterministic] {
            assert_eq!(vk.verify(&message, &context, signature), Ok(()));
            assert_eq!(vk.expand().verify(&message, &context, signature), Ok(()));
            assert_eq!(vk.verify_mu(&mu, signature), Ok(()));
        }
        let m = messages::pure_message_representative(&message, &context);
        on_each_backend!(backend => {
            let key = internal::keygen::<P, _>(backend, &xi);
            assert_eq!(key.verifying_key(), vk);
            assert_eq!(internal::sign(backend, &key, &[&m], &rnd), hedged);
            assert!(internal::verify(backend, vk, &[&m], &hedged));
        });
    });
}

/// Flips every bit of one signature.
fn flipped_signatures_are_invalid<P: ParameterSet>() {
    let Signed {
        key,
        message,
        context,
        signature,
    } = &Signed::<P>::new();
    let m = messages::pure_message_representative(message, context);
    let vk = key.verifying_key();
    let expanded = vk.expand();
    assert_eq!(expanded.verify(message, context, signature), Ok(()));
    for bit in 0..8 * P::SIGNATURE_LEN {
        let flipped = flipped(signature.as_bytes(), bit);
        let flipped = Signature::from_bytes(&flipped).expect("of the right length");
        assert_eq!(
            expanded.verify(message, context, &flipped),
            INVALID,
            "bit {bit}"
        );
        // a backend expands the key each time, so only one bit of every byte, at changing positions
        if bit % 8 == bit / 8 % 8 {
            on_each_backend!(backend => {
                let valid = internal::verify(backend, vk, &[&m], &flipped);
                assert!(!valid, "bit {bit}");
            });
        }
    }
}

/// Flips every bit of the message, the context and µ, and a bit of every byte of the key.
fn flipped_inputs_are_invalid<P: ParameterSet>() {
    let Signed {
        key,
        message,
        context,
        signature,
    } = &Signed::<P>::new();
    let vk = key.verifying_key();
    let expanded = vk.expand();
    for bit in 0..8 * message.len() {
        let verdict = expanded.verify(&flipped(message, bit), context, signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the message");
    }
    for bit in 0..8 * context.len() {
        let verdict = expanded.verify(message, &flipped(context, bit), signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the context");
    }
    let mu = vk.mu(message, context).expect("a short context");
    for bit in 0..8 * mu.len() {
        let mu = flipped(&mu, bit).try_into().expect("64 bytes");
        assert_eq!(
            expanded.verify_mu(&mu, signature),
            INVALID,
            "bit {bit} of µ"
        );
    }
    let mut random = Stream::new(P::NAME.as_bytes());
    for byte in 0..P::VERIFYING_KEY_LEN {
        let bit = 8 * byte + random.below(8);
        let vk = VerifyingKey::<P>::from_bytes(&flipped(vk.as_bytes(), bit));
        let vk = vk.expect("of the right length");
        let verdict = vk.verify(message, context, signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the key");
    }
}

/// Bytes that were never a signature, and signatures with replaced parts: malformed ones
/// must be found, and nothing may panic.
fn arbitrary_signatures_are_invalid<P: ParameterSet>() {
    let Signed {
        key,
        message,
        context,
        signature,
    } = &Signed::<P>::new();
    let expanded = key.verifying_key().expand();
    let check_invalid = |bytes: &[u8]| {
        if bytes != signature.as_bytes() {
            let signature = Signature::from_bytes(bytes).expect("of the right length");
            assert_eq!(expanded.verify(message, context, &signature), INVALID);
        }
    };
    check_invalid(&vec![0; P::SIGNATURE_LEN]);
    check_invalid(&vec![0xff; P::SIGNATURE_LEN]);
    check(64, bytes(P::SIGNATURE_LEN), |noise| check_invalid(&noise));
    // the hint is at the end, and its last bytes say where each polynomial's hints end
    for len in [1, 2, 4, 8, 16, 64, 84] {
        check(64, bytes(len), |tail| {
            let mut spliced = signature.as_bytes().to_vec();
            spliced[P::SIGNATURE_LEN - len..].copy_from_slice(&tail);
            check_invalid(&spliced);
        });
    }
}

/// A signature made in one way is not valid in another.
fn messages_digests_and_contexts_are_kept_apart<P: ParameterSet>() {
    let Signed {
        key,
        message,
        context,
        signature,
    } = &Signed::<P>::new();
    let vk = key.verifying_key();
    let rnd = [3; 32];

    // bytes moved across the boundary
    let (head, tail) = message.split_at(1);
    let moved = [context, head].concat();
    assert_eq!(vk.verify(tail, &moved, signature), INVALID);
    assert_eq!(
        vk.verify(&[context, &**message].concat(), b"", signature),
        INVALID
    );

    let expanded = vk.expand();
    for hash in Hash::ALL
        .iter()
        .filter(|hash| hash.is_signed_with(P::LAMBDA))
    {
        let name = hash.name;
        let digest = hash.digest(message);
        let of_digest = key
            .hash_sign(hash.pre_hash, message, context, &rnd)
            .expect("a short context");
        assert_eq!(
            key.sign_digest(hash.pre_hash, &digest, context, &rnd),
            Ok(of_digest.clone()),
            "{name}"
        );
        for other in Hash::ALL {
            let expected = if other.name == name { Ok(()) } else { INVALID };
            let verdict = expanded.hash_verify(other.pre_hash, message, context, &of_digest);
            assert_eq!(verdict, expected, "{name} as {}", other.name);
            // the same digest under another name: only the object identifier differs
            if digest.len() == other.digest(message).len() {
                let verdict = expanded.verify_digest(other.pre_hash, &digest, context, &of_digest);
                assert_eq!(verdict, expected, "{name} as {}", other.name);
            }
            let verdict = expanded.hash_verify(other.pre_hash, message, context, signature);
            assert_eq!(verdict, INVALID, "a message as {}", other.name);
        }
        assert_eq!(
            expanded.verify(message, context, &of_digest),
            INVALID,
            "{name}"
        );
        assert_eq!(
            expanded.verify(&digest, context, &of_digest),
            INVALID,
            "{name}"
        );
    }
}

fn contexts_have_at_most_255_bytes<P: ParameterSet>() {
    let key = key::<P>();
    let vk = key.verifying_key();
    let expanded = vk.expand();
    let message = b"message";
    let rnd = [5; 32];
    for len in [0, 1, 254, 255, 256, 257, 65_536] {
        let context = &*vec![7; len];
        let too_long = len > 255;
        let signed_or_too_long = |signature: Result<Signature<P>, Error>| {
            assert_eq!(
                signature.clone().err(),
                too_long.then_some(Error::ContextTooLong)
            );
            // without a signature, verification gets one of something else
            signature.unwrap_or_else(|_| key.sign_mu(&[0; 64], &rnd))
        };
        let verdict = if too_long {
            Err(Error::ContextTooLong)
        } else {
            Ok(())
        };

        assert_eq!(vk.mu(message, context).map(|_| ()), verdict);
        for signature in [
            key.sign(message, context, &rnd),
            key.sign_deterministic(message, context),
        ] {
            let signature = signed_or_too_long(signature);
            assert_eq!(vk.verify(message, context, &signature), verdict);
            assert_eq!(expanded.verify(message, context, &signature), verdict);
        }
        for hash in Hash::ALL
            .iter()
            .filter(|hash| hash.is_signed_with(P::LAMBDA))
        {
            let digest = hash.digest(message);
            let hash = hash.pre_hash;
            for signature in [
                key.hash_sign(hash, message, context, &rnd),
                key.sign_digest(hash, &digest, context, &rnd),
            ] {
                let signature = signed_or_too_long(signature);
                for verdict_of in [
                    vk.hash_verify(hash, message, context, &signature),
                    vk.verify_digest(hash, &digest, context, &signature),
                    expanded.hash_verify(hash, message, context, &signature),
                    expanded.verify_digest(hash, &digest, context, &signature),
                ] {
                    assert_eq!(verdict_of, verdict);
                }
            }
        }
    }
}

fn digests_have_the_length_of_their_hash<P: ParameterSet>() {
    let key = key::<P>();
    let vk = key.verifying_key();
    let expanded = vk.expand();
    let signature = key.sign_mu(&[0; 64], &[0; 32]);
    for hash in Hash::ALL {
        let expected = hash.digest(b"").len();
        let hash = hash.pre_hash;
        for actual in (0..=129).filter(|actual| *actual != expected) {
            let digest = &*vec![0; actual];
            let error = Error::WrongLength { expected, actual };
            assert_eq!(key.sign_digest(hash, digest, b"", &[0; 32]), Err(error));
            assert_eq!(vk.verify_digest(hash, digest, b"", &signature), Err(error));
            assert_eq!(
                expanded.verify_digest(hash, digest, b"", &signature),
                Err(error)
            );
        }
    }
}

fn keys_and_signatures_survive_a_round_trip<P: ParameterSet>() {
    check(32, any::<[[u8; 32]; 2]>(), |[xi, message]| {
        let key = SigningKey::<P>::from_seed(&xi);
        assert_eq!(key.seed(), Some(&xi));

        let vk = key.verifying_key();
        assert_eq!(vk.as_bytes().len(), P::VERIFYING_KEY_LEN);
        let parsed_vk = VerifyingKey::from_bytes(vk.as_bytes()).expect("of the right length");
        assert_eq!(&parsed_vk, vk);
        assert_eq!(parsed_vk.as_bytes(), vk.as_bytes());
        assert_eq!(parsed_vk.expand().verifying_key(), vk);

        let sk = key.to_expanded();
        assert_eq!(sk.as_ref().len(), P::SIGNING_KEY_LEN);
        let parsed = SigningKey::<P>::from_expanded(sk.as_ref()).expect("a valid key");
        assert_eq!(parsed.to_expanded().as_ref(), sk.as_ref());
        assert_eq!(parsed.verifying_key(), vk);
        assert_eq!(parsed.seed(), None);

        let signature = key
            .sign_deterministic(&message, b"")
            .expect("a short context");
        assert_eq!(
            parsed.sign_deterministic(&message, b""),
            Ok(signature.clone())
        );
        assert_eq!(signature.as_bytes().len(), P::SIGNATURE_LEN);
        let parsed_signature =
            Signature::from_bytes(signature.as_bytes()).expect("of the right length");
        assert_eq!(parsed_signature, signature);
        assert_eq!(parsed_vk.verify(&message, b"", &parsed_signature), Ok(()));
    });
}

fn parsers_take_no_other_length<P: ParameterSet>() {
    check_parser(P::VERIFYING_KEY_LEN, VerifyingKey::<P>::from_bytes);
    check_parser(P::SIGNING_KEY_LEN, SigningKey::<P>::from_expanded);
    check_parser(P::SIGNATURE_LEN, Signature::<P>::from_bytes);
}

/// Flips a bit of every byte of sk: all of sk is checked except K, which can be any 32 bytes.
fn flipped_expanded_keys_are_refused<P: ParameterSet>() {
    // ρ ‖ K ‖ tr ‖ s₁ ‖ s₂ ‖ t₀, where t₀ has 13 bits for each 10 bits of t₁
    const K: Range<usize> = 32..64;
    let t0_len = (P::VERIFYING_KEY_LEN - 32) / 10 * 13;
    let s1_and_s2 = 128..P::SIGNING_KEY_LEN - t0_len;

    let sk = key::<P>().to_expanded();
    let sk = sk.as_ref();
    let mut random = Stream::new(P::NAME.as_bytes());
    for byte in 0..P::SIGNING_KEY_LEN {
        let bit = 8 * byte + random.below(8);
        let flipped = flipped(sk, bit);
        let parsed = SigningKey::<P>::from_expanded(&flipped);
        if K.contains(&byte) {
            let key = parsed.expect("K is not checked");
            assert_eq!(key.to_expanded().as_ref(), flipped);
            continue;
        }
        let error = parsed.expect_err("a flipped bit");
        let expected = error == Error::InconsistentKey
            || error == Error::SecretOutOfRange && s1_and_s2.contains(&byte);
        assert!(expected, "bit {bit}: {error:?}");
    }
}

/// Keys that differ only in a secret look the same.
fn debug_shows_no_secrets<P: ParameterSet>() {
    let sk = key::<P>().to_expanded();
    // a bit of K
    let keys = [sk.as_ref().to_vec(), flipped(sk.as_ref(), 8 * 40)];
    let [one, other] = keys.map(|sk| {
        let key = SigningKey::<P>::from_expanded(&sk).expect("K is not checked");
        format!("{key:?}")
    });
    assert_eq!(one, other);
}

/// A message with its signature.
struct Signed<P: ParameterSet> {
    key: SigningKey<P>,
    message: Vec<u8>,
    context: Vec<u8>,
    signature: Signature<P>,
}

impl<P: ParameterSet> Signed<P> {
    fn new() -> Self {
        let key = key::<P>();
        let message = b"a message to be signed".to_vec();
        let context = b"a context".to_vec();
        let signature = key
            .sign_deterministic(&message, &context)
            .expect("a short context");
        Self {
            key,
            message,
            context,
            signature,
        }
    }
}

fn key<P: ParameterSet>() -> SigningKey<P> {
    SigningKey::from_seed(&Stream::new(P::NAME.as_bytes()).array())
}
