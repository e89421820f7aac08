//! Certificates and signatures that must be refused: the honest side's error, and
//! the alert that reaches the other.

use alloc::sync::Arc;
use core::time::Duration;
use std::time::SystemTime;

use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{CertifiedKey, Signer, SingleCertAndKey};
use rustls::{
    AlertDescription, CertificateError, Error, PeerIncompatible, ServerConfig, SignatureScheme,
};
use rustls_pq::{Builder, Group};

use crate::peers::{
    End, Identity, KeyPair, Outcome, Pki, any_base, bases, client_config, connect,
    mutual_client_config, mutual_server_config, roots, server_config, with_groups,
};

#[test]
fn unknown_issuer() {
    for (name, base) in bases() {
        println!("{name}");
        for &algorithm in SignatureAlgorithm::ML_DSA {
            let pki = Pki::new(algorithm);
            let another = Issuer::self_signed(
                CertificateBuilder::ca("Another Root"),
                SigningKey::generate(algorithm).unwrap(),
            )
            .unwrap();
            let provider = Builder::new(base.clone()).build().unwrap();
            let client = client_config(
                provider.clone(),
                roots([another.certificate().der().clone()]),
            );
            let server = server_config(provider, &pki.server);
            let outcome = connect(&client.into(), &server.into());
            client_refused(
                &outcome,
                CertificateError::UnknownIssuer,
                AlertDescription::UnknownCA,
            );
        }
    }
}

/// A root of the right name with another key.
#[test]
fn impostor_root() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        let outcome = serve(&Pki::new(algorithm).server, &Pki::new(algorithm));
        client_refused(
            &outcome,
            CertificateError::BadSignature,
            AlertDescription::DecryptError,
        );
    }
}

#[test]
fn damaged_signature_in_the_chain() {
    for &algorithm in SignatureAlgorithm::ML_DSA {
        for at in [0, 1] {
            let pki = Pki::new(algorithm);
            let mut identity = pki.server.clone();
            let mut der = identity.chain[at].to_vec();
            // A certificate ends with its signature.
            let inside = der.len() - 1000;
            der[inside] ^= 1;
            identity.chain[at] = der.into();
            let outcome = serve(&identity, &pki);
            client_refused(
                &outcome,
                CertificateError::BadSignature,
                AlertDescription::DecryptError,
            );
        }
    }
}

#[test]
fn wrong_name() {
    let issuer = TestIssuer::new();
    let outcome = issuer.serve(CertificateBuilder::server().dns_name("elsewhere.example"));
    let Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
        presented, ..
    })) = &outcome.client.result
    else {
        panic!("{:?}", outcome.client.result);
    };
    assert_eq!(presented, &["DnsName(\"elsewhere.example\")"]);
    alerted(&outcome.server, AlertDescription::BadCertificate);
}

#[test]
fn expired() {
    let issuer = TestIssuer::new();
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 60 * 60);
    let leaf = |not_before, not_after| {
        CertificateBuilder::server()
            .dns_name("localhost")
            .validity(Validity::new(not_before, not_after))
    };

    let outcome = issuer.serve(leaf(now - 2 * day, now - day));
    assert!(matches!(
        outcome.client.result,
        Err(Error::InvalidCertificate(
            CertificateError::ExpiredContext { .. }
        ))
    ));
    alerted(&outcome.server, AlertDescription::CertificateExpired);

    let outcome = issuer.serve(leaf(now + day, now + 2 * day));
    assert!(matches!(
        outcome.client.result,
        Err(Error::InvalidCertificate(
            CertificateError::NotValidYetContext { .. }
        ))
    ));
    alerted(&outcome.server, AlertDescription::CertificateExpired);
}

