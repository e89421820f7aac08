//! Certificates that do not allow what they are used for.

use alloc::sync::Arc;

use interop::endpoint::{self, ours, roots};
use interop::openssl::Workdir;
use interop::pki::{Identity, NAME, Pki, generate, server_leaf, server_name};
use interop::tcp::{self, Failure};
use pq_x509::certificate::{Certificate, KeyUsageError, KeyUsages};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::keys::{DecapsulationKey, KemAlgorithm, SignatureAlgorithm, SigningKey, SubjectKey};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use pq_x509::x509_cert::ext::pkix::{BasicConstraints, KeyUsage};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};
use rustls_pq::Group;
use rustls_pq::verify::EnforceKeyUsage;

/// RFC 9881, section 5, and RFC 9935, section 5: a certificate must not claim usages that
/// its key can't have.
#[test]
fn forbidden_key_usage() {
    let pki = Pki::new(SET);
    let issuer = pki.intermediate();
    let signing = generate(SET);
    let kem = DecapsulationKey::generate(KemAlgorithm::MlKem768).expect("there is randomness");
    let cases: [(&dyn SubjectKey, KeyUsage); 7] = [
        (&signing, KeyUsage(KeyUsages::KeyEncipherment.into())),
        (&signing, KeyUsage(KeyUsages::DataEncipherment.into())),
        (&signing, KeyUsage(KeyUsages::KeyAgreement.into())),
        (
            &signing,
            KeyUsage(KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment),
        ),
        (&signing, KeyUsage(Default::default())),
        (
            kem.encapsulation_key(),
            KeyUsage(KeyUsages::DigitalSignature.into()),
        ),
        (
            kem.encapsulation_key(),
            KeyUsage(KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment),
        ),
    ];
    for (key, usages) in cases {
        let refused = issuer.issue(server_leaf().key_usage(usages.0), key);
        assert!(
            matches!(refused, Err(IssueError::KeyUsage(_))),
            "{usages:?}: {refused:?}"
        );

        // Another CA may have issued such a certificate.
        let mut tbs = issuer
            .prepare(server_leaf(), key)
            .expect("it can be described");
        tbs.set_extension(true, &usages).expect("it can be encoded");
        let leaf = tbs.sign(issuer.signer()).expect("the intermediate signs");
        let chain = [&leaf, issuer.certificate()];
        let validator = ChainValidator::new([pki.root().clone()]).expect("the root is one");
        // Not `validate_server`, which accepts no certificate for ML-KEM anyway.
        let name = server_name(NAME);
        let result = validator.validate(&chain, Purpose::ServerAuth, Some(&name), UnixTime::now());
        assert!(
            matches!(result, Err(ValidationError::KeyUsage { .. })),
            "{usages:?}: {result:?}"
        );
        validator
            .relax_key_usage()
            .validate(&chain, Purpose::ServerAuth, Some(&name), UnixTime::now())
            .expect("nothing else is wrong with it");
    }
}

/// A CA whose own certificate does not let it sign certificates.
#[test]
fn ca_without_key_cert_sign() {
    let CaWithoutKeyCertSign { ca, ca_key, leaf } = CaWithoutKeyCertSign::new();
    assert!(matches!(
        Issuer::new(ca.clone(), ca_key),
        Err(IssueError::KeyUsage(_))
    ));

    let result = ChainValidator::new([ca]).and_then(|validator| {
        validator.validate_server(&[&leaf], &server_name(NAME), UnixTime::now())
    });
    assert!(
        matches!(result, Err(ValidationError::KeyUsage { .. })),
        "{result:?}"
    );
}

