//! The keys of recipients and signers, and their certificates.

use std::sync::LazyLock;

use pq_cms::ObjectIdentifier;
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, SignError, SignatureAlgorithm, Signer, SubjectKey,
};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::validation::ChainValidator;
use pq_x509::x509_cert::der::Decode;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use rustls_pq::classical::{ClassicalAgreementKey, ClassicalAlgorithm, ClassicalKey, RsaScheme};

use crate::pki::{FixedKey, p256_private_key, p384_private_key, validity};

/// A key and its certificate.
pub struct Owned<K> {
    pub key: K,
    pub certificate: Certificate,
}

pub struct Keys {
    pub kems: [Owned<DecapsulationKey>; 3],
    pub agreements: [Owned<ClassicalAgreementKey>; 3],
    pub strange: DecapsulationKey,
    /// A certificate of the first agreement key that only permits signatures.
    pub misused: Certificate,
    pub signers: Vec<Owned<Box<dyn Signer + Send + Sync>>>,
    pub root: ChainValidator,
}

pub static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let ca = CertificateBuilder::ca("Root")
        .validity(validity())
        .serial_number(&[1]);
    let root = FixedKey::new(SignatureAlgorithm::MlDsa44, 1);
    let root = Issuer::self_signed(ca, root).unwrap();
    let leaf = |number| {
        CertificateBuilder::end_entity()
            .dns_name("a")
            .validity(validity())
            .serial_number(&[number])
    };
    let of_kem = |algorithm, number| {
        let key = DecapsulationKey::from_seed(algorithm, &[number; 64]).unwrap();
        let certificate = root.issue(leaf(number), key.encapsulation_key()).unwrap();
        Owned { key, certificate }
    };
    let of_agreement = |number, der: &[u8]| {
        let key = ClassicalAgreementKey::from_der(der).unwrap();
        let leaf = leaf(number).key_usage(KeyUsages::KeyAgreement);
        let certificate = root.issue(leaf, key.public_key()).unwrap();
        Owned { key, certificate }
    };
    let agreements = [
        of_agreement(5, &[&X25519_HEAD[..], &[9; 32]].concat()),
        of_agreement(6, &p256_private_key(&[9; 32])),
        of_agreement(7, &p384_private_key(&[9; 48])),
    ];
    let misused = root.issue(leaf(8), agreements[0].key.public_key()).unwrap();
    let raw = |algorithm, len| ClassicalKey::from_raw(algorithm, &vec![9; len]).unwrap();
    let rsa = include_str!("../../../provider/tests/provider/rsa-2048.pem");
    let rsa = ClassicalKey::from_pem(rsa).unwrap();
    let mut signers: Vec<Box<dyn Signer + Send + Sync>> = vec![
        Box::new(FixedKey::new(SignatureAlgorithm::MlDsa44, 7)),
        Box::new(FixedKey::new(SignatureAlgorithm::MlDsa65, 7)),
        Box::new(raw(ClassicalAlgorithm::Ed25519, 32)),
        Box::new(raw(ClassicalAlgorithm::EcdsaP384, 48)),
    ];
    for scheme in RSA {
        let key = rsa.clone();
        signers.push(Box::new(RsaSigner { key, scheme }));
    }
    let signers = signers.into_iter().zip(9..).map(|(key, number)| Owned {
        certificate: root.issue(leaf(number), &*key).unwrap(),
        key,
    });
    Keys {
        kems: [
            of_kem(KemAlgorithm::MlKem512, 2),
            of_kem(KemAlgorithm::MlKem768, 3),
            of_kem(KemAlgorithm::MlKem1024, 4),
        ],
        strange: DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[5; 64]).unwrap(),
        agreements,
        misused,
        signers: signers.collect(),
        root: ChainValidator::new([root.certificate().clone()]).unwrap(),
    }
});

/// The bytes before a private key of X25519 in PKCS#8 (RFC 8410).
const X25519_HEAD: [u8; 16] = [
    0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 34, 4, 32,
];

/// Schemes, and their identifiers in messages. `rsaEncryption`, the second one, names no hash function.
const RSA: [(RsaScheme, &str); 3] = [
    (RsaScheme::Pkcs1Sha256, "1.2.840.113549.1.1.11"),
    (RsaScheme::Pkcs1Sha512, "1.2.840.113549.1.1.1"),
    (RsaScheme::PssSha256, "1.2.840.113549.1.1.10"),
];

/// A key of RSA that signs by one scheme.
struct RsaSigner {
    key: ClassicalKey,
    scheme: (RsaScheme, &'static str),
}

impl SubjectKey for RsaSigner {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for RsaSigner {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        /// SHA-256, its mask and 32 bytes of salt (RFC 4055, section 3.1).
        const PSS: [u8; 54] = [
            0x30, 0x34, 0xa0, 0x0f, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03,
            0x04, 0x02, 0x01, 0x05, 0x00, 0xa1, 0x1c, 0x30, 0x1a, 0x06, 0x09, 0x2a, 0x86, 0x48,
            0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
            0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0xa2, 0x03, 0x02, 0x01, 0x20,
        ];
        let parameters: &[u8] = match self.scheme.0 {
            RsaScheme::PssSha256 => &PSS,
            _ => &[0x05, 0x00],
        };
        AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::new_unwrap(self.scheme.1),
            parameters: Some(Decode::from_der(parameters).unwrap()),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        (self.key.sign_with(message, self.scheme.0)).map_err(SignError::new)
    }
}

/// The digests that each of [`Keys::signers`] accepts, its usual one first: for ML-DSA those of RFC 9882, for others
/// the one of their signatures, which `rsaEncryption` leaves open.
pub const SIGNER_DIGESTS: [&[PreHash]; 7] = [
    &[
        PreHash::Sha512,
        PreHash::Sha256,
        PreHash::Sha384,
        PreHash::Sha3_256,
        PreHash::Sha3_384,
        PreHash::Sha3_512,
        PreHash::Shake128,
        PreHash::Shake256,
    ],
    &[
        PreHash::Sha512,
        PreHash::Sha384,
        PreHash::Sha3_384,
        PreHash::Sha3_512,
        PreHash::Shake256,
    ],
    &[PreHash::Sha512],
    &[PreHash::Sha384],
    &[PreHash::Sha256],
    &[PreHash::Sha512, PreHash::Sha256, PreHash::Sha384],
    &[PreHash::Sha256],
];

/// The first of [`Keys::signers`] that is classical.
pub const FIRST_CLASSICAL: usize = 2;

/// The one of [`Keys::signers`] that says `rsaEncryption`, and signs with SHA-512 whatever the digest is.
pub const RSA_ENCRYPTION: usize = 5;

/// Keys that sender and recipient share, each one byte repeated, which [`check_secrecy`] looks for.
pub const SHARED: [(&[u8], &[u8]); 2] = [(b"short", &[0xa7; 16]), (b"long", &[0xa7; 32])];

/// Checks that a text contains none of the shared keys.
pub fn check_secrecy(text: &str) {
    let hex = "a7".repeat(16);
    for bytes in [hex.to_uppercase(), hex, ["167"; 16].join(", ")] {
        assert!(!text.contains(&bytes));
    }
}
