//! EST over TLS: what devices get, and what they don't.

use alloc::sync::Arc;
use core::ops::ControlFlow;

use base64ct::{Base64, Encoding};
use pq_ca::ledger::{Filter, Ledger, SerialNumber};
use pq_ca_server::est::{EstDoor, EstUsers, client_certificates};
use pq_ca_server::{Clock, OwnCertificate, TlsKey};
use pq_cms::decode_certificates;
use pq_serving::{Server, Tls, provider};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::SigningKey;
use pq_x509::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use pq_x509::request::CertificateRequest;
use pq_x509::x509_cert::attr::Attribute;
use pq_x509::x509_cert::der::asn1::{Any, BitString, SetOfVec};
use pq_x509::x509_cert::der::oid::ObjectIdentifier;
use pq_x509::x509_cert::der::{Encode, Tag};
use pq_x509::x509_cert::name::Name;
use pq_x509::x509_cert::request::CertReq;
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::Profile;
use rustls_pq::identity::{Identities, IdentitySet};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::asking::{Answer, ask_over};
use crate::made::{Served, new_key};

const NAME: &str = "ca.example.org";
const DAY: u64 = 24 * 60 * 60;
const PKCS10: &str = "Content-Type: application/pkcs10\r\n";
const POLICY: &str = "[est]\ndns = ['.example.org']\n[est.users.seven]\ndns = ['seven.example.org']\ncommon-name = ['device seven']\n\
                      [est.users.eight]\ndns = ['eight.example.org']";

/// The CA with EST over TLS. Users' passwords are `secret`.
struct WithEst {
    served: Served,
    server: Server,
}

/// A client's key with its certificate.
type Own<'a> = Option<(&'a Certificate, &'a SigningKey)>;

impl WithEst {
    async fn start(policy: &str) -> Self {
        let served = Served::by_policy(policy, |_, _| ()).await;
        let time = served.time.clone();
        let clock = Clock::new(move || time.now());
        let door = EstDoor::new(served.doors.clone(), clock.clone());
        // hashlib.pbkdf2_hmac("sha256", b"secret", bytes(range(16)), 100000)
        let hash = "pbkdf2-sha256:100000:000102030405060708090a0b0c0d0e0f:9fb9dd3c8e2944366b788c7e795a5a6350d58845b2a3d21ad65f07b55181f837";
        let users = ["seven", "eight", "none"]
            .map(|name| format!("[[users]]\nname = \"{name}\"\npassword = \"{hash}\"\n"));
        door.replace_users(EstUsers::parse(&users.concat()).unwrap());
        served.doors.mount(EstDoor::PATH, Arc::new(door));
        let provider = provider(Profile::Default, &[]).unwrap();
        let make = || {
            let key = new_key();
            let private = PrivatePkcs8KeyDer::from(key.to_pkcs8_der()?.to_vec()).into();
            Ok(TlsKey {
                public: Box::new(key),
                private,
            })
        };
        let own = OwnCertificate::new(vec![NAME.into()], make, "tests", provider.clone(), clock);
        let (key, chain) = served.doors.issuer().unwrap();
        let identity = own.issue(&*key, &chain).unwrap();
        let identities = Arc::new(Identities::new(IdentitySet::new().with_default(identity)));
        let clients = client_certificates(provider.clone());
        let tls = Tls::with(provider, identities, Some(clients)).unwrap();
        let server = Server::builder(tls).handler(served.doors.clone());
        let server = server.bind("127.0.0.1:0").await.unwrap();
        Self { served, server }
    }

