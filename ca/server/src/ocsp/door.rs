//! Requests of HTTP to answers of OCSP.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use metrics::Counter;
use pq_x509::ocsp::{CertStatus, OcspFailure, OcspRequest, OcspResponse};
use pq_x509::pki_types::UnixTime;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::answers::{Answers, NoAnswer};
use super::kept::{Kept, Place, Signed, lock};
use super::path::request_in;
use crate::clock::Clock;
use crate::http::{Caching, Document, only, plain};

/// The most bytes of a request.
const MAX_REQUEST: usize = 64 * 1024;
/// How long the body of a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long a request waits until it may ask the ledger.
const WAIT: Duration = Duration::from_secs(5);

const RESPONSE: &str = "application/ocsp-response";
const REQUEST: &str = "application/ocsp-request";

/// How a door answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OcspSettings {
    /// Whether a request with a nonce gets an answer that is signed for it, with the nonce. Otherwise it gets one without, as
    /// RFC 9919 permits: then no client makes the CA sign for each of its requests. By default true.
    pub nonces: bool,
    /// For how long caches may give an answer again, at most: a revocation reaches their clients as late as this. By default an
    /// hour. What is less than this and the rest of the answer's validity counts.
    pub max_age: Duration,
    /// How many bytes the answers take that are kept, by default 64 MiB.
    pub kept: usize,
    /// How many requests ask the ledger or sign at a time, by default 32. Others wait up to 5 seconds, and get `tryLater` then.
    pub at_once: usize,
}

impl Default for OcspSettings {
    fn default() -> Self {
        Self {
            nonces: true,
            max_age: Duration::from_secs(60 * 60),
            kept: 64 << 20,
            at_once: 32,
        }
    }
}

/// Answers OCSP requests over HTTP.
///
/// An answer about one certificate that the CA issued is signed when it is first asked for, and kept. Half through its
/// validity, the next request has a new one made. Before a kept answer is given, the ledger is asked whether it is still so,
/// once in each second in which somebody asks. So after a revocation, no answer of before is given for longer than a second; and none at
/// all while nobody knows, since the ledger is away. Answers that a certificate is unknown are never kept, here or in caches: it
/// may be issued meanwhile.
///
/// ```
/// # use std::sync::Arc;
/// use pq_ca_server::Clock;
/// use pq_ca_server::ocsp::{OcspDoor, OcspSettings};
///
/// let door = OcspDoor::new(OcspSettings::default(), Clock::default());
/// // A CA's `Authority`, or a `Responder` in its place, for each key that issued certificates.
/// door.replace(Vec::new());
/// ```
pub struct OcspDoor {
    settings: OcspSettings,
    clock: Clock,
    answering: RwLock<Arc<[Arc<dyn Answers>]>>,
    kept: Mutex<Kept>,
    places: Arc<Semaphore>,
    counts: Counts,
}

/// What a client gets.
enum Given {
    Kept(Arc<Signed>),
    /// An answer for this request alone.
    Once(Vec<u8>),
    Failure(OcspFailure),
}

impl OcspDoor {
    /// A door of nobody yet: requests are `unauthorized` until [`replace`](Self::replace) says who answers.
    pub fn new(settings: OcspSettings, clock: Clock) -> Self {
        Self {
            kept: Mutex::new(Kept::new(settings.kept)),
            places: Arc::new(Semaphore::new(settings.at_once.max(1))),
            settings,
            clock,
            answering: RwLock::new(Arc::new([])),
            counts: Counts::default(),
        }
    }

    /// From now on, these answer, each for its issuer; of several for one issuer, the first. What is kept of before is
    /// forgotten.
    pub fn replace(&self, answering: Vec<Arc<dyn Answers>>) {
        let mut now = self
            .answering
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *now = answering.into();
        lock(&self.kept).clear();
    }

