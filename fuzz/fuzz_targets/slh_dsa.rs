//! SLH-DSA beside RustCrypto's, on every backend: the verdict on signatures, keys and messages
//! that were changed, for the fast sets, whose signatures are made once; for the two smallest sets, also the signatures
//! by keys that were changed.
#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::one_of;
use libfuzzer_sys::fuzz_target;
use pq_core::arch;
use pq_core::on_each_backend;
use pq_core::slh_dsa::{
    Message, ParameterSet, PreHash, Signature, SigningKey, SlhDsaSha2_128f, SlhDsaSha2_192f,
    SlhDsaSha2_256f, SlhDsaShake128f, SlhDsaShake192f, SlhDsaShake256f, VerifyingKey,
};
use pq_core::{Array, Dimension, Error};

fuzz_target!(|input: Input<'_>| {
    macro_rules! check {
        ($ours:ident, $theirs:ident) => {{
            static SIGNED: OnceLock<Signed> = OnceLock::new();
            check::<$ours>(
                SIGNED.get_or_init(sign::<$ours>),
                &input,
                verify_by_peer::<slh_dsa::$theirs>,
            )
        }};
    }
    match input.set {
        Set::Shake128f => check!(SlhDsaShake128f, Shake128f),
        Set::Shake192f => check!(SlhDsaShake192f, Shake192f),
        Set::Shake256f => check!(SlhDsaShake256f, Shake256f),
        Set::Sha2_128f => check!(SlhDsaSha2_128f, Sha2_128f),
        Set::Sha2_192f => check!(SlhDsaSha2_192f, Sha2_192f),
        Set::Sha2_256f => check!(SlhDsaSha2_256f, Sha2_256f),
    }
    match (&input.signing, &input.set) {
        (Some(signing), Set::Shake128f) => {
            signing.check::<SlhDsaShake128f>(sign_by_peer::<slh_dsa::Shake128f>)
        }
        (Some(signing), Set::Sha2_128f) => {
            signing.check::<SlhDsaSha2_128f>(sign_by_peer::<slh_dsa::Sha2_128f>)
        }
        _ => {}
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    /// The change to each before the signature is verified.
    key: Bytes<'a>,
    message: Bytes<'a>,
    context: Bytes<'a>,
    signature: Bytes<'a>,
    signing: Option<Signing<'a>>,
}

/// A signature that is made for each input.
#[derive(Arbitrary, Debug)]
struct Signing<'a> {
    /// The change to the key.
    key: Bytes<'a>,
    randomness: u8,
    message: &'a [u8],
    context: &'a [u8],
    hash: u8,
    /// The change to the digest before its signature is verified.
    digest: Bytes<'a>,
}

#[derive(Arbitrary, Debug)]
enum Set {
    Shake128f,
    Shake192f,
    Shake256f,
    Sha2_128f,
    Sha2_192f,
    Sha2_256f,
}

const MESSAGE: &[u8] = b"a message";
const CONTEXT: &[u8] = b"a context";

/// A key and its signature of `MESSAGE` with `CONTEXT`.
struct Signed {
    key: Vec<u8>,
    signature: Vec<u8>,
}

fn sign<P: ParameterSet>() -> Signed {
    let key = SigningKey::<P>::from_seed(&counting::<P::SeedLen>());
    let signature = key.sign_deterministic(MESSAGE, CONTEXT);
    Signed {
        key: key.verifying_key().as_bytes().to_vec(),
        signature: signature.expect("a short context").as_bytes().to_vec(),
    }
}

fn counting<N: Dimension>() -> Array<N, u8> {
    N::from_fn(|i| i as u8)
}

fn check<P: ParameterSet>(signed: &Signed, input: &Input<'_>, peer: Verify) {
    let key = input.key.of(&signed.key);
    let message = input.message.of(MESSAGE);
    let context = input.context.of(CONTEXT);
    let signature = input.signature.of(&signed.signature);
    let unchanged = (key == signed.key)
        && (message == MESSAGE)
        && (context == CONTEXT)
        && (signature == signed.signature);
    let theirs = peer(&key, &message, &context, &signature).unwrap_or(false);
    on_each_backend!(b => {
        arch::limit(b);
        let ours = VerifyingKey::<P>::from_bytes(&key)
            .and_then(|key| key.verify_bytes(Message::Pure(&message), &context, &signature));
        assert_eq!(ours.is_ok(), theirs);
        assert_eq!(ours.is_ok(), unchanged);
    });
}

