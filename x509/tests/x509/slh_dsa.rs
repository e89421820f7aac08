//! What is special about SLH-DSA: a public part that is checked late, and pre-hash signatures in
//! certificates.

use der::asn1::{BitString, BitStringRef, OctetStringRef};
use der::{Decode, Encode};
use pkcs8::PrivateKeyInfoRef;
use pq_core::slh_dsa::{
    self, Message, ParameterSet, PreHash, SlhDsaSha2_128f, SlhDsaShake128f, SlhDsaShake192f,
};
use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages, SignatureError};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{
    KemAlgorithm, KeyError, PublicKey, SignError, SignatureAlgorithm, Signer, SigningKey,
    SubjectKey, VerifyingKey,
};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::request::CertificateRequest;
use pq_x509::validation::{ChainValidator, ValidationError};
use pq_x509::verification::{self, Mode, parameter_set};
use pq_x509::x509_cert::ext::pkix::KeyUsage;
use spki::{
    AlgorithmIdentifierOwned, AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef,
};

use crate::pki::{key, server, set_usage, validate_with};

#[test]
fn a_foreign_public_part_is_noticed_before_anything_is_signed() {
    let own = SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_128f).unwrap();
    assert_eq!(own.check(), Ok(()));
    let mut der = own.to_pkcs8_der().unwrap();
    *der.last_mut().unwrap() ^= 1;
    let foreign = SigningKey::from_pkcs8_der(&der).unwrap();
    let error = pq_core::Error::InconsistentKey;
    let algorithm = own.algorithm().into();
    assert_eq!(
        foreign.check(),
        Err(KeyError::Malformed { algorithm, error })
    );
    assert_eq!(
        foreign.sign(b"message"),
        Err(KeyError::Operation { algorithm, error })
    );
}

/// A key for HashSLH-DSA that claims the given identifiers.
struct Hashing<P: ParameterSet> {
    key: slh_dsa::SigningKey<P>,
    hash: PreHash,
    /// The identifier that its signatures claim.
    signature_oid: ObjectIdentifier,
    spki: Vec<u8>,
}

impl<P: ParameterSet> Hashing<P> {
    fn new(hash: PreHash, signature_oid: &str, key_oid: &str, raw: &[u8]) -> Self {
        let key = slh_dsa::SigningKey::from_bytes(raw).unwrap();
        let public_key = key.verifying_key().as_bytes();
        let spki = SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef {
                oid: ObjectIdentifier::new_unwrap(key_oid),
                parameters: None,
            },
            subject_public_key: BitStringRef::from_bytes(public_key).unwrap(),
        };
        Self {
            hash,
            signature_oid: ObjectIdentifier::new_unwrap(signature_oid),
            spki: spki.to_der().unwrap(),
            key,
        }
    }
}

impl<P: ParameterSet> SubjectKey for Hashing<P> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl<P: ParameterSet> Signer for Hashing<P> {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            oid: self.signature_oid,
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let mut signature = vec![0; P::SIGNATURE_LEN];
        let message = Message::Hashed(self.hash, message);
        self.key
            .sign_into(message, &[], None, &|_| (), &mut signature)
            .map_err(|error| SignError::new(error.to_string()))?;
        Ok(signature)
    }
}

/// The root, and whether a chain under it is valid.
fn issue_under<P: ParameterSet>(root: Hashing<P>) -> (Certificate, Result<usize, ValidationError>) {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let leaf = root.issue(server(), &key()).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let validated = validate_with(&validator, "example.org", &[leaf]);
    (root.certificate().clone(), validated)
}

fn raw(algorithm: SignatureAlgorithm) -> Vec<u8> {
    let seed = vec![7; algorithm.seed_len()];
    SigningKey::from_seed(algorithm, &seed)
        .unwrap()
        .to_expanded()
        .to_vec()
}

const SHA2_128F_WITH_SHA256: &str = "2.16.840.1.101.3.4.3.36";
const SHAKE_128F_WITH_SHAKE128: &str = "2.16.840.1.101.3.4.3.42";
const SHAKE_192F_WITH_SHAKE256: &str = "2.16.840.1.101.3.4.3.44";

#[test]
fn pre_hash_signatures_verify() {
    let sha2 = raw(SignatureAlgorithm::SlhDsaSha2_128f);
    let (root, validated) = issue_under(Hashing::<SlhDsaSha2_128f>::new(
        PreHash::Sha256,
        SHA2_128F_WITH_SHA256,
        SHA2_128F_WITH_SHA256,
        &sha2,
    ));
    assert_eq!(validated, Ok(2));
    assert_eq!(root.verify_signature(&root, verification::ALL), Ok(()));

    let shake = raw(SignatureAlgorithm::SlhDsaShake128f);
    let (_, validated) = issue_under(Hashing::<SlhDsaShake128f>::new(
        PreHash::Shake128,
        SHAKE_128F_WITH_SHAKE128,
        SHAKE_128F_WITH_SHAKE128,
        &shake,
    ));
    assert_eq!(validated, Ok(2));

    let shake = raw(SignatureAlgorithm::SlhDsaShake192f);
    let (_, validated) = issue_under(Hashing::<SlhDsaShake192f>::new(
        PreHash::Shake256,
        SHAKE_192F_WITH_SHAKE256,
        SHAKE_192F_WITH_SHAKE256,
        &shake,
    ));
    assert_eq!(validated, Ok(2));
}