    async fn connect(&self, own: Own<'_>) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        let root = self.served.ca.issuer().certificate().der().clone();
        roots.add(root).unwrap();
        let provider = provider(Profile::Default, &[]).unwrap();
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots);
        let config = match own {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
                let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().unwrap().to_vec());
                config.with_client_auth_cert(chain, key.into()).unwrap()
            }
        };
        let tcp = TcpStream::connect(self.server.local_addr()).await.unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        connector
            .connect(NAME.try_into().unwrap(), tcp)
            .await
            .unwrap()
    }

    async fn ask(&self, own: Own<'_>, line: &str, fields: &str, body: &[u8]) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        let line = format!("{method} /.well-known/est/{path}");
        ask_over(self.connect(own).await, &line, fields, body).await
    }

    /// Sends a request for a certificate, as this user.
    async fn enrol(&self, user: &str, csr: &CertificateRequest) -> Answer {
        let fields = format!("{PKCS10}{}", password(user, "secret"));
        self.ask(None, "POST simpleenroll", &fields, &body(csr))
            .await
    }

    async fn reenrol(&self, own: Own<'_>, csr: &CertificateRequest) -> Answer {
        self.ask(own, "POST simplereenroll", PKCS10, &body(csr))
            .await
    }

    /// How many certificates there are.
    fn count(&self) -> usize {
        let mut count = 0;
        let all = self.served.ca.ledger().find(&Filter::all(), &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        all.unwrap();
        count
    }
}

fn password(user: &str, password: &str) -> String {
    let both = Base64::encode_string(format!("{user}:{password}").as_bytes());
    format!("Authorization: Basic {both}\r\n")
}

fn request(name: &str, key: &SigningKey) -> CertificateRequest {
    let subject: Name = format!("CN=device {name}").parse().unwrap();
    let request = CertificateRequest::builder().subject(subject);
    let request = request.dns_name(format!("{name}.example.org"));
    request.sign(key).unwrap()
}

fn body(csr: &CertificateRequest) -> Vec<u8> {
    Base64::encode_string(csr.to_der()).into_bytes()
}

/// The same request with one attribute more.
fn with_attribute(
    csr: &CertificateRequest,
    key: &SigningKey,
    oid: &str,
    text: &str,
) -> CertificateRequest {
    let CertReq {
        mut info,
        algorithm,
        ..
    } = csr.parsed().clone();
    let mut values = SetOfVec::new();
    values
        .insert(Any::new(Tag::Utf8String, text.as_bytes()).unwrap())
        .unwrap();
    let oid = ObjectIdentifier::new_unwrap(oid);
    info.attributes.insert(Attribute { oid, values }).unwrap();
    let signature = key.sign(&info.to_der().unwrap()).unwrap();
    let signature = BitString::from_bytes(&signature).unwrap();
    let signed = CertReq {
        info,
        algorithm,
        signature,
    };
    CertificateRequest::from_der(&signed.to_der().unwrap()).unwrap()
}

#[track_caller]
fn certificates(answer: &Answer) -> Vec<Certificate> {
    assert_eq!(answer.status(), 200, "{}\n{}", answer.head, answer.text());
    answer.has(
        "content-type",
        "application/pkcs7-mime; smime-type=certs-only",
    );
    let text: String = answer.text().split_whitespace().collect();
    decode_certificates(&Base64::decode_vec(&text).unwrap()).unwrap()
}

#[track_caller]
fn certificate(answer: &Answer) -> Certificate {
    let [certificate] = certificates(answer).try_into().unwrap();
    certificate
}

#[tokio::test]
async fn everybody_gets_the_certificates_of_the_ca() {
    let est = WithEst::start(POLICY).await;
    let root = est.served.ca.issuer().certificate().der();
    for path in ["cacerts", "client/cacerts", "server%2Bclient/cacerts"] {
        let answer = est.ask(None, &format!("GET {path}"), "", b"").await;
        assert_eq!(certificate(&answer).der(), root);
        assert!(answer.text().lines().all(|line| line.len() <= 64));
    }
    for (line, fields, status) in [
        ("POST cacerts", "", 405),
        ("GET simpleenroll", "", 405),
        ("GET cacerts", "Accept: text/html\r\n", 406),
        ("GET cacerts", "Accept: application/*\r\n", 200),
        ("GET csrattrs", "", 204),
        ("POST serverkeygen", "", 404),
        ("POST fullcmc", "", 404),
        ("GET nobody/cacerts", "", 404),
    ] {
        assert_eq!(
            est.ask(None, line, fields, b"").await.status(),
            status,
            "{line}"
        );
    }
    // Over plain HTTP there is nothing of it.
    assert_eq!(
        est.served
            .get("/.well-known/est/cacerts", "")
            .await
            .status(),
        404
    );
}