impl Signing<'_> {
    /// Checks that a key signs as the peer does if its public half is right.
    fn check<P: ParameterSet>(&self, peer: Sign) {
        arch::lift_limit();
        let original = SigningKey::<P>::from_seed(&counting::<P::SeedLen>());
        let bytes = self.key.of(original.as_bytes());
        let mut place = None;
        let in_place = SigningKey::<P>::from_bytes_into(&bytes, &mut place);
        let Ok(key) = SigningKey::<P>::from_bytes(&bytes) else {
            assert!(in_place.is_err() && bytes.len() != P::SIGNING_KEY_LEN);
            return;
        };
        let mut copy = key.clone();
        copy.clone_from(in_place.expect("what is read, is so everywhere"));
        assert_eq!(copy.as_bytes(), bytes);
        // Only SK.prf does not affect the public key.
        let (n, bytes_of_original) = (P::N::N, original.as_bytes());
        let is_consistent =
            bytes[..n] == bytes_of_original[..n] && bytes[2 * n..] == bytes_of_original[2 * n..];
        assert_eq!(
            key.check(),
            is_consistent.then_some(()).ok_or(Error::InconsistentKey)
        );
        if is_consistent {
            assert_eq!(format!("{key:?}"), format!("{original:?}"));
        }

        let (message, context) = (self.message, self.context);
        let randomness = P::N::from_fn(|_| self.randomness);
        let pure = key.sign(message, context, &randomness);
        let pure = match (pure, u8::try_from(context.len())) {
            (pure, Err(_)) => return assert_eq!(pure, Err(Error::ContextTooLong)),
            (pure, Ok(_)) if !is_consistent => {
                return assert_eq!(pure, Err(Error::InconsistentKey));
            }
            (pure, Ok(len)) => {
                let pure = pure.expect("a key that signs");
                let theirs = peer(&bytes, &[&[0, len], context, message], randomness.as_ref());
                assert_eq!(pure.as_bytes(), theirs);
                pure
            }
        };
        self.check_digest(&key, &pure, &randomness);
    }

    /// Checks that the signature of a message that is hashed equals the signature of its digest, and that pure and
    /// pre-hash signatures are not valid as each other.
    fn check_digest<P: ParameterSet>(
        &self,
        key: &SigningKey<P>,
        pure: &Signature<P>,
        randomness: &Array<P::N, u8>,
    ) {
        let (message, context) = (self.message, self.context);
        // others are refused
        let hashes = PreHash::ALL.iter().copied();
        let hashes: Vec<_> = hashes
            .filter(|hash| hash.digest_len() >= 2 * P::N::N)
            .collect();
        let hash = one_of(&hashes, self.hash);
        let mut hasher = hash.hasher();
        hasher.update(message);
        let digest = hasher.finish();
        let hashed = key.hash_sign(hash, message, context, randomness);
        let of_digest = key.sign_digest(hash, digest.as_bytes(), context, randomness);
        assert_eq!(hashed, of_digest);
        let hashed = hashed.expect("a key that signs");
        let key = key.verifying_key();
        assert_eq!(key.verify(message, context, pure), Ok(()));
        assert_eq!(key.hash_verify(hash, message, context, &hashed), Ok(()));
        let changed = self.digest.of(digest.as_bytes());
        let verdict = key.verify_digest(hash, &changed, context, &hashed);
        assert_eq!(verdict.is_ok(), changed == digest.as_bytes());
        for invalid in [
            key.verify(message, context, &hashed),
            key.hash_verify(hash, message, context, pure),
        ] {
            assert_eq!(invalid, Err(Error::InvalidSignature));
        }
    }
}

/// Signs a message in parts with a key and randomness.
type Sign = fn(&[u8], &[&[u8]], &[u8]) -> Vec<u8>;

fn sign_by_peer<P: slh_dsa::ParameterSet>(
    key: &[u8],
    message: &[&[u8]],
    randomness: &[u8],
) -> Vec<u8> {
    let key = slh_dsa::SigningKey::<P>::try_from(key).expect("a key of the right length");
    let signature = key.slh_sign_internal(message, Some(randomness));
    signature.to_bytes().to_vec()
}

/// The verdict on a key, a message, a context and a signature; `None` if one has a wrong length.
type Verify = fn(&[u8], &[u8], &[u8], &[u8]) -> Option<bool>;

fn verify_by_peer<P: slh_dsa::ParameterSet>(
    key: &[u8],
    message: &[u8],
    context: &[u8],
    signature: &[u8],
) -> Option<bool> {
    let key = slh_dsa::VerifyingKey::<P>::try_from(key).ok()?;
    let signature = slh_dsa::Signature::try_from(signature).ok()?;
    let len = u8::try_from(context.len()).ok()?;
    let verdict = key.slh_verify_internal(&[&[0, len], context, message], &signature);
    Some(verdict.is_ok())
}
