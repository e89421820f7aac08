//! Signed and encrypted messages: ours under `openssl cms`, OpenSSL's under our verification.
//!
//! OpenSSL 3.5 has signatures of ML-DSA and SLH-DSA with signed attributes only, and no recipients with
//! ML-KEM or X25519. Content ciphers are tried with a key that both sides have, and with keys on curves.

use std::io::Cursor;

use interop::openssl::Workdir;
use pq_cms::{
    ContentCipher, DocumentSigner, EnvelopeBuilder, Opener, OpeningError, PemWriter, Recipient,
    RecipientKey, SignedDataBuilder, Verifier, decode_if_pem, digests,
};
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey};
use pq_x509::validation::ChainValidator;
use rustls_pq::classical::{
    ClassicalAgreementKey, ClassicalAlgorithm, ClassicalKey, verification_algorithms,
};

/// Content that is longer than what either side writes in one piece.
fn content() -> Vec<u8> {
    (0..200_000_u32).map(|i| (i / 5) as u8).collect()
}

/// A root with a key of ML-DSA, in the file `root.pem`.
fn root(work: &Workdir) -> Issuer<SigningKey> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    work.write("root.pem", root.certificate().to_pem());
    root
}

fn person() -> CertificateBuilder<pq_x509::issuing::EndEntity> {
    CertificateBuilder::end_entity().common_name("someone")
}

/// Algorithms that sign quickly.
const ALGORITHMS: [SignatureAlgorithm; 6] = [
    SignatureAlgorithm::MlDsa44,
    SignatureAlgorithm::MlDsa65,
    SignatureAlgorithm::MlDsa87,
    SignatureAlgorithm::SlhDsaSha2_128f,
    SignatureAlgorithm::SlhDsaSha2_192f,
    SignatureAlgorithm::SlhDsaShake128f,
];

#[test]
fn openssl_verifies_our_signatures() {
    let Some(work) = Workdir::new() else { return };
    let root = root(&work);
    let content = content();
    work.write("content", &content);
    for algorithm in ALGORITHMS {
        let key = SigningKey::generate(algorithm).unwrap();
        let certificate = root.issue(person(), &key).unwrap();
        // OpenSSL does not support digests of extendable-output functions here.
        let fitting = digests().filter(|digest| {
            digest.digest_len() >= algorithm.least_digest_len()
                && !digest.name().starts_with("SHAKE")
        });
        for digest in fitting {
            let signer = DocumentSigner::new(&certificate, &key).digest(digest);
            for signer in [signer.clone(), signer.by_key_identifier()] {
                let builder = SignedDataBuilder::new().signer(signer);
                for len in [100, content.len()] {
                    let mut message = Vec::new();
                    builder.sign(&content[..len], &mut message).unwrap();
                    work.write("message", &message);
                    work.run(
                        "cms -verify -binary -inform DER -in message -CAfile root.pem -out found",
                    );
                    assert!(work.read("found") == content[..len], "{algorithm} {digest}");
                }
                let mut pem = PemWriter::new(Vec::new()).unwrap();
                let detached = builder.sign_detached(&content[..]).unwrap();
                std::io::copy(&mut &detached[..], &mut pem).unwrap();
                work.write("detached", pem.finish().unwrap());
                let verify = "cms -verify -binary -inform PEM -in detached -CAfile root.pem";
                work.run(&format!("{verify} -content content -out found"));
                work.run_failing(&format!("{verify} -content root.pem -out found"));
            }
        }
    }
}

#[test]
fn we_verify_signatures_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    let root = root(&work);
    let content = content();
    work.write("content", &content);
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let verifier = Verifier::with_chains(&validator);
    for algorithm in ALGORITHMS {
        let key = SigningKey::generate(algorithm).unwrap();
        work.write("key", key.to_pkcs8_pem().unwrap());
        let certificate = root.issue(person(), &key).unwrap();
        work.write("cert", certificate.to_pem());
        // OpenSSL has no default digest for these keys.
        for options in ["", "-stream", "-keyid", "-stream -keyid"] {
            for form in ["DER", "PEM"] {
                let sign = format!(
                    "cms -sign -binary -md sha512 -in content -signer cert -inkey key -outform {form} \
                     {options}"
                );
                work.run(&format!("{sign} -nodetach -out message"));
                let message = work.read("message");
                let message = || decode_if_pem(&message[..]).unwrap();
                let mut found = Vec::new();
                if let Err(error) = verifier.write_unverified(message(), &mut found) {
                    panic!("{algorithm} {options}: {error}");
                }
                assert!(found == content);
                if options.contains("-stream") {
                    // With -stream, the content is always in the message.
                    continue;
                }
                work.run(&format!("{sign} -out detached"));
                let detached = work.read("detached");
                let detached = || decode_if_pem(&detached[..]).unwrap();
                let verified = verifier.verify_detached(detached(), &content[..]).unwrap();
                assert_eq!(verified.signers[0].certificate, certificate);
                assert!(verified.signers[0].signing_time.is_some());
                assert!(verifier.verify_detached(detached(), &b"other"[..]).is_err());
            }
        }
    }
}

