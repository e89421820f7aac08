//! The keys of CAs that are known: those of the roots, and of the CAs below them that clients have sent.

use pq_x509::x509_cert::der::asn1::{AnyRef, BitStringRef};
use pq_x509::x509_cert::der::{Decode, Reader, SliceReader};
use pq_x509::{Certificate, SubjectKey};
use rustls::RootCertStore;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm};

/// More CAs than a server's clients have. What is beyond is not learned.
const MOST: usize = 64;

/// A CA's SubjectPublicKeyInfo, without its tag and length, as rustls has those of roots.
pub(crate) type CaKey = Vec<u8>;

/// Keys that may sign revocation lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys {
    keys: Vec<CaKey>,
    /// The certificates of those that are no roots.
    learned: Vec<CertificateDer<'static>>,
    algorithms: &'static [&'static dyn SignatureVerificationAlgorithm],
}

impl KnownKeys {
    pub(crate) fn of(roots: &RootCertStore, algorithms: WebPkiSupportedAlgorithms) -> Self {
        let keys = roots.roots.iter();
        Self {
            keys: keys
                .map(|root| root.subject_public_key_info.to_vec())
                .collect(),
            learned: Vec::new(),
            algorithms: algorithms.all,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// Whether these CAs may teach something.
    pub(crate) fn has_all(&self, cas: &[CertificateDer<'_>]) -> bool {
        let is_new = |ca: &CertificateDer<'_>| !self.learned.contains(ca);
        self.learned.len() >= MOST || !cas.iter().any(is_new)
    }

    /// Learns the keys of the CAs that one of the known keys has certified, in any order.
    pub(crate) fn learn(&mut self, cas: &[CertificateDer<'_>]) {
        for _ in cas {
            for ca in cas {
                if self.learned.len() < MOST && !self.learned.contains(ca) {
                    self.learn_one(ca);
                }
            }
        }
    }

    fn learn_one(&mut self, ca: &CertificateDer<'_>) {
        let certificate = Certificate::from_der(ca).ok().filter(Certificate::is_ca);
        let Some(certificate) = certificate else {
            return;
        };
        let spki = certificate.spki();
        if let (Ok(spki), Some(_)) = (AnyRef::from_der(&spki), self.signer(ca)) {
            let key = spki.value().to_vec();
            if !self.keys.contains(&key) {
                self.keys.push(key);
            }
            self.learned.push(ca.clone().into_owned());
        }
    }

    /// The key by which a certificate or a list is signed, if it is known.
    pub(crate) fn signer(&self, signed: &[u8]) -> Option<&CaKey> {
        let mut keys = self.keys.iter();
        keys.find(|key| self.is_signed_by(signed, key) == Some(true))
    }

    /// `None` if the document or the key can't be read.
    fn is_signed_by(&self, signed: &[u8], key: &[u8]) -> Option<bool> {
        let document = AnyRef::from_der(signed).ok()?;
        let mut parts = SliceReader::new(document.value()).ok()?;
        let body = parts.tlv_bytes().ok()?;
        let signature_algorithm = AnyRef::decode(&mut parts).ok()?;
        let signature = BitStringRef::decode(&mut parts).ok()?;
        let mut parts = SliceReader::new(key).ok()?;
        let key_algorithm = AnyRef::decode(&mut parts).ok()?;
        let key = BitStringRef::decode(&mut parts).ok()?;
        let mut algorithms = self.algorithms.iter();
        Some(algorithms.any(|one| {
            one.signature_alg_id().as_ref() == signature_algorithm.value()
                && one.public_key_alg_id().as_ref() == key_algorithm.value()
                && one
                    .verify_signature(key.raw_bytes(), body, signature.raw_bytes())
                    .is_ok()
        }))
    }
}
