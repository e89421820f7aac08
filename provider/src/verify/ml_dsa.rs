//! The verification of ML-DSA, with only what rustls 0.23 and 0.24 have in common.

use pq_x509::pki_types::SignatureVerificationAlgorithm;
use pq_x509::verification;

use crate::tls::SignatureScheme;

pub(super) static ALL: &[&dyn SignatureVerificationAlgorithm] = &[
    verification::ML_DSA_65,
    verification::ML_DSA_87,
    verification::ML_DSA_44,
];

pub(super) static MAPPING: &[(SignatureScheme, &[&dyn SignatureVerificationAlgorithm])] = &[
    (SignatureScheme::ML_DSA_65, &[verification::ML_DSA_65]),
    (SignatureScheme::ML_DSA_87, &[verification::ML_DSA_87]),
    (SignatureScheme::ML_DSA_44, &[verification::ML_DSA_44]),
];
