//! ML-DSA beside RustCrypto's, on every backend: what is signed, and the verdict on signatures,
//! keys, messages and contexts that were changed.
#![no_main]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::one_of;
use fuzz::signatures::{Parts, Peer, check_verdicts, formatted};
use libfuzzer_sys::fuzz_target;
use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, PreHash, SigningKey, batch};
use pq_core::{Error, arch, on_each_backend};

fuzz_target!(|input: Input<'_>| {
    match input.set {
        Set::MlDsa44 => check::<MlDsa44>(&input),
        Set::MlDsa65 => check::<MlDsa65>(&input),
        Set::MlDsa87 => check::<MlDsa87>(&input),
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    set: Set,
    xi: [u8; 32],
    randomness: [u8; 32],
    message: &'a [u8],
    context: &'a [u8],
    /// The change to each before the signature is verified.
    changed_key: Bytes<'a>,
    changed_message: Bytes<'a>,
    changed_context: Bytes<'a>,
    changed_signature: Bytes<'a>,
    /// The change to the expanded signing key.
    expanded: Bytes<'a>,
    hash: u8,
    changed_digest: Bytes<'a>,
}

impl Input<'_> {
    /// The digest of the message, which is hashed in two parts.
    fn digest(&self, hash: PreHash) -> Vec<u8> {
        let mut hasher = hash.hasher();
        let (one, other) = self.message.split_at(self.message.len() / 2);
        hasher.update(one);
        hasher.update(other);
        let digest = hasher.finish();
        assert_eq!(
            (digest.hash(), digest.as_bytes().len()),
            (hash, hash.digest_len())
        );
        digest.as_bytes().to_vec()
    }
}

#[derive(Arbitrary, Debug)]
enum Set {
    MlDsa44,
    MlDsa65,
    MlDsa87,
}

fn check<P: Peer>(input: &Input<'_>) {
    let (expanded, key) = P::generate(&input.xi);
    let m = formatted(input.message, input.context);
    let signature = m.map(|m| P::signature(&expanded, &m, &input.randomness));
    let changed_expanded = ChangedExpanded::new::<P>(&expanded, input);
    on_each_backend!(b => {
        arch::limit(b);
        check_generation::<P>(&expanded, &key, input);
        changed_expanded.check::<P>(input);
    });

    // A context that is too long can't be used to sign, but verification has to handle it.
    let valid = Parts {
        key: &key,
        message: input.message,
        context: input.context,
        signature: signature.as_deref().unwrap_or(&[]),
    };
    let [key, message, context, signature] = [
        input.changed_key.of(valid.key),
        input.changed_message.of(valid.message),
        input.changed_context.of(valid.context),
        input.changed_signature.of(valid.signature),
    ];
    let changed = Parts {
        key: &key,
        message: &message,
        context: &context,
        signature: &signature,
    };
    let is_valid = P::accepts(&changed);
    assert_eq!(is_valid, changed == valid && !valid.signature.is_empty());
    on_each_backend!(b => {
        arch::limit(b);
        check_signature::<P>(&valid, input);
        check_verdicts::<P>(&valid, &changed, is_valid);
    });
}

fn check_generation<P: Peer>(expanded: &[u8], verifying_key: &[u8], input: &Input<'_>) {
    let mut result = None::<SigningKey<P>>;
    batch::generate([batch::Generate {
        seed: &input.xi,
        result: &mut result,
    }]);
    let key = SigningKey::<P>::from_seed(&input.xi);
    let mut place = None;
    let in_place = SigningKey::<P>::from_seed_into(&input.xi, &mut place);
    let [mut copy, other] = [&key, in_place].map(SigningKey::clone);
    copy.clone_from(&other);
    for key in [&key, &result.expect("a key"), in_place, &other, &copy] {
        assert_eq!(key.to_expanded().as_ref(), expanded);
        assert_eq!(key.verifying_key().as_bytes(), verifying_key);
        assert_eq!(format!("{key:?}"), format!("SigningKey<{}>(..)", P::NAME));
    }
}

/// Checks that the signature equals the peer's. A signature of a digest is one of the digest's message, and
/// neither is accepted as the other kind.
fn check_signature<P: Peer>(valid: &Parts<'_>, input: &Input<'_>) {
    let key = SigningKey::<P>::from_seed(&input.xi);
    let (message, context) = (input.message, input.context);
    // others are refused
    let hashes = PreHash::ALL.iter().copied();
    let hashes: Vec<_> = hashes
        .filter(|hash| 8 * hash.digest_len() >= 2 * P::LAMBDA)
        .collect();
    let hash = one_of(&hashes, input.hash);
    let pure = key.sign(message, context, &input.randomness);
    let hashed = key.hash_sign(hash, message, context, &input.randomness);
    let (Ok(pure), Ok(hashed)) = (&pure, &hashed) else {
        assert!(context.len() > 255);
        assert_eq!(
            (pure, hashed),
            (Err(Error::ContextTooLong), Err(Error::ContextTooLong))
        );
        return;
    };
    assert_eq!(pure.as_bytes(), valid.signature);
    assert_eq!(
        key.sign_deterministic(message, context),
        key.sign(message, context, &[0; 32])
    );
    let digest = input.digest(hash);
    let of_digest = key.sign_digest(hash, &digest, context, &input.randomness);
    let of_digest = of_digest.expect("a digest of the right length");
    assert_eq!(of_digest.as_bytes(), hashed.as_bytes());
    let key = key.verifying_key();
    assert_eq!(key.verify_digest(hash, &digest, context, hashed), Ok(()));
    let changed = input.changed_digest.of(&digest);
    let verdict = key.verify_digest(hash, &changed, context, hashed);
    assert_eq!(verdict.is_ok(), changed == digest);
    assert_eq!(key.hash_verify(hash, message, context, hashed), Ok(()));
    for invalid in [
        key.verify(message, context, hashed),
        key.hash_verify(hash, message, context, pure),
    ] {
        assert_eq!(invalid, Err(Error::InvalidSignature));
    }
}

/// The changed expanded signing key, and the peer's signature with it. `None` if the key isn't
/// equivalent: only K can change, since nothing else depends on K.
struct ChangedExpanded {
    bytes: Vec<u8>,
    signature: Option<Vec<u8>>,
}

impl ChangedExpanded {
    fn new<P: Peer>(expanded: &[u8], input: &Input<'_>) -> Self {
        let bytes = input.expanded.of(expanded);
        let is_consistent = bytes.len() == expanded.len()
            && bytes[..32] == expanded[..32]
            && bytes[64..] == expanded[64..];
        let sign = || {
            let m = formatted(input.message, &[])?;
            Some(P::signature(&bytes, &m, &input.randomness))
        };
        Self {
            signature: is_consistent.then(sign).flatten(),
            bytes,
        }
    }

    fn check<P: Peer>(&self, input: &Input<'_>) {
        match SigningKey::<P>::from_expanded(&self.bytes) {
            Ok(key) => {
                assert_eq!(key.to_expanded().as_ref(), self.bytes);
                let signature = key.sign(input.message, &[], &input.randomness);
                let signature = signature.expect("a short context");
                assert_eq!(Some(signature.as_bytes()), self.signature.as_deref());
            }
            Err(_) => assert_eq!(self.signature, None),
        }
    }
}
