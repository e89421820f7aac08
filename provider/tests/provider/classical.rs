//! Classical keys: compared with ring, in every form of document, and in certificates.

use pq_x509::certificate::{Certificate, SignatureError};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::agreement::{AgreementKey, AgreementPublicKey};
use pq_x509::keys::encoding::pem;
use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::validation::{ChainValidator, ValidationError};
use ring::rand::SystemRandom;
use ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, RsaKeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls_pq::classical::{
    AgreementAlgorithm, ClassicalAgreementKey, ClassicalAgreementPublicKey, ClassicalAlgorithm,
    ClassicalKey, ClassicalKeyError, ClassicalPublicKey, RsaScheme, verification_algorithms,
};

const MESSAGE: &[u8] = b"message";

fn key(algorithm: ClassicalAlgorithm) -> ClassicalKey {
    ClassicalKey::generate(algorithm).unwrap()
}

#[test]
fn keys_are_read_as_they_were_written_and_sign() {
    for &algorithm in ClassicalAlgorithm::ALL {
        let key = key(algorithm);
        assert_eq!(key.algorithm(), algorithm);
        let der = key.to_pkcs8_der();
        for read in [
            ClassicalKey::from_der(&der).unwrap(),
            ClassicalKey::from_pem(&key.to_pkcs8_pem()).unwrap(),
        ] {
            assert_eq!(*read.to_pkcs8_der(), *der);
            assert_eq!(read.public_key(), key.public_key());
            let signature = read.sign(MESSAGE).unwrap();
            assert!(signature.len() <= algorithm.max_signature_len());
            key.public_key().verify(MESSAGE, &signature).unwrap();
            assert_eq!(
                key.public_key().verify(b"Message", &signature),
                Err(ClassicalKeyError::InvalidSignature(algorithm))
            );
        }
        key.check().unwrap();
        let public_key = key.public_key();
        assert_eq!(
            ClassicalPublicKey::from_spki_pem(&public_key.to_spki_pem()).as_ref(),
            Ok(public_key)
        );
        assert_eq!(public_key.spki().as_ref(), public_key.to_spki_der());
        assert_eq!(
            format!("{key:?}"),
            format!("ClassicalKey {{ algorithm: {algorithm:?}, .. }}")
        );
    }
}

#[test]
fn ring_reads_the_keys_and_verifies_their_signatures() {
    for &algorithm in ClassicalAlgorithm::ALL {
        let key = key(algorithm);
        let verification: &dyn VerificationAlgorithm = match algorithm {
            ClassicalAlgorithm::EcdsaP256 => &signature::ECDSA_P256_SHA256_ASN1,
            ClassicalAlgorithm::EcdsaP384 => &signature::ECDSA_P384_SHA384_ASN1,
            ClassicalAlgorithm::Ed25519 => &signature::ED25519,
            _ => &signature::RSA_PKCS1_2048_8192_SHA256,
        };
        let public_key = key.public_key();
        let ours = key.sign(MESSAGE).unwrap();
        UnparsedPublicKey::new(verification, public_key.as_bytes())
            .verify(MESSAGE, &ours)
            .unwrap();
        let theirs = signed_by_ring(algorithm, &key.to_pkcs8_der());
        public_key.verify(MESSAGE, &theirs).unwrap();
    }
}

#[test]
fn ring_verifies_every_scheme_of_rsa() {
    let key = ClassicalKey::from_pem(include_str!("rsa-2048.pem")).unwrap();
    let schemes: [(RsaScheme, &dyn VerificationAlgorithm); 6] = [
        (
            RsaScheme::Pkcs1Sha256,
            &signature::RSA_PKCS1_2048_8192_SHA256,
        ),
        (
            RsaScheme::Pkcs1Sha384,
            &signature::RSA_PKCS1_2048_8192_SHA384,
        ),
        (
            RsaScheme::Pkcs1Sha512,
            &signature::RSA_PKCS1_2048_8192_SHA512,
        ),
        (RsaScheme::PssSha256, &signature::RSA_PSS_2048_8192_SHA256),
        (RsaScheme::PssSha384, &signature::RSA_PSS_2048_8192_SHA384),
        (RsaScheme::PssSha512, &signature::RSA_PSS_2048_8192_SHA512),
    ];
    for (scheme, verification) in schemes {
        let signature = key.sign_with(MESSAGE, scheme).unwrap();
        UnparsedPublicKey::new(verification, key.public_key().as_bytes())
            .verify(MESSAGE, &signature)
            .unwrap();
        for (other, _) in schemes {
            let verified = key.public_key().verify_with(MESSAGE, &signature, other);
            assert_eq!(verified.is_ok(), other == scheme, "{scheme:?} {other:?}");
        }
    }
}

