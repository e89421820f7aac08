//! Composite ML-DSA: the draft's vectors, what must be refused, certificates, and TLS, which has none.

use alloc::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use pq_core::ml_dsa;
use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages, SignatureError};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::identifiers::CompositeIdentifier;
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use pq_x509::request::{CertificateRequest, RequestError};
use pq_x509::revocation::{CertificateRevocationListBuilder, CrlReason, RevocationPolicy};
use pq_x509::validation::{ChainValidator, ValidationError};
use rustls::CertificateError;
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalPublicKey, RsaScheme};
use rustls_pq::composite::{
    CompositeAlgorithm, CompositeKey, CompositeKeyError, CompositePublicKey, MessageHasher,
    UnknownComposite, verification_algorithms,
};
use rustls_pq::{Builder, Profile};

use crate::peers::{any_base, client_config, connect, roots, server_config};

const MESSAGE: &[u8] = b"message";

/// Combinations for most tests, because their keys are quick to make.
const QUICK: [CompositeAlgorithm; 6] = [
    CompositeAlgorithm::MlDsa44Ed25519Sha512,
    CompositeAlgorithm::MlDsa44EcdsaP256Sha256,
    CompositeAlgorithm::MlDsa65EcdsaP256Sha512,
    CompositeAlgorithm::MlDsa65EcdsaP384Sha512,
    CompositeAlgorithm::MlDsa65Ed25519Sha512,
    CompositeAlgorithm::MlDsa87EcdsaP384Sha512,
];

fn key(algorithm: CompositeAlgorithm) -> CompositeKey {
    CompositeKey::generate(algorithm).unwrap()
}

/// The draft's vectors: message, context, and the cases by their names without `id-`.
struct Vectors {
    message: Vec<u8>,
    context: Vec<u8>,
    cases: BTreeMap<String, Case>,
}

struct Case(serde_json::Value);

impl Case {
    fn get(&self, field: &str) -> Vec<u8> {
        decode(&self.0[field])
    }
}

fn decode(value: &serde_json::Value) -> Vec<u8> {
    Base64::decode_vec(value.as_str().unwrap()).unwrap()
}

/// `None`, with a message, if they are absent. In CI they must be there.
fn vectors() -> Option<Vectors> {
    let file = vectors::compressed("composite-testvectors.json.gz")?;
    let json: serde_json::Value = serde_json::from_reader(file).unwrap();
    let composites = json["tests"].as_array().unwrap().iter().filter_map(|case| {
        let name = case["tcId"].as_str().unwrap().strip_prefix("id-")?;
        // Names of pure ML-DSA have another form.
        name.starts_with("MLDSA")
            .then(|| (name.to_owned(), Case(case.clone())))
    });
    let vectors = Vectors {
        message: decode(&json["m"]),
        context: decode(&json["ctx"]),
        cases: composites.collect(),
    };
    assert_eq!(vectors.cases.len(), 18);
    Some(vectors)
}

#[test]
fn vectors_of_supported_combinations() {
    let Some(Vectors {
        message,
        context,
        cases,
    }) = vectors()
    else {
        return;
    };
    for &algorithm in CompositeAlgorithm::ALL {
        println!("{algorithm}");
        let case = &cases[algorithm.name()];
        let public = CompositePublicKey::from_bytes(algorithm, &case.get("pk")).unwrap();
        assert_eq!(public.as_bytes(), case.get("pk"));

        let signature = case.get("s");
        public.verify(&message, &signature).unwrap();
        public
            .verify_with_context(&message, &case.get("sWithContext"), &context)
            .unwrap();
        for (signature, context) in [("s", &*context), ("sWithContext", b"")] {
            let refused = public.verify_with_context(&message, &case.get(signature), context);
            assert_eq!(refused, Err(CompositeKeyError::InvalidSignature(algorithm)));
        }

        let certificate = Certificate::from_der(&case.get("x5c")).unwrap();
        let algorithms = verification_algorithms().unwrap();
        certificate
            .verify_signature(&certificate, algorithms)
            .unwrap();
        assert!(certificate.verify_signature(&certificate, &[]).is_err());
        let spki = certificate.spki();
        let subject = CompositePublicKey::from_spki_der(&spki).unwrap();
        assert_eq!(subject, public);
        assert_eq!(subject.to_spki_der(), &*spki);

        let (raw, pkcs8) = (case.get("sk"), case.get("sk_pkcs8"));
        for key in [
            CompositeKey::from_bytes(algorithm, &raw).unwrap(),
            CompositeKey::from_pkcs8_der(&pkcs8).unwrap(),
        ] {
            assert_eq!(key.algorithm(), algorithm);
            assert_eq!(key.public_key(), &public);
            assert_eq!(*key.to_bytes(), raw);
            assert_eq!(*key.to_pkcs8_der(), pkcs8);
            key.check().unwrap();
            let signature = key.sign_with_context(&message, &context).unwrap();
            assert!(signature.len() <= algorithm.max_signature_len());
            public
                .verify_with_context(&message, &signature, &context)
                .unwrap();
        }
    }
}

