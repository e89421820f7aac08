//! The code points in TLS of pq-x509's signature algorithms.

use pq_x509::keys::SignatureAlgorithm;

use crate::tls::SignatureScheme;

/// The code points of draft-ietf-tls-mldsa, section 2, and of draft-reddy-tls-slhdsa.
pub(crate) fn scheme_of(algorithm: SignatureAlgorithm) -> Option<SignatureScheme> {
    match algorithm {
        SignatureAlgorithm::MlDsa44 => Some(SignatureScheme::ML_DSA_44),
        SignatureAlgorithm::MlDsa65 => Some(SignatureScheme::ML_DSA_65),
        SignatureAlgorithm::MlDsa87 => Some(SignatureScheme::ML_DSA_87),
        slh_dsa => {
            let sets = SignatureAlgorithm::SLH_DSA.iter();
            let code_point = (0x0911..).zip(sets).find(|(_, set)| **set == slh_dsa)?.0;
            Some(SignatureScheme::from(code_point))
        }
    }
}
