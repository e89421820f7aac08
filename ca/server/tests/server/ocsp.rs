//! OCSP over HTTP: its forms, what caches are told, and what is kept.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;

use base64ct::{Base64, Encoding};
use pq_ca_server::ocsp::{Answers, NoAnswer};
use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{CertStatus, OcspFailure, OcspNonce, OcspRequest, OcspResponse, OcspVerifier};
use pq_x509::pki_types::UnixTime;

use crate::asking::{Answer, ask};
use crate::made::{Served, TestCa};

const POSTED: &str = "Content-Type: application/ocsp-request\r\n";

fn request(served: &Served, certificate: &Certificate) -> Vec<u8> {
    let issuer = served.ca.issuer().certificate();
    let request = OcspRequest::builder().certificate(certificate, issuer);
    request.build().unwrap().der().to_vec()
}

fn with_nonce(served: &Served, certificate: &Certificate) -> Vec<u8> {
    let issuer = served.ca.issuer().certificate();
    let request = OcspRequest::builder().certificate(certificate, issuer);
    let request = request.nonce(OcspNonce::random().unwrap()).build();
    request.unwrap().der().to_vec()
}

fn path_of(request: &[u8]) -> String {
    let escaped = Base64::encode_string(request);
    let escaped = escaped.replace('+', "%2B").replace('/', "%2F");
    format!("/ocsp/{}", escaped.replace('=', "%3D"))
}

async fn post(served: &Served, request: &[u8]) -> Answer {
    ask(served.address(), "POST /ocsp", POSTED, request).await
}

#[track_caller]
fn response(answer: &Answer) -> OcspResponse {
    assert_eq!(answer.status(), 200, "{}", answer.head);
    answer.has("content-type", "application/ocsp-response");
    OcspResponse::from_der(&answer.body).unwrap()
}

/// What a verifier finds in an answer about a certificate.
#[track_caller]
fn status(served: &Served, answer: &Answer, certificate: &Certificate) -> CertStatus {
    let issuer = served.ca.issuer().certificate();
    let verifier = OcspVerifier::new(issuer, served.time.now());
    let response = response(answer);
    let verified = verifier.verify(&response, certificate).unwrap();
    verified.status()
}

#[track_caller]
fn fails(answer: &Answer, failure: OcspFailure) {
    assert_eq!(answer.status(), 200, "{}", answer.head);
    answer.has("content-type", "application/ocsp-response");
    answer.has("cache-control", "no-store");
    assert_eq!(answer.body, failure.to_der(), "{failure:?}");
}

#[tokio::test]
async fn by_get_and_by_post() {
    let served = Served::start().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    let path = path_of(&request);
    let plain = format!("/ocsp/{}", Base64::encode_string(&request));
    let first = served.get(&path, "").await;
    assert_eq!(status(&served, &first, &certificate), CertStatus::Good);
    // The same signature, since it is kept
    for path in [
        plain.clone(),
        plain.replacen("/ocsp/", "/ocsp//", 1),
        path.replace("/ocsp", "/status"),
    ] {
        let again = served.get(&path, "").await;
        assert_eq!(again.body, first.body, "{path}");
    }
    let posted = post(&served, &request).await;
    assert_eq!(posted.body, first.body);
    let head = ask(served.address(), &format!("HEAD {path}"), "", b"").await;
    assert_eq!(head.body, b"");
    head.has("content-length", &first.body.len().to_string());
    head.has("etag", first.field("etag").unwrap());
}

#[tokio::test]
async fn caches_are_told_how_long() {
    let served = Served::start().await;
    let certificate = served.issue("a");
    let path = path_of(&request(&served, &certificate));
    let first = served.get(&path, "").await;
    let etag = first.field("etag").unwrap().to_owned();
    first.has(
        "cache-control",
        "max-age=3600, public, no-transform, must-revalidate",
    );
    let answers = response(&first);
    let [answer] = answers.answers() else {
        panic!("one was asked about");
    };
    let day = served.time.now().as_secs() + 24 * 60 * 60;
    assert_eq!(answer.next_update().unwrap().as_secs(), day);
    assert!(first.field("expires").is_some() && first.field("last-modified").is_some());
    let known = format!("If-None-Match: \"other\", W/{etag}\r\n");
    let again = served.get(&path, &known).await;
    assert_eq!((again.status(), again.body.len()), (304, 0));
    again.has("etag", &etag);
    assert!(again.field("cache-control").is_some());
    // A time tells nothing: another answer may be of the same second.
    let since = format!(
        "If-Modified-Since: {}\r\n",
        first.field("last-modified").unwrap()
    );
    assert_eq!(served.get(&path, &since).await.status(), 200);
    // After a revocation, it is another one.
    served.revoke(&certificate);
    served.time.pass(1);
    let other = served.get(&path, &known).await;
    assert_eq!(other.status(), 200);
    assert_ne!(other.field("etag").unwrap(), etag);
}

