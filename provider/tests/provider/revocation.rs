//! Revocation lists of ML-DSA in rustls's own verifiers.

use alloc::sync::Arc;
use core::time::Duration;
use std::time::SystemTime;

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};
use rustls::HandshakeKind::Full;
use rustls::client::WebPkiServerVerifier;
use rustls::server::WebPkiClientVerifier;
use rustls::{
    AlertDescription, CertRevocationListError, CertificateError, ClientConfig, Error, ServerConfig,
};
use rustls_pq::{Builder, Group, Offer, Refusal};

use crate::peers::{
    Identity, KeyPair, Outcome, any_base, bases, connect, mutual_client_config, roots,
    server_config,
};

#[test]
fn revoked_server() {
    for (name, base) in bases() {
        println!("{name}");
        for &algorithm in SignatureAlgorithm::ML_DSA {
            let ca = Ca::new(algorithm);
            let [good, bad] = [ca.server(), ca.server()];
            let list = ca.list(&[&bad.certificate]);
            let client = ca.client(base.clone(), list);

            connect(&client, &good.serve()).assert_success(Group::X25519MLKEM768, Full);

            let server = bad.serve();
            let outcome = connect(&client, &server);
            let error = Error::from(CertificateError::Revoked);
            assert_eq!(outcome.client.result, Err(error.clone()));
            assert_eq!(Refusal::by_client(&error, &client), Refusal::Revoked);
            let told = outcome.server.result.unwrap_err();
            let alert = AlertDescription::CertificateRevoked;
            assert_eq!(told, Error::AlertReceived(alert));
            let refusal = Refusal::by_server(&told, &Offer::default(), &server, None);
            assert_eq!(refusal, Refusal::CertificateRefused { alert });
            assert!(refusal.to_string().contains("it has been revoked"));
        }
    }
}

#[test]
fn revoked_client() {
    let ca = Ca::new(SignatureAlgorithm::MlDsa65);
    let [good, bad] =
        [(); 2].map(|()| ca.issue(CertificateBuilder::client().common_name("someone")));
    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    let roots = || roots([ca.0.certificate().der().clone()]);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots().into(), provider.clone())
        .with_crls([ca.list(&[&bad.certificate]).into_der()])
        .build()
        .unwrap();
    let Identity { chain, key } = ca.server().identity;
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .unwrap();
    let server = Arc::new(server);
    let connect = |client: &Party| {
        let client = mutual_client_config((*provider).clone(), roots(), &client.identity);
        connect(&client.into(), &server)
    };

    connect(&good).assert_success(Group::X25519MLKEM768, Full);
    let outcome = connect(&bad);
    let error = Error::from(CertificateError::Revoked);
    assert_eq!(outcome.server.result, Err(error.clone()));
    assert_eq!(
        Refusal::by_server(&error, &Offer::default(), &server, None),
        Refusal::Revoked
    );
    assert_eq!(
        outcome.client.result,
        Err(Error::AlertReceived(AlertDescription::CertificateRevoked))
    );
}

#[test]
fn unknown_status() {
    let ca = Ca::new(SignatureAlgorithm::MlDsa65);
    // By another CA with the same algorithm.
    let other = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let other = Ca(Issuer::self_signed(CertificateBuilder::ca("Other"), other).unwrap());
    let client = ca.client(any_base(), other.list(&[]));
    let outcome = connect(&client, &ca.server().serve());
    assert_unknown(&outcome, &client, |error| {
        *error == CertificateError::UnknownRevocationStatus
    });
}

#[test]
fn expired_list() {
    let ca = Ca::new(SignatureAlgorithm::MlDsa65);
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    let expired = Validity::new(now - 2 * day, now - day);
    let list = CertificateRevocationListBuilder::new(&[1]).validity(expired);
    let client = ca.client(any_base(), ca.0.issue_revocation_list(list).unwrap());
    let outcome = connect(&client, &ca.server().serve());
    assert_unknown(&outcome, &client, |error| {
        matches!(error, CertificateError::ExpiredRevocationListContext { .. })
    });
}

/// By another CA of the same name.
#[test]
fn forged_list() {
    let ca = Ca::new(SignatureAlgorithm::MlDsa65);
    let forger = Ca::new(SignatureAlgorithm::MlDsa65);
    let client = ca.client(any_base(), forger.list(&[]));
    let outcome = connect(&client, &ca.server().serve());
    let error = CertRevocationListError::BadSignature;
    let told = Error::InvalidCertRevocationList(error.clone());
    assert_eq!(outcome.client.result, Err(told.clone()));
    let refusal = Refusal::by_client(&told, &client);
    assert_eq!(refusal, Refusal::RevocationList { error });
    assert!(refusal.to_string().contains("signed it with another key"));
    assert_eq!(
        outcome.server.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );
}

/// A root that issues leaves, and says which it has revoked.
struct Ca(Issuer<SigningKey>);

impl Ca {
    fn new(algorithm: SignatureAlgorithm) -> Self {
        let key = SigningKey::generate(algorithm).unwrap();
        Self(Issuer::self_signed(CertificateBuilder::ca("Test Root"), key).unwrap())
    }

    fn server(&self) -> Party {
        self.issue(CertificateBuilder::server().dns_name("localhost"))
    }

    fn issue(&self, leaf: CertificateBuilder<pq_x509::issuing::EndEntity>) -> Party {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        let certificate = self.0.issue(leaf, &key).unwrap();
        Party {
            identity: Identity {
                chain: vec![certificate.der().clone()],
                key: key.private_key(),
            },
            certificate,
        }
    }

    fn list(&self, revoked: &[&Certificate]) -> CertificateRevocationList {
        let list = revoked.iter().fold(
            CertificateRevocationListBuilder::new(&[1]),
            |list, certificate| {
                let reason = CrlReason::KeyCompromise;
                list.revoke(certificate.serial_number(), SystemTime::now(), reason)
            },
        );
        self.0.issue_revocation_list(list).unwrap()
    }

    /// A client over `base` that trusts this CA, and uses its list.
    fn client(
        &self,
        base: rustls::crypto::CryptoProvider,
        list: CertificateRevocationList,
    ) -> Arc<ClientConfig> {
        let provider = Arc::new(Builder::new(base).build().unwrap());
        let roots = Arc::new(roots([self.0.certificate().der().clone()]));
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .with_crls([list.into_der()])
            .enforce_revocation_expiration()
            .build()
            .unwrap();
        ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_webpki_verifier(verifier)
            .with_no_client_auth()
            .into()
    }
}

/// A certificate holder, certified by a CA.
struct Party {
    certificate: Certificate,
    identity: Identity,
}

impl Party {
    fn serve(&self) -> Arc<ServerConfig> {
        let provider = Builder::new(any_base()).build().unwrap();
        server_config(provider, &self.identity).into()
    }
}

#[track_caller]
fn assert_unknown(
    outcome: &Outcome,
    client: &ClientConfig,
    is_it: impl FnOnce(&CertificateError) -> bool,
) {
    let refused = outcome.client.result.clone().unwrap_err();
    let Refusal::RevocationUnknown { error } = Refusal::by_client(&refused, client) else {
        panic!("{refused:?}");
    };
    assert!(is_it(&error), "{error:?}");
    assert_eq!(
        outcome.server.result,
        Err(Error::AlertReceived(AlertDescription::UnknownCA))
    );
}
