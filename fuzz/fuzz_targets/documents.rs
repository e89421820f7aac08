//! Every reader of pq-x509, and rustls-pq's readers of classical and composite keys: accepted input is written again as
//! the same bytes, or reads again as the same value.
#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use arbitrary::Arbitrary;
use fuzz::der::{self, Contents, DerEdits, Element};
use fuzz::pki::{
    CA_LIST, FixedKey, PKI, SERVER_NAME, VALID, at, p256_private_key, p384_private_key, validity,
};
use libfuzzer_sys::fuzz_target;
use pq_x509::certificate::{Certificate, Sizes, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError};
use pq_x509::keys::{
    Algorithm, DecapsulationKey, EncapsulationKey, KemAlgorithm, PrivateKey, PrivateKeyForm,
    PublicKey, SignatureAlgorithm, SigningKey, SubjectKey, VerifyingKey,
};
use pq_x509::linting::{Kind, Severity, lint};
use pq_x509::ocsp::{
    CertStatus, OcspNonce, OcspRequest, OcspResponder, OcspResponse, OcspVerifier,
};
use pq_x509::pki_types::{SubjectPublicKeyInfoDer, UnixTime};
use pq_x509::request::CertificateRequest;
use pq_x509::revocation::{CertificateRevocationList, CrlReason};
use pq_x509::verification::Mode;
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKey, ClassicalPublicKey};
use rustls_pq::composite::{CompositeAlgorithm, CompositeKey, CompositePublicKey};

fuzz_target!(|input: Input<'_>| {
    match input {
        Input::Whole(bytes) => read(bytes),
        Input::Edited { document, edits } => {
            let document = &DOCUMENTS[usize::from(document) % DOCUMENTS.len()];
            read(&edits.of(document));
        }
    }
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Edited { document: u8, edits: DerEdits<'a> },
    Whole(&'a [u8]),
}

/// Valid documents of every kind, in DER and in PEM.
static DOCUMENTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let signing_key = &PKI.server_key.0;
    let decapsulation_key =
        DecapsulationKey::from_seed(KemAlgorithm::MlKem512, &[1; 64]).expect("a seed");
    let slh_dsa = FixedKey::new(SignatureAlgorithm::SlhDsaShake128f, 1).0;
    let mut documents = Vec::new();
    for form in FORMS {
        let keys = [
            signing_key.to_pkcs8_der_as(form),
            decapsulation_key.to_pkcs8_der_as(form),
        ];
        documents.extend(keys.map(|key| key.expect("a key with a seed").to_vec()));
    }
    let slh_dsa_key = slh_dsa.to_pkcs8_der().expect("its one form").to_vec();
    let public_key = signing_key.verifying_key().as_bytes();
    documents.push(with_public_key(&documents[0], public_key));
    documents.push(with_public_key(
        &slh_dsa_key,
        slh_dsa.verifying_key().as_bytes(),
    ));
    // The same for HashSLH-DSA, whose identifier has another last arc.
    for pure in [&slh_dsa_key, &slh_dsa.spki().to_vec()] {
        let oid = slh_dsa.algorithm().oid();
        let at = pure
            .windows(oid.as_bytes().len())
            .position(|bytes| bytes == oid.as_bytes())
            .expect("the identifier");
        let mut hashing = pure.clone();
        hashing[at + oid.as_bytes().len() - 1] = 42;
        documents.push(hashing);
    }
    documents.push(slh_dsa_key);
    for key in [signing_key.spki(), decapsulation_key.spki(), slh_dsa.spki()] {
        documents.push(key.to_vec());
    }
    for key in &*CLASSICAL_KEYS {
        documents.push(key.to_pkcs8_der().to_vec());
        documents.push(key.public_key().to_spki_der().to_vec());
        documents.push(key.to_pkcs8_pem().as_bytes().to_vec());
    }
    for key in &*COMPOSITE_KEYS {
        documents.push(key.to_pkcs8_der().to_vec());
        documents.push(key.public_key().to_spki_der().to_vec());
        documents.push(key.to_pkcs8_pem().as_bytes().to_vec());
    }
    documents.push(REQUEST.to_der().to_vec());
    documents.push(CA_LIST.der().to_vec());
    documents.push(OCSP_REQUEST.der().to_vec());
    documents.extend(
        OCSP_RESPONSES
            .iter()
            .map(|response| response.der().to_vec()),
    );
    let certificates = [
        &PKI.server,
        PKI.ca.certificate(),
        &PKI.client,
        &PKI.kem,
        &PKI.old_ca,
        &PKI.old_server,
    ];
    documents.extend(certificates.map(|certificate| certificate.der().to_vec()));

    let key_pem = signing_key.to_pkcs8_pem().expect("a key with a seed");
    let pem = [
        key_pem.to_string(),
        signing_key.verifying_key().to_spki_pem(),
        REQUEST.to_pem(),
        CA_LIST.to_pem(),
        PKI.server.to_pem() + &PKI.ca.certificate().to_pem(),
    ];
    documents.extend(pem.map(String::into_bytes));
    documents
});

