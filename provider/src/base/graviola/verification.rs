//! Puts pq-keys' verification by graviola in the place of graviola's own.

use std::sync::LazyLock;

use pq_x509::verification::classical_algorithms;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};

use crate::verify::Algorithm;

/// The algorithms of graviola's glue, in its order, and RSA without parameters.
fn all() -> &'static [Algorithm] {
    classical_algorithms().expect("whoever has this base has a CPU that can run it")
}

/// `provider`, which is graviola's, with these algorithms in place of its own.
pub(super) fn in_place(provider: CryptoProvider) -> CryptoProvider {
    /// Made once, and kept as long as the process.
    static ALGORITHMS: LazyLock<WebPkiSupportedAlgorithms> = LazyLock::new(|| {
        let theirs = rustls_graviola::default_provider().signature_verification_algorithms;
        let mapping = theirs.mapping.iter();
        let mapping = mapping.map(|(scheme, algorithms)| (*scheme, ours_for(algorithms)));
        WebPkiSupportedAlgorithms {
            all: all(),
            mapping: Vec::leak(mapping.collect()),
        }
    });

    CryptoProvider {
        signature_verification_algorithms: *ALGORITHMS,
        ..provider
    }
}

fn ours_for(theirs: &[Algorithm]) -> &'static [Algorithm] {
    let ours_for = |their: Algorithm| {
        let same = |our: &&Algorithm| {
            our.public_key_alg_id() == their.public_key_alg_id()
                && our.signature_alg_id() == their.signature_alg_id()
        };
        all().iter().find(same).copied().unwrap_or(their)
    };
    Vec::leak(theirs.iter().copied().map(ours_for).collect())
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, KeyPair, RSA_PKCS1_SHA384, RsaKeyPair,
    };
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;
    use crate::base::graviola::cleared::left_in_use;
    use crate::interned::Same;

    #[test]
    fn each_algorithm_of_graviola_is_replaced() {
        let theirs = rustls_graviola::default_provider();
        let ours = in_place(theirs.clone()).signature_verification_algorithms;
        let theirs = theirs.signature_verification_algorithms;
        let check = |theirs: &[Algorithm], ours: &[Algorithm]| {
            assert_eq!(theirs.len(), ours.len());
            for (their, our) in theirs.iter().zip(ours) {
                assert_eq!(our.public_key_alg_id(), their.public_key_alg_id());
                assert_eq!(our.signature_alg_id(), their.signature_alg_id());
                assert!(all().iter().any(|known| Same(*known) == Same(*our)));
            }
        };
        let (with, without) = ours.all.split_at(theirs.all.len());
        check(theirs.all, with);
        assert_eq!(without.len(), 3);
        assert_eq!(theirs.mapping.len(), ours.mapping.len());
        for (their, our) in theirs.mapping.iter().zip(ours.mapping) {
            assert_eq!(their.0, our.0);
            check(their.1, our.1);
        }
    }

    /// ECDSA keeps keys that recur.
    #[test]
    fn new_keys_and_kept_keys() {
        check_ecdsa(all()[2], &ECDSA_P256_SHA256_ASN1_SIGNING);
        check_ecdsa(all()[4], &ECDSA_P384_SHA384_ASN1_SIGNING);
    }

    fn check_ecdsa(ours: Algorithm, signing: &'static EcdsaSigningAlgorithm) {
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

    /// RSA with the NULL of RFC 4055, and without it.
    #[test]
    fn same_signatures_under_another_identifier() {
        let (with, without_parameters) = all()[10..].split_at(3);
        // The identifier of RFC 4055 without its NULL, which is 05 00.
        for (with, without) in with.iter().zip(without_parameters) {
            let without = without.signature_alg_id();
            let expected = [without.as_ref(), &[5, 0]].concat();
            assert_eq!(with.signature_alg_id().as_ref(), expected);
        }

        let key = include_bytes!("../../../tests/provider/rsa-2048.pem");
        let key = PrivatePkcs8KeyDer::from_pem_slice(key).unwrap();
        let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(
            &RSA_PKCS1_SHA384,
            &SystemRandom::new(),
            b"message",
            &mut signature,
        )
        .unwrap();
        let sha384 = without_parameters[1].signature_alg_id();
        for algorithm in without_parameters {
            let verified =
                algorithm.verify_signature(key.public().as_ref(), b"message", &signature);
            assert_eq!(verified.is_ok(), algorithm.signature_alg_id() == sha384);
            let other = algorithm.verify_signature(key.public().as_ref(), b"Message", &signature);
            assert!(other.is_err());
        }
    }
}