/// A classical signer beside one of ML-DSA, each made by either side.
#[test]
fn several_signers() {
    let Some(work) = Workdir::new() else { return };
    let Ok(algorithms) = verification_algorithms() else {
        return;
    };
    let root = root(&work);
    let content = content();
    work.write("content", &content);
    // A key that accepts every digest that a classical key may require.
    let post_quantum = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let its_certificate = root.issue(person(), &post_quantum).unwrap();
    work.write("key", post_quantum.to_pkcs8_pem().unwrap());
    work.write("cert", its_certificate.to_pem());
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let verifier = Verifier::with_chains(&validator).algorithms(algorithms);
    for &algorithm in ClassicalAlgorithm::ALL {
        let key = ClassicalKey::generate(algorithm).unwrap();
        let certificate: Certificate = root.issue(person(), &key).unwrap();
        work.write("classical.key", key.to_pkcs8_pem());
        work.write("classical.cert", certificate.to_pem());
        let mut message = Vec::new();
        SignedDataBuilder::new()
            .signer(DocumentSigner::new(&its_certificate, &post_quantum))
            .signer(DocumentSigner::with_signer(&certificate, &key))
            .sign(&content[..], &mut message)
            .unwrap();
        work.write("message", &message);
        work.run("cms -verify -binary -inform DER -in message -CAfile root.pem -out found");
        assert!(work.read("found") == content);

        let digest = match algorithm {
            ClassicalAlgorithm::EcdsaP256 => "sha256",
            ClassicalAlgorithm::EcdsaP384 => "sha384",
            _ => "sha512",
        };
        work.run(&format!(
            "cms -sign -binary -nodetach -stream -in content -outform DER -out message -md {digest} \
             -signer cert -inkey key -signer classical.cert -inkey classical.key"
        ));
        let verified = verifier.write_unverified(&work.read("message")[..], std::io::sink());
        let verified = verified.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert_eq!(verified.signers.len(), 2);
        let alone = Verifier::with_chains(&validator).any_signer();
        let verified = alone.write_unverified(&work.read("message")[..], std::io::sink());
        assert_eq!(verified.unwrap().refused.len(), 1);
    }
}

