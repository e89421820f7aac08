//! Verification of signatures, with ML-DSA and SLH-DSA beside the base's algorithms, of key usage,
//! of the OCSP responses that servers staple, and of peers that have a raw public key and no certificate.

// This room uses `algorithms`, `interned`, `ocsp`, `error` and `tls`.

/// The methods that the traits of verifiers have in common, for a verifier that wraps another one,
/// `inner`.
macro_rules! delegate_to_inner {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &rustls::pki_types::CertificateDer<'_>,
            dss: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            self.inner.verify_tls12_signature(message, cert, dss)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &rustls::pki_types::CertificateDer<'_>,
            dss: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            self.inner.verify_tls13_signature(message, cert, dss)
        }

        fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
            self.inner.supported_verify_schemes()
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.inner.requires_raw_public_keys()
        }
    };
}

mod check_ocsp;
mod key_usage;
mod ml_dsa;
mod pinned_keys;
mod roots;
pub mod slh_dsa;

pub use check_ocsp::{CheckOcsp, OcspRefusal};
pub use key_usage::EnforceKeyUsage;
pub use pinned_keys::{PinnedKeys, UnknownKey};
pub(crate) use roots::{Kinds, RootKeys};

use rustls::SignatureScheme;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::SignatureVerificationAlgorithm;

use self::slh_dsa::SLH_DSA;
use crate::Error;
use crate::interned::{Interned, Same};

/// ML-DSA (FIPS 204) for chains and for CertificateVerify (draft-ietf-tls-mldsa), in order of
/// preference: ML-DSA-65, which suits most uses, then the stronger ML-DSA-87 and the smaller ML-DSA-44.
pub static ML_DSA: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: ml_dsa::ALL,
    mapping: ml_dsa::MAPPING,
};

/// Where SLH-DSA is accepted.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum SlhDsa {
    Nowhere,
    /// No scheme is advertised for it. rustls can't advertise schemes for certificates apart from
    /// those for the handshake, and peers send the chain that they have.
    InChains,
    InChainsAndHandshakes,
}

/// The schemes of this crate: ML-DSA, and SLH-DSA if it is for handshakes.
pub(crate) fn post_quantum_schemes(slh_dsa: SlhDsa) -> Vec<SignatureScheme> {
    let schemes = post_quantum(slh_dsa).map(|(scheme, _)| *scheme);
    schemes.collect()
}

/// ML-DSA, SLH-DSA and the algorithms of `base`. If `schemes` are given, only the algorithms that
/// belong to `schemes`, in that order, and SLH-DSA as `slh_dsa` says.
///
/// The `kinds` for these algorithms say which schemes are offered, and in which order. The algorithms of the others stay for
/// chains.
///
/// If `base` has one of our algorithms itself, ours takes its place.
pub(crate) fn algorithms_over(
    base: WebPkiSupportedAlgorithms,
    schemes: Option<&[SignatureScheme]>,
    slh_dsa: SlhDsa,
    kinds: impl FnOnce(&[Algorithm]) -> Result<Kinds, Error>,
) -> Result<WebPkiSupportedAlgorithms, Error> {
    let available = mapping_over(&base, slh_dsa);
    let (mut all, mut mapping) = match schemes {
        None => (all_over(&base), available),
        Some(schemes) => {
            let mapping = chosen(&available, schemes)?;
            (algorithms_of(&mapping), mapping)
        }
    };
    if slh_dsa != SlhDsa::Nowhere {
        extend(&mut all, SLH_DSA.all);
    }
    let kinds = kinds(&all)?;
    kinds.apply(&mut mapping);

    type Key = (
        Same<[Algorithm]>,
        Same<[Entry]>,
        Option<Vec<SignatureScheme>>,
        SlhDsa,
        Kinds,
    );
    static MERGED: Interned<Key, WebPkiSupportedAlgorithms> = Interned::new();
    let key = (
        Same(base.all),
        Same(base.mapping),
        schemes.map(<[_]>::to_vec),
        slh_dsa,
        kinds,
    );
    Ok(*MERGED.find_or_insert(key, || {
        Box::new(WebPkiSupportedAlgorithms {
            all: Vec::leak(all),
            mapping: Vec::leak(mapping),
        })
    }))
}

pub(crate) type Algorithm = &'static dyn SignatureVerificationAlgorithm;
type Entry = (SignatureScheme, &'static [Algorithm]);

/// ML-DSA, and SLH-DSA if it is for handshakes.
fn post_quantum(slh_dsa: SlhDsa) -> impl Iterator<Item = &'static Entry> {
    let slh_dsa = match slh_dsa {
        SlhDsa::Nowhere | SlhDsa::InChains => &[],
        SlhDsa::InChainsAndHandshakes => SLH_DSA.mapping,
    };
    ML_DSA.mapping.iter().chain(slh_dsa)
}

fn mapping_over(base: &WebPkiSupportedAlgorithms, slh_dsa: SlhDsa) -> Vec<Entry> {
    let mut mapping: Vec<Entry> = post_quantum(slh_dsa).copied().collect();
    for &(scheme, algorithms) in base.mapping {
        if find(&mapping, scheme).is_none() {
            mapping.push((scheme, algorithms));
        }
    }
    mapping
}

fn all_over(base: &WebPkiSupportedAlgorithms) -> Vec<Algorithm> {
    let is_ours = |other: &Algorithm| {
        let mut ours = ML_DSA.all.iter().chain(SLH_DSA.all);
        ours.any(|our| our.signature_alg_id() == other.signature_alg_id())
    };
    let others = base.all.iter().filter(|other| !is_ours(other));
    ML_DSA.all.iter().chain(others).copied().collect()
}

fn chosen(available: &[Entry], schemes: &[SignatureScheme]) -> Result<Vec<Entry>, Error> {
    if schemes.is_empty() {
        return Err(Error::NoSignatureSchemes);
    }

    let mut mapping = Vec::with_capacity(schemes.len());
    for &scheme in schemes {
        let entry = find(available, scheme).ok_or_else(|| unavailable(available, scheme))?;
        if find(&mapping, scheme).is_none() {
            mapping.push(entry);
        }
    }
    Ok(mapping)
}

/// Why `scheme` isn't among those that are `available`.
fn unavailable(available: &[Entry], scheme: SignatureScheme) -> Error {
    match find(SLH_DSA.mapping, scheme) {
        Some(_) => Error::SlhDsaIsExperimental { scheme },
        None => Error::SchemeUnavailable {
            scheme,
            available: available.iter().map(|(scheme, _)| *scheme).collect(),
        },
    }
}

/// The algorithms that occur in `mapping`, each once: what isn't advertised isn't
/// accepted in a chain either (RFC 9846, section 4.2.3).
fn algorithms_of(mapping: &[Entry]) -> Vec<Algorithm> {
    let mut all = Vec::new();
    for (_, algorithms) in mapping {
        extend(&mut all, algorithms);
    }
    all
}

/// Appends what isn't there yet.
fn extend(all: &mut Vec<Algorithm>, algorithms: &[Algorithm]) {
    for &algorithm in algorithms {
        if !all.iter().any(|known| Same(*known) == Same(algorithm)) {
            all.push(algorithm);
        }
    }
}

fn find(mapping: &[Entry], scheme: SignatureScheme) -> Option<Entry> {
    mapping.iter().copied().find(|(known, _)| *known == scheme)
}
