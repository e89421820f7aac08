//! A responder that answers from a CA's list: in a file and at a URL, current and not.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::fs;
use std::time::{Instant, SystemTime};

use base64ct::{Base64, Encoding};
use pq_ca::authority::Order;
use pq_ca::policy::Profile;
use pq_ca_server::ocsp::{OcspDoor, OcspSettings};
use pq_ca_server::{Clock, ListResponder, OcspHandler, UnfitList, keep_list};
use pq_serving::Server;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::Issuer;
use pq_x509::keys::SigningKey;
use pq_x509::ocsp::{
    CertStatus, OcspFailure, OcspRequest, OcspResponder, OcspResponse, OcspVerifier,
};
use pq_x509::revocation::{CertificateRevocationList, CertificateRevocationListBuilder, CrlReason};

use crate::asking::{PATIENCE, ask};
use crate::made::{Served, new_key};

/// A responder beside a CA, on a server of its own.
struct Beside {
    served: Served,
    responder: Arc<ListResponder<SigningKey>>,
    server: Server,
}

impl Beside {
    async fn start() -> Self {
        let served = Served::start().await;
        let key = new_key();
        let order = Order::for_key(&key).unwrap().with(|wanted| {
            wanted
                .common_name("Example OCSP")
                .profile(Profile::OcspResponder)
        });
        let now = served.time.now();
        let certificate = served.ca.issue(&order, "tests", now).unwrap();
        let issuer = served.ca.issuer().certificate().clone();
        let signer = OcspResponder::delegate(issuer, certificate, key).unwrap();
        let responder = Arc::new(ListResponder::new(
            signer,
            Duration::from_secs(24 * 60 * 60),
        ));
        let time = served.time.clone();
        let clock = Clock::new(move || time.now());
        let door = Arc::new(OcspDoor::new(OcspSettings::default(), clock));
        door.replace(vec![responder.clone()]);
        let server = Server::plain().handler(OcspHandler::new(door));
        Self {
            served,
            responder,
            server: server.bind("127.0.0.1:0").await.unwrap(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// A list of the CA with this number, from now on.
    fn list(
        &self,
        number: u8,
        seconds: u64,
        revoked: &[&Certificate],
    ) -> CertificateRevocationList {
        list_by(
            self.served.ca.issuer(),
            &self.served,
            number,
            seconds,
            revoked,
        )
    }

    /// The answer at a path, and what a verifier finds in it.
    async fn status(&self, certificate: &Certificate) -> Result<CertStatus, OcspFailure> {
        let issuer = self.served.ca.issuer().certificate();
        let request = OcspRequest::builder().certificate(certificate, issuer);
        let request = request.build().unwrap();
        let fields = "Content-Type: application/ocsp-request\r\n";
        let answer = ask(self.address(), "POST /", fields, request.der()).await;
        assert_eq!(answer.status(), 200);
        if answer.body == OcspFailure::TryLater.to_der() {
            return Err(OcspFailure::TryLater);
        }
        let response = OcspResponse::from_der(&answer.body).unwrap();
        let verifier = OcspVerifier::new(issuer, self.served.time.now());
        Ok(verifier.verify(&response, certificate).unwrap().status())
    }
}

fn list_by(
    issuer: &Issuer<SigningKey>,
    served: &Served,
    number: u8,
    seconds: u64,
    revoked: &[&Certificate],
) -> CertificateRevocationList {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(served.time.now().as_secs());
    let validity = Validity::starting(now, Duration::from_secs(seconds));
    let mut list = CertificateRevocationListBuilder::new(&[number]).validity(validity);
    for certificate in revoked {
        list = list.revoke(certificate.serial_number(), now, CrlReason::KeyCompromise);
    }
    issuer.issue_revocation_list(list).unwrap()
}

#[tokio::test]
async fn what_the_list_lacks_is_good_while_it_is_current() {
    let beside = Beside::start().await;
    let (a, b) = (beside.served.issue("a"), beside.served.issue("b"));
    assert_eq!(beside.status(&a).await, Err(OcspFailure::TryLater));
    assert!(beside.responder.problem(beside.served.time.now()).is_some());
    assert!(beside.responder.take(&beside.list(1, 3600, &[&b])).unwrap());
    assert_eq!(beside.responder.problem(beside.served.time.now()), None);
    assert_eq!(beside.status(&a).await, Ok(CertStatus::Good));
    assert!(matches!(
        beside.status(&b).await,
        Ok(CertStatus::Revoked { .. })
    ));
    // With GET, at the path of a server's root, too
    let issuer = beside.served.ca.issuer().certificate();
    let request = OcspRequest::builder()
        .certificate(&a, issuer)
        .build()
        .unwrap();
    let path = Base64::encode_string(request.der());
    for line in [format!("GET /{path}"), format!("GET /ocsp/{path}")] {
        let answer = ask(beside.address(), &line, "", b"").await;
        assert!(OcspResponse::from_der(&answer.body).is_ok(), "{line}");
        // No answer outlives the list.
        let control = answer.field("cache-control").unwrap();
        assert!(control.starts_with("max-age=3599,"), "{control}");
    }
    // The next list is known at once.
    beside.served.time.pass(60);
    assert!(
        beside
            .responder
            .take(&beside.list(2, 3600, &[&a, &b]))
            .unwrap()
    );
    assert!(matches!(
        beside.status(&a).await,
        Ok(CertStatus::Revoked { .. })
    ));
    // It expires, and nothing is good any more, nor revoked.
    beside.served.time.pass(3600);
    assert_eq!(beside.status(&a).await, Err(OcspFailure::TryLater));
    assert_eq!(beside.status(&b).await, Err(OcspFailure::TryLater));
}

#[tokio::test]
async fn lists_that_do_not_fit_are_refused() {
    let beside = Beside::start().await;
    let other = Served::start().await;
    let a = beside.served.issue("a");
    let first = beside.list(5, 3600, &[&a]);
    assert!(beside.responder.take(&first).unwrap());
    assert!(!beside.responder.take(&first).unwrap());
    // Of the same name, by another key
    let forged = list_by(other.ca.issuer(), &beside.served, 6, 3600, &[]);
    let refused = beside.responder.take(&forged);
    assert!(
        matches!(refused, Err(UnfitList::OfAnother(_))),
        "{refused:?}"
    );
    // An older one is not taken, even after the newer one is gone.
    let older = beside.list(4, 3600, &[]);
    assert!(matches!(
        beside.responder.take(&older),
        Err(UnfitList::Older)
    ));
    beside.responder.forget();
    assert_eq!(beside.status(&a).await, Err(OcspFailure::TryLater));
    assert!(matches!(
        beside.responder.take(&older),
        Err(UnfitList::Older)
    ));
    assert_eq!(beside.status(&a).await, Err(OcspFailure::TryLater));
    assert!(beside.responder.take(&first).unwrap());
    assert!(matches!(
        beside.status(&a).await,
        Ok(CertStatus::Revoked { .. })
    ));
    // One from the future
    beside.served.time.pass(7200);
    let future = beside.list(7, 3600, &[]);
    let back = beside.served.time.now().as_secs() - 7199;
    beside.served.time.set(back);
    assert!(beside.responder.take(&future).unwrap());
    assert_eq!(beside.status(&a).await, Err(OcspFailure::TryLater));
}

/// Waits until a certificate's status is so.
async fn until(
    beside: &Beside,
    certificate: &Certificate,
    is: impl Fn(&Result<CertStatus, OcspFailure>) -> bool,
) {
    let begun = Instant::now();
    loop {
        let status = beside.status(certificate).await;
        if is(&status) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{status:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        beside.served.time.pass(1);
    }
}

#[tokio::test]
async fn a_file_is_read_again_and_its_loss_ends_the_answers() {
    let beside = Beside::start().await;
    let a = beside.served.issue("a");
    let file = beside.served.path("ca.crl");
    let source = file.to_str().unwrap().parse().unwrap();
    fs::write(&file, beside.list(1, 1 << 20, &[]).to_pem()).unwrap();
    let keeping = tokio::spawn(keep_list(source, beside.responder.clone()));
    until(&beside, &a, |status| *status == Ok(CertStatus::Good)).await;
    fs::write(&file, beside.list(2, 1 << 20, &[&a]).der()).unwrap();
    until(&beside, &a, |status| {
        matches!(status, Ok(CertStatus::Revoked { .. }))
    })
    .await;
    fs::write(&file, "nonsense").unwrap();
    until(&beside, &a, |status| status.is_err()).await;
    keeping.abort();
}

#[tokio::test]
async fn a_list_is_fetched_from_a_url() {
    let beside = Beside::start().await;
    let a = beside.served.issue("a");
    beside.served.revoke(&a);
    assert!(beside.served.doors.keep_lists().is_empty());
    let url = format!("http://{}/lists/issuing.crl", beside.served.address());
    let keeping = tokio::spawn(keep_list(url.parse().unwrap(), beside.responder.clone()));
    until(&beside, &a, |status| {
        matches!(status, Ok(CertStatus::Revoked { .. }))
    })
    .await;
    keeping.abort();
}