const KEYS: [(ContentCipher, &str, &[u8]); 4] = [
    (ContentCipher::Aes128Gcm, "-aes-128-gcm", &[0x41; 16]),
    (ContentCipher::Aes256Gcm, "-aes-256-gcm", &[0x42; 32]),
    (ContentCipher::Aes128Cbc, "-aes-128-cbc", &[0x43; 16]),
    (ContentCipher::Aes256Cbc, "-aes-256-cbc", &[0x44; 32]),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn openssl_decrypts_our_messages() {
    let Some(work) = Workdir::new() else { return };
    let content = content();
    for (cipher, _, key) in KEYS {
        let recipient = Recipient::shared_key(b"group", key).unwrap();
        let builder = EnvelopeBuilder::new().recipient(recipient).cipher(cipher);
        for len in [0, 100, 65536, content.len()] {
            let mut message = Vec::new();
            builder.encrypt(&content[..len], &mut message).unwrap();
            work.write("message", &message);
            let decrypt = "cms -decrypt -binary -inform DER -in message -out found";
            let id = hex(b"group");
            let key = hex(key);
            work.run(&format!("{decrypt} -secretkey {key} -secretkeyid {id}"));
            assert!(work.read("found") == content[..len], "{cipher:?} {len}");
        }
    }
}

/// A recipient with a key of ECDH, in the files `key` and `cert`, and one with RSA, in `rsa.pem`.
fn ecdh_recipient(work: &Workdir, curve: &str) -> (ClassicalAgreementKey, Certificate) {
    let root = root(work);
    work.run(&format!(
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:{curve} -out key"
    ));
    work.run("pkey -in key -outform DER -out key.der");
    let key = ClassicalAgreementKey::from_der(&work.read("key.der")).unwrap();
    let builder = person().key_usage(KeyUsages::KeyAgreement);
    let certificate = root.issue(builder, &key).unwrap();
    work.write("cert", certificate.to_pem());
    let rsa = ClassicalKey::generate(ClassicalAlgorithm::Rsa2048).unwrap();
    let builder = person().key_usage(KeyUsages::KeyEncipherment);
    work.write("rsa.pem", root.issue(builder, &rsa).unwrap().to_pem());
    (key, certificate)
}

const CURVES: [&str; 2] = ["P-256", "P-384"];

#[test]
fn openssl_decrypts_what_we_encrypt_for_keys_on_curves() {
    let Some(work) = Workdir::new() else { return };
    let content = content();
    // beside a recipient whose kind of key OpenSSL may not know
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem768).unwrap();
    let other = Recipient::key(kem.encapsulation_key().clone(), b"other");
    for curve in CURVES {
        let (key, certificate) = ecdh_recipient(&work, curve);
        let id = certificate.subject_key_id().unwrap();
        for recipient in [
            Recipient::agreement_certificate(&certificate, key.public_key().clone()).unwrap(),
            Recipient::agreement_key(key.public_key().clone(), id),
        ] {
            for (cipher, _, _) in KEYS {
                let alone = EnvelopeBuilder::new().recipient(recipient.clone());
                for builder in [alone.clone(), alone.recipient(other.clone())] {
                    let mut message = Vec::new();
                    builder
                        .cipher(cipher)
                        .encrypt(&content[..], &mut message)
                        .unwrap();
                    work.write("message", &message);
                    work.run(
                        "cms -decrypt -binary -inform DER -in message -out found -inkey key -recip cert",
                    );
                    assert!(work.read("found") == content, "{curve} {cipher:?}");
                }
            }
        }
    }
}

#[test]
fn we_decrypt_what_openssl_encrypts_for_keys_on_curves() {
    let Some(work) = Workdir::new() else { return };
    let content = content();
    work.write("content", &content);
    for curve in CURVES {
        let (key, certificate) = ecdh_recipient(&work, curve);
        let by_certificate = RecipientKey::agreement_with_certificate(&key, &certificate).unwrap();
        let by_default = KEYS.map(|(cipher, option, _)| (cipher, option, String::new()));
        // SHA-1 unless another hash function is requested
        let by_others = ["sha1", "sha256", "sha384", "sha512"].map(|hash| {
            let (cipher, option, _) = KEYS[1];
            (cipher, option, format!("-keyopt ecdh_kdf_md:{hash}"))
        });
        for (cipher, option, kdf) in by_default.into_iter().chain(by_others) {
            for (options, others, recipients) in [
                ("", "", 1),
                ("-keyid -stream", "", 1),
                ("-stream", "rsa.pem", 2),
            ] {
                work.run(&format!(
                    "cms -encrypt -binary -in content {option} -outform DER -out message {options} \
                     -recip cert {kdf} {others}"
                ));
                let message = work.read("message");
                for own in [RecipientKey::agreement(&key), by_certificate.clone()] {
                    let opener = Opener::new(own).take_unauthenticated();
                    let mut found = Vec::new();
                    let opened = opener.write_unauthenticated(&message[..], &mut found);
                    let opened = opened.unwrap_or_else(|error| {
                        panic!("{curve} {option} {kdf} {options}: {error}")
                    });
                    assert_eq!((opened.cipher, opened.recipients), (cipher, recipients));
                    assert!(found == content);
                }
            }
        }
    }
}

