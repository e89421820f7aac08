//! ML-DSA beside RustCrypto's, on every backend: what is signed, and the verdict on signatures,
//! keys, messages and contexts that were changed.
#![no_main]
// RustCrypto would rather have seeds than expanded keys.
#![expect(deprecated, reason = "what becomes of expanded keys is compared, too")]

use arbitrary::Arbitrary;
use fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use ml_dsa::ExpandedSigningKey;
use pq_core::Error;
use pq_core::arch;
use pq_core::ml_dsa::batch::{self, Verify};
use pq_core::ml_dsa::{
    MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreHash, Signature, SigningKey, VerifyingKey,
};
use pq_core::on_each_backend;

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
    /// What becomes of each before the signature is verified.
    changed_key: Bytes<'a>,
    changed_message: Bytes<'a>,
    changed_context: Bytes<'a>,
    changed_signature: Bytes<'a>,
    /// What becomes of the expanded signing key.
    expanded: Bytes<'a>,
    hash: u8,
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

    // Nobody signs with a context that is too long, but everybody has to verify.
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
    for key in [SigningKey::from_seed(&input.xi), result.expect("a key")] {
        assert_eq!(key.to_expanded().as_ref(), expanded);
        assert_eq!(key.verifying_key().as_bytes(), verifying_key);
    }
}

/// The signature is the peer's. One of a digest is one of the message that the digest is of, and
/// neither passes for the other.
fn check_signature<P: Peer>(valid: &Parts<'_>, input: &Input<'_>) {
    let key = SigningKey::<P>::from_seed(&input.xi);
    let (message, context) = (input.message, input.context);
    let hash = PreHash::ALL[usize::from(input.hash) % PreHash::ALL.len()];
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
    let key = key.verifying_key();
    assert_eq!(key.hash_verify(hash, message, context, hashed), Ok(()));
    for invalid in [
        key.verify(message, context, hashed),
        key.hash_verify(hash, message, context, pure),
    ] {
        assert_eq!(invalid, Err(Error::InvalidSignature));
    }
}

/// Every way of verifying comes to the same verdict.
fn check_verdicts<P: Peer>(valid: &Parts<'_>, changed: &Parts<'_>, is_valid: bool) {
    let verdict = changed.verify::<P>();
    assert_eq!(verdict.is_ok(), is_valid);

    // In a batch, among others: more than one group of them, and not in step.
    let items = [valid, changed, valid, changed, valid];
    let of_valid = valid.verify::<P>();
    let expected = [of_valid, verdict, of_valid, verdict, of_valid];
    let mut results = [None; 5];
    batch::verify::<P>(
        items
            .iter()
            .zip(&mut results)
            .map(|(parts, result)| parts.item(parts.key, result)),
    );
    assert_eq!(results, expected.map(Some));

    let Ok(key) = VerifyingKey::<P>::from_bytes(changed.key) else {
        assert_ne!(changed.key.len(), P::VERIFYING_KEY_LEN);
        return;
    };
    assert_eq!(key.as_bytes(), changed.key);
    let expanded = key.expand();
    let mut results = [None; 2];
    batch::verify_expanded(
        results
            .iter_mut()
            .map(|result| changed.item(&expanded, result)),
    );
    assert_eq!(results, [Some(verdict); 2]);
    let Ok(signature) = Signature::<P>::from_bytes(changed.signature) else {
        assert_ne!(changed.signature.len(), P::SIGNATURE_LEN);
        return;
    };
    assert_eq!(
        expanded.verify(changed.message, changed.context, &signature),
        verdict
    );
    if let Ok(mu) = key.mu(changed.message, changed.context) {
        assert_eq!(expanded.verify_mu(&mu, &signature), verdict);
        assert_eq!(key.verify_mu(&mu, &signature), verdict);
    }
}

/// What becomes of an expanded signing key, and the peer's signature with it. `None` if it isn't
/// the key that it was: nothing can be changed but K, which nothing else depends on.
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

/// What a verifier is given.
#[derive(Clone, Copy, PartialEq)]
struct Parts<'a> {
    key: &'a [u8],
    message: &'a [u8],
    context: &'a [u8],
    signature: &'a [u8],
}

impl<'a> Parts<'a> {
    fn verify<P: ParameterSet>(&self) -> Result<(), Error> {
        let key = VerifyingKey::<P>::from_bytes(self.key)?;
        let signature = Signature::from_bytes(self.signature)?;
        key.verify(self.message, self.context, &signature)
    }

    fn item<K>(&self, key: K, result: &'a mut Option<Result<(), Error>>) -> Verify<'a, K> {
        Verify {
            key,
            message: self.message,
            context: self.context,
            signature: self.signature,
            result,
        }
    }
}

/// M′ of FIPS 204, algorithm 2.
fn formatted(message: &[u8], context: &[u8]) -> Option<Vec<u8>> {
    let len = u8::try_from(context.len()).ok()?;
    Some([&[0, len], context, message].concat())
}

/// The same parameter set of RustCrypto's.
trait Peer: ParameterSet {
    /// The expanded key and the verifying key.
    fn generate(xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>);
    fn signature(expanded: &[u8], m: &[u8], randomness: &[u8; 32]) -> Vec<u8>;
    fn accepts(parts: &Parts<'_>) -> bool;
}

macro_rules! peers {
    ($($set:ident),+) => {$(
        impl Peer for $set {
            fn generate(xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                let key = ExpandedSigningKey::<ml_dsa::$set>::from_seed(&(*xi).into());
                (key.to_expanded().to_vec(), key.verifying_key().encode().to_vec())
            }

            fn signature(expanded: &[u8], m: &[u8], randomness: &[u8; 32]) -> Vec<u8> {
                let expanded = expanded.try_into().expect("of the right length");
                ExpandedSigningKey::<ml_dsa::$set>::from_expanded(expanded)
                    .sign_internal(&[m], &(*randomness).into())
                    .encode()
                    .to_vec()
            }

            fn accepts(parts: &Parts<'_>) -> bool {
                let verdict = || {
                    let key = parts.key.try_into().ok()?;
                    let key = ml_dsa::VerifyingKey::<ml_dsa::$set>::decode(key);
                    let signature = parts.signature.try_into().ok()?;
                    let signature = ml_dsa::Signature::<ml_dsa::$set>::decode(signature)?;
                    let m = formatted(parts.message, parts.context)?;
                    Some(key.verify_internal(&m, &signature))
                };
                verdict().unwrap_or(false)
            }
        }
    )+};
}

peers!(MlDsa44, MlDsa65, MlDsa87);