#[tokio::test]
async fn users_get_their_own_names() {
    let est = WithEst::start(POLICY).await;
    let key = new_key();
    let csr = request("seven", &key);
    let first = certificate(&est.enrol("seven", &csr).await);
    assert_eq!(first.dns_names(), ["seven.example.org"]);
    let number = SerialNumber::of(&first).unwrap();
    let entry = est.served.ca.ledger().entry(&number).unwrap().unwrap();
    assert_eq!(entry.issued.by, "EST user seven");
    assert_eq!(entry.issued.profile, "client");
    let evidence = entry.issued.evidence.unwrap();
    assert_eq!(
        evidence.as_str(),
        "the password of EST user seven, from 127.0.0.1"
    );
    // With line breaks, with other words around it, and again.
    let count = est.count();
    let lines: Vec<u8> = body(&csr).chunks(64).collect::<Vec<_>>().join(&b"\r\n"[..]);
    let fields = format!(
        "content-type: Application/PKCS10; x=y\r\nContent-Transfer-Encoding: binary\r\nAccept: */*\r\n{}",
        password("seven", "secret")
    );
    let again = est.ask(None, "POST simpleenroll", &fields, &lines).await;
    assert_eq!(certificate(&again).der(), first.der());
    assert_eq!(est.count(), count);
    // For another purpose, it is another request.
    let fields = format!("{PKCS10}{}", password("seven", "secret"));
    let server = est
        .ask(None, "POST server/simpleenroll", &fields, &body(&csr))
        .await;
    assert_ne!(certificate(&server).der(), first.der());
    // The next day, another certificate is meant.
    for day in 1..6 {
        est.served.time.pass(DAY);
        let next = certificate(&est.enrol("seven", &csr).await);
        assert_eq!(
            certificate(&est.enrol("seven", &csr).await).der(),
            next.der()
        );
        assert_eq!(est.count(), count + 1 + day);
    }
}

#[tokio::test]
async fn what_is_wrong_changes_nothing() {
    let est = WithEst::start(POLICY).await;
    let key = new_key();
    let csr = request("seven", &key);
    let good = password("seven", "secret");
    let count = est.count();
    let mut tampered = csr.to_der().to_vec();
    *tampered.last_mut().unwrap() ^= 1;
    let tampered = Base64::encode_string(&tampered).into_bytes();
    let pem = csr.to_pem().into_bytes();
    let both = format!("{good}{good}");
    let bearer = good.replace("Basic", "Bearer");
    for (what, fields, content, status) in [
        ("no password", "", &body(&csr), 401),
        ("wrong", &*password("seven", "secrets"), &body(&csr), 401),
        ("nobody", &password("nobody", "secret"), &body(&csr), 401),
        (
            "no password at all",
            "Authorization: Basic c2V2ZW4=\r\n",
            &body(&csr),
            401,
        ),
        (
            "no base64",
            "Authorization: Basic ???\r\n",
            &body(&csr),
            401,
        ),
        ("twice", &both, &body(&csr), 401),
        ("another scheme", &bearer, &body(&csr), 401),
        (
            "another's name",
            &password("eight", "secret"),
            &body(&csr),
            403,
        ),
        ("no names", &password("none", "secret"), &body(&csr), 403),
        ("PEM", &good, &pem, 400),
        ("tampered", &good, &tampered, 400),
        ("nothing", &good, &Vec::new(), 400),
        ("too long", &good, &vec![b'A'; 256 * 1024 + 1], 413),
        (
            "what it accepts",
            &format!("{good}Accept: text/plain\r\n"),
            &body(&csr),
            406,
        ),
    ] {
        let fields = format!("{PKCS10}{fields}");
        let answer = est.ask(None, "POST simpleenroll", &fields, content).await;
        assert_eq!(answer.status(), status, "{what}: {}", answer.text());
        if status == 401 {
            answer.has("www-authenticate", "Basic realm=\"EST\", charset=\"UTF-8\"");
        }
    }
    let other = format!("Content-Type: application/pkcs10x\r\n{good}");
    assert_eq!(
        est.ask(None, "POST simpleenroll", &other, &body(&csr))
            .await
            .status(),
        415
    );
    assert_eq!(
        est.ask(None, "POST simpleenroll", &good, &body(&csr))
            .await
            .status(),
        415
    );
    let ca = CertificateRequest::builder()
        .dns_name("seven.example.org")
        .ca(None, None);
    let ca = ca.sign(&key).unwrap();
    assert_eq!(est.enrol("seven", &ca).await.status(), 403);
    assert_eq!(est.count(), count);
}

