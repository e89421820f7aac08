//! The doors themselves: a request to whatever its path leads to.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::convert::Infallible;
use core::fmt;
use core::pin::Pin;
use std::sync::{PoisonError, RwLock};

use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Version};
use pq_serving::{Handler, Protection};
use pq_x509::certificate::Certificate;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::ca::PublishedCa;
use super::issuing::Issuing;
use super::paths::{Paths, Target};
use crate::clock::Clock;
use crate::health::{self, Health};
use crate::http::{only, plain};
use crate::keys::CaKey;
use crate::lists::{ListError, ListSettings, Lists, Published};
use crate::ocsp::{Answers, OcspDoor, OcspSettings};
use crate::page::{Page, PageFacts, page};

/// Lists are looked at once in so many looks at the CA.
const LISTS_EACH: u32 = 6;

/// How the doors of a CA are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How OCSP requests are answered.
    pub ocsp: OcspSettings,
    /// How revocation lists are kept. Without it, none are served.
    pub lists: Option<ListSettings>,
    /// Where people reach the doors, for the page: `https://ca.example.org`.
    pub url: String,
    /// The same over plain HTTP, if they are there, too.
    pub plain_url: Option<String>,
    /// The URL of ACME's directory, for the page, if ACME is to be mounted.
    pub acme_url: Option<String>,
    /// What time it is.
    pub clock: Clock,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ocsp: OcspSettings::default(),
            lists: None,
            url: "https://localhost:8443".into(),
            plain_url: None,
            acme_url: None,
            clock: Clock::default(),
        }
    }
}

/// What answers requests below a path of its own, over TLS alone, such as ACME.
pub trait Mounted: Send + Sync + 'static {
    /// Answers one request.
    fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send + '_>>;

    /// What keeps it from doing what it is for. It may block, and is asked by [`Doors::look`].
    fn problem(&self) -> Option<String> {
        None
    }
}

/// The doors of a CA: a [`Handler`] for a server of TLS and for one of plain HTTP. Over plain HTTP there is only what is
/// signed itself: OCSP, revocation lists and certificates.
///
/// | path | what is there |
/// |---|---|
/// | `/ocsp`, `/ocsp/BASE64` | OCSP, by POST and GET |
/// | `/lists/NAME.crl` | the revocation list of the key with this name, such as `issuing`, in DER |
/// | `/certificates/NAME.crt`, `.pem` | its certificate, in DER and in PEM |
/// | `/certificates/chain.pem` | the certificates that servers send after their own |
/// | `/` | over TLS: a page for people |
/// | `/health` | over TLS: 200 while the CA can issue and what is mounted works, and otherwise 503 |
///
/// and the same at the paths of the URLs that the CA's policy puts into certificates.
#[derive(Clone)]
pub struct Doors(Arc<Inner>);

struct Inner {
    clock: Clock,
    ocsp: Arc<OcspDoor>,
    lists: Option<Lists>,
    health: Health,
    /// The CA is another one.
    changed: Notify,
    urls: Urls,
    shown: RwLock<Arc<Shown>>,
    mounted: RwLock<Vec<(String, Arc<dyn Mounted>)>>,
}

/// Where people and clients reach the doors.
struct Urls {
    url: String,
    plain_url: Option<String>,
    acme_url: Option<String>,
}

/// A CA with what is where.
struct Shown {
    ca: PublishedCa,
    paths: Paths,
    page: Page,
}

impl Doors {
    /// The doors of this CA.
    pub fn new(ca: PublishedCa, settings: Settings) -> Self {
        let Settings {
            ocsp,
            lists,
            url,
            plain_url,
            acme_url,
            clock,
        } = settings;
        let urls = Urls {
            url,
            plain_url,
            acme_url,
        };
        let ocsp = Arc::new(OcspDoor::new(ocsp, clock.clone()));
        ocsp.replace(answering(&ca));
        Self(Arc::new(Inner {
            lists: lists.map(|lists| Lists::new(lists, clock.clone())),
            clock,
            ocsp,
            health: Health::new(),
            changed: Notify::new(),
            shown: RwLock::new(Arc::new(Shown::new(ca, &urls))),
            urls,
            mounted: RwLock::default(),
        }))
    }

    /// From now on, this answers below a path of its own, such as `/acme`, over TLS.
    pub fn mount(&self, path: impl Into<String>, mounted: Arc<dyn Mounted>) {
        let all = self.0.mounted.write();
        all.unwrap_or_else(PoisonError::into_inner)
            .push((path.into(), mounted));
    }