static CLASSICAL_KEYS: LazyLock<[ClassicalKey; 4]> = LazyLock::new(|| {
    let of_len = |algorithm, len| ClassicalKey::from_raw(algorithm, &vec![1; len]);
    let rsa = include_str!("../../provider/tests/provider/rsa-2048.pem");
    [
        of_len(ClassicalAlgorithm::EcdsaP256, 32),
        of_len(ClassicalAlgorithm::EcdsaP384, 48),
        of_len(ClassicalAlgorithm::Ed25519, 32),
        ClassicalKey::from_pem(rsa),
    ]
    .map(|key| key.expect("a CPU that graviola runs on"))
});

static COMPOSITE_KEYS: LazyLock<[CompositeKey; 4]> = LazyLock::new(|| {
    let [p256, p384, ed25519, rsa] = &*CLASSICAL_KEYS;
    let raw = |key: &ClassicalKey| key.to_raw().expect("no key of RSA").to_vec();
    // RSAPrivateKey begins at the same place in each PKCS#8.
    [
        (
            CompositeAlgorithm::MlDsa44EcdsaP256Sha256,
            p256_private_key(&raw(p256)),
        ),
        (
            CompositeAlgorithm::MlDsa65EcdsaP384Sha512,
            p384_private_key(&raw(p384)),
        ),
        (CompositeAlgorithm::MlDsa44Ed25519Sha512, raw(ed25519)),
        (
            CompositeAlgorithm::MlDsa44Rsa2048PssSha256,
            rsa.to_pkcs8_der()[26..].to_vec(),
        ),
    ]
    .map(|(algorithm, classical)| {
        let key = [&[1; 32], &*classical].concat();
        CompositeKey::from_bytes(algorithm, &key).expect("two keys")
    })
});

static REQUEST: LazyLock<CertificateRequest> = LazyLock::new(|| {
    CertificateRequest::builder()
        .common_name("client")
        .dns_name(SERVER_NAME)
        .ip_address([192, 0, 2, 1].into())
        .sign(&PKI.client_key)
        .expect("a request")
});

static OCSP_REQUEST: LazyLock<OcspRequest> = LazyLock::new(|| {
    OcspRequest::builder()
        .certificate(&PKI.server, PKI.ca.certificate())
        .certificate(&PKI.client, PKI.ca.certificate())
        .nonce(OcspNonce::new(&[7; 32]).expect("a nonce"))
        .build()
        .expect("a request")
});

/// Responses by the CA, and by a delegate whose certificate is in the response.
static OCSP_RESPONSES: LazyLock<[OcspResponse; 2]> = LazyLock::new(|| {
    let now = at(OCSP_TIME);
    let builder = CertificateBuilder::ocsp_responder()
        .common_name("OCSP")
        .validity(validity())
        .serial_number(&[9]);
    let key = &FixedKey::new(SignatureAlgorithm::MlDsa44, 9);
    let certificate = PKI.ca.issue(builder, key).expect("a delegate");
    let ca = PKI.ca.certificate().clone();
    let delegate = OcspResponder::delegate(ca, certificate, key).expect("a delegate");
    let status = |number: &[u8]| {
        Ok::<_, IssueError>(match number == PKI.client.serial_number() {
            true => CertStatus::Revoked {
                date: UnixTime::since_unix_epoch(Duration::from_secs(*VALID.start())),
                reason: CrlReason::KeyCompromise,
            },
            false => CertStatus::Good,
        })
    };
    [
        OcspResponder::ca(&PKI.ca).respond(&OCSP_REQUEST, now, validity(), status),
        delegate.respond(&OCSP_REQUEST, now, validity(), status),
    ]
    .map(|response| response.expect("a response"))
});

const OCSP_TIME: u64 = 2_000_000_000;