#[test]
fn client_certificate_on_a_server() {
    let issuer = TestIssuer::new();
    let outcome = issuer.serve(CertificateBuilder::client().dns_name("localhost"));
    assert!(matches!(
        outcome.client.result,
        Err(Error::InvalidCertificate(
            CertificateError::InvalidPurposeContext { .. }
        ))
    ));
    alerted(&outcome.server, AlertDescription::UnsupportedCertificate);
}

/// A leaf that signs another leaf.
#[test]
fn leaf_as_issuer() {
    let issuer = TestIssuer::new();
    let middle_key = generate();
    let middle = issuer
        .ca
        .issue(
            CertificateBuilder::server()
                .common_name("Middle")
                .dns_name("localhost"),
            &middle_key,
        )
        .unwrap();
    let leaf_key = generate();
    let mut leaf = issuer
        .ca
        .prepare(
            CertificateBuilder::server().dns_name("localhost"),
            &leaf_key,
        )
        .unwrap();
    leaf.issuer = middle.subject().clone();
    let identity = Identity {
        chain: vec![
            leaf.sign(&middle_key).unwrap().into_der(),
            middle.into_der(),
        ],
        key: leaf_key.private_key(),
    };

    let outcome = issuer.serve_identity(&identity);
    let Err(Error::InvalidCertificate(CertificateError::Other(error))) = &outcome.client.result
    else {
        panic!("{:?}", outcome.client.result);
    };
    assert_eq!(error.to_string(), "EndEntityUsedAsCa");
    alerted(&outcome.server, AlertDescription::CertificateUnknown);
}

/// A CertificateVerify that doesn't belong to this handshake, on either side.
#[test]
fn tampered_certificate_verify() {
    for (algorithm, scheme) in SETS {
        let pki = Pki::new(algorithm);
        for (name, base) in bases() {
            println!("{name}: {algorithm}");
            let provider = Builder::new(base).build().unwrap();
            for tamper in [
                Tamper::Message,
                Tamper::FirstByte,
                Tamper::LastByte,
                Tamper::Truncate,
                Tamper::Extend,
                Tamper::Empty,
            ] {
                let server = tampering_server(&provider, &pki.server, scheme, scheme, tamper);
                let client = client_config(provider.clone(), pki.roots());
                let outcome = connect(&client.into(), &server);
                client_refused(
                    &outcome,
                    CertificateError::BadSignature,
                    AlertDescription::DecryptError,
                );

                let server = mutual_server_config(provider.clone(), &pki.server, pki.roots());
                let mut client = mutual_client_config(provider.clone(), pki.roots(), &pki.client);
                client.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(tampering(
                    &provider,
                    &pki.client,
                    scheme,
                    scheme,
                    tamper,
                )));
                let outcome = connect(&client.into(), &server.into());
                assert_eq!(
                    outcome.server.result,
                    Err(CertificateError::BadSignature.into())
                );
                alerted(&outcome.client, AlertDescription::DecryptError);
            }
        }
    }
}

/// A CertificateVerify that names another parameter set than the certificate's.
#[test]
fn scheme_of_another_set() {
    let provider = Builder::new(any_base()).build().unwrap();
    for (algorithm, scheme) in SETS {
        let pki = Pki::new(algorithm);
        for (_, claimed) in SETS.into_iter().filter(|(_, other)| *other != scheme) {
            let server = tampering_server(&provider, &pki.server, scheme, claimed, Tamper::Nothing);
            let client = client_config(provider.clone(), pki.roots());
            let outcome = connect(&client.into(), &server);
            assert!(
                matches!(
                    outcome.client.result,
                    Err(Error::InvalidCertificate(
                        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
                    ))
                ),
                "{:?}",
                outcome.client.result
            );
            alerted(&outcome.server, AlertDescription::DecryptError);
        }
    }
}