    /// Answers a request whose path goes on with `rest` after the door's own. The body is read only of a POST.
    pub async fn respond<B>(self: &Arc<Self>, head: &Parts, rest: &str, body: B) -> Response<Bytes>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    {
        let request = if head.method == Method::GET || head.method == Method::HEAD {
            request_in(rest)
        } else if head.method != Method::POST {
            return only("GET, HEAD, POST");
        } else if !is_for_ocsp(&head.headers) {
            return plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!("The Content-Type has to be {REQUEST}\n"),
            );
        } else {
            match timeout(ARRIVAL, Limited::new(body, MAX_REQUEST).collect()).await {
                Ok(Ok(body)) => Some(body.to_bytes().into()),
                Ok(Err(error)) if error.is::<LengthLimitError>() => {
                    return unread(StatusCode::PAYLOAD_TOO_LARGE);
                }
                Ok(Err(_)) => return unread(StatusCode::BAD_REQUEST),
                Err(_) => return unread(StatusCode::REQUEST_TIMEOUT),
            }
        };
        let now = self.clock.now();
        let given = match request {
            Some(request) => self.give(&request, now).await,
            None => Given::Failure(OcspFailure::MalformedRequest),
        };
        match given {
            Given::Kept(signed) => {
                self.counts.count("kept");
                signed.document.answer(&head.headers, now)
            }
            Given::Once(response) => {
                self.counts.count("made");
                uncached(response)
            }
            Given::Failure(failure) => {
                self.counts.count(match failure {
                    OcspFailure::MalformedRequest => "malformedRequest",
                    OcspFailure::InternalError => "internalError",
                    OcspFailure::TryLater => "tryLater",
                    OcspFailure::SigRequired => "sigRequired",
                    OcspFailure::Unauthorized => "unauthorized",
                });
                uncached(failure.to_der().to_vec())
            }
        }
    }

    async fn give(self: &Arc<Self>, der: &[u8], now: UnixTime) -> Given {
        let place = lock(&self.kept).get(der);
        if let Some(place) = place {
            return self.again(place, now).await;
        }
        let Ok(request) = OcspRequest::from_der(der) else {
            return Given::Failure(OcspFailure::MalformedRequest);
        };
        let Some(answers) = self.who_answers(&request) else {
            return Given::Failure(OcspFailure::Unauthorized);
        };
        if request.nonce().is_some() && self.settings.nonces {
            let made = self
                .with_place(move |_| answers.answer(&request, now))
                .await;
            return match made {
                Ok(response) => Given::Once(response.into_der()),
                Err(failure) => Given::Failure(failure),
            };
        }
        let Ok(request) = request.plain() else {
            return Given::Failure(OcspFailure::MalformedRequest);
        };
        if request.der() != der {
            let place = lock(&self.kept).get(request.der());
            if let Some(place) = place {
                return self.again(place, now).await;
            }
        }
        let key: Box<[u8]> = request.der().into();
        let made = self.with_place({
            let answers = answers.clone();
            move |door| Ok(door.kept_or_once(answers.answer(&request, now)?, now))
        });
        match made.await {
            Ok(Ok(signed)) => {
                let signed = Arc::new(signed);
                let place = Place::new(answers, key, signed.clone(), now);
                lock(&self.kept).insert(place.into());
                Given::Kept(signed)
            }
            Ok(Err(once)) => Given::Once(once),
            Err(failure) => Given::Failure(failure),
        }
    }

    /// Gives an answer again, or the one that took its place.
    async fn again(self: &Arc<Self>, place: Arc<Place>, now: UnixTime) -> Given {
        if let Some(signed) = place.known(now) {
            return Given::Kept(signed);
        }
        // One finds out for all who ask in this second.
        let Ok(_turn) = timeout(WAIT, place.turn.lock()).await else {
            return Given::Failure(OcspFailure::TryLater);
        };
        if let Some(signed) = place.known(now) {
            return Given::Kept(signed);
        }
        let made = self.with_place({
            let place = place.clone();
            move |door| door.renewed(&place, now)
        });
        match made.await {
            Ok(Ok(signed)) => {
                place.is_true(signed.clone(), now);
                Given::Kept(signed)
            }
            Ok(Err(once)) => Given::Once(once),
            Err(failure) => Given::Failure(failure),
        }
    }

    /// The answer of before, if it is still so, or a new one. It may block.
    fn renewed(
        &self,
        place: &Place,
        now: UnixTime,
    ) -> Result<Result<Arc<Signed>, Vec<u8>>, NoAnswer> {
        let signed = place.signed();
        let response = OcspResponse::from_der(signed.document.body());
        let response =
            response.map_err(|error| NoAnswer::new(OcspFailure::InternalError, error))?;
        let is_so = place.answers.still_says(&response, now)?;
        if is_so && now < signed.renew_at {
            return Ok(Ok(signed));
        }
        let request = OcspRequest::from_der(&place.request)
            .map_err(|error| NoAnswer::new(OcspFailure::InternalError, error))?;
        match place.answers.answer(&request, now) {
            Ok(response) => Ok(self.kept_or_once(response, now).map(Arc::new)),
            // It is true, and lasts for a while: whoever signs has time to come back.
            Err(error) if is_so && now < signed.end => {
                tracing::warn!(%error, "a new answer could not be made; the one of before is given");
                Ok(Ok(signed))
            }
            Err(error) => Err(error),
        }
    }

    /// An answer that may be kept, or the bytes of one that may not.
    fn kept_or_once(&self, response: OcspResponse, now: UnixTime) -> Result<Signed, Vec<u8>> {
        let [answer] = response.answers() else {
            return Err(response.into_der());
        };
        let (from, end) = (answer.this_update(), answer.next_update());
        let end = match end {
            Some(end) if answer.status() != CertStatus::Unknown && now < end => end,
            _ => return Err(response.into_der()),
        };
        let left = end.as_secs().saturating_sub(now.as_secs());
        let renew_at = Duration::from_secs(now.as_secs() + left / 2);
        let caching = Caching::Until {
            end,
            most: self.settings.max_age,
        };
        let document = Document::new(response.into_der(), RESPONSE, Some(from), caching);
        Ok(Signed {
            // Two answers of one second may differ.
            document: document.by_tag_alone(),
            renew_at: UnixTime::since_unix_epoch(renew_at),
            end,
        })
    }

    fn who_answers(&self, request: &OcspRequest) -> Option<Arc<dyn Answers>> {
        let answering = self
            .answering
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let asked = request.certificates();
        let mut answering = answering.iter();
        let found = answering.find(|answers| asked.iter().any(|one| one.is_by(answers.issuer())));
        found.cloned()
    }

    /// Does something that may block, when it is its turn.
    async fn with_place<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Self) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, OcspFailure> {
        let Ok(Ok(place)) = timeout(WAIT, self.places.clone().acquire_owned()).await else {
            return Err(OcspFailure::TryLater);
        };
        let door = self.clone();
        let acting = tokio::task::spawn_blocking(move || {
            let _place = place;
            act(&door)
        });
        match acting.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                tracing::warn!(%error, failure = ?error.failure(), "an OCSP request has no answer");
                Err(error.failure())
            }
            Err(error) => {
                tracing::error!(%error, "an OCSP request has no answer");
                Err(OcspFailure::InternalError)
            }
        }
    }
}

impl fmt::Debug for OcspDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OcspDoor")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// How many requests ended how. A counter is looked for once.
#[derive(Default)]
struct Counts([OnceLock<Counter>; RESULTS.len()]);

/// How a request may end.
const RESULTS: [&str; 7] = [
    "kept",
    "made",
    "malformedRequest",
    "internalError",
    "tryLater",
    "sigRequired",
    "unauthorized",
];

impl Counts {
    fn count(&self, result: &'static str) {
        let at = RESULTS.iter().position(|one| *one == result);
        if let Some(counter) = at.and_then(|at| self.0.get(at)) {
            let new = || metrics::counter!("pq_ca_ocsp_responses", "result" => result);
            counter.get_or_init(new).increment(1);
        }
    }
}

/// Whether the body is a request of OCSP, whatever parameters follow.
fn is_for_ocsp(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (types.next(), types.next()) else {
        return false;
    };
    let kind = kind.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(REQUEST)
}

/// An answer that nobody is to keep.
fn uncached(response: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(response.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(RESPONSE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a body that was not read to its end.
fn unread(status: StatusCode) -> Response<Bytes> {
    let mut response = plain(status, "The request can't be read\n");
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
