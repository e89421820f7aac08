//! Requests in, answers out.

use alloc::sync::Arc;
use core::fmt;
use core::pin::Pin;
use std::sync::{PoisonError, RwLock};

use base64ct::{Base64, Encoding};
use der::Encode;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use pq_cms::encode_certificates;
use pq_serving::{Client, Handler, Protection, WholeRequests, accepts};
use pq_x509::certificate::Certificate;

use super::attempts::Attempts;
use super::csr::{self, CHALLENGE_PASSWORD};
use super::enrolling::Enrolment;
use super::identity::identify;
use super::path::{Operation, ROOT, parse};
use super::refusal::Refusal;
use super::users::EstUsers;
use crate::clock::Clock;
use crate::doors::{Doors, Mounted};
use crate::http::{only, plain};

/// The most bytes of a request: one signed by SLH-DSA has 91 KB, and a third more in base64.
const MAX_BODY_LEN: usize = 256 * 1024;
/// How many requests are worked on at a time. Each takes a thread while it does, and a password a part of a second.
const AT_ONCE: usize = 16;
/// How long the lines of an answer are (RFC 2045, section 6.8).
const LINE: usize = 64;

const PKCS7: (&str, &str) = ("application", "pkcs7-mime");
const CSR_ATTRIBUTES: (&str, &str) = ("application", "csrattrs");

/// EST for a CA (RFC 7030): what answers below `/.well-known/est`. Labels are profiles of the CA's policy.
///
/// | path | what is there |
/// |---|---|
/// | `cacerts` | the root's certificate, and those of all issuing keys |
/// | `simpleenroll` | a certificate, for a user with a password, or with a certificate of this CA for the same names, or both |
/// | `simplereenroll` | the next certificate, for whoever has a certificate of this CA that is good now |
/// | `csrattrs` | that requests have to be bound to their connection, if the policy says so |
///
/// A server of TLS 1.3 alone binds requests to connections by `tls-exporter` (RFC 9266): where a request has a
/// challengePassword, it has to be that of its connection.
///
/// The same request, by the same user or certificate, gets the same certificate for a day.
pub struct EstDoor {
    inner: Arc<Inner>,
    requests: WholeRequests<Answering>,
}

type Answering =
    Box<dyn Fn(Request<Option<Bytes>>, &Protection, &Client) -> Response<Bytes> + Send + Sync>;

struct Inner {
    doors: Doors,
    clock: Clock,
    users: RwLock<Arc<EstUsers>>,
    attempts: Attempts,
}

impl EstDoor {
    /// Where EST is, for [`Doors::mount`].
    pub const PATH: &'static str = ROOT;

    /// EST for the CA of these doors. It has no users yet.
    pub fn new(doors: Doors, clock: Clock) -> Self {
        let inner = Arc::new(Inner {
            doors,
            clock,
            users: RwLock::default(),
            attempts: Attempts::default(),
        });
        let answering = inner.clone();
        let answer: Answering =
            Box::new(move |request, protection, _| answering.answer(&request, protection));
        Self {
            inner,
            requests: WholeRequests::new(MAX_BODY_LEN, AT_ONCE, answer),
        }
    }

    /// From now on, these are the users.
    pub fn replace_users(&self, users: EstUsers) {
        let held = self.inner.users.write();
        *held.unwrap_or_else(PoisonError::into_inner) = Arc::new(users);
    }
}

impl Inner {
    fn answer(&self, request: &Request<Option<Bytes>>, protection: &Protection) -> Response<Bytes> {
        let Some((operation, label)) = parse(request.uri().path()) else {
            return plain(StatusCode::NOT_FOUND, "There is nothing here\n");
        };
        let is_post = matches!(operation, Operation::Enrol | Operation::Reenrol);
        let method = request.method();
        match is_post {
            true if method != Method::POST => return only("POST"),
            false if method != Method::GET && method != Method::HEAD => return only("GET, HEAD"),
            _ => {}
        }
        let answered = match operation {
            Operation::CaCertificates => self.ca_certificates(request),
            Operation::CsrAttributes => self.csr_attributes(request),
            Operation::Enrol | Operation::Reenrol => {
                let issued = self.enrol(request, protection, operation, label);
                issued.and_then(|certificate| certificates([&certificate]))
            }
        };
        answered.unwrap_or_else(Refusal::response)
    }