/// RFC 9909: a key of one kind signs in one way, with one hash function.
#[test]
fn pure_and_pre_hash_do_not_mix() {
    let pure = SignatureAlgorithm::SlhDsaSha2_128f.oid().to_string();
    let sha2 = raw(SignatureAlgorithm::SlhDsaSha2_128f);
    let hashing = |hash, signature_oid: &str, key_oid: &str| {
        Hashing::<SlhDsaSha2_128f>::new(hash, signature_oid, key_oid, &sha2)
    };

    // A pre-hash signature that claims to be pure, or to use the hash function of another set.
    for (hash, oid) in [
        (PreHash::Sha256, pure.as_str()),
        (PreHash::Sha512, SHA2_128F_WITH_SHA256),
    ] {
        let (root, validated) = issue_under(hashing(hash, oid, oid));
        assert_eq!(
            root.verify_signature(&root, verification::ALL),
            Err(SignatureError::Invalid)
        );
        assert!(validated.is_err());
    }

    // A correct pre-hash signature with a key for pure signatures.
    let (root, validated) = issue_under(hashing(PreHash::Sha256, SHA2_128F_WITH_SHA256, &pure));
    let key = SubjectPublicKeyInfoRef::from_der(&root.spki())
        .unwrap()
        .algorithm
        .oid;
    assert_eq!(
        root.verify_signature(&root, verification::ALL),
        Err(SignatureError::AlgorithmMismatch {
            signature: ObjectIdentifier::new_unwrap(SHA2_128F_WITH_SHA256),
            key,
        })
    );
    assert!(validated.is_err());
}

/// RFC 9909: keys of HashSLH-DSA, public and private, are those of SLH-DSA under other identifiers.
#[test]
fn pre_hash_keys_are_read() {
    let mut algorithms = Vec::new();
    for algorithm in verification::ALL {
        let oid = ObjectIdentifier::from_der(&algorithm.signature_alg_id()).unwrap();
        if let Some((set, Mode::PreHash)) = parameter_set(oid) {
            algorithms.push((oid, set, algorithm));
        }
    }
    assert_eq!(algorithms.len(), 12);
    for (oid, set, verification) in algorithms {
        // They differ from the pure ones in the last arc.
        let renamed = |der: &[u8]| {
            let pure = set.oid().to_der().unwrap();
            let at = der
                .windows(pure.len())
                .position(|bytes| bytes == pure)
                .unwrap();
            let mut der = der.to_vec();
            der[at..at + pure.len()].copy_from_slice(&oid.to_der().unwrap());
            der
        };
        // The public part is made up, since reading does not check it: that would take some sets too long.
        let pure = SigningKey::from_pkcs8_der(&pkcs8_of(set)).unwrap();
        let der = renamed(&pure.to_pkcs8_der().unwrap());
        let key = SigningKey::from_pkcs8_der(&der).unwrap();
        assert_eq!(*key.to_pkcs8_der().unwrap(), der);
        assert_eq!(
            pq_x509::keys::Algorithm::of_pkcs8_der(&der),
            Some(set.into())
        );
        let public = key.verifying_key();
        assert_eq!(
            (public.algorithm(), public.mode(), public.oid()),
            (set, Mode::PreHash, oid)
        );
        assert_eq!(pure.verifying_key().mode(), Mode::Pure);
        assert_eq!(public.to_spki_der(), renamed(&pure.spki()));
        assert_eq!(
            VerifyingKey::from_spki_der(public.to_spki_der()).as_ref(),
            Ok(public)
        );
        assert_ne!(public, pure.verifying_key());
        assert_eq!(Signer::signature_algorithm(&key).oid, oid);

        let malformed = [&der[..der.len() - 1], &[0, 0]].concat();
        assert!(SigningKey::from_pkcs8_der(&malformed).is_err());
        let mut spki = SubjectPublicKeyInfoRef::from_der(public.to_spki_der()).unwrap();
        spki.subject_public_key = BitStringRef::from_bytes(&public.as_bytes()[1..]).unwrap();
        assert!(matches!(
            VerifyingKey::from_spki_der(&spki.to_der().unwrap()),
            Err(KeyError::Malformed { .. })
        ));

        if set.name().ends_with('f') {
            let key = SigningKey::from_pkcs8_der(&renamed(&pkcs8_of_generated(set))).unwrap();
            let signature = key.sign(b"message").unwrap();
            let public = key.verifying_key();
            assert_eq!(public.verify(b"message", &signature), Ok(()));
            assert_eq!(
                public.verify(b"Message", &signature),
                Err(KeyError::InvalidSignature(set))
            );
            // It verifies with webpki's algorithm, and not as a pure signature.
            let verified = verification.verify_signature(public.as_bytes(), b"message", &signature);
            assert!(verified.is_ok());
            let pure = VerifyingKey::from_bytes(set, public.as_bytes()).unwrap();
            assert!(pure.verify(b"message", &signature).is_err());
        }
    }
}