#[test]
fn vectors_of_other_combinations_are_refused_by_name() {
    let Some(Vectors { cases, .. }) = vectors() else {
        return;
    };
    let mut refused = 0;
    for (name, case) in &cases {
        if name.parse::<CompositeAlgorithm>().is_ok() {
            continue;
        }
        refused += 1;
        let certificate = Certificate::from_der(&case.get("x5c")).unwrap();
        for error in [
            CompositeKey::from_pkcs8_der(&case.get("sk_pkcs8")).unwrap_err(),
            CompositePublicKey::from_spki_der(&certificate.spki()).unwrap_err(),
            name.parse::<CompositeAlgorithm>().unwrap_err().into(),
        ] {
            assert!(
                matches!(&error, CompositeKeyError::Algorithm(UnknownComposite::Unsupported { composite, .. }) if composite.name() == name),
                "{error}"
            );
        }
        let oid = certificate.parsed().signature_algorithm().oid;
        let composite = CompositeIdentifier::from_oid(oid);
        assert_eq!(
            composite.map(CompositeIdentifier::name),
            Some(name.as_str())
        );
        assert!(matches!(
            certificate.verify_signature(&certificate, verification_algorithms().unwrap()),
            Err(SignatureError::UnsupportedAlgorithm(_))
        ));
    }
    assert_eq!(refused, 4);
}

/// M′ and the hash of the classical half as in the draft, computed independently.
#[test]
fn each_half_is_a_signature_of_the_representative() {
    let Some(Vectors {
        message,
        context,
        cases,
    }) = vectors()
    else {
        return;
    };
    for &algorithm in CompositeAlgorithm::ALL {
        let name = algorithm.name();
        let case = &cases[name];
        let label = format!("COMPSIG-{name}");
        let mut hasher = match name.ends_with("SHA256") {
            true => PreHash::Sha256.hasher(),
            false => PreHash::Sha512.hasher(),
        };
        hasher.update(&message);
        let mut representative = b"CompositeAlgorithmSignatures2025".to_vec();
        representative.extend(label.as_bytes());
        representative.push(u8::try_from(context.len()).unwrap());
        representative.extend(&context);
        representative.extend(hasher.finish().as_bytes());

        let ours = CompositeKey::from_bytes(algorithm, &case.get("sk")).unwrap();
        let ours = ours.sign_with_context(&message, &context).unwrap();
        for signature in [ours, case.get("sWithContext")] {
            let public = case.get("pk");
            let (public, signature) = match &name[..7] {
                "MLDSA44" => {
                    ml_dsa_half::<ml_dsa::MlDsa44>(&public, &representative, &label, &signature)
                }
                "MLDSA65" => {
                    ml_dsa_half::<ml_dsa::MlDsa65>(&public, &representative, &label, &signature)
                }
                _ => ml_dsa_half::<ml_dsa::MlDsa87>(&public, &representative, &label, &signature),
            };
            let (classical, rsa) = match name {
                _ if name.contains("Ed25519") => (ClassicalAlgorithm::Ed25519, None),
                _ if name.contains("P256") => (ClassicalAlgorithm::EcdsaP256, None),
                _ if name.contains("P384") => (ClassicalAlgorithm::EcdsaP384, None),
                _ if name.contains("RSA4096-PSS") => {
                    (ClassicalAlgorithm::Rsa4096, Some(RsaScheme::PssSha384))
                }
                _ if name.contains("RSA4096") => {
                    (ClassicalAlgorithm::Rsa4096, Some(RsaScheme::Pkcs1Sha384))
                }
                _ => {
                    let algorithm = match name.contains("RSA3072") {
                        true => ClassicalAlgorithm::Rsa3072,
                        false => ClassicalAlgorithm::Rsa2048,
                    };
                    let scheme = match name.contains("PSS") {
                        true => RsaScheme::PssSha256,
                        false => RsaScheme::Pkcs1Sha256,
                    };
                    (algorithm, Some(scheme))
                }
            };
            let public = ClassicalPublicKey::from_bytes(classical, public).unwrap();
            public
                .verify_with(&representative, signature, rsa.unwrap_or_default())
                .unwrap();
        }
    }
}