    fn ca_certificates(
        &self,
        request: &Request<Option<Bytes>>,
    ) -> Result<Response<Bytes>, Refusal> {
        check_accept(request, PKCS7)?;
        certificates(&self.doors.certificates())
    }

    fn csr_attributes(&self, request: &Request<Option<Bytes>>) -> Result<Response<Bytes>, Refusal> {
        check_accept(request, CSR_ATTRIBUTES)?;
        let ca = self.doors.issuing().ok_or(Refusal::Unavailable)?;
        let est = ca.key.policy().est();
        match est.is_some_and(|est| est.channel_binding_required()) {
            true => {
                let attributes = vec![CHALLENGE_PASSWORD].to_der();
                let attributes = attributes.map_err(|_| Refusal::Unavailable)?;
                Ok(base64(&attributes, "application/csrattrs"))
            }
            // None is needed (RFC 7030, section 4.5.2).
            false => Ok(plain(StatusCode::NO_CONTENT, "")),
        }
    }

    fn enrol(
        &self,
        request: &Request<Option<Bytes>>,
        protection: &Protection,
        operation: Operation,
        label: Option<pq_ca::policy::Profile>,
    ) -> Result<Certificate, Refusal> {
        if !is_pkcs10(request) {
            return Err(Refusal::ContentType);
        }
        check_accept(request, PKCS7)?;
        let ca = self.doors.issuing().ok_or(Refusal::Unavailable)?;
        let users = self.users.read();
        let users = users.unwrap_or_else(PoisonError::into_inner).clone();
        let now = self.clock.now();
        let who = (&*users, &self.attempts);
        let identity = identify(&ca, who, request.headers(), protection, now)?;
        let body = request.body().as_ref().ok_or(Refusal::TooLong)?;
        let csr = csr::read(body)?;
        let est = ca.key.policy().est();
        let is_binding_required = est.is_some_and(|est| est.channel_binding_required());
        let binding = protection.channel_binding.as_ref();
        let enrolment = Enrolment {
            operation,
            label,
            is_bound: csr.check_attributes(binding, is_binding_required)?,
            identity: &identity,
            csr: &csr,
            from: protection.peer.map(|peer| peer.ip()),
        };
        enrolment.issue(&ca, now)
    }
}

fn check_accept(request: &Request<Option<Bytes>>, media_type: (&str, &str)) -> Result<(), Refusal> {
    match accepts(request.headers(), media_type) {
        true => Ok(()),
        false => Err(Refusal::Accept),
    }
}

fn is_pkcs10(request: &Request<Option<Bytes>>) -> bool {
    let value = request.headers().get(CONTENT_TYPE);
    let text = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/pkcs10")
}

/// Certificates without a signature, in base64.
fn certificates<'c>(
    all: impl IntoIterator<Item = &'c Certificate>,
) -> Result<Response<Bytes>, Refusal> {
    let message = encode_certificates(all).map_err(|error| {
        tracing::error!(%error, "certificates can't be encoded");
        Refusal::Unavailable
    })?;
    Ok(base64(
        &message,
        "application/pkcs7-mime; smime-type=certs-only",
    ))
}

fn base64(der: &[u8], content_type: &'static str) -> Response<Bytes> {
    let text = Base64::encode_string(der);
    let mut body = String::with_capacity(text.len() + text.len() / LINE + 1);
    for (at, character) in text.chars().enumerate() {
        if at > 0 && at % LINE == 0 {
            body.push('\n');
        }
        body.push(character);
    }
    body.push('\n');
    let mut response = Response::new(Bytes::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Clients of before RFC 8951 look for it.
    let encoding = HeaderName::from_static("content-transfer-encoding");
    headers.insert(encoding, HeaderValue::from_static("base64"));
    response
}

impl Mounted for EstDoor {
    fn answer(
        &self,
        request: Request<Incoming>,
        protection: Arc<Protection>,
    ) -> Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send + '_>> {
        Box::pin(Handler::answer(&self.requests, request, protection))
    }
}

impl fmt::Debug for EstDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EstDoor").finish_non_exhaustive()
    }
}
