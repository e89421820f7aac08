//! Signature schemes: their order, and those that are chosen by name.

use rustls::SignatureScheme;
use rustls_pq::verify::slh_dsa::SLH_DSA;
use rustls_pq::{Builder, Error};

use crate::peers::{any_base, bases};

#[test]
fn ml_dsa_comes_first() {
    for (name, base) in bases() {
        println!("{name}");
        let before = base.signature_verification_algorithms;
        let after = Builder::new(base)
            .build()
            .unwrap()
            .signature_verification_algorithms;

        let schemes = after.supported_schemes();
        assert_eq!(
            schemes[..3],
            [
                SignatureScheme::ML_DSA_65,
                SignatureScheme::ML_DSA_87,
                SignatureScheme::ML_DSA_44,
            ]
        );
        assert_eq!(
            schemes[..3]
                .iter()
                .map(|scheme| u16::from(*scheme))
                .collect::<Vec<_>>(),
            [0x0905, 0x0906, 0x0904]
        );
        let mut others = before.supported_schemes();
        others.retain(|scheme| !schemes[..3].contains(scheme));
        assert_eq!(schemes[3..], others);

        let ids = |all: &[&dyn rustls::pki_types::SignatureVerificationAlgorithm]| {
            all.iter()
                .map(|algorithm| (algorithm.signature_alg_id(), algorithm.public_key_alg_id()))
                .collect::<Vec<_>>()
        };
        let ours = ids(rustls_pq::verify::ML_DSA.all);
        let after = ids(after.all);
        assert_eq!(after[..3], ours);
        let mut others = ids(before.all);
        others.retain(|id| !ours.contains(id));
        // SLH-DSA comes last: for chains only, and for few of those.
        others.extend(ids(SLH_DSA.all));
        assert_eq!(after[3..], others);
    }
}

/// Schemes that aren't advertised aren't accepted in chains either, except SLH-DSA, which has no standard
/// scheme to advertise.
#[test]
fn explicit_schemes() {
    let algorithms = Builder::new(any_base())
        .signature_schemes([
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ML_DSA_87,
            SignatureScheme::ECDSA_NISTP384_SHA384,
        ])
        .build()
        .unwrap()
        .signature_verification_algorithms;
    assert_eq!(
        algorithms.supported_schemes(),
        [
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ML_DSA_87
        ]
    );
    // ECDSA with SHA-384 on either curve, as in TLS 1.2; and ML-DSA-87.
    assert_eq!(algorithms.all.len(), 3 + SLH_DSA.all.len());
    assert_eq!(
        algorithms.all[2].signature_alg_id(),
        rustls::pki_types::alg_id::ML_DSA_87
    );
}

#[test]
fn unavailable_schemes() {
    let builder = Builder::new(any_base());
    assert_eq!(
        builder.clone().signature_schemes([]).build().unwrap_err(),
        Error::NoSignatureSchemes
    );
    let error = builder
        .signature_schemes([SignatureScheme::ML_DSA_44, SignatureScheme::ED448])
        .build()
        .unwrap_err();
    assert!(
        error.to_string().starts_with(
            "the signature scheme ED448 is not available: neither the base provider nor \
                 rustls-pq has it; available are [ML_DSA_65, ML_DSA_87, ML_DSA_44, "
        ),
        "{error}"
    );
}