/// Verifies the ML-DSA half by pq-core, and returns the classical halves.
fn ml_dsa_half<'a, P: ml_dsa::ParameterSet>(
    public: &'a [u8],
    message: &[u8],
    label: &str,
    signature: &'a [u8],
) -> (&'a [u8], &'a [u8]) {
    let (key, other_key) = public.split_at(P::VERIFYING_KEY_LEN);
    let (ours, other) = signature.split_at(P::SIGNATURE_LEN);
    let key = ml_dsa::VerifyingKey::<P>::from_bytes(key).unwrap();
    let signature = ml_dsa::Signature::<P>::from_bytes(ours).unwrap();
    key.verify(message, label.as_bytes(), &signature).unwrap();
    assert!(key.verify(message, b"", &signature).is_err());
    (other_key, other)
}

#[test]
fn keys_are_read_as_they_were_written() {
    for algorithm in QUICK {
        let key = key(algorithm);
        let der = key.to_pkcs8_der();
        for read in [
            CompositeKey::from_pkcs8_der(&der).unwrap(),
            CompositeKey::from_pkcs8_pem(&key.to_pkcs8_pem()).unwrap(),
            CompositeKey::from_bytes(algorithm, &key.to_bytes()).unwrap(),
        ] {
            assert_eq!(*read.to_pkcs8_der(), *der);
            assert_eq!(read.public_key(), key.public_key());
        }
        let public = key.public_key();
        assert_eq!(
            CompositePublicKey::from_spki_pem(&public.to_spki_pem()).as_ref(),
            Ok(public)
        );
        assert_eq!(
            format!("{key:?}"),
            format!("CompositeKey {{ algorithm: {algorithm:?}, .. }}")
        );
    }
}

/// The requirement for composites: only both halves together, in their places, over this message.
#[test]
fn halves_alone_or_elsewhere_are_refused() {
    for algorithm in QUICK {
        let key = key(algorithm);
        let other = self::key(algorithm);
        let public = key.public_key();
        let ml_dsa_len = algorithm.ml_dsa().signature_len();
        let ours = key.sign(MESSAGE).unwrap();
        let (ml_dsa, classical) = ours.split_at(ml_dsa_len);
        let of_other_message = key.sign(b"Message").unwrap();
        let of_other_key = other.sign(MESSAGE).unwrap();
        let in_context = key.sign_with_context(MESSAGE, b"context").unwrap();
        let mut refused = vec![
            // Each half alone, and the halves swapped.
            ml_dsa.to_vec(),
            classical.to_vec(),
            [classical, ml_dsa].concat(),
            [vec![0; ml_dsa_len].as_slice(), classical].concat(),
            [ml_dsa, &vec![0; classical.len()]].concat(),
            Vec::new(),
            [&*ours, &[0]].concat(),
            in_context.clone(),
        ];
        // One half is right, and the other is for something else.
        for other in [of_other_message, of_other_key, in_context] {
            let (other_ml_dsa, other_classical) = other.split_at(ml_dsa_len);
            refused.push([ml_dsa, other_classical].concat());
            refused.push([other_ml_dsa, classical].concat());
        }
        public.verify(MESSAGE, &ours).unwrap();
        for signature in refused {
            assert_eq!(
                public.verify(MESSAGE, &signature),
                Err(CompositeKeyError::InvalidSignature(algorithm))
            );
        }
        assert_eq!(
            public.verify_with_context(MESSAGE, &ours, &[0; 256]),
            Err(CompositeKeyError::ContextTooLong(256))
        );
        assert_eq!(
            key.sign_with_context(MESSAGE, &[0; 300]),
            Err(CompositeKeyError::ContextTooLong(300))
        );
        let longest = key.sign_with_context(MESSAGE, &[0; 255]).unwrap();
        public
            .verify_with_context(MESSAGE, &longest, &[0; 255])
            .unwrap();
    }
}