#[tokio::test]
async fn a_revocation_is_told_in_the_next_second() {
    let served = Served::start().await;
    let (a, b) = (served.issue("a"), served.issue("b"));
    let (of_a, of_b) = (request(&served, &a), request(&served, &b));
    let first = post(&served, &of_a).await;
    let other = post(&served, &of_b).await;
    served.revoke(&a);
    served.time.pass(1);
    let now = post(&served, &of_a).await;
    let told = status(&served, &now, &a);
    assert!(matches!(told, CertStatus::Revoked { .. }), "{told:?}");
    assert_ne!(now.body, first.body);
    // The other one is as it was.
    assert_eq!(post(&served, &of_b).await.body, other.body);
}

#[tokio::test]
async fn half_through_its_validity_there_is_a_new_one() {
    let served = Served::start().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    let first = post(&served, &request).await;
    served.time.pass(12 * 60 * 60 - 1);
    assert_eq!(post(&served, &request).await.body, first.body);
    served.time.pass(1);
    let next = post(&served, &request).await;
    assert_ne!(next.body, first.body);
    assert_eq!(status(&served, &next, &certificate), CertStatus::Good);
}

#[tokio::test]
async fn a_nonce_gets_an_answer_of_its_own_or_one_without() {
    let served = Served::start().await;
    let certificate = served.issue("a");
    let request = with_nonce(&served, &certificate);
    let nonce = OcspRequest::from_der(&request).unwrap().nonce().cloned();
    let answer = post(&served, &request).await;
    answer.has("cache-control", "no-store");
    assert_eq!(response(&answer).nonce(), nonce.as_ref());
    assert_ne!(post(&served, &request).await.body, answer.body);

    let served = Served::with(|settings, _| settings.ocsp.nonces = false).await;
    let certificate = served.issue("a");
    let answer = post(&served, &with_nonce(&served, &certificate)).await;
    assert_eq!(response(&answer).nonce(), None);
    let again = post(&served, &with_nonce(&served, &certificate)).await;
    assert_eq!(again.body, answer.body);
    let without = post(&served, &self::request(&served, &certificate)).await;
    assert_eq!(without.body, answer.body);
}

#[tokio::test]
async fn what_is_unknown_is_not_kept() {
    let served = Served::start().await;
    let other = Served::start().await;
    // Of this CA's name and key, and not in the ledger
    let key = crate::made::new_key();
    let builder = pq_x509::issuing::CertificateBuilder::server().dns_name("x.example.org");
    let unknown = served.ca.issuer().issue(builder, &key).unwrap();
    let answer = post(&served, &request(&served, &unknown)).await;
    answer.has("cache-control", "no-store");
    assert_eq!(status(&served, &answer, &unknown), CertStatus::Unknown);
    // Another CA's
    let certificate = other.issue("a");
    let of_other = post(&served, &request(&other, &certificate)).await;
    fails(&of_other, OcspFailure::Unauthorized);
    // Of two, both are answered.
    let own = served.issue("a");
    let issuer = served.ca.issuer().certificate();
    let both = OcspRequest::builder()
        .certificate(&own, issuer)
        .certificate(&certificate, other.ca.issuer().certificate());
    let answer = post(&served, both.build().unwrap().der()).await;
    answer.has("cache-control", "no-store");
    let statuses: Vec<_> = response(&answer)
        .answers()
        .iter()
        .map(|one| one.status())
        .collect();
    assert_eq!(statuses, [CertStatus::Good, CertStatus::Unknown]);
}

#[tokio::test]
async fn what_is_no_request_is_malformed() {
    let served = Served::start().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    let text = Base64::encode_string(&request);
    for path in [
        "/ocsp".to_owned(),
        "/ocsp/".into(),
        "/ocsp/AAAA".into(),
        format!("/ocsp/{}", &text[..text.len() - 4]),
        format!("/ocsp/{text}/"),
        format!("/ocsp/{text}{text}"),
        format!("/ocsp/{}", "A".repeat(50_000)),
        format!("/ocsp/{}", path_of(&request).replace('%', "%25")),
    ] {
        fails(&served.get(&path, "").await, OcspFailure::MalformedRequest);
    }
    for body in [
        &b"\0"[..],
        &request[1..],
        &[&*request, &[0]].concat(),
        &[0x30; 60_000],
    ] {
        fails(&post(&served, body).await, OcspFailure::MalformedRequest);
    }
    // Each byte changed: an answer, and none that is good for the certificate that was not asked about
    for at in 0..request.len() {
        let mut changed = request.clone();
        changed[at] ^= 0x01;
        let answer = post(&served, &changed).await;
        assert_eq!(answer.status(), 200, "{at}");
        answer.has("content-type", "application/ocsp-response");
    }
}