/// A scheme that the client didn't offer.
#[test]
fn scheme_that_was_not_offered() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa44);
    let provider = Builder::new(any_base()).build().unwrap();
    let client = Builder::new(any_base())
        .signature_schemes([SignatureScheme::ML_DSA_65, SignatureScheme::ML_DSA_87])
        .build()
        .unwrap();

    // An honest server finds no scheme,
    let outcome = connect(
        &client_config(client.clone(), pki.roots()).into(),
        &server_config(provider.clone(), &pki.server).into(),
    );
    assert_eq!(
        outcome.server.result,
        Err(PeerIncompatible::NoSignatureSchemesInCommon.into())
    );
    alerted(&outcome.client, AlertDescription::HandshakeFailure);

    // and the client refuses a lying server, whose chain is signed with ML-DSA-44.
    let server = tampering_server(
        &provider,
        &pki.server,
        SignatureScheme::ML_DSA_44,
        SignatureScheme::ML_DSA_65,
        Tamper::Nothing,
    );
    let outcome = connect(&client_config(client, pki.roots()).into(), &server);
    assert!(
        matches!(
            outcome.client.result,
            Err(Error::InvalidCertificate(
                CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            ))
        ),
        "{:?}",
        outcome.client.result
    );
    alerted(&outcome.server, AlertDescription::DecryptError);
}

/// A client without ML-DSA.
#[test]
fn classical_client() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = Builder::new(any_base()).build().unwrap();
    let outcome = connect(
        &client_config(any_base(), pki.roots()).into(),
        &server_config(provider, &pki.server).into(),
    );
    assert_eq!(
        outcome.server.result,
        Err(PeerIncompatible::NoSignatureSchemesInCommon.into())
    );
    alerted(&outcome.client, AlertDescription::HandshakeFailure);
}

/// ML-DSA must not be used in TLS 1.2 (draft-ietf-tls-mldsa, section 3).
#[test]
fn tls12() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(pki.roots())
        .with_no_client_auth();
    let server = server_config((*provider).clone(), &pki.server);
    let outcome = connect(&client.into(), &server.into());
    assert!(
        matches!(
            outcome.server.result,
            Err(Error::PeerIncompatible(
                PeerIncompatible::NoCipherSuitesInCommon
                    | PeerIncompatible::NoSignatureSchemesInCommon
            ))
        ),
        "{:?}",
        outcome.server.result
    );
    alerted(&outcome.client, AlertDescription::HandshakeFailure);
}

#[test]
fn client_certificates() {
    let pki = Pki::new(SignatureAlgorithm::MlDsa65);
    let strangers = Pki::new(SignatureAlgorithm::MlDsa65);
    let provider = with_groups(&any_base(), [Group::X25519MLKEM768]);
    let server = mutual_server_config(provider.clone(), &pki.server, pki.roots()).into();

    let nobody = client_config(provider.clone(), pki.roots());
    let outcome = connect(&nobody.into(), &server);
    assert_eq!(outcome.server.result, Err(Error::NoCertificatesPresented));
    alerted(&outcome.client, AlertDescription::CertificateRequired);

    // Another root of the same name: the signature doesn't match.
    let stranger = mutual_client_config(provider.clone(), pki.roots(), &strangers.client);
    let outcome = connect(&stranger.into(), &server);
    assert_eq!(
        outcome.server.result,
        Err(CertificateError::BadSignature.into())
    );
    alerted(&outcome.client, AlertDescription::DecryptError);

    let wrong_purpose = mutual_client_config(provider, pki.roots(), &pki.server);
    let outcome = connect(&wrong_purpose.into(), &server);
    assert!(matches!(
        outcome.server.result,
        Err(Error::InvalidCertificate(
            CertificateError::InvalidPurposeContext { .. }
        ))
    ));
    alerted(&outcome.client, AlertDescription::UnsupportedCertificate);
}

const SETS: [(SignatureAlgorithm, SignatureScheme); 3] = [
    (SignatureAlgorithm::MlDsa44, SignatureScheme::ML_DSA_44),
    (SignatureAlgorithm::MlDsa65, SignatureScheme::ML_DSA_65),
    (SignatureAlgorithm::MlDsa87, SignatureScheme::ML_DSA_87),
];