#[test]
fn public_keys_are_read_alone() {
    for &algorithm in &ClassicalAlgorithm::ALL[..4] {
        let key = key(algorithm);
        let public_key = key.public_key();
        let read = |bytes| ClassicalPublicKey::from_bytes(algorithm, bytes);
        assert_eq!(read(public_key.as_bytes()).as_ref(), Ok(public_key));
        assert!(read(&public_key.as_bytes()[1..]).is_err());
        assert!(read(&[]).is_err());
    }
    let rsa = key(ClassicalAlgorithm::Rsa2048);
    let bytes = rsa.public_key().as_bytes();
    let error = ClassicalPublicKey::from_bytes(ClassicalAlgorithm::Rsa3072, bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "malformed RSA key: it is a key of RSA-2048, not of RSA-3072"
    );
}

fn signed_by_ring(algorithm: ClassicalAlgorithm, pkcs8: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let ecdsa = |suite: &'static EcdsaSigningAlgorithm| {
        let key = EcdsaKeyPair::from_pkcs8(suite, pkcs8, &random).unwrap();
        key.sign(&random, MESSAGE).unwrap().as_ref().to_vec()
    };
    match algorithm {
        ClassicalAlgorithm::EcdsaP256 => ecdsa(&signature::ECDSA_P256_SHA256_ASN1_SIGNING),
        ClassicalAlgorithm::EcdsaP384 => ecdsa(&signature::ECDSA_P384_SHA384_ASN1_SIGNING),
        ClassicalAlgorithm::Ed25519 => {
            // "Maybe unchecked", because the document has no public key.
            let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).unwrap();
            key.sign(MESSAGE).as_ref().to_vec()
        }
        _ => {
            let key = RsaKeyPair::from_pkcs8(pkcs8).unwrap();
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(
                &signature::RSA_PKCS1_SHA256,
                &random,
                MESSAGE,
                &mut signature,
            )
            .unwrap();
            signature
        }
    }
}

/// They are as OpenSSL writes them.
#[test]
fn documents_have_the_form_that_everybody_reads() {
    for (algorithm, len, head) in [
        (
            ClassicalAlgorithm::EcdsaP256,
            138,
            "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420",
        ),
        (
            ClassicalAlgorithm::EcdsaP384,
            185,
            "3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430",
        ),
        (
            ClassicalAlgorithm::Ed25519,
            48,
            "302e020100300506032b657004220420",
        ),
    ] {
        let key = key(algorithm);
        let der = key.to_pkcs8_der();
        assert_eq!(der.len(), len, "{algorithm}");
        let (found, rest) = der.split_at(head.len() / 2);
        assert_eq!(hex(found), head);
        // The scalar or seed comes next.
        let raw = key.to_raw().unwrap();
        assert!(rest.starts_with(&raw));
        let read = ClassicalKey::from_raw(algorithm, &raw).unwrap();
        assert_eq!(*read.to_pkcs8_der(), *der);
    }
    let rsa = key(ClassicalAlgorithm::Rsa2048);
    assert_eq!(
        hex(&rsa.to_pkcs8_der()[4..RSA_HEAD - 4]),
        "020100300d06092a864886f70d0101010500"
    );
    assert_eq!(
        rsa.to_raw().unwrap_err(),
        ClassicalKeyError::NoRawBytes(ClassicalAlgorithm::Rsa2048)
    );
}