#[tokio::test]
async fn what_is_not_of_ocsp_is_refused_by_http() {
    let served = Served::start().await;
    let request = request(&served, &served.issue("a"));
    for (status, line, fields) in [
        (415, "POST /ocsp", ""),
        (415, "POST /ocsp", "Content-Type: text/plain\r\n"),
        (
            415,
            "POST /ocsp",
            "Content-Type: application/ocsp-request\r\nContent-Type: text/plain\r\n",
        ),
        (405, "PUT /ocsp", POSTED),
        (404, "POST /ocspx", POSTED),
        (404, "POST /", POSTED),
        (405, "POST /lists/issuing.crl", POSTED),
        (
            200,
            "POST /ocsp",
            "Content-Type: Application/OCSP-Request; a=b\r\n",
        ),
    ] {
        let answer = ask(served.address(), line, fields, &request).await;
        assert_eq!(answer.status(), status, "{line} {fields}");
    }
    let long = vec![0x30; 65 * 1024];
    let answer = post(&served, &long).await;
    assert_eq!(answer.status(), 413);
    answer.has("connection", "close");
}

/// A responder whose ledger or key goes away.
struct Away {
    ca: Arc<TestCa>,
    signs: AtomicBool,
    knows: AtomicBool,
    made: AtomicUsize,
}

impl Answers for Away {
    fn issuer(&self) -> &Certificate {
        self.ca.issuer().certificate()
    }

    fn answer(&self, request: &OcspRequest, now: UnixTime) -> Result<OcspResponse, NoAnswer> {
        if !self.signs.load(Ordering::SeqCst) || !self.knows.load(Ordering::SeqCst) {
            return Err(NoAnswer::new(OcspFailure::TryLater, "it is away"));
        }
        self.made.fetch_add(1, Ordering::SeqCst);
        // Others have time to ask.
        std::thread::sleep(Duration::from_millis(50));
        Answers::answer(&*self.ca, request, now)
    }

    fn still_says(&self, response: &OcspResponse, now: UnixTime) -> Result<bool, NoAnswer> {
        match self.knows.load(Ordering::SeqCst) {
            true => Answers::still_says(&*self.ca, response, now),
            false => Err(NoAnswer::new(OcspFailure::TryLater, "it is away")),
        }
    }
}

async fn with_away() -> (Served, Arc<Away>) {
    let served = Served::start().await;
    let away = Arc::new(Away {
        ca: served.ca.clone(),
        signs: AtomicBool::new(true),
        knows: AtomicBool::new(true),
        made: AtomicUsize::new(0),
    });
    let mut published = crate::made::published(&served.ca);
    published.responders = vec![away.clone()];
    served.doors.replace(published);
    (served, away)
}

#[tokio::test]
async fn nothing_is_said_while_nobody_knows() {
    let (served, away) = with_away().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    let first = post(&served, &request).await;
    assert_eq!(status(&served, &first, &certificate), CertStatus::Good);
    away.knows.store(false, Ordering::SeqCst);
    served.time.pass(1);
    fails(&post(&served, &request).await, OcspFailure::TryLater);
    away.knows.store(true, Ordering::SeqCst);
    assert_eq!(post(&served, &request).await.body, first.body);
}

#[tokio::test]
async fn an_answer_that_is_true_outlives_its_signer_until_its_end() {
    let (served, away) = with_away().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    let first = post(&served, &request).await;
    away.signs.store(false, Ordering::SeqCst);
    served.time.pass(24 * 60 * 60 - 2);
    assert_eq!(post(&served, &request).await.body, first.body);
    served.time.pass(2);
    fails(&post(&served, &request).await, OcspFailure::TryLater);
    // And not one that is no longer true.
    away.signs.store(true, Ordering::SeqCst);
    let good = post(&served, &request).await;
    assert_eq!(status(&served, &good, &certificate), CertStatus::Good);
    away.signs.store(false, Ordering::SeqCst);
    served.revoke(&certificate);
    served.time.pass(1);
    fails(&post(&served, &request).await, OcspFailure::TryLater);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_have_one_new_one_made() {
    let (served, away) = with_away().await;
    let certificate = served.issue("a");
    let request = request(&served, &certificate);
    post(&served, &request).await;
    served.time.pass(12 * 60 * 60);
    let before = away.made.load(Ordering::SeqCst);
    let address = served.address();
    let asking: Vec<_> = (0..16)
        .map(|_| {
            let request = request.clone();
            tokio::spawn(async move { ask(address, "POST /ocsp", POSTED, &request).await.body })
        })
        .collect();
    let mut bodies = Vec::new();
    for one in asking {
        bodies.push(one.await.unwrap());
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1);
    assert_eq!(away.made.load(Ordering::SeqCst), before + 1);
}
