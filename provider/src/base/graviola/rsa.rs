//! RSA by graviola, for signatures whose algorithm identifier has no parameters, too.
//!
//! It should have NULL there, and whoever reads it has to accept that it is absent (RFC 4055,
//! section 5). rustls's own providers do, by an algorithm of its own for each hash; graviola's glue
//! has none.

use std::sync::OnceLock;

use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};

use crate::verify::Algorithm;

/// The object identifier below pkcs-1, 1.2.840.113549.1.1, that ends with this arc.
macro_rules! without_parameters {
    ($arc:literal) => {
        AlgorithmIdentifier::from_slice(&[
            0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, $arc,
        ])
    };
}

/// `provider`, which is over graviola, with the algorithms of this module beside its own.
pub(crate) fn in_place(provider: CryptoProvider) -> CryptoProvider {
    /// Made once, and kept as long as the process.
    static ALL: OnceLock<&'static [Algorithm]> = OnceLock::new();

    let theirs = provider.signature_verification_algorithms;
    let all = ALL.get_or_init(|| {
        let without = theirs.all.iter().filter_map(|their| {
            let with = their.signature_alg_id();
            let (_, without) = IDENTIFIERS.iter().find(|(known, _)| *known == with)?;
            let ours = WithoutParameters {
                inner: *their,
                signature: *without,
            };
            Some(Box::leak(Box::new(ours)) as Algorithm)
        });
        Vec::leak(theirs.all.iter().copied().chain(without).collect())
    });
    CryptoProvider {
        signature_verification_algorithms: WebPkiSupportedAlgorithms { all, ..theirs },
        ..provider
    }
}

/// PKCS#1 v1.5 with each hash: as it should be, and without parameters.
static IDENTIFIERS: [(AlgorithmIdentifier, AlgorithmIdentifier); 3] = [
    (alg_id::RSA_PKCS1_SHA256, without_parameters!(0x0b)),
    (alg_id::RSA_PKCS1_SHA384, without_parameters!(0x0c)),
    (alg_id::RSA_PKCS1_SHA512, without_parameters!(0x0d)),
];

#[derive(Debug)]
struct WithoutParameters {
    inner: Algorithm,
    signature: AlgorithmIdentifier,
}

impl SignatureVerificationAlgorithm for WithoutParameters {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        self.inner.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.inner.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }

    fn fips(&self) -> bool {
        self.inner.fips()
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
        let theirs = rustls_graviola::default_provider();
        let ours = in_place(theirs.clone()).signature_verification_algorithms;
        let theirs = theirs.signature_verification_algorithms;
        let more = &ours.all[theirs.all.len()..];
        assert_eq!(more.len(), 3);
        // The identifier of RFC 4055 but for NULL, which is 05 00.
        for (with, without) in &IDENTIFIERS {
            assert_eq!(with.as_ref(), [without.as_ref(), &[5, 0]].concat());
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
        let sha384 = IDENTIFIERS[1].1;
        for algorithm in more {
            let verified =
                algorithm.verify_signature(key.public().as_ref(), b"message", &signature);
            assert_eq!(verified.is_ok(), algorithm.signature_alg_id() == sha384);
            let other = algorithm.verify_signature(key.public().as_ref(), b"Message", &signature);
            assert!(other.is_err());
        }
    }
}