/// A signature by each half alone is not valid within the composite.
#[test]
fn signatures_of_the_keys_alone_are_refused() {
    let algorithm = CompositeAlgorithm::MlDsa44Ed25519Sha512;
    let key = key(algorithm);
    let bytes = key.to_bytes();
    let ml_dsa = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &bytes[..32]).unwrap();
    let ed25519 =
        rustls_pq::classical::ClassicalKey::from_raw(ClassicalAlgorithm::Ed25519, &bytes[32..])
            .unwrap();
    let alone = [
        ml_dsa.sign(MESSAGE).unwrap(),
        ed25519.sign(MESSAGE).unwrap(),
    ];
    let within = key.sign(MESSAGE).unwrap();
    let (ours, theirs) = within.split_at(alone[0].len());
    for signature in [
        alone.concat(),
        [&*alone[0], theirs].concat(),
        [ours, &*alone[1]].concat(),
    ] {
        assert!(key.public_key().verify(MESSAGE, &signature).is_err());
    }
    // And the reverse: the halves of a composite signature are not signatures of the message.
    assert!(ml_dsa.verifying_key().verify(MESSAGE, ours).is_err());
    assert!(ed25519.public_key().verify(MESSAGE, theirs).is_err());
}

/// The same keys and hash function under another label.
#[test]
fn signatures_of_another_combination_are_refused() {
    let Some(Vectors { cases, message, .. }) = vectors() else {
        return;
    };
    // Both padding schemes of one RSA key, with PSS and PKCS#1 v1.5.
    let pss = CompositeAlgorithm::MlDsa65Rsa3072PssSha512;
    let pkcs1 = CompositeAlgorithm::MlDsa65Rsa3072Pkcs15Sha512;
    let case = &cases[pss.name()];
    let key = CompositeKey::from_bytes(pss, &case.get("sk")).unwrap();
    let same_key = CompositeKey::from_bytes(pkcs1, &case.get("sk")).unwrap();
    assert_eq!(
        same_key.public_key().as_bytes(),
        key.public_key().as_bytes()
    );
    assert_eq!(
        key.public_key()
            .verify(&message, &same_key.sign(&message).unwrap()),
        Err(CompositeKeyError::InvalidSignature(pss))
    );
    assert_eq!(
        same_key.public_key().verify(&message, &case.get("s")),
        Err(CompositeKeyError::InvalidSignature(pkcs1))
    );
    // The classical halves are the same, except for the label.
    let [small, large] = [
        CompositeAlgorithm::MlDsa44Ed25519Sha512,
        CompositeAlgorithm::MlDsa65Ed25519Sha512,
    ];
    let key = self::key(small);
    let same_seeds = CompositeKey::from_bytes(large, &key.to_bytes()).unwrap();
    let (own, other) = (
        key.sign(MESSAGE).unwrap(),
        same_seeds.sign(MESSAGE).unwrap(),
    );
    let mixed = [&own[..own.len() - 64], &other[other.len() - 64..]].concat();
    assert!(key.public_key().verify(MESSAGE, &mixed).is_err());

    let mut hasher = MessageHasher::new(large, b"").unwrap();
    hasher.update(MESSAGE);
    let message = hasher.finish();
    let error = CompositeKeyError::OtherAlgorithm {
        hashed_for: large,
        key: small,
    };
    assert_eq!(key.sign_hashed(&message), Err(error.clone()));
    assert_eq!(key.public_key().verify_hashed(&message, &own), Err(error));
}