/// A root, a CA and a leaf, each with a key of HashSLH-DSA from a file.
#[test]
fn chains_of_pre_hash_keys() {
    let key = || {
        let mut der = pkcs8_of_generated(SignatureAlgorithm::SlhDsaSha2_128f);
        // In 30 len, 02 01 00, 30 0b 06 09 and eight bytes.
        assert_eq!(der[17], 21);
        der[17] = 36;
        SigningKey::from_pkcs8_der(&der).unwrap()
    };
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let ca = root.issue_ca(CertificateBuilder::ca("CA"), key()).unwrap();
    let leaf_key = key();
    let leaf = ca.issue(server(), &leaf_key).unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let chain = [leaf.clone(), ca.certificate().clone()];
    assert_eq!(validate_with(&validator, "example.org", &chain), Ok(3));
    assert_eq!(
        leaf.public_key(),
        Ok(PublicKey::Verifying(leaf_key.verifying_key().clone()))
    );

    let request = CertificateRequest::builder()
        .dns_name("example.org")
        .sign(&leaf_key)
        .unwrap();
    let request = request.verify().unwrap();
    assert!(root.issue(request.certificate(), &request).is_ok());

    // A key that is too short is refused, also in a leaf.
    let mut tbs = ca.prepare(server(), &leaf_key).unwrap();
    let bits = &mut tbs.subject_public_key_info.subject_public_key;
    *bits = BitString::from_bytes(&bits.raw_bytes()[1..]).unwrap();
    let chain = [tbs.sign(ca.signer()).unwrap(), ca.certificate().clone()];
    assert!(matches!(
        validate_with(&validator, "example.org", &chain),
        Err(ValidationError::Key {
            error: KeyError::Malformed { .. },
            ..
        })
    ));
}

/// A private key of 4n bytes that is nobody's key.
fn pkcs8_of(set: SignatureAlgorithm) -> Vec<u8> {
    let key: Vec<u8> = (0..).take(set.expanded_len()).collect();
    let contents = OctetStringRef::new(&key).unwrap();
    PrivateKeyInfoRef::new(set.identifier(), contents)
        .to_der()
        .unwrap()
}

fn pkcs8_of_generated(set: SignatureAlgorithm) -> Vec<u8> {
    SigningKey::generate(set)
        .unwrap()
        .to_pkcs8_der()
        .unwrap()
        .to_vec()
}

/// Every identifier that verifies belongs to the set and the mode in its name, and no other
/// identifier belongs to any.
#[test]
fn parameter_sets() {
    for algorithm in verification::ALL {
        let identifier = algorithm.signature_alg_id();
        let oid = ObjectIdentifier::from_der(&identifier).unwrap();
        let (set, mode) = parameter_set(oid).unwrap();
        let name = format!("{algorithm:?}");
        match mode {
            Mode::Pure => assert_eq!((name.as_str(), oid), (set.name(), set.oid())),
            Mode::PreHash => assert!(name.starts_with(&format!("Hash{set}-with-")), "{name}"),
        }
    }

    let known = |arc: &u32| {
        let oid = format!("2.16.840.1.101.3.4.3.{arc}");
        parameter_set(ObjectIdentifier::new_unwrap(&oid)).is_some()
    };
    let arcs: Vec<u32> = (0..128).filter(known).collect();
    assert_eq!(arcs, (17..=31).chain(35..=46).collect::<Vec<_>>());
    let kem = KemAlgorithm::MlKem768.oid();
    assert_eq!(parameter_set(kem), None);
}

/// RFC 9909 limits such keys to the usages of a key that signs.
#[test]
fn pre_hash_keys_may_only_sign() {
    let algorithm = SignatureAlgorithm::SlhDsaSha2_128f;
    let hashing = Hashing::<SlhDsaSha2_128f>::new(
        PreHash::Sha256,
        SHA2_128F_WITH_SHA256,
        SHA2_128F_WITH_SHA256,
        &raw(algorithm),
    );
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key()).unwrap();
    let usages = KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment;
    let forbidden = KeyUsageError::ForbiddenForSignatureKey {
        algorithm,
        usage: "keyEncipherment".into(),
    };
    assert!(matches!(
        root.issue(server().key_usage(usages), &hashing),
        Err(IssueError::KeyUsage(error)) if error == forbidden
    ));

    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    for (usages, expected) in [
        (usages, forbidden),
        (
            KeyUsages::NonRepudiation.into(),
            KeyUsageError::WithoutDigitalSignature,
        ),
    ] {
        let mut leaf = root.prepare(server(), &hashing).unwrap();
        set_usage(&mut leaf, KeyUsage(usages));
        let leaf = leaf.sign(root.signer()).unwrap();
        assert!(matches!(
            validate_with(&validator, "example.org", &[leaf]),
            Err(ValidationError::KeyUsage { error, .. }) if error == expected
        ));
    }
}
