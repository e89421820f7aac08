//! Stand-ins for the certificates of a chain that webpki can't read as they are.

use std::collections::HashMap;

use pki_types::{
    AlgorithmIdentifier, CertificateDer, InvalidSignature, SignatureVerificationAlgorithm,
};

use x509_cert::name::Name;

use super::diagnosis::MAX_CERTIFICATES;
use super::roots::Roots;
use crate::certificate::{CanonicalName, Certificate, Readable, loosened, readable_by_webpki};

/// A chain as webpki can read it.
#[derive(Debug)]
pub(crate) struct StandIns {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    originals: Vec<Original>,
}

/// Whether webpki judges paths of these certificates in another way than RFC 5280.
fn is_judged_otherwise(certificates: &[Option<Certificate>], roots: &Roots) -> bool {
    let read = || certificates.iter().flatten();
    if (read().skip(1)).any(|one| one.is_self_issued() && !roots.contains(one)) {
        return true;
    }
    let has_other_names = |one: &Certificate| {
        let readable = one.readable();
        readable.is_some_and(|readable| readable.has_other_names)
    };
    if read().any(has_other_names) {
        return true;
    }
    let mut spellings: HashMap<CanonicalName, &Name> = HashMap::new();
    read().any(|certificate| {
        let issuer = CanonicalName::in_paths(certificate.issuer());
        let mut same = roots.with_subject_like(&issuer);
        same.any(|root| root.subject() != certificate.issuer() || has_other_names(root))
            || [certificate.issuer(), certificate.subject()]
                .into_iter()
                .any(|name| {
                    *spellings
                        .entry(CanonicalName::in_paths(name))
                        .or_insert(name)
                        != name
                })
    })
}

/// A certificate, and its stand-in for webpki.
#[derive(Debug)]
struct Original {
    certificate: Certificate,
    shown: Readable,
}

impl StandIns {
    /// The chain with stand-ins, if it needs any. Only as many certificates are looked at as a path can
    /// have, because the sender chose how many there are.
    pub(crate) fn of(sent: &[CertificateDer<'_>]) -> Option<Self> {
        let mut originals = Vec::new();
        let mut replaced = Vec::new();
        for (index, der) in sent.iter().take(MAX_CERTIFICATES).enumerate() {
            // Most certificates need none, which is found out without reading them whole.
            if let Some(shown) = readable_by_webpki(der)
                // If the stand-in itself was sent, it stands for nothing, and its signature is wrong.
                && !sent.iter().any(|sent| **sent == *shown.der)
                && let Ok(certificate) = Certificate::from_der(der)
            {
                replaced.push((index, CertificateDer::from(shown.der.clone())));
                originals.push(Original { certificate, shown });
            }
        }
        if originals.is_empty() {
            return None;
        }
        let mut chain: Vec<_> = sent.iter().map(|der| der.clone().into_owned()).collect();
        for (index, stand_in) in replaced {
            chain[index] = stand_in;
        }
        Some(Self { chain, originals })
    }

    /// The chain with stand-ins in which names are the same bytes if they are the same by RFC 5280 section 7.1, and
    /// which have neither path lengths nor name constraints: the caller has to check these, as RFC 5280 has them.
    ///
    /// Without `anyway`, only if webpki would judge the chain in another way than RFC 5280: if names differ in case or
    /// type, or a CA issued a certificate to itself.
    pub(crate) fn loosened(
        sent: &[CertificateDer<'_>],
        roots: &Roots,
        anyway: bool,
    ) -> Option<Self> {
        let read = |der: &CertificateDer<'_>| Certificate::from_der(der).ok();
        let certificates: Vec<_> = sent.iter().take(MAX_CERTIFICATES).map(read).collect();
        if !(anyway || is_judged_otherwise(&certificates, roots)) {
            return None;
        }
        let mut chain: Vec<_> = sent.iter().map(|der| der.clone().into_owned()).collect();
        let mut originals = Vec::new();
        for (shown, certificate) in chain.iter_mut().zip(certificates) {
            // What can't be read is on no path.
            let Some(certificate) = certificate else {
                continue;
            };
            let names = [certificate.issuer(), certificate.subject()];
            let [issuer, subject] = names.map(CanonicalName::in_paths);
            let Some(loose) = loosened(certificate.der(), &issuer, &subject) else {
                continue;
            };
            // If the stand-in itself was sent, it stands for nothing, as above.
            if sent.iter().any(|sent| **sent == *loose.der) {
                continue;
            }
            *shown = CertificateDer::from(loose.der.clone());
            originals.push(Original {
                certificate,
                shown: loose,
            });
        }
        Some(Self { chain, originals })
    }

    /// The certificate that webpki saw as this stand-in.
    pub(crate) fn original(&self, der: &[u8]) -> Option<&Certificate> {
        let original = self.originals.iter().find(|one| one.shown.der == der)?;
        Some(&original.certificate)
    }

    /// An algorithm that verifies the originals' signatures.
    pub(crate) fn over_originals<'a>(
        &'a self,
        algorithm: &'a dyn SignatureVerificationAlgorithm,
    ) -> impl SignatureVerificationAlgorithm + 'a {
        OverOriginals {
            algorithm,
            stand_ins: self,
        }
    }

    /// The signed part of the original, if `body` is the signed part of a stand-in.
    fn original_body<'a>(&'a self, body: &'a [u8], signature: &[u8]) -> &'a [u8] {
        let mut shown = self.originals.iter().map(|original| &original.shown);
        let found = shown.find_map(|shown| shown.original_body(body, signature));
        found.unwrap_or(body)
    }
}

#[derive(Debug)]
struct OverOriginals<'a> {
    algorithm: &'a dyn SignatureVerificationAlgorithm,
    stand_ins: &'a StandIns,
}

impl SignatureVerificationAlgorithm for OverOriginals<'_> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let message = self.stand_ins.original_body(message, signature);
        self.algorithm
            .verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.signature_alg_id()
    }
}