#[track_caller]
fn client_refused(outcome: &Outcome, error: CertificateError, alert: AlertDescription) {
    assert_eq!(outcome.client.result, Err(error.into()));
    alerted(&outcome.server, alert);
}

#[track_caller]
fn alerted(end: &End, alert: AlertDescription) {
    assert_eq!(end.result, Err(Error::AlertReceived(alert)));
}

/// A server with `identity`, and a client that trusts the root of `trusted`.
fn serve(identity: &Identity, trusted: &Pki) -> Outcome {
    let provider = Builder::new(any_base()).build().unwrap();
    connect(
        &client_config(provider.clone(), trusted.roots()).into(),
        &server_config(provider, identity).into(),
    )
}

fn generate() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

/// A root that issues leaves of all sorts.
struct TestIssuer {
    ca: Issuer<SigningKey>,
}

impl TestIssuer {
    fn new() -> Self {
        Self {
            ca: Issuer::self_signed(CertificateBuilder::ca("Test Root"), generate()).unwrap(),
        }
    }

    fn serve(&self, leaf: CertificateBuilder<pq_x509::issuing::EndEntity>) -> Outcome {
        let key = generate();
        self.serve_identity(&Identity::issued_by(&self.ca, leaf, &key))
    }

    fn serve_identity(&self, identity: &Identity) -> Outcome {
        let provider = Builder::new(any_base()).build().unwrap();
        connect(
            &client_config(
                provider.clone(),
                roots([self.ca.certificate().der().clone()]),
            )
            .into(),
            &server_config(provider, identity).into(),
        )
    }
}

fn tampering_server(
    provider: &CryptoProvider,
    identity: &Identity,
    scheme: SignatureScheme,
    claimed: SignatureScheme,
    tamper: Tamper,
) -> Arc<ServerConfig> {
    let key = tampering(provider, identity, scheme, claimed, tamper);
    ServerConfig::builder_with_provider(Arc::new(provider.clone()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
        .into()
}

fn tampering(
    provider: &CryptoProvider,
    identity: &Identity,
    scheme: SignatureScheme,
    claimed: SignatureScheme,
    tamper: Tamper,
) -> CertifiedKey {
    let key = provider
        .key_provider
        .load_private_key(identity.key.clone_key())
        .unwrap();
    CertifiedKey::new(
        identity.chain.clone(),
        Arc::new(TamperingKey {
            honest: key,
            signs_with: scheme,
            claims: claimed,
            tamper,
        }),
    )
}

#[derive(Clone, Copy, Debug)]
enum Tamper {
    Nothing,
    /// Sign another message.
    Message,
    FirstByte,
    LastByte,
    Truncate,
    Extend,
    Empty,
}

/// A key that signs with one scheme, claims another, and tampers with the signature.
#[derive(Clone, Debug)]
struct TamperingKey {
    honest: Arc<dyn rustls::sign::SigningKey>,
    signs_with: SignatureScheme,
    claims: SignatureScheme,
    tamper: Tamper,
}

impl rustls::sign::SigningKey for TamperingKey {
    fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(self.clone()))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.honest.public_key()
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        self.honest.algorithm()
    }
}

impl Signer for TamperingKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut message = message.to_vec();
        if let Tamper::Message = self.tamper {
            message[0] ^= 1;
        }
        let mut signature = self
            .honest
            .choose_scheme(&[self.signs_with])
            .unwrap()
            .sign(&message)?;
        match self.tamper {
            Tamper::Nothing | Tamper::Message => {}
            Tamper::FirstByte => signature[0] ^= 1,
            Tamper::LastByte => *signature.last_mut().unwrap() ^= 1,
            Tamper::Truncate => {
                signature.pop();
            }
            Tamper::Extend => signature.push(0),
            Tamper::Empty => signature.clear(),
        }
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.claims
    }
}