#[tokio::test]
async fn without_the_table_nobody_gets_anything() {
    let est = WithEst::start("").await;
    let count = est.count();
    let refused = est.enrol("seven", &request("seven", &new_key())).await;
    assert_eq!(refused.status(), 403);
    assert!(
        refused.text().contains("no table [est]"),
        "{}",
        refused.text()
    );
    assert_eq!(est.count(), count);
}

#[tokio::test]
async fn passwords_can_not_be_guessed() {
    let est = WithEst::start(POLICY).await;
    let csr = request("seven", &new_key());
    let fields = format!("{PKCS10}{}", password("seven", "guess"));
    for _ in 0..5 {
        let answer = est
            .ask(None, "POST simpleenroll", &fields, &body(&csr))
            .await;
        assert_eq!(answer.status(), 401);
    }
    let right = est.enrol("seven", &csr).await;
    assert_eq!(right.status(), 429);
    let wait: u64 = right.field("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
}

#[tokio::test]
async fn certificates_are_renewed_with_the_same_names() {
    let est = WithEst::start(POLICY).await;
    let (key, next_key) = (new_key(), new_key());
    let first = certificate(&est.enrol("seven", &request("seven", &key)).await);
    let own = Some((&first, &key));
    let csr = request("seven", &next_key);
    let next = certificate(&est.reenrol(own, &csr).await);
    assert_eq!(next.dns_names(), first.dns_names());
    let count = est.count();
    assert_eq!(certificate(&est.reenrol(own, &csr).await).der(), next.der());
    let number = SerialNumber::of(&next).unwrap();
    let entry = est.served.ca.ledger().entry(&number).unwrap().unwrap();
    let old = SerialNumber::of(&first).unwrap();
    assert_eq!(entry.issued.by, format!("EST certificate {old}"));
    let evidence = entry.issued.evidence.unwrap();
    assert_eq!(
        evidence.as_str(),
        format!("the key of certificate {old}, from 127.0.0.1")
    );
    assert_eq!(est.count(), count);

    let ask = async |own, path: &str, csr: &CertificateRequest| {
        est.ask(own, &format!("POST {path}"), PKCS10, &body(csr))
            .await
            .status()
    };
    // Other names, another purpose, and who shows no certificate.
    let other = request("eight", &next_key);
    let subject = "CN=device other".parse::<Name>().unwrap();
    let subject = CertificateRequest::builder()
        .subject(subject)
        .dns_name("seven.example.org");
    let subject = subject.sign(&next_key).unwrap();
    let changed = with_attribute(&csr, &next_key, "1.3.6.1.5.5.7.7.36", "other");
    for (path, csr) in [
        ("simplereenroll", &other),
        ("simpleenroll", &other),
        ("simplereenroll", &subject),
        ("simplereenroll", &changed),
        ("server/simplereenroll", &csr),
        ("server/simpleenroll", &csr),
    ] {
        assert_eq!(ask(own, path, csr).await, 403, "{path}");
    }
    assert_eq!(ask(None, "simplereenroll", &csr).await, 401);
    let fields = format!("{PKCS10}{}", password("seven", "secret"));
    let alone = est
        .ask(None, "POST simplereenroll", &fields, &body(&csr))
        .await;
    assert_eq!(alone.status(), 403);
    // A certificate by somebody else with the same names.
    let stranger = Issuer::self_signed(CertificateBuilder::ca("Example CA"), new_key()).unwrap();
    let stranger = stranger.issue(
        CertificateBuilder::end_entity()
            .dns_name("seven.example.org")
            .client_auth(),
        &key,
    );
    let stranger = stranger.unwrap();
    assert_eq!(
        ask(Some((&stranger, &key)), "simplereenroll", &csr).await,
        401
    );
    assert_eq!(est.count(), count);
    // With a certificate, simpleenroll gives another one with its names.
    assert_eq!(ask(own, "client/simpleenroll", &csr).await, 200);

    est.served.revoke(&first);
    let count = est.count();
    let refused = est.reenrol(own, &csr).await;
    assert_eq!(refused.status(), 403);
    assert!(refused.text().contains("was revoked"), "{}", refused.text());
    // And with a password, what is shown has to be good.
    let both = est
        .ask(own, "POST simpleenroll", &fields, &body(&csr))
        .await;
    assert_eq!(both.status(), 403);
    est.served.time.pass(100 * DAY);
    let refused = est.reenrol(Some((&next, &next_key)), &csr).await;
    assert_eq!(refused.status(), 403);
    assert!(refused.text().contains("has expired"), "{}", refused.text());
    assert_eq!(est.count(), count);
}

#[tokio::test]
async fn requests_are_bound_to_their_connections() {
    const CHALLENGE: &str = "1.2.840.113549.1.9.7";
    let est =
        WithEst::start(&POLICY.replace("[est]", "[est]\nchannel-binding-required = true")).await;
    let attributes = est.ask(None, "GET csrattrs", "", b"").await;
    attributes.has("content-type", "application/csrattrs");
    // SEQUENCE { 1.2.840.113549.1.9.7 }
    assert_eq!(attributes.text(), "MAsGCSqGSIb3DQEJBw==\n");
    let key = new_key();
    let csr = request("seven", &key);
    let count = est.count();
    assert_eq!(est.enrol("seven", &csr).await.status(), 400);
    let wrong = with_attribute(&csr, &key, CHALLENGE, &Base64::encode_string(&[0; 32]));
    assert_eq!(est.enrol("seven", &wrong).await.status(), 400);
    assert_eq!(est.count(), count);
    let stream = est.connect(None).await;
    let exported =
        stream
            .get_ref()
            .1
            .export_keying_material([0; 32], b"EXPORTER-Channel-Binding", Some(&[]));
    let binding = Base64::encode_string(&exported.unwrap());
    let bound = with_attribute(&csr, &key, CHALLENGE, &binding);
    let fields = format!("{PKCS10}{}", password("seven", "secret"));
    let line = "POST /.well-known/est/simpleenroll";
    let answer = ask_over(stream, line, &fields, &body(&bound)).await;
    let number = SerialNumber::of(&certificate(&answer)).unwrap();
    let entry = est.served.ca.ledger().entry(&number).unwrap().unwrap();
    let evidence = entry.issued.evidence.unwrap();
    assert!(
        evidence.as_str().ends_with("bound to its connection"),
        "{evidence}"
    );
    // By another connection it was not made.
    assert_eq!(est.enrol("seven", &bound).await.status(), 400);
}

#[tokio::test]
async fn who_can_not_be_answered_now_asks_again() {
    let est = WithEst::start(POLICY).await;
    // The ledger refuses a time that is so far from its last one.
    est.served.time.pass(500 * DAY);
    let count = est.count();
    let answer = est.enrol("seven", &request("seven", &new_key())).await;
    assert_eq!(answer.status(), 202, "{}", answer.text());
    answer.has("retry-after", "60");
    assert_eq!(est.count(), count);
}
