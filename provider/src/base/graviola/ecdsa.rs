//! ECDSA by graviola, which keeps the tables of recurring keys.
//!
//! A verification on P-256 spends a twentieth of its time on the table of multiples of the key, which
//! graviola's glue for rustls computes again each time.

use core::fmt;

use graviola::hashing::{Sha256, Sha384, Sha512};
use graviola::signing::ecdsa::{Curve, P256, P384, VerifyingKey};
use pq_x509::verification::ExpandedKeys;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};

use super::cleared::Clearing;
use crate::verify::Algorithm;

/// Each curve with each hash, in the order of graviola's glue.
pub(super) static ALL: [Algorithm; 6] = [
    &Ecdsa {
        keys: &P256_KEYS,
        signature: alg_id::ECDSA_SHA512,
        verify: VerifyingKey::verify_asn1::<Sha512>,
    },
    &Ecdsa {
        keys: &P256_KEYS,
        signature: alg_id::ECDSA_SHA384,
        verify: VerifyingKey::verify_asn1::<Sha384>,
    },
    &Ecdsa {
        keys: &P256_KEYS,
        signature: alg_id::ECDSA_SHA256,
        verify: VerifyingKey::verify_asn1::<Sha256>,
    },
    &Ecdsa {
        keys: &P384_KEYS,
        signature: alg_id::ECDSA_SHA512,
        verify: VerifyingKey::verify_asn1::<Sha512>,
    },
    &Ecdsa {
        keys: &P384_KEYS,
        signature: alg_id::ECDSA_SHA384,
        verify: VerifyingKey::verify_asn1::<Sha384>,
    },
    &Ecdsa {
        keys: &P384_KEYS,
        signature: alg_id::ECDSA_SHA256,
        verify: VerifyingKey::verify_asn1::<Sha256>,
    },
];

static P256_KEYS: Keys<P256> = Keys {
    algorithm: alg_id::ECDSA_P256,
    expanded: ExpandedKeys::new(),
};

static P384_KEYS: Keys<P384> = Keys {
    algorithm: alg_id::ECDSA_P384,
    expanded: ExpandedKeys::new(),
};

/// The keys on a curve, for all hashes.
struct Keys<C: Curve> {
    algorithm: AlgorithmIdentifier,
    expanded: ExpandedKeys<VerifyingKey<C>>,
}

struct Ecdsa<C: Curve + 'static> {
    keys: &'static Keys<C>,
    signature: AlgorithmIdentifier,
    verify: Verify<C>,
}

/// Checks an ASN.1 signature over a message in parts.
type Verify<C> =
    fn(&VerifyingKey<C>, message: &[&[u8]], signature: &[u8]) -> Result<(), graviola::Error>;

impl<C: Curve<PublicKey: Send + Sync>> SignatureVerificationAlgorithm for Ecdsa<C> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let _clearing = Clearing;
        let parse =
            || VerifyingKey::<C>::from_x962_uncompressed(public_key).map_err(|_| InvalidSignature);
        match self.keys.expanded.find(public_key, parse)? {
            Some(key) => (self.verify)(&key, &[message], signature),
            None => (self.verify)(&parse()?, &[message], signature),
        }
        .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.keys.algorithm
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }
}

impl<C: Curve> fmt::Debug for Ecdsa<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ecdsa")
            .field("key", &self.keys.algorithm)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, KeyPair,
    };

    use super::*;
    use crate::base::graviola::cleared::left_in_use;

    #[test]
    fn new_keys_and_kept_keys() {
        check(ALL[2], &ECDSA_P256_SHA256_ASN1_SIGNING);
        check(ALL[4], &ECDSA_P384_SHA384_ASN1_SIGNING);
    }

    fn check(ours: Algorithm, signing: &'static EcdsaSigningAlgorithm) {
        let random = SystemRandom::new();
        let [key, other] = [(), ()].map(|()| {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(signing, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(signing, pkcs8.as_ref(), &random).unwrap()
        });
        let signature = key.sign(&random, b"message").unwrap();
        let signature = signature.as_ref();
        let public_key = key.public_key().as_ref();
        // Once unknown, once seen, then kept.
        for _ in 0..4 {
            let verify = || {
                ours.verify_signature(public_key, b"message", signature)
                    .unwrap();
            };
            assert_ne!(left_in_use(verify), Some(true));
            assert!(
                ours.verify_signature(public_key, b"Message", signature)
                    .is_err()
            );
            assert!(
                ours.verify_signature(public_key, b"message", &signature[1..])
                    .is_err()
            );
            let other = other.public_key().as_ref();
            assert!(ours.verify_signature(other, b"message", signature).is_err());
            let mut off_curve = public_key.to_vec();
            off_curve[public_key.len() - 1] ^= 1;
            assert!(
                ours.verify_signature(&off_curve, b"message", signature)
                    .is_err()
            );
            assert!(
                ours.verify_signature(&public_key[1..], b"message", signature)
                    .is_err()
            );
            assert!(ours.verify_signature(&[], b"message", signature).is_err());
        }
    }
}