    /// From now on, the CA is this one: after it has a new key, or its policy has changed.
    pub fn replace(&self, ca: PublishedCa) {
        self.0.ocsp.replace(answering(&ca));
        let next = Shown::new(ca, &self.0.urls);
        let shown = self.0.shown.write();
        *shown.unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        self.0.changed.notify_one();
    }

    /// Makes the revocation lists that are due, and publishes those that other processes made. It may block. Call it at the
    /// start, and each minute or so.
    pub fn keep_lists(&self) -> Vec<(String, ListError)> {
        let Some(lists) = &self.0.lists else {
            return Vec::new();
        };
        let shown = self.shown();
        let mut failed = Vec::new();
        for key in &shown.ca.keys {
            if let Err(error) = lists.keep(&**key) {
                failed.push((key.name().to_owned(), error));
            }
        }
        for (name, certificate) in shown.ca.certificates() {
            let is_own = shown.ca.keys.iter().any(|key| key.name() == name);
            if !is_own && let Err(error) = lists.read(name, certificate) {
                failed.push((name.to_owned(), error));
            }
        }
        failed
    }

    /// Looks whether the CA can issue. It may block. Call it each ten seconds: without that, nobody knows after a minute. The
    /// log says what has changed. Each five minutes, the key has to sign.
    pub fn look(&self) {
        let shown = self.shown();
        let key = shown.ca.keys.first();
        let key = key.map(|key| &**key);
        let of_list = || {
            let list = self.0.lists.as_ref()?.published(key?.name())?;
            let is_over = list.next_update.is_some_and(|end| end < self.0.clock.now());
            is_over.then(|| "the revocation list has expired, and there is no new one".into())
        };
        let mounted = self.0.mounted.read();
        let mounted = mounted.unwrap_or_else(PoisonError::into_inner).clone();
        let of_mounted = || mounted.iter().find_map(|(_, one)| one.problem());
        let others = of_list().or_else(of_mounted);
        let found = self
            .0
            .health
            .look(&shown.ca.root, key, others, &self.0.clock);
        match found {
            Some(Some(problem)) => tracing::error!(problem, "the CA can't issue"),
            Some(None) => tracing::info!("the CA can issue"),
            None => {}
        }
        let is_able = self.0.health.problem().is_none();
        metrics::gauge!("pq_ca_can_issue").set(if is_able { 1.0 } else { 0.0 });
        for (name, certificate) in shown.ca.certificates() {
            let end = certificate.not_after().as_secs() as f64;
            let gauge = metrics::gauge!("pq_ca_certificate_expiry_timestamp_seconds", "key" => name.to_owned());
            gauge.set(end);
            if let Some(list) = self.list(name)
                && let Some(end) = list.next_update
            {
                let gauge = metrics::gauge!("pq_ca_list_next_update_timestamp_seconds", "key" => name.to_owned());
                gauge.set(end.as_secs() as f64);
            }
        }
    }

    /// All of the CA's certificates that are published: the root's, those above the key that issues, and those of all issuing
    /// keys, so that certificates of earlier and later keys can be checked during a rollover.
    pub fn certificates(&self) -> Vec<Certificate> {
        let ca = &self.shown().ca;
        let own = ca.issuing.iter().map(|(_, certificate)| certificate);
        let all = [&ca.root].into_iter().chain(&ca.chain).chain(own);
        all.cloned().collect()
    }

    /// What keeps the CA from issuing, as the last [look](Self::look) found, or that nobody knows. It does not block.
    pub fn problem(&self) -> Option<String> {
        self.0.health.problem()
    }

    /// The key that issues, and the certificates that follow those that it signs.
    pub fn issuer(&self) -> Option<(Arc<dyn CaKey>, Vec<Certificate>)> {
        let shown = self.shown();
        let key = shown.ca.keys.first()?.clone();
        Some((key, shown.ca.chain.clone()))
    }

    /// The CA as it issues now, or `None` if it has no key here.
    pub fn issuing(&self) -> Option<Issuing> {
        let shown = self.shown();
        Some(Issuing {
            key: shown.ca.keys.first()?.clone(),
            others: shown.ca.keys[1..].to_vec(),
            chain: shown.ca.chain.clone(),
            certificates: shown.ca.issuing.clone(),
        })
    }