/// rustls checks key usage only if it is told to; OpenSSL reads the alert then.
#[test]
fn s_server_reads_the_alert_of_enforced_key_usage() {
    let Some(work) = Workdir::new() else { return };
    let provider = ours(&[Group::X25519MLKEM768]);

    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), generate(SET))
        .expect("a root can be issued");
    let ca_key = generate(SET);
    let ca = root
        .issue_ca(CertificateBuilder::ca("Intermediate"), ca_key.clone())
        .expect("an intermediate can be issued");
    let mut tbs = root
        .prepare(CertificateBuilder::ca("Intermediate"), &ca_key)
        .expect("it can be described");
    tbs.set_extension(true, &KeyUsage(KeyUsages::CRLSign.into()))
        .expect("it can be encoded");
    let powerless_ca = tbs.sign(root.signer()).expect("the root signs");

    let key = generate(SET);
    let leaf = ca.issue(server_leaf(), &key).expect("a leaf can be issued");
    let mut tbs = ca
        .prepare(server_leaf(), &key)
        .expect("it can be described");
    tbs.set_extension(true, &KeyUsage(KeyUsages::KeyEncipherment.into()))
        .expect("it can be encoded");
    let enciphering_leaf = tbs.sign(ca.signer()).expect("the intermediate signs");

    for (chain, refusal) in [
        ([leaf.clone(), ca.certificate().clone()], None),
        (
            [enciphering_leaf, ca.certificate().clone()],
            Some(KeyUsageError::ForbiddenForSignatureKey {
                algorithm: SET,
                usage: "keyEncipherment".into(),
            }),
        ),
        (
            [leaf, powerless_ca],
            Some(KeyUsageError::CaWithoutKeyCertSign),
        ),
    ] {
        let identity = Identity {
            chain: chain.into(),
            key: key.clone(),
        };
        let options = identity.write_to(&work, "server");
        let lax = endpoint::client(provider.clone(), root.certificate(), None);
        let webpki = WebPkiServerVerifier::builder_with_provider(
            Arc::new(roots(root.certificate())),
            Arc::new(provider.clone()),
        )
        .build()
        .expect("a verifier can be made");
        let mut strict = (*lax).clone();
        strict
            .dangerous()
            .set_certificate_verifier(Arc::new(EnforceKeyUsage::new(webpki)));

        let server = work.serve(&options);
        tcp::connect(&lax, server.address(), NAME, "hello").expect("key usage is not checked");
        let result = tcp::connect(&Arc::new(strict), server.address(), NAME, "hello");
        let output = server.stop();
        let Some(refusal) = refusal else {
            result.expect("nothing is wrong with it");
            continue;
        };
        let Err(Failure::Tls(Error::InvalidCertificate(CertificateError::Other(error)))) = result
        else {
            panic!("{refusal:?}: {result:?}");
        };
        assert!(
            matches!(
                error.0.downcast_ref(),
                Some(ValidationError::KeyUsage { error, .. }) if *error == refusal
            ),
            "{refusal:?}: {error:?}"
        );
        let alert = u8::from(AlertDescription::CertificateUnknown);
        output.assert_contains(&format!("SSL alert number {alert}"));
    }
}

#[test]
fn openssl_refuses_a_ca_without_key_cert_sign() {
    let Some(work) = Workdir::new() else { return };
    let CaWithoutKeyCertSign { ca, leaf, .. } = CaWithoutKeyCertSign::new();
    work.write("ca.pem", ca.to_pem());
    work.write("leaf.pem", leaf.to_pem());
    work.run_failing("verify -x509_strict -partial_chain -trusted ca.pem leaf.pem");
}

struct CaWithoutKeyCertSign {
    ca: Certificate,
    ca_key: SigningKey,
    /// A leaf that the CA issued nevertheless.
    leaf: Certificate,
}

impl CaWithoutKeyCertSign {
    fn new() -> Self {
        let pki = Pki::new(SET);
        let ca_key = generate(SET);
        let mut tbs = pki
            .intermediate()
            .prepare(
                CertificateBuilder::end_entity().common_name("No CA, or is it?"),
                &ca_key,
            )
            .expect("it can be described");
        tbs.set_extension(
            true,
            &BasicConstraints {
                ca: true,
                path_len_constraint: None,
            },
        )
        .expect("it can be encoded");
        let ca = tbs
            .sign(pki.intermediate().signer())
            .expect("the intermediate signs");

        let mut tbs = pki
            .intermediate()
            .prepare(server_leaf(), &generate(SET))
            .expect("it can be described");
        tbs.issuer = ca.subject().clone();
        let leaf = tbs.sign(&ca_key).expect("the key signs");

        Self { ca, ca_key, leaf }
    }
}

/// The parameter set of tests for which any set would do.
const SET: SignatureAlgorithm = SignatureAlgorithm::MlDsa44;
