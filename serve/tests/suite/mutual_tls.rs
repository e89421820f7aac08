//! Client certificates: which ones the server refuses, with which alert, and how long a session may be resumed with
//! one.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use pq_serving::demonstration::{Issued, Pki};
use pq_x509::certificate::Validity;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::{AlertDescription, Error, RootCertStore};

use crate::client::{Client, PATIENCE, tls_error};
use crate::harness::{Harness, Options};

#[tokio::test]
async fn names_the_client() {
    let server = start().await;
    let certificate = server.pki.client.as_ref().unwrap();
    let client = server.client_with_certificate(certificate);

    let page = client.page().await.unwrap();
    assert_eq!(page["client_certificate"], "CN=tls-client");
    assert_eq!(page["handshake"], "full");

    // A resumed session is still the same client's.
    let page = client.page().await.unwrap();
    assert_eq!(page["client_certificate"], "CN=tls-client");
    assert_eq!(page["handshake"], "resumed");
}

/// A session can be resumed for hours, and its certificates are not looked at by rustls then.
#[tokio::test]
async fn refuses_a_session_whose_certificate_has_expired() {
    let short_lived = ShortLived::with_session(|client| client, "full").await;
    let client = &short_lived.client;
    short_lived.expire().await;
    // It gets no new tickets either: when its old ones are used up, it shows its certificate.
    let mut refused = 0;
    loop {
        let error = client.page().await.unwrap_err();
        if let Some(Error::AlertReceived(alert)) = error.get_ref().and_then(|e| e.downcast_ref()) {
            assert_eq!(*alert, AlertDescription::CertificateExpired);
            break;
        }
        refused += 1;
        assert!(refused <= 8, "{error}");
    }
    assert!(refused > 0);
}

/// With a HelloRetryRequest it is known only after the handshake that a session was resumed.
#[tokio::test]
async fn refuses_a_session_whose_certificate_has_expired_after_a_retry() {
    let first = "full with HelloRetryRequest";
    let short_lived = ShortLived::with_session(Client::with_small_hello, first).await;
    let client = &short_lived.client;
    short_lived.expire().await;
    for _ in 0..3 {
        // No answer, and no alert either.
        let error = client.page().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    }
}

#[tokio::test]
async fn refuses_a_client_without_certificate() {
    let server = start().await;
    assert_eq!(
        alert(&server.client()).await,
        AlertDescription::CertificateRequired
    );
}

#[tokio::test]
async fn refuses_the_certificate_of_another_root() {
    let server = start().await;
    let stranger = Pki::issue_with_client(&["localhost".try_into().unwrap()]).unwrap();
    let client = server.client_with_certificate(&stranger.client.unwrap());
    // The roots have the same name, so it is the signature that is wrong.
    assert_eq!(alert(&client).await, AlertDescription::DecryptError);
}

#[tokio::test]
async fn refuses_the_certificate_of_a_server() {
    let server = start().await;
    let client = server.client_with_certificate(&server.pki.server);
    assert_eq!(
        alert(&client).await,
        AlertDescription::UnsupportedCertificate
    );
}

async fn start() -> Harness {
    Harness::with(Options {
        client_certificates: true,
        ..Options::default()
    })
    .await
}

/// A client whose certificate is not valid for long, and its server.
struct ShortLived {
    start: SystemTime,
    lifetime: Duration,
    client: Client,
    _server: Harness,
}

impl ShortLived {
    /// The client has been seen twice, and the second time resumed its session.
    async fn with_session(adapt: fn(Client) -> Client, first: &str) -> Self {
        let mut lifetime = Duration::from_secs(2);
        loop {
            let short_lived = Self::issue(lifetime, adapt).await;
            let pages = [
                short_lived.client.page().await,
                short_lived.client.page().await,
            ];
            // Certificates have whole seconds, so it may live up to a second less.
            if short_lived.start.elapsed().unwrap() + Duration::from_secs(1) < lifetime {
                let handshakes = pages.map(|page| page.unwrap()["handshake"].clone());
                assert_eq!(handshakes, [first, "resumed"]);
                return short_lived;
            }
            // A slow machine: it may have expired.
            lifetime *= 2;
            assert!(lifetime < PATIENCE);
        }
    }

    async fn issue(lifetime: Duration, adapt: fn(Client) -> Client) -> Self {
        let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let ca = Issuer::self_signed(CertificateBuilder::ca("clients"), new_key()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(ca.certificate().der().clone()).unwrap();
        let server = Harness::with_client_roots(roots).await;

        let key = new_key();
        let start = SystemTime::now();
        let leaf = CertificateBuilder::client()
            .common_name("short-lived")
            .validity(Validity::starting(start, lifetime));
        let chain = vec![ca.issue(leaf, &key).unwrap()];
        Self {
            start,
            lifetime,
            client: adapt(server.client_with_certificate(&Issued { chain, key })),
            _server: server,
        }
    }

    /// Waits until the certificate is not valid any more.
    async fn expire(&self) {
        let until = self.lifetime + Duration::from_secs(1);
        tokio::time::sleep(until.saturating_sub(self.start.elapsed().unwrap())).await;
    }
}

/// The alert that the server answers with. In TLS 1.3 the client's side of the handshake
/// is complete before the server has seen the certificate, so the alert arrives in place
/// of the answer.
async fn alert(client: &Client) -> AlertDescription {
    let error = client.ask("GET / HTTP/1.1").await.unwrap_err();
    match tls_error(&error) {
        Error::AlertReceived(alert) => *alert,
        other => panic!("{other}"),
    }
}