    /// Looks and keeps lists, now and then. What fails is said in the log.
    pub async fn keep(self) -> Infallible {
        let mut failed = BTreeMap::new();
        let mut since_lists = 0;
        loop {
            let doors = self.clone();
            let with_lists = since_lists == 0;
            let kept = tokio::task::spawn_blocking(move || {
                let failed = with_lists.then(|| doors.keep_lists());
                doors.look();
                failed
            });
            match kept.await {
                Ok(Some(now)) => {
                    let now: BTreeMap<_, _> = now
                        .into_iter()
                        .map(|(key, error)| (key, error.to_string()))
                        .collect();
                    for (key, error) in &now {
                        if failed.get(key) != Some(error) {
                            tracing::error!(
                                key,
                                error,
                                "there is no new revocation list; it is tried again"
                            );
                        }
                    }
                    failed = now;
                }
                Ok(None) => {}
                Err(error) => tracing::error!(%error, "looking after the CA was broken off"),
            }
            since_lists = (since_lists + 1) % LISTS_EACH;
            if timeout(health::EVERY, self.0.changed.notified())
                .await
                .is_ok()
            {
                since_lists = 0;
            }
        }
    }

    fn shown(&self) -> Arc<Shown> {
        let shown = self.0.shown.read();
        shown.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn reply(
        &self,
        head: &Parts,
        body: &mut Incoming,
        protection: &Protection,
    ) -> Response<Bytes> {
        let shown = self.shown();
        let path = head.uri.path();
        let reads = head.method == Method::GET || head.method == Method::HEAD;
        match shown.paths.target(path) {
            Some(Target::Ocsp(rest)) => self.0.ocsp.respond(head, rest, body).await,
            Some(_) if !reads => only("GET, HEAD"),
            Some(Target::Document(document)) => document.answer(&head.headers, self.0.clock.now()),
            Some(Target::List(key)) => match self.list(key) {
                Some(list) => list.document.answer(&head.headers, self.0.clock.now()),
                None => plain(
                    StatusCode::NOT_FOUND,
                    "This list was not made yet, or its key is not on this machine\n",
                ),
            },
            None if protection.negotiated.is_some() && path == "/" && reads => {
                shown.page.answer(&head.headers, self.0.clock.now())
            }
            None if protection.negotiated.is_some() && path == "/health" && reads => {
                // What is wrong, the log and the port for those who watch say.
                match self.problem() {
                    None => plain(StatusCode::OK, "ready\n"),
                    Some(_) => plain(StatusCode::SERVICE_UNAVAILABLE, "the CA can't issue now\n"),
                }
            }
            None if protection.negotiated.is_none() => plain(
                StatusCode::NOT_FOUND,
                "Over plain HTTP there is OCSP, and there are revocation lists and certificates\n",
            ),
            None => plain(StatusCode::NOT_FOUND, "There is nothing here\n"),
        }
    }

    fn list(&self, key: &str) -> Option<Arc<Published>> {
        self.0.lists.as_ref()?.published(key)
    }

    /// What answers below a path of its own.
    fn mounted(&self, path: &str) -> Option<Arc<dyn Mounted>> {
        let mounted = self.0.mounted.read();
        let mounted = mounted.unwrap_or_else(PoisonError::into_inner);
        let is_below = |at: &str| {
            let rest = path.strip_prefix(at);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        mounted
            .iter()
            .find(|(at, _)| is_below(at))
            .map(|(_, mounted)| mounted.clone())
    }
}

impl Shown {
    fn new(ca: PublishedCa, urls: &Urls) -> Self {
        let facts = PageFacts {
            certificates: ca.certificates().collect(),
            keys: ca.keys.iter().map(|key| key.name()).collect(),
            url: &urls.url,
            plain_url: urls.plain_url.as_deref(),
            acme_url: urls.acme_url.as_deref(),
            ocsp_url: ca.ocsp_url(),
        };
        Self {
            page: page(&facts),
            paths: Paths::of(&ca),
            ca,
        }
    }
}

/// Who answers OCSP requests: responders, and keys for themselves.
fn answering(ca: &PublishedCa) -> Vec<Arc<dyn Answers>> {
    let keys = ca.keys.iter().cloned();
    let keys = keys.map(|key: Arc<dyn CaKey>| key as Arc<dyn Answers>);
    ca.responders.iter().cloned().chain(keys).collect()
}

impl Handler for Doors {
    type Body = Full<Bytes>;

    async fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Response<Full<Bytes>> {
        if protection.negotiated.is_some()
            && let Some(mounted) = self.mounted(request.uri().path())
        {
            return mounted.answer(request, protection).await;
        }
        let (head, mut body) = request.into_parts();
        let mut response = self.reply(&head, &mut body, &protection).await;
        if head.version < Version::HTTP_2 && !body.is_end_stream() {
            // What is left of it is not read.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response.map(Full::new)
    }
}

impl fmt::Debug for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doors").finish_non_exhaustive()
    }
}
