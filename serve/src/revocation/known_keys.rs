//! The keys of CAs that are known: those of the roots, and of the CAs below them that were given or that clients have
//! sent.

use std::fmt;

use pq_x509::certificate::Certificate;
use pq_x509::keys::SubjectKey;
use pq_x509::revocation::CertificateRevocationList;
use pq_x509::x509_cert::der::asn1::{AnyRef, BitStringRef};
use pq_x509::x509_cert::der::{Decode, Encode, Reader, SliceReader, Tag};
use pq_x509::x509_cert::name::Name;
use rustls::RootCertStore;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::SignatureVerificationAlgorithm;

/// More CAs below the roots than a server's clients have. What is beyond is not learned.
const MOST: usize = 64;

/// A CA's SubjectPublicKeyInfo, without its tag and length, as rustls has those of roots.
pub(crate) type CaKey = Vec<u8>;

/// A key of a CA, and the name by which certificates say that it signed them. A further certificate of both, or the
/// same one with another signature, is no other CA.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct KnownCa {
    /// The contents of the Name, as rustls has those of roots.
    name: Vec<u8>,
    key: CaKey,
}

impl KnownCa {
    fn of(certificate: &Certificate) -> Option<Self> {
        let name = contents_of(certificate.subject_der())?;
        let key = key_of(certificate)?;
        certificate.is_ca().then_some(Self { name, key })
    }
}

impl fmt::Display for KnownCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = AnyRef::new(Tag::Sequence, &self.name).and_then(|name| name.to_der());
        match name.and_then(|name| Name::from_der(&name)) {
            Ok(name) => name.fmt(f),
            Err(_) => f.write_str("a CA whose name can't be read"),
        }
    }
}

/// The key of a certificate.
pub(crate) fn key_of(certificate: &Certificate) -> Option<CaKey> {
    let spki = certificate.spki();
    Some(AnyRef::from_der(&spki).ok()?.value().to_vec())
}

/// The keys of those of these CAs that have this name.
fn named<'a>(
    name: &[u8],
    cas: impl Iterator<Item = &'a KnownCa>,
) -> impl Iterator<Item = &'a CaKey> {
    let name = contents_of(name);
    cas.filter(move |ca| Some(&ca.name) == name.as_ref())
        .map(|ca| &ca.key)
}

fn contents_of(name: &[u8]) -> Option<Vec<u8>> {
    Some(AnyRef::from_der(name).ok()?.value().to_vec())
}

/// Keys that may sign revocation lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys {
    /// The roots first.
    cas: Vec<KnownCa>,
    roots: usize,
    algorithms: &'static [&'static dyn SignatureVerificationAlgorithm],
}

impl KnownKeys {
    pub(crate) fn of(roots: &RootCertStore, algorithms: WebPkiSupportedAlgorithms) -> Self {
        let cas = roots.roots.iter().map(|root| KnownCa {
            name: root.subject.to_vec(),
            key: root.subject_public_key_info.to_vec(),
        });
        Self {
            cas: cas.collect(),
            roots: roots.len(),
            algorithms: algorithms.all,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.cas.len()
    }

    fn is_full(&self) -> bool {
        self.cas.len() - self.roots >= MOST
    }

    pub(crate) fn contains(&self, certificate: &Certificate) -> bool {
        KnownCa::of(certificate).is_some_and(|ca| self.cas.contains(&ca))
    }

    /// The keys of this name.
    pub(crate) fn named(&self, name: &[u8]) -> impl Iterator<Item = &CaKey> {
        named(name, self.cas.iter())
    }

    /// Which of these CAs are new and certified by a known one, be it another of them, in any order.
    ///
    /// A stranger may have chosen them. So a signature is verified only by the keys of the name that it is said to be
    /// from, and once more only if there is a new key.
    pub(crate) fn certified(&self, cas: &[Certificate]) -> Vec<KnownCa> {
        if self.is_full() {
            return Vec::new();
        }
        let cas = cas.iter().filter_map(|one| Some((one, KnownCa::of(one)?)));
        let cas: Vec<_> = cas.filter(|(_, ca)| !self.cas.contains(ca)).collect();
        let mut left: Vec<_> = cas.iter().collect();
        let mut issuers: Vec<_> = self.cas.iter().collect();
        let mut found = Vec::new();
        while !issuers.is_empty() {
            let is_certified = |certificate: &Certificate| {
                let mut keys = named(certificate.issuer_der(), issuers.iter().copied());
                keys.any(|key| self.is_signed_by(certificate.der(), key))
            };
            let (new, rest): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|(certificate, _)| is_certified(certificate));
            left = rest;
            issuers = new.iter().map(|(_, ca)| ca).collect();
            found.extend(issuers.iter().copied().cloned());
        }
        found
    }

    /// Adds what [`certified`](Self::certified) has found.
    pub(crate) fn learn(&mut self, cas: Vec<KnownCa>) {
        for ca in cas {
            // Another thread may have learned it meanwhile.
            if !self.is_full() && !self.cas.contains(&ca) {
                self.cas.push(ca);
            }
        }
    }

