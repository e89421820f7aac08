//! ECDSA by graviola, which keeps the tables of recurring keys.
//!
//! A verification on P-256 spends a twentieth of its time on the table of multiples of the key, which
//! graviola's glue for rustls computes again each time.

use graviola::hashing::{Sha256, Sha384, Sha512};
use graviola::signing::ecdsa::{Curve, P256, P384, VerifyingKey};
use pki_types::{InvalidSignature, alg_id};

use crate::classical::graviola::clearing::Clearing;
use crate::classical::verification::ClassicalVerification;
use crate::keys::ExpandedKeys;

macro_rules! algorithms {
    ($($key:expr, $keys:ident: $signature:expr, $hash:ty;)+) => {
        [$(ClassicalVerification {
            name: "ECDSA",
            key: $key,
            signature: $signature,
            verify: |public_key, message, signature| {
                $keys.verify(VerifyingKey::verify_asn1::<$hash>, public_key, message, signature)
            },
        }),+]
    };
}

/// Each curve with each hash, in the order of graviola's glue.
pub(super) const ALL: [ClassicalVerification; 6] = algorithms! {
    alg_id::ECDSA_P256, P256_KEYS: alg_id::ECDSA_SHA512, Sha512;
    alg_id::ECDSA_P256, P256_KEYS: alg_id::ECDSA_SHA384, Sha384;
    alg_id::ECDSA_P256, P256_KEYS: alg_id::ECDSA_SHA256, Sha256;
    alg_id::ECDSA_P384, P384_KEYS: alg_id::ECDSA_SHA512, Sha512;
    alg_id::ECDSA_P384, P384_KEYS: alg_id::ECDSA_SHA384, Sha384;
    alg_id::ECDSA_P384, P384_KEYS: alg_id::ECDSA_SHA256, Sha256;
};

static P256_KEYS: Keys<P256> = Keys(ExpandedKeys::new());

static P384_KEYS: Keys<P384> = Keys(ExpandedKeys::new());

/// The keys on a curve, for all hashes.
struct Keys<C: Curve>(ExpandedKeys<VerifyingKey<C>>);

/// Checks an ASN.1 signature over a message in parts.
type Verify<C> =
    fn(&VerifyingKey<C>, message: &[&[u8]], signature: &[u8]) -> Result<(), graviola::Error>;

impl<C: Curve<PublicKey: Send + Sync>> Keys<C> {
    fn verify(
        &self,
        verify: Verify<C>,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let _clearing = Clearing;
        let parse =
            || VerifyingKey::<C>::from_x962_uncompressed(public_key).map_err(|_| InvalidSignature);
        match self.0.find(public_key, parse)? {
            Some(key) => verify(&key, &[message], signature),
            None => verify(&parse()?, &[message], signature),
        }
        .map_err(|_| InvalidSignature)
    }
}
