//! Verification: signatures, with ML-DSA beside the base's algorithms, and key usage.

mod key_usage;

pub use key_usage::EnforceKeyUsage;

use pq_x509::verification;
use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::SignatureVerificationAlgorithm;

use crate::Error;
use crate::interned::{Interned, Same};

/// ML-DSA (FIPS 204) for chains and for CertificateVerify (draft-ietf-tls-mldsa), in
/// order of preference: the set that suits most, the stronger one, the smaller one.
pub static ML_DSA: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        verification::ML_DSA_65,
        verification::ML_DSA_87,
        verification::ML_DSA_44,
    ],
    mapping: &[
        (SignatureScheme::ML_DSA_65, &[verification::ML_DSA_65]),
        (SignatureScheme::ML_DSA_87, &[verification::ML_DSA_87]),
        (SignatureScheme::ML_DSA_44, &[verification::ML_DSA_44]),
    ],
};

/// ML-DSA and then the algorithms of `base`; or, where `schemes` are given, those of
/// both that belong to `schemes`, in that order.
///
/// Where `base` has ML-DSA itself, ours takes its place.
pub(crate) fn algorithms_over(
    base: WebPkiSupportedAlgorithms,
    schemes: Option<&[SignatureScheme]>,
) -> Result<WebPkiSupportedAlgorithms, Error> {
    let available = mapping_over(&base);
    let (all, mapping) = match schemes {
        None => (all_over(&base), available),
        Some(schemes) => {
            let mapping = chosen(&available, schemes)?;
            (algorithms_of(&mapping), mapping)
        }
    };

    type Key = (
        Same<[Algorithm]>,
        Same<[Entry]>,
        Option<Vec<SignatureScheme>>,
    );
    static MERGED: Interned<Key, WebPkiSupportedAlgorithms> = Interned::new();
    let key = (
        Same(base.all),
        Same(base.mapping),
        schemes.map(<[_]>::to_vec),
    );
    Ok(*MERGED.find_or_insert(key, || {
        Box::new(WebPkiSupportedAlgorithms {
            all: Vec::leak(all),
            mapping: Vec::leak(mapping),
        })
    }))
}

type Algorithm = &'static dyn SignatureVerificationAlgorithm;
type Entry = (SignatureScheme, &'static [Algorithm]);

fn mapping_over(base: &WebPkiSupportedAlgorithms) -> Vec<Entry> {
    let others = base
        .mapping
        .iter()
        .filter(|(scheme, _)| find(ML_DSA.mapping, *scheme).is_none());
    ML_DSA.mapping.iter().chain(others).copied().collect()
}

fn all_over(base: &WebPkiSupportedAlgorithms) -> Vec<Algorithm> {
    let others = base.all.iter().filter(|other| {
        !ML_DSA
            .all
            .iter()
            .any(|our| our.signature_alg_id() == other.signature_alg_id())
    });
    ML_DSA.all.iter().chain(others).copied().collect()
}

fn chosen(available: &[Entry], schemes: &[SignatureScheme]) -> Result<Vec<Entry>, Error> {
    if schemes.is_empty() {
        return Err(Error::NoSignatureSchemes);
    }

    let mut mapping = Vec::with_capacity(schemes.len());
    for &scheme in schemes {
        let entry = find(available, scheme).ok_or_else(|| Error::SchemeUnavailable {
            scheme,
            available: available.iter().map(|(scheme, _)| *scheme).collect(),
        })?;
        if find(&mapping, scheme).is_none() {
            mapping.push(entry);
        }
    }
    Ok(mapping)
}

/// The algorithms that occur in `mapping`, each once: what isn't advertised isn't
/// accepted in a chain either (RFC 9846, section 4.2.3).
fn algorithms_of(mapping: &[Entry]) -> Vec<Algorithm> {
    let mut all = Vec::<Algorithm>::new();
    for &algorithm in mapping.iter().flat_map(|(_, algorithms)| *algorithms) {
        if !all.iter().any(|known| Same(*known) == Same(algorithm)) {
            all.push(algorithm);
        }
    }
    all
}

fn find(mapping: &[Entry], scheme: SignatureScheme) -> Option<Entry> {
    mapping.iter().copied().find(|(known, _)| *known == scheme)
}
