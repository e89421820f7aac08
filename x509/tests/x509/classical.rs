//! A classical key, ECDSA with P-256, as issuer and as subject.

use core::sync::atomic::{AtomicUsize, Ordering};

use pq_x509::certificate::SignatureError;
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{KeyError, SignError, SignatureAlgorithm, Signer, SubjectKey};
use pq_x509::pki_types::{
    AlgorithmIdentifier, InvalidSignature, ServerName, SignatureVerificationAlgorithm,
    SubjectPublicKeyInfoDer, UnixTime,
};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::revocation::CertificateRevocationListBuilder;
use pq_x509::validation::{ChainValidator, ValidationError};
use signers::{EcdsaP256, P256Key};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};

const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");

pub(crate) static ECDSA_P256_SHA256: &dyn SignatureVerificationAlgorithm = &EcdsaP256;

/// [`EcdsaP256`], and counts the verified messages that are longer than a given length.
#[derive(Debug)]
pub(crate) struct Counting {
    longer_than: usize,
    count: AtomicUsize,
}

impl Counting {
    pub(crate) const fn of_longer_than(longer_than: usize) -> Self {
        Self {
            longer_than,
            count: AtomicUsize::new(0),
        }
    }

    /// How many such messages there were since the last call.
    pub(crate) fn take(&self) -> usize {
        self.count.swap(0, Ordering::Relaxed)
    }
}

impl SignatureVerificationAlgorithm for Counting {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if message.len() > self.longer_than {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        ECDSA_P256_SHA256.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        ECDSA_P256_SHA256.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        ECDSA_P256_SHA256.signature_alg_id()
    }
}

fn name() -> ServerName<'static> {
    ServerName::try_from("example.org").unwrap()
}

#[test]
fn classical_root_post_quantum_leaf() {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(1)).unwrap();
    let leaf_key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let leaf = CertificateBuilder::server().dns_name("example.org");
    let chain = [root.issue(leaf, &leaf_key).unwrap()];

    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    assert_eq!(
        validator
            .validate_server(&chain, &name(), UnixTime::now())
            .unwrap_err(),
        ValidationError::UnsupportedAlgorithm(Some(ECDSA_WITH_SHA256))
    );
    let validator = validator.with_algorithms(&[ECDSA_P256_SHA256]);
    let validated = validator.validate_server(&chain, &name(), UnixTime::now());
    assert_eq!(validated.unwrap().certificates().len(), 2);
}

#[test]
fn post_quantum_root_classical_leaf() {
    let root_key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
    let ca = root
        .issue_ca(CertificateBuilder::ca("Classical"), P256Key::new(2))
        .unwrap();
    let leaf = CertificateBuilder::server().dns_name("example.org");
    let direct = root.issue(leaf.clone(), &P256Key::new(3)).unwrap();
    let below = ca.issue(leaf, &P256Key::new(3)).unwrap();
    assert!(matches!(
        direct.public_key(),
        Err(KeyError::UnsupportedAlgorithm(_))
    ));

    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    // The key of the leaf signs nothing in the chain, so no classical algorithm is needed.
    assert!(
        validator
            .validate_server(&[&direct], &name(), UnixTime::now())
            .is_ok()
    );
    let chain = [&below, ca.certificate()];
    assert!(
        validator
            .validate_server(&chain, &name(), UnixTime::now())
            .is_err()
    );
    let validator = validator.with_algorithms(&[ECDSA_P256_SHA256]);
    let validated = validator.validate_server(&chain, &name(), UnixTime::now());
    assert_eq!(validated.unwrap().certificates().len(), 3);
}

#[test]
fn classical_requests() {
    let root_key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
    let key = P256Key::new(4);
    let request = CertificateRequest::builder()
        .dns_name("example.org")
        .sign(&key)
        .unwrap();
    assert!(matches!(
        request.clone().verify(),
        Err(RequestError::Signature(_))
    ));
    let request = request.verify_with(&[ECDSA_P256_SHA256]).unwrap();
    let leaf = root.issue(request.certificate(), &request).unwrap();
    assert_eq!(leaf.spki(), key.spki());
}

/// Algorithms that are passed are added to those of this crate; `&[]` adds none.
#[test]
fn algorithms_given_are_beside_our_own() {
    let classical = Issuer::self_signed(CertificateBuilder::ca("Root"), P256Key::new(6)).unwrap();
    let key = pq_x509::keys::SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), &key).unwrap();
    let request = CertificateRequest::builder().dns_name("example.org");
    let list = CertificateRevocationListBuilder::new(&[1]);
    let unsupported = Err(SignatureError::UnsupportedAlgorithm(ECDSA_WITH_SHA256));
    for algorithms in [&[][..], &[ECDSA_P256_SHA256]] {
        let certificate = root.certificate();
        assert_eq!(
            certificate.verify_signature(certificate, algorithms),
            Ok(())
        );
        let list = root.issue_revocation_list(list.clone()).unwrap();
        assert_eq!(list.verify_signature(certificate, algorithms), Ok(()));
        let request = request.clone().sign(&key).unwrap();
        assert!(request.verify_with(algorithms).is_ok());
        let leaf = root.issue(CertificateBuilder::server().dns_name("example.org"), &key);
        let validator = ChainValidator::new([certificate.clone()]).unwrap();
        let validator = validator.with_algorithms(algorithms);
        let validated = validator.validate_server(&[leaf.unwrap()], &name(), UnixTime::now());
        assert!(validated.is_ok());
    }
    let certificate = classical.certificate();
    assert_eq!(certificate.verify_signature(certificate, &[]), unsupported);
    let list = classical.issue_revocation_list(list).unwrap();
    assert_eq!(list.verify_signature(certificate, &[]), unsupported);
    assert_eq!(
        list.verify_signature(certificate, &[ECDSA_P256_SHA256]),
        Ok(())
    );
    let request = request.sign(&P256Key::new(6)).unwrap();
    assert!(matches!(
        request.verify_with(&[]),
        Err(RequestError::Signature(error)) if Err(error.clone()) == unsupported
    ));
}

#[test]
fn a_failing_signer_is_reported() {
    struct Broken(P256Key);
    impl SubjectKey for Broken {
        fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
            self.0.spki()
        }
    }
    impl Signer for Broken {
        fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
            self.0.signature_algorithm()
        }
        fn sign(&self, _message: &[u8]) -> Result<Vec<u8>, SignError> {
            Err(SignError::new("the token was pulled out"))
        }
    }
    let broken: Box<dyn Signer> = Box::new(Broken(P256Key::new(5)));
    let error = Issuer::self_signed(CertificateBuilder::ca("Root"), &broken)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the key did not sign: the token was pulled out"
    );
    let IssueError::Sign(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.get_ref().to_string(), "the token was pulled out");
}
