//! SLH-DSA beside RustCrypto's, on every backend: the verdict on signatures, keys and messages
//! that were changed. The fast sets, whose signatures are made once.
#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use pq_core::arch;
use pq_core::on_each_backend;
use pq_core::slh_dsa::{
    Message, ParameterSet, SigningKey, SlhDsaSha2_128f, SlhDsaSha2_192f, SlhDsaSha2_256f,
    SlhDsaShake128f, SlhDsaShake192f, SlhDsaShake256f, VerifyingKey,
};
use pq_core::{Array, Dimension};

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
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    /// What becomes of each before the signature is verified.
    key: Bytes<'a>,
    message: Bytes<'a>,
    context: Bytes<'a>,
    signature: Bytes<'a>,
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
