//! A server whose key is elsewhere: while its signer takes its time, everything else goes on, and clients are told when it fails.

use std::net::Ipv4Addr;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pq_serving::demonstration::Pki;
use pq_serving::{Drained, Limits, Server, Tls, provider};
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use rustls::AlertDescription;
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::sign::{BoundedSigner, Bounds, SignatureCheck};
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

use crate::access::Log;
use crate::client::{Client, PATIENCE, read_answer, tls_error, until_closed};

/// What a signer does when it is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mood {
    Signs,
    Sleeps,
    Fails,
}

/// A signer that a test holds up. It wakes when this is dropped, as the runtime waits for its threads.
struct Signing(Arc<Shared>);

struct Shared {
    mood: Mutex<(Mood, usize)>,
    changed: Condvar,
}

impl Signing {
    fn new() -> Self {
        Self(Arc::new(Shared {
            mood: Mutex::new((Mood::Signs, 0)),
            changed: Condvar::new(),
        }))
    }

    fn set(&self, mood: Mood) {
        self.0.mood.lock().unwrap().0 = mood;
        self.0.changed.notify_all();
    }

    /// Waits until so many are in the signer.
    async fn until_asleep(&self, number: usize) {
        while self.0.mood.lock().unwrap().1 != number {
            sleep(Duration::from_millis(1)).await;
        }
    }

    fn signer(&self, key: SigningKey) -> impl Signer + use<> {
        Held {
            key,
            shared: self.0.clone(),
        }
    }
}

impl Drop for Signing {
    fn drop(&mut self) {
        self.set(Mood::Signs);
    }
}

struct Held {
    key: SigningKey,
    shared: Arc<Shared>,
}

impl SubjectKey for Held {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }
}

impl Signer for Held {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        self.key.signature_algorithm()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let mut mood = self.shared.mood.lock().unwrap();
        mood.1 += 1;
        while mood.0 == Mood::Sleeps {
            mood = self.shared.changed.wait(mood).unwrap();
        }
        mood.1 -= 1;
        let fails = mood.0 == Mood::Fails;
        drop(mood);
        match fails {
            true => Err(SignError::transient("slot 3 is empty")),
            false => Signer::sign(&self.key, message),
        }
    }
}

/// A server with such a signer.
struct Served {
    pki: Pki,
    server: Server,
    signing: Signing,
}

impl Served {
    async fn start(limits: Limits) -> Self {
        let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
        let signing = Signing::new();
        let signer = Arc::new(signing.signer(pki.server.key.clone()));
        Self::with(pki, signing, signer, limits).await
    }

    async fn with(pki: Pki, signing: Signing, signer: Arc<dyn Signer>, limits: Limits) -> Self {
        let chain = pki.server.chain.iter().cloned();
        let chain = chain.map(|certificate| certificate.into_der()).collect();
        let provider = provider(Profile::Default, &[]).unwrap();
        let identity = Identity::with_signer(chain, signer, SignatureCheck::Each, &provider);
        let set = IdentitySet::new().with_default(identity.unwrap());
        let tls = Tls::with(provider, Identities::new(set).into(), None).unwrap();
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, limits);
        Self {
            server: server.await.unwrap(),
            pki,
            signing,
        }
    }

    fn client(&self) -> Client {
        Client::new(self.server.local_addr(), &self.pki.root, &[], None)
    }
}

/// No limit of time ends anything during a test.
fn patient() -> Limits {
    Limits {
        handshake: 10 * PATIENCE,
        request_head: 10 * PATIENCE,
        connection: 10 * PATIENCE,
        ..Limits::default()
    }
}

const REQUEST: &[u8] =
    b"GET / HTTP/1.1\r\nAccept: application/json\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Some clients wait for the signer, at once or after a HelloRetryRequest; those who need no signature are served meanwhile.
async fn others_go_on() {
    let served = Served::start(patient()).await;
    let resuming = served.client();
    assert_eq!(resuming.page().await.unwrap()["handshake"], "full");
    let mut connected = served.client().settle().await.unwrap();

    served.signing.set(Mood::Sleeps);
    let waiting = [
        served.client(),
        served.client().with_small_hello(),
        served.client(),
    ];
    let waiting = waiting.map(|client| tokio::spawn(async move { client.page().await.unwrap() }));
    served.signing.until_asleep(3).await;

    // A connection that was there, and one that resumes a session.
    connected.write_all(REQUEST).await.unwrap();
    assert_eq!(read_answer(&mut connected).await.unwrap().status(), "200");
    for _ in 0..3 {
        assert_eq!(resuming.page().await.unwrap()["handshake"], "resumed");
    }
    // And one that says nothing.
    drop(resuming.tcp().await.unwrap());
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));

    served.signing.set(Mood::Signs);
    let mut kinds = Vec::new();
    for waiting in waiting {
        let page = waiting.await.unwrap();
        kinds.push(page["handshake"].as_str().unwrap().to_string());
    }
    assert_eq!(kinds, ["full", "full with HelloRetryRequest", "full"]);
    assert_eq!(served.server.shutdown().await, Drained { cut_off: 0 });
}

