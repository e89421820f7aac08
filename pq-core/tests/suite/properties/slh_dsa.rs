//! Properties of SLH-DSA.

use std::sync::Mutex;

use pq_core::slh_dsa::{
    Message, ParameterSet, ProgressHook, Signature, SigningKey, SlhDsaSha2_128f, SlhDsaSha2_128s,
    SlhDsaSha2_192f, SlhDsaSha2_192s, SlhDsaSha2_256f, SlhDsaSha2_256s, SlhDsaShake128f,
    SlhDsaShake128s, SlhDsaShake192f, SlhDsaShake192s, SlhDsaShake256f, SlhDsaShake256s,
    VerifyingKey,
};
use pq_core::{Dimension, Error};

use super::{check_parser, flipped};
use crate::messages::Hash;
use crate::parameter_sets::array;
use crate::stream::Stream;

/// A test for each of several parameter sets.
macro_rules! tests {
    ($($test:ident: $($name:ident $set:ident),*;)*) => {$(
        mod $test {
            $(
                #[test]
                fn $name() {
                    super::$test::<super::$set>();
                }
            )*
        }
    )*};
}

tests! {
    small_sets_find_every_flipped_byte: shake_128s SlhDsaShake128s, sha2_128s SlhDsaSha2_128s;
    small_sets_find_flipped_bits:
        shake_192s SlhDsaShake192s, sha2_192s SlhDsaSha2_192s,
        shake_256s SlhDsaShake256s, sha2_256s SlhDsaSha2_256s;
    flipped_bits_are_found:
        shake_128f SlhDsaShake128f, sha2_128f SlhDsaSha2_128f,
        shake_192f SlhDsaShake192f, sha2_192f SlhDsaSha2_192f,
        shake_256f SlhDsaShake256f, sha2_256f SlhDsaSha2_256f;
    ways_of_signing_are_kept_apart: shake_128f SlhDsaShake128f, sha2_128f SlhDsaSha2_128f;
    lengths_are_checked: shake_128f SlhDsaShake128f, sha2_256f SlhDsaSha2_256f;
    inconsistent_keys_do_not_sign: shake_128f SlhDsaShake128f, sha2_192f SlhDsaSha2_192f;
    progress_reaches_its_end: shake_128f SlhDsaShake128f, shake_256f SlhDsaShake256f;
    debug_shows_no_secrets: shake_128f SlhDsaShake128f;
}

const INVALID: Result<(), Error> = Err(Error::InvalidSignature);
const MESSAGE: Message<'_> = Message::Pure(b"a message to be signed");
const CONTEXT: &[u8] = b"a context";

/// Flips a bit of every byte of a signature, at changing positions.
fn small_sets_find_every_flipped_byte<P: ParameterSet>() {
    let (key, signature) = signed::<P>();
    for byte in 0..P::SIGNATURE_LEN {
        check_flipped(&key, &signature, 8 * byte + byte % 8);
    }
}

fn small_sets_find_flipped_bits<P: ParameterSet>() {
    flipped_bits_are_found::<P>();
}

