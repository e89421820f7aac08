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
    on_each_backend!(b => {
        arch::limit(b);
        match input.set {
            Set::MlDsa44 => check::<MlDsa44>(&input),
            Set::MlDsa65 => check::<MlDsa65>(&input),
            Set::MlDsa87 => check::<MlDsa87>(&input),
        }
    });
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
    let key = SigningKey::<P>::from_seed(&input.xi);
    let mut generated = None::<SigningKey<P>>;
    batch::generate([batch::Generate {
        seed: &input.xi,
        result: &mut generated,
    }]);
    let expanded = key.to_expanded().as_ref().to_vec();
    assert_eq!(expanded, P::expanded(&input.xi));
    assert_eq!(
        generated.map(|key| key.to_expanded().as_ref().to_vec()),
        Some(expanded.clone())
    );

    check_expanded::<P>(&expanded, input);
    match key.sign(input.message, input.context, &input.randomness) {
        Ok(signature) => {
            let m = formatted(input.message, input.context).expect("a short context");
            assert_eq!(
                signature.as_bytes(),
                P::signature(&expanded, &m, &input.randomness)
            );
            check_verdicts(key.verifying_key(), &signature, input);
            check_pre_hash(&key, &signature, input);
        }
        Err(error) => {
            assert_eq!(error, Error::ContextTooLong);
            assert!(input.context.len() > 255);
        }
    }
}

/// Every way of verifying comes to the peer's verdict, and only what wasn't changed is valid.
fn check_verdicts<P: Peer>(key: &VerifyingKey<P>, signature: &Signature<P>, input: &Input<'_>) {
    let valid = Parts {
        key: key.as_bytes(),
        message: input.message,
        context: input.context,
        signature: signature.as_bytes(),
    };
    let changed_key = input.changed_key.of(valid.key);
    let message = input.changed_message.of(valid.message);
    let context = input.changed_context.of(valid.context);
    let changed_signature = input.changed_signature.of(valid.signature);
    let changed = Parts {
        key: &changed_key,
        message: &message,
        context: &context,
        signature: &changed_signature,
    };

    let verdict = changed.verify::<P>();
    assert_eq!(verdict.is_ok(), P::accepts(&changed));
    assert_eq!(verdict.is_ok(), changed == valid);

    // In a batch, among others that are valid: more than one group of them, and not in step.
    let items = [valid, changed, valid, changed, valid, valid];
    let expected = items.map(|parts| Some(parts.verify::<P>()));
    let mut results = [None; 6];
    batch::verify::<P>(
        items
            .iter()
            .zip(&mut results)
            .map(|(parts, result)| parts.item(parts.key, result)),
    );
    assert_eq!(results, expected);

    let Ok(key) = VerifyingKey::<P>::from_bytes(changed.key) else {
        assert_ne!(changed.key.len(), P::VERIFYING_KEY_LEN);
        return;
    };
    assert_eq!(key.as_bytes(), changed.key);
    let key = key.expand();
    let mut results = [None; 2];
    batch::verify_expanded(results.iter_mut().map(|result| changed.item(&key, result)));
    assert_eq!(results, [Some(verdict); 2]);
    let Ok(signature) = Signature::<P>::from_bytes(changed.signature) else {
        return;
    };
    assert_eq!(key.verify(&message, &context, &signature), verdict);
    if let Ok(mu) = key.verifying_key().mu(&message, &context) {
        assert_eq!(key.verify_mu(&mu, &signature), verdict);
        assert_eq!(key.verifying_key().verify_mu(&mu, &signature), verdict);
    }
}

/// A signature of a digest is one of the message that the digest is of, and neither it nor the
/// pure one passes for the other.
fn check_pre_hash<P: Peer>(key: &SigningKey<P>, pure: &Signature<P>, input: &Input<'_>) {
    let hash = PreHash::ALL[usize::from(input.hash) % PreHash::ALL.len()];
    let (message, context) = (input.message, input.context);
    let signature = key
        .hash_sign(hash, message, context, &input.randomness)
        .expect("a short context");
    let verifying_key = key.verifying_key();
    assert_eq!(
        verifying_key.hash_verify(hash, message, context, &signature),
        Ok(())
    );
    for invalid in [
        verifying_key.verify(message, context, &signature),
        verifying_key.hash_verify(hash, message, context, pure),
    ] {
        assert_eq!(invalid, Err(Error::InvalidSignature));
    }
}

/// Nothing in an expanded key can be changed but K, which nothing else depends on.
fn check_expanded<P: Peer>(expanded: &[u8], input: &Input<'_>) {
    let bytes = input.expanded.of(expanded);
    let consistent = bytes.len() == expanded.len()
        && bytes[..32] == expanded[..32]
        && bytes[64..] == expanded[64..];
    match SigningKey::<P>::from_expanded(&bytes) {
        Ok(key) => {
            assert!(consistent || matches!(input.expanded, Bytes::Whole(_)));
            assert_eq!(key.to_expanded().as_ref(), bytes);
            let signature = key.sign(input.message, &[], &input.randomness);
            let m = formatted(input.message, &[]).expect("a short context");
            assert_eq!(
                signature.expect("a short context").as_bytes(),
                P::signature(&bytes, &m, &input.randomness)
            );
        }
        Err(_) => assert!(!consistent),
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
    fn expanded(xi: &[u8; 32]) -> Vec<u8>;
    fn signature(expanded: &[u8], m: &[u8], randomness: &[u8; 32]) -> Vec<u8>;
    fn accepts(parts: &Parts<'_>) -> bool;
}

macro_rules! peers {
    ($($set:ident),+) => {$(
        impl Peer for $set {
            fn expanded(xi: &[u8; 32]) -> Vec<u8> {
                ExpandedSigningKey::<ml_dsa::$set>::from_seed(&(*xi).into())
                    .to_expanded()
                    .to_vec()
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
