//! A server's key and certificate for each kind of signature: ML-DSA, ECDSA, Ed25519 and RSA. Each comes with the
//! schemes that it signs TLS 1.3 handshakes with.

use std::sync::LazyLock;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, Signer, SubjectKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls_pq::KeyAlgorithm;
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey};
use rustls_pq::identity::Identity;

use crate::pki::{FixedKey, PKI, SERVER_NAME};
use crate::tls::PROVIDER;

/// A server's key, and the schemes by which it signs handshakes of TLS 1.3.
pub struct ServerKey {
    pub algorithm: KeyAlgorithm,
    pub schemes: &'static [u16],
    /// The key's certificate, issued by [`PKI`]'s CA.
    pub certificate: CertificateDer<'static>,
    spki: SubjectPublicKeyInfoDer<'static>,
    pkcs8: Vec<u8>,
}

/// One key of every kind that [`PROVIDER`] signs with.
pub static SERVER_KEYS: LazyLock<Vec<ServerKey>> = LazyLock::new(|| {
    let post_quantum = [
        (SignatureAlgorithm::MlDsa44, &[0x0904][..]),
        (SignatureAlgorithm::MlDsa65, &[0x0905]),
        (SignatureAlgorithm::MlDsa87, &[0x0906]),
    ];
    let post_quantum = post_quantum.map(|(algorithm, schemes)| {
        let key = FixedKey::new(algorithm, 9);
        let pkcs8 = key.0.to_pkcs8_der().expect("a key with a seed");
        ServerKey::new(&key, &pkcs8, KeyAlgorithm::PostQuantum(algorithm), schemes)
    });
    let raw = |algorithm, len| {
        ClassicalKey::from_raw(algorithm, &vec![9; len]).expect("a scalar in range")
    };
    let rsa = include_str!("../../provider/tests/provider/rsa-2048.pem");
    let rsa = ClassicalKey::from_pem(rsa).expect("a key");
    let classical = [
        (
            raw(ClassicalAlgorithm::EcdsaP256, 32),
            KeyAlgorithm::EcdsaP256,
            &[0x0403][..],
        ),
        (
            raw(ClassicalAlgorithm::EcdsaP384, 48),
            KeyAlgorithm::EcdsaP384,
            &[0x0503],
        ),
        (
            raw(ClassicalAlgorithm::Ed25519, 32),
            KeyAlgorithm::Ed25519,
            &[0x0807],
        ),
        (
            rsa,
            KeyAlgorithm::Rsa { bits: 2048 },
            &[0x0804, 0x0805, 0x0806],
        ),
    ];
    let classical = classical.map(|(key, algorithm, schemes)| {
        ServerKey::new(&key, &key.to_pkcs8_der(), algorithm, schemes)
    });
    post_quantum.into_iter().chain(classical).collect()
});

impl ServerKey {
    fn new(
        key: &impl SubjectKey,
        pkcs8: &[u8],
        algorithm: KeyAlgorithm,
        schemes: &'static [u16],
    ) -> Self {
        Self {
            algorithm,
            schemes,
            certificate: certify(key, &PKI.ca),
            spki: key.spki().into_owned(),
            pkcs8: pkcs8.to_vec(),
        }
    }

    /// A certificate for the key, issued by another CA.
    pub fn certified_by(&self, issuer: &Issuer<impl Signer>) -> CertificateDer<'static> {
        certify(self, issuer)
    }

    /// The key with a chain whose leaf is for this key.
    pub fn identity(&self, chain: Vec<CertificateDer<'static>>) -> Identity {
        let key = PrivatePkcs8KeyDer::from(self.pkcs8.clone());
        Identity::new(chain, key.into(), &PROVIDER).expect("a pair")
    }
}

impl SubjectKey for ServerKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        SubjectPublicKeyInfoDer::from(&*self.spki)
    }
}

fn certify(key: &impl SubjectKey, issuer: &Issuer<impl Signer>) -> CertificateDer<'static> {
    let server = CertificateBuilder::server().dns_name(SERVER_NAME);
    issuer.issue(server, key).expect("a leaf").into_der()
}