/// Server, clients and test have one thread together.
#[tokio::test]
async fn others_go_on_in_a_runtime_of_one_thread() {
    others_go_on().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_go_on_in_a_runtime_of_several_threads() {
    others_go_on().await;
}

/// The client learns that the server has failed, and the log why.
#[tokio::test]
async fn a_signer_that_fails() {
    let (log, _started) = Log::start();
    let served = Served::start(patient()).await;
    served.signing.set(Mood::Fails);
    let clients = [served.client(), served.client().with_small_hello()];
    for client in clients {
        let error = client.connect().await.unwrap_err();
        let told = rustls::Error::AlertReceived(AlertDescription::InternalError);
        assert_eq!(*tls_error(&error), told);
    }
    log.until("slot 3 is empty").await;
    let text = log.text();
    let line = text.lines().find(|line| line.contains("slot 3 is empty"));
    let line: serde_json::Value = serde_json::from_str(line.unwrap()).unwrap();
    assert_eq!(line["level"], "WARN");
    assert_eq!(
        line["fields"]["message"],
        "closed, as the server could not sign"
    );
    // It is back.
    served.signing.set(Mood::Signs);
    assert_eq!(served.client().page().await.unwrap()["handshake"], "full");
}

/// The bounds of the signer end a handshake with an alert, long before the limit of the server.
#[tokio::test]
async fn a_signer_within_bounds() {
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let signing = Signing::new();
    let bounds = Bounds {
        timeout: Duration::from_millis(50),
        failures: u32::MAX,
        ..Bounds::default()
    };
    let signer = Arc::new(signing.signer(pki.server.key.clone()));
    let signer = Arc::new(BoundedSigner::new(signer, bounds).unwrap());
    let served = Served::with(pki, signing, signer.clone(), patient()).await;
    served.signing.set(Mood::Sleeps);
    while signer.load().stuck < bounds.stuck {
        let error = served.client().connect().await.unwrap_err();
        let told = rustls::Error::AlertReceived(AlertDescription::InternalError);
        assert_eq!(*tls_error(&error), told);
    }
    served.signing.set(Mood::Signs);
    // On a busy machine, a signature may take longer than that, too.
    while served.client().page().await.is_err() {}
    // Nobody waits for a signer that never returns.
    served.signing.set(Mood::Sleeps);
    assert_eq!(served.server.shutdown().await, Drained { cut_off: 0 });
}

/// Without bounds of its own, a signer is waited for as long as a handshake may take.
#[tokio::test]
async fn a_signer_without_bounds() {
    let (log, _started) = Log::start();
    let limits = Limits {
        handshake: Duration::from_millis(200),
        ..patient()
    };
    let served = Served::start(limits).await;
    served.signing.set(Mood::Sleeps);
    let mut tcp = served.client().tcp().await.unwrap();
    let config = served.client().config();
    let mut client =
        rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    tcp.write_all(&hello).await.unwrap();
    served.signing.until_asleep(1).await;
    log.until("the handshake took too long").await;
    // The connection itself is closed when the signer returns.
    served.signing.set(Mood::Signs);
    until_closed(tcp).await;
}

/// Chain and signer are replaced a hundred times, and no handshake fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rotation() {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let provider = provider(Profile::Default, &[]).unwrap();
    let identity = || {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        let chain = vec![root.issue(leaf, &key).unwrap().into_der()];
        let bounds = Bounds {
            timeout: PATIENCE,
            ..Bounds::default()
        };
        let signer = Arc::new(BoundedSigner::new(Arc::new(key), bounds).unwrap());
        let identity = Identity::with_signer(chain, signer, SignatureCheck::Each, &provider);
        Arc::new(identity.unwrap())
    };
    let mut before = identity();
    let set = IdentitySet::new().with_default(before.clone());
    let identities = Arc::new(Identities::new(set));
    let tls = Tls::with(provider.clone(), identities.clone(), None).unwrap();
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), tls, patient());
    let server = server.await.unwrap();
    let client = || {
        let client = Client::new(server.local_addr(), root.certificate(), &[], None);
        client.without_resumption()
    };
    let (stop, stopped) = tokio::sync::watch::channel(());
    let others = [(); 2].map(|()| {
        let (client, stopped) = (client(), stopped.clone());
        tokio::spawn(async move {
            loop {
                client.settle().await.unwrap();
                if stopped.has_changed().is_err() {
                    return;
                }
            }
        })
    });
    let client = client();
    for _ in 0..100 {
        let next = identity();
        identities.update(|set| set.with_replaced(&before, next.clone()));
        let tls = client.connect().await.unwrap();
        let shown = tls.get_ref().1.peer_certificates().unwrap();
        assert_eq!(shown, next.chain());
        before = next;
    }
    drop(stop);
    for other in others {
        other.await.unwrap();
    }
}
