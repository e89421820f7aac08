//! Over TLS, by a certificate of the CA itself: the page, health, and what is mounted.

use alloc::sync::Arc;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Mutex;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use pq_ca_server::{Clock, Doors, Mounted, OwnCertificate, Settings, TlsKey};
use pq_serving::client::{self, Report, Trust};
use pq_serving::{Protection, Server, Tls, provider};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::PrivatePkcs8KeyDer;
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, IdentitySet};

use crate::made::{Served, published};

const NAME: &str = "ca.example.org";

/// The doors of a CA over TLS.
struct OverTls {
    served: Served,
    doors: Doors,
    mounted: Arc<Echo>,
    identities: Arc<Identities>,
    own: OwnCertificate,
    server: Server,
}

/// Says what it was asked for, and what keeps it from working.
#[derive(Default)]
struct Echo {
    problem: Mutex<Option<String>>,
}

impl Mounted for Echo {
    fn answer(
        &self,
        request: Request<Incoming>,
        _: Arc<Protection>,
    ) -> Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send + '_>> {
        Box::pin(async move { Response::new(Full::new(request.uri().path().to_owned().into())) })
    }

    fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap().clone()
    }
}

fn new_key() -> Result<TlsKey, Box<dyn core::error::Error + Send + Sync>> {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
    let private = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec()).into();
    Ok(TlsKey {
        public: Box::new(key),
        private,
    })
}

impl OverTls {
    async fn start() -> Self {
        let served = Served::start().await;
        let mut settings = Settings::default();
        settings.url = format!("https://{NAME}");
        let time = served.time.clone();
        settings.clock = Clock::new(move || time.now());
        let clock = settings.clock.clone();
        let doors = Doors::new(published(&served.ca), settings);
        let mounted = Arc::new(Echo::default());
        doors.mount("/acme", mounted.clone());
        let provider = provider(Profile::Default, &[]).unwrap();
        let names = vec![NAME.to_owned()];
        let own = OwnCertificate::new(names, new_key, "tests", provider.clone(), clock);
        let (key, chain) = doors.issuer().unwrap();
        let identity = own.issue(&*key, &chain).unwrap();
        let identities = Arc::new(Identities::new(IdentitySet::new().with_default(identity)));
        let tls = Tls::with(provider, identities.clone(), None).unwrap();
        let server = Server::builder(tls).handler(doors.clone());
        Self {
            served,
            doors,
            mounted,
            identities,
            own,
            server: server.bind("127.0.0.1:0").await.unwrap(),
        }
    }

    async fn get(&self, path: &str) -> Report {
        let target = format!("https://{NAME}{path}").parse().unwrap();
        let root = self.served.ca.issuer().certificate().clone();
        let mut request = client::Request::new(target, Trust::only(root, "the test's"));
        request.address = Some(self.server.local_addr());
        client::fetch(request).await.unwrap()
    }

    async fn status(&self, path: &str) -> String {
        self.get(path).await.response.status
    }
}

#[tokio::test]
async fn a_page_says_what_the_ca_is() {
    let over = OverTls::start().await;
    let page = over.get("/").await.response;
    assert_eq!(page.status, "200 OK");
    assert_eq!(
        page.content_type.as_deref(),
        Some("text/html; charset=utf-8")
    );
    let text = String::from_utf8(page.body).unwrap();
    for part in [
        "<h1>CN=Example CA</h1>",
        "https://ca.example.org/certificates/root.pem",
        "curl --cacert root.pem",
        "/lists/issuing.crl",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("<script"), "{text}");
    // All that is there over plain HTTP is there, too.
    assert_eq!(over.status("/certificates/root.crt").await, "200 OK");
    assert_eq!(over.status("/ocsp").await, "200 OK");
    assert_eq!(over.status("/nothing").await, "404 Not Found");
    // What is mounted is there over TLS alone.
    assert_eq!(over.get("/acme/new").await.response.body, b"/acme/new");
    assert_eq!(over.status("/acmes").await, "404 Not Found");
    assert_eq!(over.served.get("/acme/new", "").await.status(), 404);
}

#[tokio::test]
async fn health_tells_whether_the_ca_can_issue() {
    let over = OverTls::start().await;
    // Nobody has looked yet.
    assert_eq!(over.status("/health").await, "503 Service Unavailable");
    over.doors.look();
    assert_eq!(over.status("/health").await, "200 OK");
    // What is mounted does not work, and does again.
    *over.mounted.problem.lock().unwrap() = Some("its disk is full".into());
    over.doors.look();
    assert_eq!(over.status("/health").await, "503 Service Unavailable");
    assert_eq!(over.doors.problem().as_deref(), Some("its disk is full"));
    *over.mounted.problem.lock().unwrap() = None;
    over.doors.look();
    assert_eq!(over.status("/health").await, "200 OK");
    // The clock jumped, so the ledger refuses.
    over.served.time.pass(500 * 24 * 60 * 60);
    over.doors.look();
    assert_eq!(over.status("/health").await, "503 Service Unavailable");
    let problem = over.doors.problem().unwrap();
    assert!(problem.starts_with("the ledger: "), "{problem}");
    // The CA's certificate has expired.
    over.served.time.pass(50 * 365 * 24 * 60 * 60);
    over.doors.look();
    let problem = over.doors.problem().unwrap();
    assert!(problem.contains("expired"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn its_certificate_is_renewed_before_its_end() {
    let OverTls {
        served,
        doors,
        mounted: _,
        identities,
        own,
        server,
    } = OverTls::start().await;
    let first = identities.current();
    let old = first.identities().next().unwrap().chain()[0].clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let issuer = {
        let (doors, seen, time) = (doors.clone(), seen.clone(), served.time.clone());
        move || {
            seen.lock().unwrap().push(time.now().as_secs());
            doors.issuer()
        }
    };
    let begun = served.time.now().as_secs();
    let keeping = tokio::spawn(own.keep(identities.clone(), issuer));
    // Of 90 days, 60 are over.
    served.time.pass(60 * 24 * 60 * 60 - 3600);
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(seen.lock().unwrap().is_empty());
    served.time.pass(2 * 3600);
    let changed = async {
        loop {
            tokio::time::sleep(Duration::from_secs(61)).await;
            // The clock of tokio stands still while a thread works.
            std::thread::sleep(Duration::from_millis(5));
            let set = identities.current();
            let now = set.identities().next().unwrap();
            if now.chain()[0] != old {
                return now.not_after();
            }
        }
    };
    let end = changed.await;
    assert!(end.as_secs() > begun + 149 * 24 * 60 * 60);
    keeping.abort();
    drop(server);
}
