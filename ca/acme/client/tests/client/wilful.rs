//! A CA that does what tests want. It believes that every name is its client's.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Mutex, OnceLock};

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use pq_acme::jws::MAX_BODY_LEN;
use pq_acme::nonce::Nonces;
use pq_acme::objects::{RenewalInfo, Time, Window};
use pq_acme::problem::{Problem, ProblemType};
use pq_acme::server::{
    self, Grant, Issue, Issued, Policy, RevocationRefusal, RevocationWish, Server, Wish, Work,
};
use pq_acme::store::{CertificateRecord, MemoryStore};
use pq_serving::{Client, Protection, WholeRequests};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SigningKey, SubjectKey, VerifyingKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use pq_x509::verification::classical_algorithms;

use crate::kit;

/// What it does with orders.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Manner {
    /// What is asked for.
    #[default]
    Honest,
    /// A certificate for another name.
    OtherName,
    /// A certificate for another key.
    OtherKey,
    /// No certificates for keys of ML-DSA.
    OnlyClassical,
}

/// What tests say, and what the CA saw.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) manner: Mutex<Manner>,
    /// When it says that certificates are to be renewed, if it differs from the usual.
    pub(crate) window: Mutex<Option<Window>>,
    pub(crate) requests: AtomicUsize,
    pub(crate) replaced: Mutex<Vec<String>>,
}

struct Yes(Arc<State>);

impl Policy for Yes {
    fn may_order(&self, _: &Wish<'_>) -> Result<Grant, Problem> {
        Ok(Grant::default())
    }

    fn revoke(&self, _: &RevocationWish<'_>) -> Result<(), RevocationRefusal> {
        Err(RevocationRefusal::Unknown)
    }

    fn renewal(&self, certificate: &CertificateRecord, _: Time) -> (RenewalInfo, Duration) {
        let window = *self.0.window.lock().unwrap();
        let info = window.map(|suggested_window| RenewalInfo {
            suggested_window,
            explanation_url: None,
        });
        let info = info.unwrap_or_else(|| server::default_renewal(certificate));
        (info, Duration::from_secs(6 * 3600))
    }
}

/// The CA, which goes on where it was when it is [away](Self::leave) for a while.
pub(crate) struct Wilful {
    pub(crate) state: Arc<State>,
    pub(crate) root: Certificate,
    pub(crate) directory: String,
    issuer: Arc<Issuer<SigningKey>>,
    acme: Arc<OnceLock<Server<MemoryStore, Yes>>>,
    address: SocketAddr,
    server: Option<pq_serving::Server>,
}

impl Wilful {
    pub(crate) async fn start() -> Self {
        let issuer = Arc::new(kit::new_root());
        let mut ca = Self {
            state: Arc::default(),
            root: issuer.certificate().clone(),
            directory: String::new(),
            issuer,
            acme: Arc::default(),
            address: "127.0.0.1:0".parse().unwrap(),
            server: None,
        };
        ca.come().await;
        let url = format!("https://localhost:{}/acme", ca.address.port());
        let policy = Yes(ca.state.clone());
        let acme = Server::new(&url, MemoryStore::new(), policy, Nonces::new([7; 32]));
        ca.directory = acme.directory_url();
        assert!(ca.acme.set(acme).is_ok());
        ca
    }

    /// Listens at its address.
    pub(crate) async fn come(&mut self) {
        let (acme, issuer, state) = (self.acme.clone(), self.issuer.clone(), self.state.clone());
        let answer = move |request: Request<Option<Bytes>>, _: &Protection, _: &Client| {
            state.requests.fetch_add(1, Ordering::SeqCst);
            answer(acme.get().unwrap(), &issuer, &state, &request)
        };
        let builder = pq_serving::Server::builder(kit::tls(&self.issuer));
        let builder = builder.handler(WholeRequests::new(MAX_BODY_LEN, 8, answer));
        let server = builder.bind(self.address.to_string()).await.unwrap();
        self.address = server.local_addr();
        self.server = Some(server);
    }

    /// Nobody listens there any more.
    pub(crate) async fn leave(&mut self) {
        self.server.take().unwrap().shutdown().await;
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn manner(&self, manner: Manner) {
        *self.state.manner.lock().unwrap() = manner;
    }
}

fn answer(
    acme: &Server<MemoryStore, Yes>,
    issuer: &Issuer<SigningKey>,
    state: &State,
    request: &Request<Option<Bytes>>,
) -> Response<Bytes> {
    let now = Time::from(UnixTime::now());
    let content_type = request.headers().get(CONTENT_TYPE);
    let asked = server::Request {
        method: request.method().as_str(),
        target: request.uri().path(),
        content_type: content_type.map(|value| value.to_str().unwrap()),
        body: request.body().as_ref().unwrap(),
        from: None,
    };
    let outcome = acme.handle(&asked, now);
    let mut answer = outcome.answer;
    match outcome.work {
        Some(Work::Validate(work)) => acme.validated(&work, Ok("seen".into()), now).unwrap(),
        Some(Work::Issue(work)) => {
            state.replaced.lock().unwrap().extend(work.replaces.clone());
            let manner = *state.manner.lock().unwrap();
            acme.issued(&work.order, issue(issuer, manner, &work))
                .unwrap();
            let shown = acme.with_order_as_it_is(answer.clone(), &work.order, now);
            answer = shown.unwrap();
        }
        None => {}
    }
    let mut body = answer.body;
    // pq-acme's server would notice a certificate for another key.
    if *state.manner.lock().unwrap() == Manner::OtherKey && body.starts_with(b"-----BEGIN") {
        let builder = CertificateBuilder::server().dns_name("www.example.org");
        let certificate = issuer.issue(builder, &kit::new_key()).unwrap();
        body = certificate.to_pem().into_bytes();
    }
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap();
    for (name, value) in answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        let value = HeaderValue::from_str(&value).unwrap();
        response.headers_mut().append(name, value);
    }
    response
}

fn issue(issuer: &Issuer<SigningKey>, manner: Manner, work: &Issue) -> Result<Issued, Problem> {
    let request = CertificateRequest::from_der(&work.csr).unwrap();
    let request = request
        .verify_with(classical_algorithms().unwrap())
        .unwrap();
    let is_classical = VerifyingKey::from_spki_der(&request.spki()).is_err();
    if manner == Manner::OnlyClassical && !is_classical {
        let detail = "this CA has no use for such keys";
        return Err(Problem::new(ProblemType::BadPublicKey, detail));
    }
    let builder = CertificateBuilder::server();
    let builder = match manner {
        Manner::OtherName => builder.dns_name("other.example.org"),
        _ => (work.identifiers.iter()).fold(builder, |builder, name| {
            builder.alternative_name(name.clone().into())
        }),
    };
    let certificate = issuer.issue(builder, &request).unwrap();
    Ok(Issued {
        chains: vec![vec![certificate]],
    })
}