#[test]
fn every_byte_of_a_signature_counts() {
    for (algorithm, step) in [
        (CompositeAlgorithm::MlDsa44Ed25519Sha512, 7),
        (CompositeAlgorithm::MlDsa44EcdsaP256Sha256, 11),
    ] {
        let key = key(algorithm);
        let public = key.public_key();
        let signature = key.sign(MESSAGE).unwrap();
        let ml_dsa_len = algorithm.ml_dsa().signature_len();
        // Some bytes of the ML-DSA half, all of the other half.
        let sampled = (0..ml_dsa_len).step_by(step);
        for at in sampled.chain(ml_dsa_len..signature.len()) {
            let mut changed = signature.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(public.verify(MESSAGE, &changed).is_err(), "{at}");
        }
        for end in (0..signature.len())
            .step_by(step)
            .chain([signature.len() - 1])
        {
            assert!(public.verify(MESSAGE, &signature[..end]).is_err(), "{end}");
        }
    }
}

#[test]
fn what_is_no_key_is_refused() {
    for algorithm in QUICK {
        let key = key(algorithm);
        let der = key.to_pkcs8_der();
        let spki = key.public_key().to_spki_der();
        for end in 0..der.len() {
            assert!(CompositeKey::from_pkcs8_der(&der[..end]).is_err(), "{end}");
        }
        for end in (0..spki.len()).rev().step_by(13) {
            assert!(CompositePublicKey::from_spki_der(&spki[..end]).is_err());
        }
        assert!(CompositeKey::from_pkcs8_der(&[&der[..], &[0]].concat()).is_err());
        assert!(CompositePublicKey::from_spki_der(&[spki, &[0]].concat()).is_err());

        let raw = key.to_bytes();
        for len in [0, 31, 32, raw.len() - 1] {
            assert!(CompositeKey::from_bytes(algorithm, &raw[..len]).is_err());
        }
        assert!(CompositeKey::from_bytes(algorithm, &[&raw[..], &[0]].concat()).is_err());
        // A changed key is another key or none, and is written as it was read.
        for at in 0..der.len() {
            let mut changed = der.to_vec();
            changed[at] ^= 1 << (at % 8);
            if let Ok(read) = CompositeKey::from_pkcs8_der(&changed) {
                assert_eq!(*read.to_pkcs8_der(), changed);
                assert_ne!(read.public_key(), key.public_key());
            }
        }
    }
    let error = CompositeKey::from_pkcs8_pem("no key").unwrap_err();
    assert!(matches!(error, CompositeKeyError::Pem(_)), "{error}");
    let ml_dsa = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    assert_eq!(
        CompositeKey::from_pkcs8_der(&ml_dsa.to_pkcs8_der().unwrap()).unwrap_err(),
        CompositeKeyError::Algorithm(UnknownComposite::Identifier(
            SignatureAlgorithm::MlDsa44.oid()
        ))
    );
}