/// Recipients with ML-KEM (RFC 9936), which OpenSSL knows from 3.6 on: both ways, also beside a key on a curve.
/// An older OpenSSL refuses them.
#[test]
fn ml_kem_recipients() {
    let Some(work) = Workdir::new() else { return };
    let knows_them = !work.run("version").stdout().starts_with("OpenSSL 3.5.");
    let content = content();
    work.write("content", &content);
    let root = root(&work);
    let (_, on_curve) = ecdh_recipient(&work, "P-256");
    work.write("curve.pem", on_curve.to_pem());
    for algorithm in KemAlgorithm::ALL {
        let key = DecapsulationKey::generate(*algorithm).unwrap();
        let builder = person().key_usage(KeyUsages::KeyEncipherment);
        let certificate = root.issue(builder, key.encapsulation_key()).unwrap();
        work.write("key", key.to_pkcs8_pem().unwrap());
        work.write("cert", certificate.to_pem());
        let own = RecipientKey::with_certificate(&key, &certificate).unwrap();
        for (cipher, option, _) in KEYS {
            let encryptions = ["", "curve.pem"].map(|others| {
                format!(
                    "cms -encrypt -binary -in content {option} -outform DER -out message \
                     -recip cert {others}"
                )
            });
            if !knows_them {
                for encrypt in encryptions {
                    work.run_failing(&encrypt);
                }
                continue;
            }
            for encrypt in encryptions {
                work.run(&encrypt);
                let opener = Opener::new(own.clone()).take_unauthenticated();
                let mut found = Vec::new();
                let opened = opener.write_unauthenticated(&work.read("message")[..], &mut found);
                let opened = opened.unwrap_or_else(|error| panic!("{algorithm} {option}: {error}"));
                assert_eq!(opened.cipher, cipher);
                assert!(found == content);
            }
            for recipient in [
                Recipient::certificate(&certificate).unwrap(),
                Recipient::key(
                    key.encapsulation_key().clone(),
                    certificate.subject_key_id().unwrap(),
                ),
            ] {
                let mut message = Vec::new();
                let builder = EnvelopeBuilder::new().recipient(recipient).cipher(cipher);
                builder.encrypt(&content[..], &mut message).unwrap();
                work.write("message", &message);
                work.run(
                    "cms -decrypt -binary -inform DER -in message -out found -inkey key -recip cert",
                );
                assert!(work.read("found") == content, "{algorithm} {cipher:?}");
            }
        }
    }
}

/// RSASSA-PSS, whose hash function is in its parameters.
#[test]
fn rsa_pss() {
    let Some(work) = Workdir::new() else { return };
    let root = root(&work);
    let content = content();
    work.write("content", &content);
    let key = ClassicalKey::generate(ClassicalAlgorithm::Rsa2048).unwrap();
    let certificate = root.issue(person(), &key).unwrap();
    work.write("key", key.to_pkcs8_pem());
    work.write("cert", certificate.to_pem());
    let algorithms = verification_algorithms().unwrap();
    let validator = ChainValidator::new([root.certificate().clone()]).unwrap();
    let verifier = Verifier::with_chains(&validator).algorithms(algorithms);
    for digest in ["sha256", "sha384", "sha512"] {
        work.run(&format!(
            "cms -sign -binary -nodetach -in content -outform DER -out message -md {digest} \
             -signer cert -inkey key -keyopt rsa_padding_mode:pss -keyopt rsa_pss_saltlen:digest"
        ));
        let message = work.read("message");
        verifier
            .write_unverified(&message[..], std::io::sink())
            .unwrap();
    }
}

#[test]
fn we_decrypt_messages_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    let content = content();
    work.write("content", &content);
    for (cipher, option, key) in KEYS {
        let id = hex(b"group");
        for stream in ["", "-stream"] {
            work.run(&format!(
                "cms -encrypt -binary {stream} -in content {option} -outform DER -out message \
                 -secretkey {} -secretkeyid {id}",
                hex(key)
            ));
            let message = work.read("message");
            let opener = Opener::new(RecipientKey::shared_key(b"group", key));
            let opener = opener.take_unauthenticated();
            let mut found = Vec::new();
            let opened = opener
                .write_unauthenticated(&message[..], &mut found)
                .unwrap();
            assert_eq!(opened.cipher, cipher);
            assert!(found == content, "{option} {stream}");
            match opener.open_seekable(Cursor::new(&message), std::io::sink()) {
                Ok(opened) => assert!(opened.cipher.is_authenticated()),
                Err(OpeningError::NotAuthenticated(_)) => assert!(!cipher.is_authenticated()),
                Err(error) => panic!("{option} {stream}: {error}"),
            }
        }
    }
}
