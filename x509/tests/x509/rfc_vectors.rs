//! The example keys and certificates of RFC 9881 (ML-DSA), RFC 9935 (ML-KEM) and
//! RFC 9909 (SLH-DSA).

use core::time::Duration;

use pq_core::Error;
use pq_x509::certificate::{Certificate, KeyUsages};
use pq_x509::keys::{
    Algorithm, KemAlgorithm, KeyError, PrivateKey, PrivateKeyForm, PublicKey, SignatureAlgorithm,
    SigningKey, SubjectKey, VerifyingKey,
};
use pq_x509::pki_types::UnixTime;
use pq_x509::validation::{ChainValidator, Purpose};
use pq_x509::verification;
/// The algorithms for which the vectors have all forms and a certificate.
fn ml_algorithms() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::ALL
        .iter()
        .filter(|algorithm| algorithm.name().starts_with("ML-"))
}

#[test]
fn private_keys_of_all_forms_round_trip() {
    let Some(files) = vectors::rfc() else { return };
    for algorithm in ml_algorithms() {
        let file = |form: &str| &files[&format!("{algorithm}-{form}.priv")];
        let public = PublicKey::from_spki_pem(&files[&format!("{algorithm}.pub")]).unwrap();
        assert_eq!(public.algorithm(), *algorithm);
        assert_eq!(
            public.to_spki_pem().trim(),
            files[&format!("{algorithm}.pub")].trim()
        );
        let seed = PrivateKey::from_pkcs8_pem(file("seed")).unwrap();
        let forms = [
            ("seed", PrivateKeyForm::Seed),
            ("expanded", PrivateKeyForm::Expanded),
            ("both", PrivateKeyForm::Both),
        ];
        for (name, form) in forms {
            let text = file(name);
            // The seed gives all three files, and each file gives itself again.
            assert_eq!(seed.to_pkcs8_pem_as(form).unwrap().trim(), text.trim());
            let read = PrivateKey::from_pkcs8_pem(text).unwrap();
            assert_eq!(read.to_pkcs8_pem_as(form).unwrap().trim(), text.trim());
            assert_eq!(&read.spki()[..], public.to_spki_der());
        }
    }
}

#[test]
fn bad_private_keys_are_refused() {
    let Some(files) = vectors::rfc() else { return };
    let ml_dsa = Algorithm::Signature(SignatureAlgorithm::MlDsa44);
    let ml_kem = Algorithm::Kem(KemAlgorithm::MlKem512);
    let malformed = |algorithm, error| KeyError::Malformed { algorithm, error };
    let expected = [
        ("bad-ML-DSA-44-1.priv", KeyError::SeedMismatch(ml_dsa)),
        (
            "bad-ML-DSA-44-2.priv",
            malformed(ml_dsa, Error::InconsistentKey),
        ),
        (
            "bad-ML-DSA-44-3.priv",
            malformed(ml_dsa, Error::InconsistentKey),
        ),
        ("bad-ML-KEM-512-1.priv", KeyError::SeedMismatch(ml_kem)),
        (
            "bad-ML-KEM-512-2.priv",
            malformed(ml_kem, Error::InconsistentKey),
        ),
        (
            "bad-ML-KEM-512-3.priv",
            malformed(ml_kem, Error::HashMismatch),
        ),
        ("bad-ML-KEM-512-4.priv", KeyError::SeedMismatch(ml_kem)),
    ];
    let bad = files.keys().filter(|name| name.starts_with("bad-"));
    assert!(bad.eq(expected.iter().map(|(name, _)| name)));
    for (name, error) in expected {
        let refused = PrivateKey::from_pkcs8_pem(&files[name]).unwrap_err();
        assert_eq!(refused, error, "{name}");
    }
}

#[test]
fn certificates_verify() {
    let Some(files) = vectors::rfc() else { return };
    let certificate =
        |algorithm: &Algorithm| Certificate::from_pem(&files[&format!("{algorithm}.crt")]).unwrap();
    // 2030: they are valid from 2020 to 2040.
    let time = UnixTime::since_unix_epoch(Duration::from_secs(1_900_000_000));
    let issuers: Vec<Certificate> = ml_algorithms()
        .filter(|algorithm| matches!(algorithm, Algorithm::Signature(_)))
        .map(certificate)
        .collect();
    for algorithm in ml_algorithms() {
        let certificate = certificate(algorithm);
        let public = certificate.public_key().unwrap();
        assert_eq!(public.algorithm(), *algorithm);
        assert_eq!(
            certificate.to_pem().trim(),
            files[&format!("{algorithm}.crt")].trim()
        );
        assert_eq!(
            public,
            PublicKey::from_spki_pem(&files[&format!("{algorithm}.pub")]).unwrap()
        );

        // The ML-DSA certificates are self-signed, and the one of the same rank signs the
        // ML-KEM one; no other signature verifies.
        let verifying = issuers
            .iter()
            .filter(|issuer| {
                certificate
                    .verify_signature(issuer, verification::ALL)
                    .is_ok()
            })
            .count();
        assert_eq!(verifying, 1, "{algorithm}");
        let validator = ChainValidator::new(issuers.clone()).unwrap();
        let validated = validator.validate(&[&certificate], Purpose::ServerAuth, None, time);
        match algorithm {
            Algorithm::Signature(_) => {
                assert!(certificate.is_ca());
                assert!(validated.is_err());
            }
            _ => {
                assert_eq!(
                    certificate.key_usage(),
                    Some(KeyUsages::KeyEncipherment.into())
                );
                assert_eq!(validated.unwrap().certificates().len(), 2);
            }
        }
    }
}

#[test]
fn slh_dsa_key_and_certificate() {
    let Some(files) = vectors::rfc() else { return };
    let private = SigningKey::from_pkcs8_pem(&files["id-slh-dsa-sha2-128s.priv"]).unwrap();
    let public = VerifyingKey::from_spki_pem(&files["id-slh-dsa-sha2-128s.pub"]).unwrap();
    let certificate = Certificate::from_pem(&files["id-slh-dsa-sha2-128s.pem"]).unwrap();
    assert_eq!(private.algorithm(), SignatureAlgorithm::SlhDsaSha2_128s);
    assert_eq!(private.check(), Ok(()));
    assert_eq!(private.verifying_key(), &public);
    assert_eq!(certificate.public_key(), Ok(PublicKey::Verifying(public)));
    assert_eq!(
        certificate.verify_signature(&certificate, verification::ALL),
        Ok(())
    );
    assert_eq!(
        private.to_pkcs8_pem().unwrap().trim(),
        files["id-slh-dsa-sha2-128s.priv"].trim()
    );
}
