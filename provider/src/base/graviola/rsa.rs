//! RSA by graviola, also for signatures whose algorithm identifier has no parameters.
//!
//! The parameters should be NULL, but readers must accept that they are absent (RFC 4055, section 5).
//! rustls's own providers do, with a separate algorithm for each hash; graviola's glue has none.

use core::fmt;

use graviola::signing::rsa::VerifyingKey;
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};

use crate::verify::Algorithm;

/// The object identifier below pkcs-1, 1.2.840.113549.1.1, with this last arc.
macro_rules! without_parameters {
    ($arc:literal) => {
        AlgorithmIdentifier::from_slice(&[
            0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, $arc,
        ])
    };
}

macro_rules! algorithms {
    ($($signature:expr => $verify:ident),+ $(,)?) => {
        [$(&Rsa {
            signature: $signature,
            verify: VerifyingKey::$verify,
        }),+]
    };
}

/// The algorithms of graviola's glue, in its order.
pub(super) static WITH_PARAMETERS: [Algorithm; 6] = algorithms![
    alg_id::RSA_PSS_SHA512 => verify_pss_sha512,
    alg_id::RSA_PSS_SHA384 => verify_pss_sha384,
    alg_id::RSA_PSS_SHA256 => verify_pss_sha256,
    alg_id::RSA_PKCS1_SHA512 => verify_pkcs1_sha512,
    alg_id::RSA_PKCS1_SHA384 => verify_pkcs1_sha384,
    alg_id::RSA_PKCS1_SHA256 => verify_pkcs1_sha256,
];

pub(super) static WITHOUT_PARAMETERS: [Algorithm; 3] = algorithms![
    without_parameters!(0x0d) => verify_pkcs1_sha512,
    without_parameters!(0x0c) => verify_pkcs1_sha384,
    without_parameters!(0x0b) => verify_pkcs1_sha256,
];

struct Rsa {
    signature: AlgorithmIdentifier,
    verify: Verify,
}

type Verify = fn(&VerifyingKey, signature: &[u8], message: &[u8]) -> Result<(), graviola::Error>;

impl SignatureVerificationAlgorithm for Rsa {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        VerifyingKey::from_pkcs1_der(public_key)
            .and_then(|key| (self.verify)(&key, signature, message))
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::RSA_ENCRYPTION
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }
}

impl fmt::Debug for Rsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rsa")
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{RSA_PKCS1_SHA384, RsaKeyPair};
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    #[test]
    fn same_signatures_under_another_identifier() {
        let with = &WITH_PARAMETERS[3..];
        // The identifier of RFC 4055 without its NULL, which is 05 00.
        for (with, without) in with.iter().zip(&WITHOUT_PARAMETERS) {
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
        let sha384 = WITHOUT_PARAMETERS[1].signature_alg_id();
        for algorithm in WITHOUT_PARAMETERS {
            let verified =
                algorithm.verify_signature(key.public().as_ref(), b"message", &signature);
            assert_eq!(verified.is_ok(), algorithm.signature_alg_id() == sha384);
            let other = algorithm.verify_signature(key.public().as_ref(), b"Message", &signature);
            assert!(other.is_err());
        }
    }
}