/// The length of the part of RSA's PKCS#8 before RSAPrivateKey.
const RSA_HEAD: usize = 26;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn older_documents_are_read() {
    let p256 = key(ClassicalAlgorithm::EcdsaP256);
    let p384 = key(ClassicalAlgorithm::EcdsaP384);
    let rsa = key(ClassicalAlgorithm::Rsa2048);
    for (key, label, der) in [
        (&p256, "EC PRIVATE KEY", ec_private_key(&p256, P256)),
        (&p384, "EC PRIVATE KEY", ec_private_key(&p384, P384)),
        (
            &rsa,
            "RSA PRIVATE KEY",
            rsa.to_pkcs8_der()[RSA_HEAD..].to_vec(),
        ),
    ] {
        let text = pem::encode("CERTIFICATE", b"another block") + &pem::encode(label, &der);
        for read in [
            ClassicalKey::from_der(&der).unwrap(),
            ClassicalKey::from_pem(&text).unwrap(),
        ] {
            assert_eq!(*read.to_pkcs8_der(), *key.to_pkcs8_der());
        }
    }
    assert!(matches!(
        ClassicalKey::from_der(&ec_private_key(&p256, P521)),
        Err(ClassicalKeyError::UnsupportedAlgorithm(curve)) if curve.to_string() == "1.3.132.0.35"
    ));
    // The name of the curve is required.
    assert!(matches!(
        ClassicalKey::from_der(&ec_private_key(&p256, &[])),
        Err(ClassicalKeyError::Der(_))
    ));

    // PKCS#8 of version 2, with the public key.
    let ed25519 = key(ClassicalAlgorithm::Ed25519);
    let version_2 = |public_key: &[u8]| {
        let version_1 = ed25519.to_pkcs8_der();
        let mut der = [&version_1[..], &[0x81, 33, 0], public_key].concat();
        (der[1], der[4]) = (der[1] + 35, 1);
        ClassicalKey::from_der(&der)
    };
    let read = version_2(ed25519.public_key().as_bytes()).unwrap();
    assert_eq!(read.public_key(), ed25519.public_key());
    let other = key(ClassicalAlgorithm::Ed25519);
    assert_eq!(
        version_2(other.public_key().as_bytes()).unwrap_err(),
        ClassicalKeyError::PublicKeyMismatch("Ed25519")
    );
}

// The curves' identifiers in DER.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 34];
const P521: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 35];

fn element(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    let len = u16::try_from(contents.len()).unwrap().to_be_bytes();
    let len = match len {
        [0, len @ ..128] => vec![len],
        [0, len] => vec![0x81, len],
        [high, low] => vec![0x82, high, low],
    };
    [&[tag], &*len, &contents].concat()
}

/// An ECPrivateKey (RFC 5915) with these parameters.
fn ec_private_key(key: &ClassicalKey, parameters: &[u8]) -> Vec<u8> {
    let scalar = element(4, &[&key.to_raw().unwrap()]);
    let parameters = match parameters.is_empty() {
        true => Vec::new(),
        false => element(0xa0, &[parameters]),
    };
    let bits = element(3, &[&[0], key.public_key().as_bytes()]);
    element(
        0x30,
        &[&[2, 1, 1], &scalar, &parameters, &element(0xa1, &[&bits])],
    )
}

#[test]
fn what_is_no_key_is_refused() {
    let p256 = key(ClassicalAlgorithm::EcdsaP256);
    let der = p256.to_pkcs8_der();
    for end in 0..der.len() {
        assert!(ClassicalKey::from_der(&der[..end]).is_err(), "{end}");
    }
    assert!(ClassicalKey::from_der(&[&der[..], &[0]].concat()).is_err());
    // Another point beside the scalar.
    let mut changed = der.to_vec();
    let other = key(ClassicalAlgorithm::EcdsaP256);
    let at = der.len() - 65;
    changed[at..].copy_from_slice(other.public_key().as_bytes());
    let error = ClassicalKey::from_der(&changed).unwrap_err();
    assert!(
        matches!(error, ClassicalKeyError::Malformed { .. }),
        "{error}"
    );

    let spki = p256.public_key().to_spki_der();
    for end in 0..spki.len() {
        assert!(ClassicalPublicKey::from_spki_der(&spki[..end]).is_err());
    }
    let mut off_curve = spki.to_vec();
    off_curve[spki.len() - 1] ^= 1;
    let error = ClassicalPublicKey::from_spki_der(&off_curve).unwrap_err();
    assert!(
        matches!(error, ClassicalKeyError::Malformed { .. }),
        "{error}"
    );

    // Keys of ML-DSA are read by pq-x509.
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    for error in [
        ClassicalKey::from_der(&ml_dsa.to_pkcs8_der().unwrap()).unwrap_err(),
        ClassicalPublicKey::from_spki_der(&ml_dsa.spki()).unwrap_err(),
    ] {
        let oid = SignatureAlgorithm::MlDsa44.oid();
        assert_eq!(error, ClassicalKeyError::UnsupportedAlgorithm(oid));
    }
    let error = ClassicalKey::from_pem("no key").unwrap_err();
    assert!(matches!(error, ClassicalKeyError::Pem(_)), "{error}");
}

