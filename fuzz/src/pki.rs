use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use pq_x509::{
    Certificate, CertificateBuilder, DecapsulationKey, Issuer, KemAlgorithm, SignError,
    SignatureAlgorithm, Signer, SigningKey, SubjectKey, Validity,
};

/// A root, an intermediate and a server's leaf, always the same ones.
pub struct Pki {
    pub root: Issuer<FixedKey>,
    pub ca: Issuer<FixedKey>,
    pub server: Certificate,
    pub server_key: FixedKey,
    /// The same for a client.
    pub client: Certificate,
    pub client_key: FixedKey,
    /// A leaf for a key that doesn't sign.
    pub kem: Certificate,
}

/// The name in the server's certificate.
pub const SERVER_NAME: &str = "localhost";

/// The seconds since 1970 in which all certificates are valid.
pub const VALID: core::ops::RangeInclusive<u64> = 1_000_000_000..=4_000_000_000;

pub static PKI: LazyLock<Pki> = LazyLock::new(|| {
    let key = |number| FixedKey::new(SignatureAlgorithm::MlDsa44, number);
    let ca = |name, number| {
        CertificateBuilder::ca(name)
            .validity(validity())
            .serial_number(&[number])
    };
    let root = Issuer::self_signed(ca("Root", 1), key(1)).expect("a root");
    let builder = ca("CA", 2).path_len(0).permit_dns(SERVER_NAME);
    let ca = root.issue_ca(builder, key(2)).expect("a CA");
    let server = CertificateBuilder::server()
        .dns_name(SERVER_NAME)
        .validity(validity())
        .serial_number(&[3]);
    let client = CertificateBuilder::client()
        .common_name("client")
        .validity(validity())
        .serial_number(&[4]);
    let kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[5; 64]).expect("a seed");
    let (server_key, client_key) = (key(3), key(4));
    Pki {
        kem: ca
            .issue(server.clone(), kem.encapsulation_key())
            .expect("a leaf"),
        server: ca.issue(server, &server_key).expect("a leaf"),
        server_key,
        client: ca.issue(client, &client_key).expect("a leaf"),
        client_key,
        root,
        ca,
    }
});

fn validity() -> Validity {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    Validity::new(at(*VALID.start()), at(*VALID.end()))
}

/// A key that always makes the same signature of the same message.
pub struct FixedKey(pub SigningKey);

impl FixedKey {
    pub fn new(algorithm: SignatureAlgorithm, number: u8) -> Self {
        let seed = vec![number; algorithm.seed_len()];
        Self(SigningKey::from_seed(algorithm, &seed).expect("a seed of the right length"))
    }
}

impl SubjectKey for FixedKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.0.spki()
    }
}

impl Signer for FixedKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.0.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.0
            .sign_with_randomness(message, &[0; 32])
            .map_err(SignError::new)
    }
}
