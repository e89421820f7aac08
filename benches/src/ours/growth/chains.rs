//! Validating a chain, and reading revocation lists.

use core::hint::black_box;
use std::time::SystemTime;

use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::revocation::{
    CertificateRevocationList, CertificateRevocationListBuilder, CrlReason, RevocationPolicy,
};
use pq_x509::validation::ChainValidator;
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};

use crate::timing::Passes;

/// A CA and a client's certificate that it issued.
struct Pki {
    ca: Issuer<SigningKey>,
    chain: [Certificate; 1],
}

impl Pki {
    fn new() -> Self {
        let key =
            |seed| SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).expect("a seed");
        let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key(1)).expect("a root");
        let leaf = CertificateBuilder::client().common_name("client");
        let leaf = ca.issue(leaf, &key(2)).expect("a certificate");
        Self { ca, chain: [leaf] }
    }

    fn validator(&self) -> ChainValidator {
        ChainValidator::new([self.ca.certificate().clone()]).expect("a root")
    }

    /// A revocation list with this number of other certificates.
    fn list(&self, revoked: usize) -> CertificateRevocationList {
        let now = SystemTime::now();
        let list = (0..revoked).fold(CertificateRevocationListBuilder::new(&[1]), |list, n| {
            list.revoke(&serial_number(n), now, CrlReason::Superseded)
        });
        self.ca.issue_revocation_list(list).expect("a list")
    }

    fn validation(self, validator: ChainValidator) -> Passes<'static> {
        let time = UnixTime::now();
        Passes::new(VALIDATIONS, move || {
            for _ in 0..VALIDATIONS {
                let validated = validator.validate_client(black_box(&self.chain), time);
                black_box(validated.expect("a valid chain"));
            }
        })
    }
}

const VALIDATIONS: usize = 10;

/// A serial number as long as those of most CAs, and spread like random ones.
fn serial_number(n: usize) -> [u8; 20] {
    let mut number = [0x40; 20];
    let spread = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number[1..9].copy_from_slice(&spread.to_be_bytes());
    number[12..].copy_from_slice(&(n as u64).to_be_bytes());
    number
}

pub(super) fn among_roots(size: usize) -> Passes<'static> {
    let pki = Pki::new();
    let others = (1..size).map(|n| other_ca(n).certificate().clone());
    let roots = others.chain([pki.ca.certificate().clone()]);
    let validator = ChainValidator::new(roots).expect("roots");
    pki.validation(validator)
}

pub(super) fn among_revoked(size: usize) -> Passes<'static> {
    let pki = Pki::new();
    let policy = RevocationPolicy::new([pki.list(size)]).expect("a list");
    let validator = pki.validator().with_revocation(policy);
    pki.validation(validator)
}

pub(super) fn among_lists(size: usize) -> Passes<'static> {
    let pki = Pki::new();
    let others = (1..size).map(|n| {
        let list = CertificateRevocationListBuilder::new(&[1]);
        other_ca(n).issue_revocation_list(list).expect("a list")
    });
    let policy = RevocationPolicy::new(others.chain([pki.list(0)])).expect("lists");
    let validator = pki.validator().with_revocation(policy);
    pki.validation(validator)
}

pub(super) fn first_use(size: usize) -> Passes<'static> {
    let pki = Pki::new();
    let policy = RevocationPolicy::new([pki.list(size)]).expect("a list");
    let validator = pki.validator();
    let time = UnixTime::now();
    Passes::new(1, move || {
        let validator = validator.clone().with_revocation(policy.clone());
        let validated = validator.validate_client(black_box(&pki.chain), time);
        black_box(validated.expect("a valid chain"));
    })
}

pub(super) fn reading(size: usize) -> Passes<'static> {
    let der = Pki::new().list(size).into_der();
    Passes::new(1, move || {
        let list = CertificateRevocationList::from_der(black_box(&der)).expect("a list");
        black_box(RevocationPolicy::new([list]).expect("one that can be used"));
    })
}

/// One of many CAs. Its key and signatures are invalid, since nothing looks at them.
fn other_ca(n: usize) -> Issuer<Nobody> {
    Issuer::self_signed(CertificateBuilder::ca(format!("CA {n}")), Nobody).expect("a root")
}

pub(super) struct Nobody;

impl SubjectKey for Nobody {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        // id-Ed25519, and the key.
        const SPKI: &[u8] = &[
            0x30, 42, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 33, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
            12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
        ];
        SPKI.into()
    }
}

impl Signer for Nobody {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::new_unwrap("1.3.101.112"),
            parameters: None,
        }
    }

    fn sign(&self, _message: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(vec![0; 64])
    }
}
