use alloc::sync::Arc;
use core::fmt;

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87, ParameterSet};
use pq_x509::SubjectKey;
use rustls::crypto::SecureRandom;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use zeroize::Zeroizing;

use super::other;

/// Makes `key` ready for TLS, with `random` to hedge its signatures.
pub(super) fn load<P: MlDsaScheme>(
    key: &pq_x509::SigningKey,
    random: &'static dyn SecureRandom,
) -> Result<Arc<dyn SigningKey>, Error> {
    Ok(Arc::new(MlDsaSigningKey::<P> {
        key: Arc::new(ml_dsa::SigningKey::from_expanded(&key.to_expanded()).map_err(other)?),
        spki: key.spki().into_owned(),
        random,
    }))
}

/// The ML-DSA parameter sets and their code points (draft-ietf-tls-mldsa, section 2).
pub(super) trait MlDsaScheme: ParameterSet {
    const SCHEME: SignatureScheme;
}

impl MlDsaScheme for MlDsa44 {
    const SCHEME: SignatureScheme = SignatureScheme::ML_DSA_44;
}

impl MlDsaScheme for MlDsa65 {
    const SCHEME: SignatureScheme = SignatureScheme::ML_DSA_65;
}

impl MlDsaScheme for MlDsa87 {
    const SCHEME: SignatureScheme = SignatureScheme::ML_DSA_87;
}

/// An ML-DSA private key, and the public key that certificates hold.
struct MlDsaSigningKey<P: ParameterSet> {
    key: Arc<ml_dsa::SigningKey<P>>,
    spki: SubjectPublicKeyInfoDer<'static>,
    random: &'static dyn SecureRandom,
}

impl<P: MlDsaScheme> SigningKey for MlDsaSigningKey<P> {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        if !offered.contains(&P::SCHEME) {
            return None;
        }
        Some(Box::new(MlDsaSigner {
            key: Arc::clone(&self.key),
            random: self.random,
        }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(self.spki.as_ref()))
    }

    /// rustls has no name for ML-DSA here, and asks in TLS 1.2 only, where ML-DSA
    /// must not be used.
    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Unknown(0)
    }
}

impl<P: MlDsaScheme> fmt::Debug for MlDsaSigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlDsaSigningKey")
            .field("scheme", &P::SCHEME)
            .finish_non_exhaustive()
    }
}

/// Signs what a CertificateVerify covers: pure ML-DSA, hedged, with an empty context.
struct MlDsaSigner<P: ParameterSet> {
    key: Arc<ml_dsa::SigningKey<P>>,
    random: &'static dyn SecureRandom,
}

impl<P: MlDsaScheme> Signer for MlDsaSigner<P> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rnd = Zeroizing::new([0; 32]);
        self.random.fill(&mut *rnd)?;
        let signature = self.key.sign(message, &[], &rnd).map_err(other)?;
        Ok(signature.as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        P::SCHEME
    }
}

impl<P: MlDsaScheme> fmt::Debug for MlDsaSigner<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlDsaSigner")
            .field("scheme", &P::SCHEME)
            .finish_non_exhaustive()
    }
}
