//! SLH-DSA beside RustCrypto's, which signs slowly: it signs with the fast sets and with SLH-DSA-SHA2-128s, and
//! only verifies what we sign with the other small sets.

use pq_core::Dimension;
use pq_core::slh_dsa::{ParameterSet, Signature, SigningKey, VerifyingKey, internal};

use super::random;
use crate::messages::{self, Hash};
use crate::parameter_sets::array;
use crate::stream::Stream;

/// How much of the comparison a set is fast enough for.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// Both make keys, sign and verify.
    Whole,
    /// RustCrypto only verifies.
    Verification,
}

macro_rules! tests {
    ($($sets:ident {
        $($name:ident: $ours:ident $theirs:ident $extent:ident,)*
    })*) => {$(
        mod $sets {
            use super::{Extent, ParameterSet, Peer, compare, random};

            $(
                #[test]
                fn $name() {
                    type Ours = ::pq_core::slh_dsa::$ours;
                    let mut random = random(Ours::NAME);
                    compare::<Ours, Peer<::slh_dsa::$theirs>>(&mut random, Extent::$extent);
                }
            )*
        }
    )*};
}

tests! {
    fast_sets {
        shake_128f: SlhDsaShake128f Shake128f Whole,
        shake_192f: SlhDsaShake192f Shake192f Whole,
        shake_256f: SlhDsaShake256f Shake256f Whole,
        sha2_128f: SlhDsaSha2_128f Sha2_128f Whole,
        sha2_192f: SlhDsaSha2_192f Sha2_192f Whole,
        sha2_256f: SlhDsaSha2_256f Sha2_256f Whole,
    }
    small_sets {
        shake_128s: SlhDsaShake128s Shake128s Verification,
        shake_192s: SlhDsaShake192s Shake192s Verification,
        shake_256s: SlhDsaShake256s Shake256s Verification,
        sha2_128s: SlhDsaSha2_128s Sha2_128s Whole,
        sha2_192s: SlhDsaSha2_192s Sha2_192s Verification,
        sha2_256s: SlhDsaSha2_256s Sha2_256s Verification,
    }
}

/// RustCrypto's `slh-dsa`.
struct Peer<P>(core::marker::PhantomData<P>);

trait Other {
    /// slh_keygen_internal with the three parts of a seed; returns the signing key.
    fn generate(seed: [&[u8]; 3]) -> Vec<u8>;
    /// slh_sign_internal
    fn sign(key: &[u8], message: &[u8], randomness: Option<&[u8]>) -> Vec<u8>;
    /// slh_verify_internal
    fn verify(key: &[u8], message: &[u8], signature: &[u8]) -> bool;
}

impl<P: ::slh_dsa::ParameterSet> Other for Peer<P> {
    fn generate([sk_seed, sk_prf, pk_seed]: [&[u8]; 3]) -> Vec<u8> {
        ::slh_dsa::SigningKey::<P>::slh_keygen_internal(sk_seed, sk_prf, pk_seed).to_vec()
    }

    fn sign(key: &[u8], message: &[u8], randomness: Option<&[u8]>) -> Vec<u8> {
        let key = ::slh_dsa::SigningKey::<P>::try_from(key).expect("of the right length");
        key.slh_sign_internal(&[message], randomness).to_vec()
    }

    fn verify(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = ::slh_dsa::VerifyingKey::<P>::try_from(key).expect("of the right length");
        let signature = ::slh_dsa::Signature::try_from(signature).expect("of the right length");
        key.slh_verify_internal(&[message], &signature).is_ok()
    }
}

fn compare<P: ParameterSet, O: Other>(random: &mut Stream, extent: Extent) {
    let n = P::N::N;
    let seed = random.bytes(3 * n);
    let key = SigningKey::<P>::from_seed(&array::<P::SeedLen>(&seed));
    let vk = key.verifying_key();
    if extent == Extent::Whole {
        let parts = [&seed[..n], &seed[n..2 * n], &seed[2 * n..]];
        assert_eq!(O::generate(parts), key.as_bytes());
    }

    let message_len = random.below(400);
    let message = random.bytes(message_len);
    let context_len = random.below(256);
    let context = random.bytes(context_len);
    let hashes = Hash::ALL.iter().filter(|hash| hash.is_signed_with(8 * n));
    let hashes: Vec<_> = hashes.collect();
    let hash = hashes[random.below(hashes.len())];
    let randomness = random.bytes(n);
    let hedge = array::<P::N>(&randomness);

    let hedged = key.sign(&message, &context, &hedge);
    let hashed = key.hash_sign(hash.pre_hash, &message, &context, &hedge);
    let pure = messages::pure_message_representative(&message, &context);
    let pre_hash = hash.message_representative(&message, &context);
    for (m, signature) in [(pure, hedged), (pre_hash, hashed)] {
        let signature = signature.expect("a short context");
        assert!(O::verify(vk.as_bytes(), &m, signature.as_bytes()));
        let mut flipped = signature.as_bytes().to_vec();
        random.flip_a_bit(&mut flipped);
        assert!(!O::verify(vk.as_bytes(), &m, &flipped));
        check_on_each_backend(vk, &m, &flipped, false);
        if extent == Extent::Whole {
            let theirs = O::sign(key.as_bytes(), &m, Some(&randomness));
            assert!(theirs == signature.as_bytes(), "{}", P::NAME);
            check_on_each_backend(vk, &m, &theirs, true);
        }
    }
}

fn check_on_each_backend<P: ParameterSet>(
    key: &VerifyingKey<P>,
    message: &[u8],
    signature: &[u8],
    valid: bool,
) {
    let signature = Signature::from_bytes(signature).expect("of the right length");
    on_each_backend!(backend => {
        assert_eq!(internal::verify(backend, key, &[message], &signature), valid);
    });
}