    /// The names of the CAs of which none of these lists is.
    pub(crate) fn without_list<'a>(
        &self,
        lists: impl Iterator<Item = &'a CertificateRevocationList>,
    ) -> Vec<String> {
        let lists: Vec<_> = lists
            .map(|list| (contents_of(list.issuer_der()), list.der()))
            .collect();
        let has_list = |ca: &KnownCa| {
            lists.iter().any(|(issuer, der)| {
                issuer.as_ref() == Some(&ca.name) && self.is_signed_by(der, &ca.key)
            })
        };
        let missing = self.cas.iter().filter(|ca| !has_list(ca));
        missing.map(KnownCa::to_string).collect()
    }

    /// The key by which a certificate or a list is signed, if it is known.
    pub(crate) fn signer(&self, signed: &[u8]) -> Option<&CaKey> {
        let mut keys = self.cas.iter().map(|ca| &ca.key);
        keys.find(|key| self.is_signed_by(signed, key))
    }

    /// Whether a certificate or a list is signed by this key; not if either can't be read.
    pub(crate) fn is_signed_by(&self, signed: &[u8], key: &[u8]) -> bool {
        self.verify(signed, key) == Some(true)
    }

    /// `None` if the document or the key can't be read.
    fn verify(&self, signed: &[u8], key: &[u8]) -> Option<bool> {
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

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pq_x509::issuing::{CertificateBuilder, Issuer};
    use pq_x509::keys::SigningKey;
    use pq_x509::verification;
    use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature};

    use super::*;
    use crate::revocation::tests::{ca, key};

    /// ML-DSA-44 that counts the signatures that it verifies.
    #[derive(Debug, Default)]
    pub(crate) struct Counting(AtomicUsize);

    impl Counting {
        /// Keys of these roots, and the number of signatures that were verified with them so far.
        pub(crate) fn keys_of(roots: &RootCertStore) -> (KnownKeys, impl Fn() -> usize + use<>) {
            let counting: &'static Self = Box::leak(Box::default());
            let algorithms = WebPkiSupportedAlgorithms {
                all: Box::leak(Box::new([counting as _])),
                mapping: &[],
            };
            let known = KnownKeys::of(roots, algorithms);
            (known, || counting.0.load(Ordering::Relaxed))
        }
    }

    impl SignatureVerificationAlgorithm for Counting {
        fn verify_signature(
            &self,
            public_key: &[u8],
            message: &[u8],
            signature: &[u8],
        ) -> Result<(), InvalidSignature> {
            self.0.fetch_add(1, Ordering::Relaxed);
            verification::ML_DSA_44.verify_signature(public_key, message, signature)
        }

        fn public_key_alg_id(&self) -> AlgorithmIdentifier {
            verification::ML_DSA_44.public_key_alg_id()
        }

        fn signature_alg_id(&self) -> AlgorithmIdentifier {
            verification::ML_DSA_44.signature_alg_id()
        }
    }

    fn below(issuer: &Issuer<SigningKey>, name: &str, seed: u8) -> Issuer<SigningKey> {
        let builder = CertificateBuilder::ca(name);
        issuer.issue_ca(builder, key(seed)).unwrap()
    }

    fn certificates(cas: &[&Issuer<SigningKey>]) -> Vec<Certificate> {
        cas.iter().map(|ca| ca.certificate().clone()).collect()
    }

    #[test]
    fn what_known_cas_certify_is_learned_in_any_order_at_little_cost() {
        let root = ca(1);
        let mut roots = RootCertStore::empty();
        roots.add(root.certificate().der().clone()).unwrap();
        let (mut known, verified) = Counting::keys_of(&roots);
        let first = below(&root, "first", 2);
        let second = below(&first, "second", 3);
        let third = below(&second, "third", 4);
        // With a name of the root's, and by another key.
        let strangers = [5, 6, 7].map(|seed| below(&ca(8), "stranger", seed));
        let mut sent = certificates(&[&third, &second, &first]);
        sent.extend(strangers.iter().map(|ca| ca.certificate().clone()));
        known.learn(known.certified(&sent));
        for (certificate, is_known) in sent.iter().zip([true, true, true, false, false, false]) {
            assert_eq!(known.contains(certificate), is_known);
        }
        assert_eq!(verified(), sent.len());
        // Those that are known cost nothing.
        assert!(known.certified(&sent[..3]).is_empty());
        assert_eq!(verified(), sent.len());
    }

    /// Anybody can give a certificate by ECDSA another signature.
    #[test]
    fn keys_count_and_not_certificates() {
        let root = ca(1);
        let mut roots = RootCertStore::empty();
        roots.add(root.certificate().der().clone()).unwrap();
        let (mut known, verified) = Counting::keys_of(&roots);
        for _ in 0..2 * MOST {
            known.learn(known.certified(&certificates(&[&below(&root, "one", 2)])));
        }
        assert_eq!((known.count(), verified()), (2, 1));
        let others = (0..MOST as u8).map(|at| below(&root, &format!("CA {at}"), 10 + at));
        let others: Vec<_> = others.map(|ca| ca.certificate().clone()).collect();
        for other in &others {
            known.learn(known.certified(std::slice::from_ref(other)));
        }
        assert_eq!(known.count(), 1 + MOST);
        assert!(known.contains(&others[MOST - 2]));
        assert!(!known.contains(&others[MOST - 1]));
    }
}