/// Flips some bits of every part of a signature, and all bits of message, context and key.
fn flipped_bits_are_found<P: ParameterSet>() {
    let (key, signature) = signed::<P>();
    let mut random = Stream::new(P::NAME.as_bytes());
    // one byte of every 64: each of a part's values, the smallest of which have 16 bytes, gets its turn
    for block in (0..P::SIGNATURE_LEN).step_by(64) {
        let byte = (block + random.below(64)).min(P::SIGNATURE_LEN - 1);
        check_flipped(&key, &signature, 8 * byte + random.below(8));
    }
    check_flipped(&key, &signature, 0);
    check_flipped(&key, &signature, 8 * P::SIGNATURE_LEN - 1);

    let Message::Pure(message) = MESSAGE else {
        unreachable!("it is")
    };
    for bit in 0..8 * message.len() {
        let flipped = flipped(message, bit);
        let verdict = key.verify_bytes(Message::Pure(&flipped), CONTEXT, &signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the message");
    }
    for bit in 0..8 * CONTEXT.len() {
        let verdict = key.verify_bytes(MESSAGE, &flipped(CONTEXT, bit), &signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the context");
    }
    for bit in 0..8 * P::VERIFYING_KEY_LEN {
        let key = VerifyingKey::<P>::from_bytes(&flipped(key.as_bytes(), bit));
        let key = key.expect("of the right length");
        let verdict = key.verify_bytes(MESSAGE, CONTEXT, &signature);
        assert_eq!(verdict, INVALID, "bit {bit} of the key");
    }
}

/// A signature made in one way is not valid in another, and randomness makes a difference.
fn ways_of_signing_are_kept_apart<P: ParameterSet>() {
    let key = key::<P>();
    let vk = key.verifying_key();
    let (message, context) = (b"message", b"context");
    let randomness = P::N::from_fn(|_| 3);
    let deterministic = key.sign_deterministic(message, context);
    let deterministic = deterministic.expect("a short context");
    let hedged = key.sign(message, context, &randomness);
    let hedged = hedged.expect("a short context");
    assert_ne!(hedged, deterministic);
    // PK.seed is the randomness of the deterministic variant
    let pk_seed = array::<P::N>(&vk.as_bytes()[..P::N::N]);
    assert_eq!(
        key.sign(message, context, &pk_seed),
        Ok(deterministic.clone())
    );
    for signature in [&deterministic, &hedged] {
        assert_eq!(vk.verify(message, context, signature), Ok(()));
        // the same bytes, divided differently
        assert_eq!(vk.verify(b"tmessage", b"contex", signature), INVALID);
        assert_eq!(vk.verify(b"contextmessage", b"", signature), INVALID);
    }
    for hash in Hash::ALL {
        let is_signed = hash.is_signed_with(8 * P::N::N);
        let (name, hash, digest) = (hash.name, hash.pre_hash, hash.digest(message));
        let of_digest = key.hash_sign(hash, message, context, &randomness);
        if !is_signed {
            // FIPS 205, section 10.2.2
            let (least, actual) = (2 * P::N::N, digest.len());
            let refused = Err(Error::WeakHash { least, actual });
            assert_eq!(of_digest, refused, "{name}");
            let refusal = key.sign_digest(hash, &digest, context, &randomness);
            assert_eq!(refusal, refused, "{name}");
            continue;
        }
        let of_digest = of_digest.expect("a short context");
        let same = key.sign_digest(hash, &digest, context, &randomness);
        assert_eq!(same, Ok(of_digest.clone()), "{name}");
        let verdict = vk.verify_digest(hash, &digest, context, &of_digest);
        assert_eq!(verdict, Ok(()), "{name}");
        assert_eq!(vk.verify(message, context, &of_digest), INVALID, "{name}");
        assert_eq!(vk.verify(&digest, context, &of_digest), INVALID, "{name}");
        for other in Hash::ALL {
            let verdict = vk.hash_verify(other.pre_hash, message, context, &of_digest);
            let expected = if other.name == name { Ok(()) } else { INVALID };
            assert_eq!(verdict, expected, "{name} as {}", other.name);
            let verdict = vk.hash_verify(other.pre_hash, message, context, &hedged);
            assert_eq!(verdict, INVALID, "a message as {}", other.name);
        }
    }
}

/// Everything that has the wrong length is refused for this reason.
fn lengths_are_checked<P: ParameterSet>() {
    check_parser(P::VERIFYING_KEY_LEN, VerifyingKey::<P>::from_bytes);
    check_parser(P::SIGNING_KEY_LEN, SigningKey::<P>::from_bytes);
    check_parser(P::SIGNATURE_LEN, Signature::<P>::from_bytes);

    let (vk, signature) = signed::<P>();
    let key = key::<P>();
    let expected = P::SIGNATURE_LEN;
    let longer = [&*signature, &[0]].concat();
    for actual in [0, 1, P::N::N, expected - 1, expected + 1] {
        let error = Err(Error::WrongLength { expected, actual });
        let verdict = vk.verify_bytes(MESSAGE, CONTEXT, &longer[..actual]);
        assert_eq!(verdict, error);
        let mut output = vec![0; actual];
        let result = key.sign_into(MESSAGE, CONTEXT, None, &|_| (), &mut output);
        assert_eq!(result, error);
    }
    let mut output = vec![0; expected];
    for hash in Hash::ALL {
        let expected = hash.digest(b"").len();
        for actual in (0..=129).filter(|actual| *actual != expected) {
            let digest = vec![0; actual];
            let message = Message::Digest(hash.pre_hash, &digest);
            let error = Err(Error::WrongLength { expected, actual });
            assert_eq!(vk.verify_bytes(message, CONTEXT, &signature), error);
            let result = key.sign_into(message, CONTEXT, None, &|_| (), &mut output);
            let least = 2 * P::N::N;
            let refused = match hash.is_signed_with(8 * P::N::N) {
                true => error,
                // whatever the length
                false => Err(Error::WeakHash {
                    least,
                    actual: expected,
                }),
            };
            assert_eq!(result, refused);
        }
    }
    for len in [256, 257, 65_536] {
        let context = vec![7; len];
        let error = Err(Error::ContextTooLong);
        assert_eq!(vk.verify_bytes(MESSAGE, &context, &signature), error);
        let result = key.sign_into(MESSAGE, &context, None, &|_| (), &mut output);
        assert_eq!(result, error);
    }
    let context = [7; 255];
    assert_eq!(
        key.sign_into(MESSAGE, &context, None, &|_| (), &mut output),
        Ok(())
    );
    assert_eq!(vk.verify_bytes(MESSAGE, &context, &output), Ok(()));
}

/// A flipped bit of any part except SK.prf makes a key whose parts contradict each other.
fn inconsistent_keys_do_not_sign<P: ParameterSet>() {
    let key = key::<P>();
    assert_eq!(key.check(), Ok(()));
    let n = P::N::N;
    let mut signature = vec![0; P::SIGNATURE_LEN];
    for (byte, consistent) in [(0, false), (n, true), (2 * n, false), (4 * n - 1, false)] {
        let key = SigningKey::<P>::from_bytes(&flipped(key.as_bytes(), 8 * byte));
        let key = key.expect("of the right length");
        let expected = if consistent {
            Ok(())
        } else {
            Err(Error::InconsistentKey)
        };
        assert_eq!(key.check(), expected, "byte {byte}");
        let result = key.sign_into(MESSAGE, CONTEXT, None, &|_| (), &mut signature);
        assert_eq!(result, expected, "byte {byte}");
        assert_eq!(signature.iter().any(|byte| *byte != 0), consistent);
    }
}

fn progress_reaches_its_end<P: ParameterSet>() {
    let check = |operation: &dyn Fn(ProgressHook<'_>)| {
        let reports = Mutex::new(Vec::new());
        operation(&|progress| {
            reports
                .lock()
                .expect("no report panics")
                .push((progress.done, progress.total));
        });
        let mut reports = reports.into_inner().expect("no report panics");
        // with the feature `rayon`, they arrive out of order
        reports.sort_unstable();
        let (last, total) = *reports.last().expect("there are reports");
        assert_eq!(last, total);
        let increase = |pair: &[(u32, u32)]| pair[0].0 < pair[1].0 && pair[1].1 == total;
        assert!(reports.windows(2).all(increase));
    };
    let key = key::<P>();
    let seed = array::<P::SeedLen>(&key.as_bytes()[..3 * P::N::N]);
    check(&|progress| {
        let again = SigningKey::<P>::from_seed_with_progress(&seed, progress);
        assert_eq!(again.as_bytes(), key.as_bytes());
    });
    check(&|progress| {
        let mut signature = vec![0; P::SIGNATURE_LEN];
        let result = key.sign_into(MESSAGE, CONTEXT, None, progress, &mut signature);
        assert_eq!(result, Ok(()));
    });
}

/// Keys that differ only in a secret look the same.
fn debug_shows_no_secrets<P: ParameterSet>() {
    let sk = key::<P>().as_bytes().to_vec();
    let other = flipped(&sk, 1);
    let [one, other] = [sk, other].map(|sk| {
        let key = SigningKey::<P>::from_bytes(&sk).expect("of the right length");
        format!("{key:?}")
    });
    assert_eq!(one, other);
}

fn check_flipped<P: ParameterSet>(key: &VerifyingKey<P>, signature: &[u8], bit: usize) {
    let verdict = key.verify_bytes(MESSAGE, CONTEXT, &flipped(signature, bit));
    assert_eq!(verdict, INVALID, "bit {bit} of the signature");
}

fn signed<P: ParameterSet>() -> (VerifyingKey<P>, Vec<u8>) {
    let key = key::<P>();
    let mut signature = vec![0; P::SIGNATURE_LEN];
    key.sign_into(MESSAGE, CONTEXT, None, &|_| (), &mut signature)
        .expect("a consistent key");
    let verdict = key
        .verifying_key()
        .verify_bytes(MESSAGE, CONTEXT, &signature);
    assert_eq!(verdict, Ok(()));
    (key.verifying_key().clone(), signature)
}

fn key<P: ParameterSet>() -> SigningKey<P> {
    let mut random = Stream::new(P::NAME.as_bytes());
    SigningKey::from_seed(&array::<P::SeedLen>(&random.bytes(P::SeedLen::N)))
}

/// The sets of SP 800-230, and keys that count. Generating keys and signatures of these sets takes too long
/// here: the tests of `algorithms.rs` do that.
#[cfg(feature = "slh-dsa-sp800-230-draft")]
mod limited {
    use pq_core::slh_dsa::{
        LimitedSigningKey, SlhDsaSha2_128_24, SlhDsaSha2_192_24, SlhDsaSha2_256_24,
        SlhDsaShake128_24, SlhDsaShake192_24, SlhDsaShake256_24,
    };

    use super::*;

    tests! {
        sets_refuse:
            shake_128_24 SlhDsaShake128_24, sha2_128_24 SlhDsaSha2_128_24,
            shake_192_24 SlhDsaShake192_24, sha2_192_24 SlhDsaSha2_192_24,
            shake_256_24 SlhDsaShake256_24, sha2_256_24 SlhDsaSha2_256_24;
    }

    /// Refuses other lengths, arbitrary bytes of the right length, and one signature more than allowed.
    fn sets_refuse<P: ParameterSet>() {
        assert_eq!(P::MAX_SIGNATURES, 1 << 24);
        assert_eq!(P::SIGNING_KEY_LEN, 2 * P::VERIFYING_KEY_LEN);
        check_parser(P::VERIFYING_KEY_LEN, |bytes| {
            VerifyingKey::<P>::from_bytes(bytes).map(|key| key.as_bytes().to_vec())
        });
        check_parser(P::SIGNING_KEY_LEN, |bytes| {
            SigningKey::<P>::from_bytes(bytes).map(|key| key.as_bytes().to_vec())
        });
        check_parser(P::SIGNATURE_LEN, |bytes| {
            Signature::<P>::from_bytes(bytes).map(|signature| signature.as_bytes().to_vec())
        });

        let mut random = Stream::new(P::NAME.as_bytes());
        let key = SigningKey::<P>::from_bytes(&random.bytes(P::SIGNING_KEY_LEN));
        let key = key.expect("of the right length");
        let mut signature = random.bytes(P::SIGNATURE_LEN);
        let verify = |signature: &[u8]| {
            let key = key.verifying_key();
            key.verify_bytes(MESSAGE, CONTEXT, signature)
        };
        assert_eq!(verify(&signature), INVALID);
        assert_eq!(
            verify(&signature[1..]),
            Err(Error::WrongLength {
                expected: P::SIGNATURE_LEN,
                actual: P::SIGNATURE_LEN - 1,
            })
        );

        let mut place = None;
        let cut_off = &key.as_bytes()[1..];
        let refused = LimitedSigningKey::<P>::from_bytes_into(cut_off, 0, &mut place);
        assert!(matches!(refused, Err(Error::WrongLength { .. })));
        assert!(place.is_none());
        for made in [P::MAX_SIGNATURES, u64::MAX] {
            let mut place = None;
            let key = LimitedSigningKey::<P>::from_bytes_into(key.as_bytes(), made, &mut place);
            let key = key.expect("of the right length");
            let untouched = signature.clone();
            let signed = key.sign_into(MESSAGE, CONTEXT, None, &|_| (), &mut signature);
            assert_eq!(signed, Err(Error::SignatureLimit));
            assert_eq!(signature, untouched);
            assert_eq!((key.signatures(), key.remaining()), (made, 0));
        }
    }

    /// With a set that signs quickly, whose limit is that of the counter.
    #[test]
    fn signatures_are_counted() {
        type Set = SlhDsaSha2_128f;
        assert_eq!(Set::MAX_SIGNATURES, u64::MAX);
        let key = key::<Set>();
        let mut limited = LimitedSigningKey::new(key.clone(), u64::MAX - 2);
        assert_eq!(limited.key().as_bytes(), key.as_bytes());
        assert_eq!(limited.remaining(), 2);
        let signed = limited.sign(b"message", CONTEXT, &[3; 16]);
        let signed = signed.expect("two signatures are left");
        assert_eq!(key.sign(b"message", CONTEXT, &[3; 16]), Ok(signed.clone()));
        let verified = limited.verifying_key().verify(b"message", CONTEXT, &signed);
        assert_eq!(verified, Ok(()));
        assert_eq!(limited.signatures(), u64::MAX - 1);
        assert_eq!(limited.remaining(), 1);

        // A failed attempt is counted, too: part of its signature may have been revealed.
        let signed = limited.sign(b"message", &[0; 256], &[3; 16]);
        assert_eq!(signed, Err(Error::ContextTooLong));
        assert_eq!((limited.signatures(), limited.remaining()), (u64::MAX, 0));
        let signed = limited.sign(b"message", CONTEXT, &[3; 16]);
        assert_eq!(signed, Err(Error::SignatureLimit));
        assert_eq!(limited.signatures(), u64::MAX);
    }
}