const FORMS: [PrivateKeyForm; 3] = [
    PrivateKeyForm::Seed,
    PrivateKeyForm::Expanded,
    PrivateKeyForm::Both,
];

/// The key as a OneAsymmetricKey of version 2 (RFC 5958).
fn with_public_key(pkcs8: &[u8], public_key: &[u8]) -> Vec<u8> {
    let mut elements = der::parse(pkcs8).expect("DER");
    if let [
        Element {
            contents: Contents::Elements(_, key),
            ..
        },
    ] = &mut *elements
    {
        key[0].contents = Contents::Bytes(vec![1]);
        key.push(Element {
            tag: 0x81,
            contents: Contents::Bytes([&[0], public_key].concat()),
        });
    }
    let mut version_2 = Vec::new();
    der::encode(&elements, &mut version_2);
    assert!(PrivateKey::from_pkcs8_der(&version_2).is_ok());
    version_2
}

fn read(bytes: &[u8]) {
    read_private_key(bytes);
    read_public_key(bytes);
    read_classical_key(bytes);
    read_classical_public_key(bytes);
    read_composite_key(bytes);
    read_composite_public_key(bytes);
    read_certificate(bytes);
    read_request(bytes);
    read_revocation_list(bytes);
    read_ocsp_request(bytes);
    read_ocsp_response(bytes);
    read_with_linter(bytes);
    read_pem(bytes);
}