#[test]
fn raw_keys_have_their_length_and_are_in_range() {
    let p384 = ClassicalAlgorithm::EcdsaP384;
    assert_eq!(
        ClassicalKey::from_raw(p384, &[1; 32]).unwrap_err(),
        ClassicalKeyError::RawLength {
            algorithm: p384,
            expected: 48,
            found: 32
        }
    );
    for out_of_range in [[0; 48], [0xff; 48]] {
        let error = ClassicalKey::from_raw(p384, &out_of_range).unwrap_err();
        assert!(
            matches!(error, ClassicalKeyError::Malformed { .. }),
            "{error}"
        );
    }
    let rsa = ClassicalAlgorithm::Rsa2048;
    assert_eq!(
        ClassicalKey::from_raw(rsa, &[1; 256]).unwrap_err(),
        ClassicalKeyError::NoRawBytes(rsa)
    );
}

#[test]
fn rsa_keys_of_other_lengths_are_refused_by_their_length() {
    for bits in [1024, 2040, 2056, 8192] {
        let key = rsa_private_key(bits, [bits / 2; 2]);
        assert_eq!(
            ClassicalKey::from_der(&key).unwrap_err(),
            ClassicalKeyError::UnsupportedRsaLength(bits)
        );
    }
}

/// graviola would use the length of one prime when it reads the other.
#[test]
fn rsa_keys_have_primes_of_half_the_length() {
    for primes in [[1024, 512], [512, 1024], [1016, 1032], [1032, 1024]] {
        let error = ClassicalKey::from_der(&rsa_private_key(2048, primes)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("half as long"), "{message}");
    }
}

/// An RSAPrivateKey with numbers of these lengths.
fn rsa_private_key(modulus: usize, [p, q]: [usize; 2]) -> Vec<u8> {
    let number = |bits| element(2, &[&[0], &vec![0xff; bits / 8]]);
    let lengths = [modulus, 16, modulus, p, q, p, q, p];
    let numbers = lengths.map(number).concat();
    element(0x30, &[&[2, 1, 0], &numbers])
}

/// With any change in a key, reading and signing give an error, or a signature that verifies.
#[test]
fn changed_rsa_keys_neither_panic_nor_sign_wrongly() {
    let key = ClassicalKey::from_pem(include_str!("rsa-2048.pem")).unwrap();
    let der = key.to_pkcs8_der();
    let mut refused_late = 0;
    for at in (0..der.len()).step_by(5) {
        let mut changed = der.to_vec();
        changed[at] ^= 1 << (at % 8);
        let Ok(key) = ClassicalKey::from_der(&changed) else {
            continue;
        };
        match key.sign(MESSAGE) {
            Ok(signature) => key.public_key().verify(MESSAGE, &signature).unwrap(),
            Err(error) => {
                assert_eq!(error, ClassicalKeyError::Unsound);
                assert_eq!(key.check(), Err(ClassicalKeyError::Unsound));
                refused_late += 1;
            }
        }
    }
    assert!(refused_late > 0);
}

#[test]
fn certificates_of_both_kinds_go_together() {
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let classical = || ClassicalAlgorithm::ALL.iter().copied().take(4).map(key);
    for root in classical() {
        check_chain(&root, &ml_dsa, &root);
        check_chain(&ml_dsa, &root, &ml_dsa);
    }
    for leaf in classical() {
        check_chain(&key(ClassicalAlgorithm::EcdsaP384), &ml_dsa, &leaf);
    }
}

/// A root, a CA below it, and a certificate for a request.
fn check_chain(root: &dyn Signer, ca: &dyn Signer, leaf: &dyn Signer) {
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let ca = root.issue_ca(CertificateBuilder::ca("CA"), ca).unwrap();
    let request = CertificateRequest::builder().dns_name("a.example");
    let request = request.sign(leaf).unwrap();
    let request = CertificateRequest::from_der(request.to_der()).unwrap();
    let algorithms = verification_algorithms().unwrap();
    let request = request.verify_with(algorithms).unwrap();
    let builder = request.certificate().server_auth();
    let leaf = ca.issue(builder, &request).unwrap();

    let validate = |validator: &ChainValidator| {
        let chain: [&Certificate; 2] = [&leaf, ca.certificate()];
        let name = ServerName::try_from("a.example").unwrap();
        validator.validate_server(&chain, &name, UnixTime::now())
    };
    let without = ChainValidator::new([root.certificate().clone()]).unwrap();
    validate(&without.clone().with_algorithms(algorithms)).unwrap();
    // Each of the chains has at least one classical signature.
    assert!(matches!(
        validate(&without),
        Err(ValidationError::UnsupportedAlgorithm(_))
    ));
}

