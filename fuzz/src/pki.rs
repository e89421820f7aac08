//! The certificates and revocation lists that the targets begin with, made by keys that always sign the same. Such a
//! key also signs what the fuzzer has changed.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use arbitrary::Arbitrary;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer, TbsCertificate};
use pq_x509::keys::{
    DecapsulationKey, KemAlgorithm, SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey,
};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::x509_cert::der::Encode;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;

use crate::der::{self, Contents, DerEdits, Element};

/// A root, an intermediate and a server's leaf, always the same ones.
pub struct Pki {
    pub root: Issuer<FixedKey>,
    pub ca: Issuer<FixedKey>,
    pub server: Certificate,
    pub server_key: FixedKey,
    /// A leaf for a client, by the same intermediate.
    pub client: Certificate,
    pub client_key: FixedKey,
    /// A leaf for a key that doesn't sign.
    pub kem: Certificate,
    /// The intermediate and the server's leaf once more, valid from 1950 on.
    pub old_ca: Certificate,
    pub old_server: Certificate,
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
    let ca = |number| ca("CA", number).path_len(0).permit_dns(SERVER_NAME);
    let old_ca = root.prepare(ca(5), &key(2)).expect("a CA");
    let old_ca = old(old_ca, root.signer());
    let ca = root.issue_ca(ca(2), key(2)).expect("a CA");
    let server = |number| {
        CertificateBuilder::server()
            .dns_name(SERVER_NAME)
            .validity(validity())
            .serial_number(&[number])
    };
    let client = CertificateBuilder::client()
        .common_name("client")
        .validity(validity())
        .serial_number(&[4]);
    let kem = DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[5; 64]).expect("a seed");
    let (server_key, client_key) = (key(3), key(4));
    let old_server = ca.prepare(server(6), &server_key).expect("a leaf");
    Pki {
        kem: ca
            .issue(server(3), kem.encapsulation_key())
            .expect("a leaf"),
        old_ca,
        old_server: old(old_server, ca.signer()),
        server: ca.issue(server(3), &server_key).expect("a leaf"),
        server_key,
        client: ca.issue(client, &client_key).expect("a leaf"),
        client_key,
        root,
        ca,
    }
});

/// The certificate, valid from 1950 on: no `UnixTime` can express that date.
fn old(mut tbs: TbsCertificate, signer: &FixedKey) -> Certificate {
    tbs.signature = signer.signature_algorithm();
    let mut tbs = tbs.to_der().expect("a certificate");
    let start = b"010909014640Z";
    let at = tbs
        .windows(start.len())
        .position(|bytes| bytes == start)
        .expect("the start of VALID");
    tbs[at..][..start.len()].copy_from_slice(b"500101000000Z");
    Certificate::from_der(&sign(tbs, signer)).expect("a certificate")
}

/// The CA's list, which revokes the client's certificate and another one.
pub static CA_LIST: LazyLock<CertificateRevocationList> = LazyLock::new(|| {
    let revoked = [
        (&[0x7f, 0xff][..], CrlReason::Unspecified),
        (PKI.client.serial_number(), CrlReason::KeyCompromise),
    ];
    let date = at(*VALID.start());
    let list = revoked
        .into_iter()
        .fold(empty_list(), |list, (serial_number, reason)| {
            list.revoke(serial_number, date, reason)
        });
    PKI.ca.issue_revocation_list(list).expect("a list")
});

/// The root's list, which revokes nothing.
pub static ROOT_LIST: LazyLock<CertificateRevocationList> = LazyLock::new(|| {
    PKI.root
        .issue_revocation_list(empty_list())
        .expect("a list")
});

/// When the lists expire, in seconds since 1970: long before the certificates.
const NEXT_UPDATE: u64 = 2_500_000_000;

fn empty_list() -> CertificateRevocationListBuilder {
    let validity = Validity::new(at(*VALID.start()), at(NEXT_UPDATE));
    CertificateRevocationListBuilder::new(&[1]).validity(validity)
}

/// The period of [`VALID`].
pub fn validity() -> Validity {
    Validity::new(at(*VALID.start()), at(*VALID.end()))
}

/// The time this many seconds after the start of 1970.
pub fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// What a [`RevocationPolicy`] permits.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Leniency {
    pub end_entity_only: bool,
    pub allow_unknown_status: bool,
    pub allow_expired_lists: bool,
}

impl Leniency {
    pub fn of(self, mut policy: RevocationPolicy) -> RevocationPolicy {
        if self.end_entity_only {
            policy = policy.end_entity_only();
        }
        if self.allow_unknown_status {
            policy = policy.allow_unknown_status();
        }
        if self.allow_expired_lists {
            policy = policy.allow_expired_lists();
        }
        policy
    }
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

/// A certificate or a revocation list: `edits` change the signed part, then `signer` signs it.
pub fn sign_changed(original: &[u8], edits: &DerEdits<'_>, signer: &FixedKey) -> Vec<u8> {
    let mut document = der::parse(original).expect("DER");
    let mut tbs = Vec::new();
    der::encode(&der::parts(&mut document)[..1], &mut tbs);
    sign(edits.of(&tbs), signer)
}

/// The signed part with its algorithm and signature, put together as RFC 5280 says.
pub fn sign(tbs: Vec<u8>, signer: &FixedKey) -> Vec<u8> {
    let algorithm = signer
        .signature_algorithm()
        .to_der()
        .expect("no parameters");
    let signature = signer.sign(&tbs).expect("a key that signs");
    let mut bits = Vec::new();
    let bit_string = Element {
        tag: 0x03,
        contents: Contents::Bytes([&[0], &*signature].concat()),
    };
    der::encode(&[bit_string], &mut bits);
    let mut document = Vec::new();
    let sequence = Element {
        tag: 0x30,
        contents: Contents::Bytes([tbs, algorithm, bits].concat()),
    };
    der::encode(&[sequence], &mut document);
    document
}

/// The scalar of P-256 as an ECPrivateKey that names its curve (RFC 5915).
pub fn p256_private_key(scalar: &[u8]) -> Vec<u8> {
    const HEAD: [u8; 7] = [0x30, 49, 2, 1, 1, 4, 32];
    const CURVE: [u8; 12] = [0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
    [&HEAD, scalar, &CURVE].concat()
}

/// The same of P-384.
pub fn p384_private_key(scalar: &[u8]) -> Vec<u8> {
    const HEAD: [u8; 7] = [0x30, 62, 2, 1, 1, 4, 48];
    const CURVE: [u8; 9] = [0xa0, 7, 6, 5, 0x2b, 0x81, 4, 0, 0x22];
    [&HEAD, scalar, &CURVE].concat()
}