#[test]
fn other_encodings_are_refused() {
    let algorithm = CompositeAlgorithm::MlDsa44EcdsaP256Sha256;
    let key = key(algorithm);
    let raw = key.to_bytes();
    let (seed, scalar) = (&raw[..32], &raw[39..71]);
    let curve = &raw[71..];
    // Without the curve, and with the public key after it.
    let without = [&[0x30, 37, 2, 1, 1, 4, 32], scalar].concat();
    let point = &key.public_key().as_bytes()[1312..];
    let with = [
        &[0x30, 119, 2, 1, 1, 4, 32],
        scalar,
        curve,
        &[0xa1, 68, 3, 66, 0],
        point,
    ]
    .concat();
    let p384 = self::key(CompositeAlgorithm::MlDsa65EcdsaP384Sha512).to_bytes();
    for (classical, why) in [
        (&with[..], "not in the one encoding"),
        (&p384[32..], "of another algorithm"),
        (&without, ""),
        (scalar, ""),
    ] {
        let error = CompositeKey::from_bytes(algorithm, &[seed, classical].concat()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }

    // NULL parameters, in both documents.
    for (der, from_der) in [
        (
            key.public_key().to_spki_der().to_vec(),
            (|der| CompositePublicKey::from_spki_der(der).err()) as fn(&[u8]) -> _,
        ),
        (key.to_pkcs8_der().to_vec(), |der| {
            CompositeKey::from_pkcs8_der(der).err()
        }),
    ] {
        let oid = algorithm.oid();
        let at = der
            .windows(8)
            .position(|bytes| bytes == oid.as_bytes())
            .unwrap();
        let mut changed = der.clone();
        changed[at - 3] += 2;
        changed.splice(at + 8..at + 8, [5, 0]);
        match changed[1] {
            0x82 => changed[3] += 2,
            _ => changed[1] += 2,
        }
        assert_eq!(
            from_der(&changed),
            Some(CompositeKeyError::ParametersPresent(algorithm))
        );
    }

    // PKCS#8 of version 2, with its own public key and with another one.
    let other = self::key(CompositeAlgorithm::MlDsa44Ed25519Sha512);
    let ed25519 = self::key(CompositeAlgorithm::MlDsa44Ed25519Sha512);
    let version_2 = |public: &CompositePublicKey| {
        let body = &ed25519.to_pkcs8_der()[5..];
        let bits = public.as_bytes();
        let len = u16::try_from(bits.len() + 1).unwrap().to_be_bytes();
        let total = u16::try_from(body.len() + bits.len() + 8)
            .unwrap()
            .to_be_bytes();
        let head = [0x30, 0x82, total[0], total[1], 2, 1, 1];
        let field = [0x81, 0x82, len[0], len[1], 0];
        CompositeKey::from_pkcs8_der(&[&head, body, &field, bits].concat())
    };
    let read = version_2(ed25519.public_key()).unwrap();
    assert_eq!(*read.to_bytes(), *ed25519.to_bytes());
    assert_eq!(
        version_2(other.public_key()).unwrap_err(),
        CompositeKeyError::PublicKeyMismatch(CompositeAlgorithm::MlDsa44Ed25519Sha512)
    );
}

/// A root, a CA, and a certificate for a request; then it is revoked.
#[test]
fn certificates_requests_and_revocation_lists() {
    for algorithm in QUICK {
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key(algorithm)).unwrap();
        let ca = root
            .issue_ca(CertificateBuilder::ca("CA"), key(algorithm))
            .unwrap();
        let request = CertificateRequest::builder().dns_name("a.example");
        let request = request.sign(&key(algorithm)).unwrap();
        let mut changed = request.to_der().to_vec();
        let at = changed
            .windows(9)
            .position(|bytes| bytes == b"a.example")
            .unwrap();
        changed[at] = b'b';
        let algorithms = verification_algorithms().unwrap();
        assert!(matches!(
            CertificateRequest::from_der(&changed)
                .unwrap()
                .verify_with(algorithms),
            Err(RequestError::Signature(SignatureError::Invalid))
        ));
        let request = CertificateRequest::from_der(request.to_der()).unwrap();
        let request = request.verify_with(algorithms).unwrap();
        let builder = request.certificate().server_auth();
        let leaf = ca.issue(builder, &request).unwrap();

        let empty = root
            .issue_revocation_list(CertificateRevocationListBuilder::new(&[1]))
            .unwrap();
        let list = |number| CertificateRevocationListBuilder::new(&[number]);
        let now = std::time::SystemTime::now();
        let revoked = list(2).revoke(leaf.serial_number(), now, CrlReason::KeyCompromise);
        let good = ca.issue_revocation_list(list(1)).unwrap();
        let bad = ca.issue_revocation_list(revoked).unwrap();
        let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
        let validate = |validator: ChainValidator| {
            let chain: [&Certificate; 2] = [&leaf, ca.certificate()];
            let name = ServerName::try_from("a.example").unwrap();
            validator
                .validate_server(&chain, &name, UnixTime::now())
                .map(drop)
        };
        assert!(matches!(
            validate(validator.clone()),
            Err(ValidationError::UnsupportedAlgorithm(Some(oid))) if oid == algorithm.oid()
        ));
        let validator = validator.with_algorithms(algorithms);
        validate(validator.clone()).unwrap();
        let with = |lists: Vec<_>| {
            let policy = RevocationPolicy::new(lists).unwrap();
            validate(validator.clone().with_revocation(policy))
        };
        with(vec![empty.clone(), good]).unwrap();
        assert!(matches!(
            with(vec![empty, bad]),
            Err(ValidationError::Revoked { .. })
        ));
        // A chain does not pass under another root with the same name.
        let impostor = Issuer::self_signed(CertificateBuilder::ca("Root"), key(algorithm)).unwrap();
        let impostor = ChainValidator::new([impostor.certificate().clone()]).unwrap();
        assert!(validate(impostor.with_algorithms(algorithms)).is_err());
    }
}