#[test]
fn requests_prove_that_the_sender_has_the_key() {
    for &algorithm in &ClassicalAlgorithm::ALL[..4] {
        let request = CertificateRequest::builder().common_name("a");
        let request = request.sign(&key(algorithm)).unwrap();
        let mut der = request.to_der().to_vec();
        // In the common name.
        let at = der.windows(2).position(|pair| pair == [1, b'a']).unwrap() + 1;
        der[at] = b'b';
        let changed = CertificateRequest::from_der(&der).unwrap();
        assert!(matches!(
            changed.verify_with(verification_algorithms().unwrap()),
            Err(RequestError::Signature(SignatureError::Invalid))
        ));
    }
}

#[test]
fn keys_agree_on_secrets() {
    for &algorithm in AgreementAlgorithm::ALL {
        let key = ClassicalAgreementKey::generate(algorithm).unwrap();
        let sender = key.public_key().agree_once().unwrap();
        assert_eq!(key.agree(&sender.public_key).unwrap(), sender.secret);
        let again = key.public_key().agree_once().unwrap();
        assert_ne!(again.public_key, sender.public_key);

        let read = ClassicalAgreementKey::from_der(&key.to_pkcs8_der()).unwrap();
        assert_eq!(read.public_key(), key.public_key(), "{algorithm}");
        assert_eq!(read.agree(&sender.public_key).unwrap(), sender.secret);
        let public_key = ClassicalAgreementPublicKey::from_spki_der(&key.spki()).unwrap();
        assert_eq!(public_key, *key.public_key());

        // Points not on the curve, of another length, or that make every secret zero.
        let mut point = sender.public_key.clone();
        let last = point.len() - 1;
        point[last] ^= 1;
        let zero = vec![0; point.len()];
        let mut refused = vec![&point[..last], &zero];
        if algorithm != AgreementAlgorithm::X25519 {
            refused.push(&point);
        }
        for point in refused {
            assert!(key.agree(point).is_err(), "{algorithm}");
        }
    }
}

/// The first vector of RFC 7748, section 5.2.
#[test]
fn x25519_is_that_of_its_rfc() {
    let bytes = |text: &str| -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(byte).collect()
    };
    // in PKCS#8 (RFC 8410, section 7)
    let der = bytes(
        "302e020100300506032b656e04220420\
         a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
    );
    let key = ClassicalAgreementKey::from_der(&der).unwrap();
    assert_eq!(*key.to_pkcs8_der(), der);
    let point = bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    assert_eq!(
        hex(&key.agree(&point).unwrap()),
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    );
}

#[test]
fn keys_that_sign_agree_on_nothing() {
    for algorithm in [ClassicalAlgorithm::Ed25519, ClassicalAlgorithm::Rsa2048] {
        let key = key(algorithm);
        assert!(matches!(
            ClassicalAgreementKey::from_der(&key.to_pkcs8_der()),
            Err(ClassicalKeyError::NoAgreement(_))
        ));
        assert!(matches!(
            ClassicalAgreementPublicKey::from_spki_der(&key.spki()),
            Err(ClassicalKeyError::NoAgreement(_))
        ));
    }
    // and the reverse
    let key = ClassicalAgreementKey::generate(AgreementAlgorithm::X25519).unwrap();
    assert!(matches!(
        ClassicalKey::from_der(&key.to_pkcs8_der()),
        Err(ClassicalKeyError::UnsupportedAlgorithm(_))
    ));
    assert!(matches!(
        ClassicalPublicKey::from_spki_der(&key.spki()),
        Err(ClassicalKeyError::UnsupportedAlgorithm(_))
    ));
    // An ECDSA key is an ECDH key, too.
    let key = self::key(ClassicalAlgorithm::EcdsaP384);
    let same = ClassicalAgreementKey::from_der(&key.to_pkcs8_der()).unwrap();
    assert_eq!(same.spki(), key.spki());
}