fn read_private_key(der: &[u8]) {
    let signing = SigningKey::from_pkcs8_der(der);
    let decapsulation = DecapsulationKey::from_pkcs8_der(der);
    let key = match PrivateKey::from_pkcs8_der(der) {
        Ok(key) => key,
        Err(error) => {
            assert!(signing.is_err() && decapsulation.is_err());
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(Algorithm::of_pkcs8_der(der), Some(key.algorithm()));
    assert_eq!(signing.is_ok(), matches!(key, PrivateKey::Signing(_)));
    assert_eq!(
        decapsulation.is_ok(),
        matches!(key, PrivateKey::Decapsulation(_))
    );

    let written = FORMS.map(|form| key.to_pkcs8_der_as(form));
    for written in written.iter().flatten() {
        let again = PrivateKey::from_pkcs8_der(written).expect("what was written");
        assert_eq!(again.spki(), key.spki());
        assert_eq!(*again.to_expanded(), *key.to_expanded());
    }
    // In version 1 without attributes, each form has one encoding. In addition, a key may stand
    // bare, or be followed by its public key.
    if let Some(
        [
            Element {
                contents: Contents::Elements(_, fields),
                ..
            },
        ],
    ) = der::parse(der).as_deref()
        && fields.len() == 3
    {
        let algorithm = key.algorithm();
        let (seed, expanded) = (algorithm.seed_len(), algorithm.expanded_len());
        let pair = 4 + expanded + algorithm.public_key_len();
        let len = match &fields[2].contents {
            Contents::Bytes(contents) => contents.len(),
            Contents::Elements(prefix, elements) => {
                let mut contents = prefix.clone();
                der::encode(elements, &mut contents);
                contents.len()
            }
        };
        let is_other = [seed, expanded, pair].contains(&len);
        assert!(is_other || written.iter().flatten().any(|written| **written == der));
    }
    read_public_key(&key.spki());
}

fn read_public_key(der: &[u8]) {
    let verifying = VerifyingKey::from_spki_der(der);
    let encapsulation = EncapsulationKey::from_spki_der(der);
    let key = match PublicKey::from_spki_der(der) {
        Ok(key) => key,
        Err(error) => {
            assert!(verifying.is_err() && encapsulation.is_err());
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(key.to_spki_der(), der);
    assert_eq!(key.spki(), SubjectPublicKeyInfoDer::from(der));
    assert_eq!(verifying.is_ok(), matches!(key, PublicKey::Verifying(_)));
    assert_eq!(encapsulation.is_ok(), verifying.is_err());
    let again = PublicKey::from_bytes(key.algorithm(), key.as_bytes()).expect("the key");
    let is_pure = verifying.is_ok_and(|key| key.mode() == Mode::Pure);
    // Keys for pre-hash signatures have identifiers of their own.
    assert_eq!(again.to_spki_der() == der, is_pure || encapsulation.is_ok());
    if let Ok(key) = encapsulation {
        key.encapsulate().expect("randomness");
    }
}

fn read_classical_key(der: &[u8]) {
    let key = match ClassicalKey::from_der(der) {
        Ok(key) => key,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let written = key.to_pkcs8_der();
    let again = ClassicalKey::from_der(&written).expect("what was written");
    assert_eq!(*again.to_pkcs8_der(), *written);
    assert_eq!(again.public_key(), key.public_key());
    // The parts of an RSA key may belong to different keys.
    if let Ok(signature) = key.sign(b"message") {
        let verified = key.public_key().verify(b"message", &signature);
        verified.expect("a signature");
    }
    read_classical_public_key(&key.spki());
}

fn read_classical_public_key(der: &[u8]) {
    match ClassicalPublicKey::from_spki_der(der) {
        Ok(key) => assert_eq!(key.to_spki_der(), der),
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

fn read_composite_key(der: &[u8]) {
    let key = match CompositeKey::from_pkcs8_der(der) {
        Ok(key) => key,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let bytes = key.to_bytes();
    let again = CompositeKey::from_bytes(key.algorithm(), &bytes).expect("what was written");
    assert_eq!(again.public_key(), key.public_key());
    assert_eq!(*again.to_pkcs8_der(), *key.to_pkcs8_der());
    assert!(
        der.windows(bytes.len())
            .any(|window| window == bytes.as_slice())
    );
    // The parts of an RSA key may belong to different keys.
    if let Ok(signature) = key.sign(b"message") {
        let verified = key.public_key().verify(b"message", &signature);
        verified.expect("a signature");
    }
    read_composite_public_key(&key.spki());
}

fn read_composite_public_key(der: &[u8]) {
    match CompositePublicKey::from_spki_der(der) {
        Ok(key) => assert_eq!(key.to_spki_der(), der),
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

fn read_certificate(der: &[u8]) {
    let certificate = match Certificate::from_der(der) {
        Ok(certificate) => certificate,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(certificate.as_ref(), der);
    assert_eq!(
        Certificate::from_pem(&certificate.to_pem()).expect("the certificate"),
        certificate
    );
    let sizes = Sizes::of([&certificate, &PKI.server]);
    let total = sizes.total();
    assert_eq!(total.der, der.len() + PKI.server.der().len());
    assert_eq!(total.rest() + total.public_key + total.signature, total.der);
    assert_eq!(sizes.tls13_certificate_message(), 4 + 2 * 5 + total.der);
    let rests = sizes.certificates().iter().map(|sizes| sizes.rest());
    assert_eq!(rests.sum::<usize>(), total.rest());
    assert!(sizes.to_string().contains(&total.to_string()));
    if certificate.path_len().is_some() {
        assert!(certificate.is_ca());
    }
    if let Ok(key) = certificate.public_key() {
        assert_eq!(key.spki(), certificate.spki());
    }
    let _ = format!(
        "{certificate:?} {} {}",
        certificate.subject(),
        certificate.issuer()
    );
    let _ = (certificate.key_usage(), certificate.subject_key_id());
    for name in certificate.alternative_names() {
        let _ = certificate.permits_name(&name);
    }

    // A certificate verifies with this CA if the CA signed it, and only then.
    let signed = certificate.verify_signature(PKI.ca.certificate(), pq_x509::verification::ALL);
    let issued = [&PKI.server, &PKI.client, &PKI.kem, &PKI.old_server];
    assert_eq!(signed.is_ok(), issued.contains(&&certificate));
}

fn read_request(der: &[u8]) {
    let request = match CertificateRequest::from_der(der) {
        Ok(request) => request,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(request.to_der(), der);
    let again = CertificateRequest::from_pem(&request.to_pem()).expect("the request");
    assert_eq!(again.to_der(), der);
    let _ = format!("{request:?}");
    if let Ok(verified) = request.verify() {
        // Nobody else has the key, so the one request that it signed is the only valid one.
        assert_eq!(der, REQUEST.to_der());
        assert_eq!(verified.dns_names(), [SERVER_NAME]);
        assert_eq!(verified.spki(), PKI.client_key.spki());
    }
}

fn read_revocation_list(der: &[u8]) {
    let list = match CertificateRevocationList::from_der(der) {
        Ok(list) => list,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(&list.der()[..], der);
    let again = CertificateRevocationList::from_pem(&list.to_pem()).expect("the list");
    assert_eq!(again, list);
    let _ = format!("{list:?} {}", list.issuer());
    for certificate in [&PKI.server, &PKI.client] {
        let entry = list.entry_for(certificate);
        assert!(entry.is_none_or(|entry| list.entries().contains(entry)));
    }
    // A list verifies with the CA only if it is the one that the CA signed.
    let signed = list.verify_signature(PKI.ca.certificate(), pq_x509::verification::ALL);
    assert_eq!(signed.is_ok(), list == *CA_LIST);
}

fn read_ocsp_request(der: &[u8]) {
    let request = match OcspRequest::from_der(der) {
        Ok(request) => request,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(request.der(), der);
    assert!(!request.certificates().is_empty());
    let _ = format!("{request:?}");
    // Every request gets an answer, and the answer can be read.
    let now = at(OCSP_TIME);
    let response = OcspResponder::ca(&PKI.ca)
        .respond(&request, now, Validity::days(1), |_| {
            Ok::<_, IssueError>(CertStatus::Good)
        })
        .expect("an answer");
    assert_eq!(response.nonce(), request.nonce());
    for (answer, asked) in response.answers().iter().zip(request.certificates()) {
        assert_eq!(answer.certificate(), asked);
        let is_good = answer.status() == CertStatus::Good;
        assert_eq!(is_good, asked.is_by(PKI.ca.certificate()));
    }
}

fn read_ocsp_response(der: &[u8]) {
    let response = match OcspResponse::from_der(der) {
        Ok(response) => response,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert_eq!(response.der(), der);
    let _ = format!("{response:?}");
    // A response verifies with the CA only if the CA or its delegate signed it.
    let time = UnixTime::since_unix_epoch(Duration::from_secs(OCSP_TIME));
    let verifier = OcspVerifier::new(PKI.ca.certificate(), time);
    for (certificate, is_good) in [(&PKI.server, true), (&PKI.client, false)] {
        match verifier.verify(&response, certificate) {
            Ok(verified) => {
                // The signature does not cover the certificates in a response, so these may differ.
                let mut signed = OCSP_RESPONSES.iter();
                assert!(signed.any(|signed| signed.answers() == response.answers()
                    && signed.nonce() == response.nonce()
                    && signed.responder() == response.responder()));
                assert_eq!(verified.status() == CertStatus::Good, is_good);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// If a document can't be read, the linter reports an error.
fn read_with_linter(der: &[u8]) {
    let has_errors = |kind| {
        let findings = lint(kind, der);
        let mut severities = findings.iter().map(|finding| finding.rule.severity());
        severities.any(|severity| severity == Severity::Error)
    };
    assert!(Certificate::from_der(der).is_ok() || has_errors(Kind::Certificate));
    assert!(CertificateRevocationList::from_der(der).is_ok() || has_errors(Kind::RevocationList));
    assert!(CertificateRequest::from_der(der).is_ok() || has_errors(Kind::Request));
}

fn read_pem(text: &[u8]) {
    if let Ok(key) = ClassicalKey::from_pem(text) {
        read_classical_key(&key.to_pkcs8_der());
    }
    if let Ok(key) = CompositeKey::from_pkcs8_pem(text) {
        read_composite_key(&key.to_pkcs8_der());
    }
    if let Ok(key) = PrivateKey::from_pkcs8_pem(text) {
        let form = match key.seed() {
            Some(_) => key.algorithm().preferred_form(),
            None => PrivateKeyForm::Expanded,
        };
        let written = key.to_pkcs8_pem_as(form).expect("a form that it has");
        let again = PrivateKey::from_pkcs8_pem(&written).expect("what was written");
        assert_eq!(again.spki(), key.spki());
    }
    if let Ok(key) = PublicKey::from_spki_pem(text) {
        let again = PublicKey::from_spki_pem(&key.to_spki_pem()).expect("what was written");
        assert_eq!(again.to_spki_der(), key.to_spki_der());
    }
    if let Ok(chain) = Certificate::chain_from_pem(text) {
        assert_eq!(Certificate::from_pem(text).expect("the first"), chain[0]);
        let written = Certificate::chain_to_pem(&chain);
        let again = Certificate::chain_from_pem(&written).expect("what was written");
        assert_eq!(again, chain);
    }
    if let Ok(request) = CertificateRequest::from_pem(text) {
        read_request(request.to_der());
    }
    if let Ok(lists) = CertificateRevocationList::all_from_pem(text) {
        for list in lists {
            read_revocation_list(list.der());
        }
    }
}