#[test]
fn key_usage_is_that_of_ml_dsa() {
    let algorithm = CompositeAlgorithm::MlDsa44Ed25519Sha512;
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key(algorithm)).unwrap();
    let leaf = || CertificateBuilder::server().dns_name("a.example");
    let both = KeyUsages::DigitalSignature | KeyUsages::KeyAgreement;
    assert!(matches!(
        root.issue(leaf().key_usage(both), &key(algorithm)),
        Err(IssueError::KeyUsage(
            KeyUsageError::ForbiddenForCompositeKey { .. }
        ))
    ));
}

/// There is no code point for composites, so no profile has them, CNSA 2.0's included.
#[test]
fn tls_has_no_composites() {
    let ours = verification_algorithms().unwrap();
    let algorithm = CompositeAlgorithm::MlDsa87EcdsaP384Sha512;
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key(algorithm)).unwrap();
    // A key that CNSA 2.0 allows, under a composite signature.
    let leaf_key = SigningKey::generate(SignatureAlgorithm::MlDsa87).unwrap();
    let builder = || CertificateBuilder::server().dns_name("localhost");
    let leaf = root.issue(builder(), &leaf_key).unwrap();
    let identity = crate::peers::Identity {
        chain: vec![leaf.der().clone()],
        key: PrivatePkcs8KeyDer::from(leaf_key.to_pkcs8_der().unwrap().to_vec()).into(),
    };
    let trusted = || roots([root.certificate().der().clone()]);

    let composite_key = key(algorithm);
    let composite_leaf = root.issue(builder(), &composite_key).unwrap();
    for &profile in Profile::ALL {
        let provider = Builder::new(any_base()).profile(profile).build().unwrap();
        let schemes = provider.signature_verification_algorithms;
        let of_mapping = schemes.mapping.iter().flat_map(|(_, all)| all.iter());
        for one in schemes.all.iter().chain(of_mapping) {
            let is_composite = ours
                .iter()
                .any(|our| our.signature_alg_id() == one.signature_alg_id());
            assert!(!is_composite, "{one:?}");
        }
        // In a chain, of a server that every client would accept otherwise.
        let outcome = connect(
            &client_config(provider.clone(), trusted()).into(),
            &server_config(provider.clone(), &identity).into(),
        );
        let error = outcome.client.result.unwrap_err();
        assert!(
            matches!(
                &error,
                rustls::Error::InvalidCertificate(
                    CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                )
            ),
            "{error:?}"
        );
        // As a server's key.
        let pkcs8 = PrivatePkcs8KeyDer::from(composite_key.to_pkcs8_der().to_vec());
        let chain: Vec<CertificateDer<'_>> = vec![composite_leaf.der().clone()];
        let refused =
            rustls_pq::identity::Identity::new(chain, pkcs8.clone_key().into(), &provider);
        assert!(refused.is_err());
        assert!(
            provider
                .key_provider
                .load_private_key(pkcs8.into())
                .is_err()
        );
    }
}

#[test]
fn webpki_verifies_by_each_combination_alone() {
    let key = key(CompositeAlgorithm::MlDsa65EcdsaP256Sha512);
    let signature = key.sign(MESSAGE).unwrap();
    let public = key.public_key().as_bytes();
    let all = verification_algorithms().unwrap();
    assert_eq!(all.len(), CompositeAlgorithm::ALL.len());
    for algorithm in all {
        let verified = algorithm.verify_signature(public, MESSAGE, &signature);
        assert_eq!(
            verified.is_ok(),
            algorithm.signature_alg_id() == key.algorithm().pki_identifier(),
            "{algorithm:?}"
        );
    }
}
