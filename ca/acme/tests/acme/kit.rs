//! A server with a small CA, and clients that sign what they are told.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Mutex;

use pq_acme::identifier::Identifier;
use pq_acme::jws::{self, KeyId, external_account};
use pq_acme::nonce::Nonces;
use pq_acme::objects::{ChallengeKind, Meta, Time};
use pq_acme::problem::{Problem, ProblemType, Subproblem};
use pq_acme::server::{
    Answer, Grant, Issue, Issued, Outcome, Policy, Registration, Request, RevocationRefusal,
    RevocationWish, Server, Settings, Wish, Work,
};
use pq_acme::store::{AccountRecord, Limit, MemoryStore, Most};
use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::request::{CertificateRequest, RequestBuilder};
use pq_x509::verification::classical_algorithms;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::meanwhile::Meanwhile;

pub(crate) const BASE: &str = "https://ca.example/acme";
pub(crate) const EAB_KEY: &[u8] = b"a secret of 32 bytes, as it were";

/// A CA with a ledger that has one certificate for each request.
pub(crate) struct Ca {
    issuer: Issuer<SigningKey>,
    ledger: Mutex<BTreeMap<[u8; 32], Certificate>>,
    revoked: Mutex<BTreeSet<Vec<u8>>>,
    pub(crate) meta: Meta,
    /// The only kind of challenges that there is, if not all are.
    pub(crate) only: Mutex<Option<ChallengeKind>>,
    /// How often each thing may be done in a hundred seconds.
    pub(crate) most: Option<u32>,
    pub(crate) undecided: Option<Most>,
}

impl Ca {
    pub(crate) fn new() -> Self {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        Self {
            issuer: Issuer::self_signed(CertificateBuilder::ca("Test"), key).unwrap(),
            ledger: Mutex::default(),
            revoked: Mutex::default(),
            only: Mutex::default(),
            most: None,
            undecided: None,
            meta: Meta {
                profiles: [("server".into(), "for servers".into())].into(),
                ..Meta::default()
            },
        }
    }

    fn limit(&self, of: String) -> Vec<Limit> {
        let limit = self.most.map(|most| Limit {
            of,
            most,
            window: Duration::from_secs(100),
        });
        limit.into_iter().collect()
    }

    /// The certificate for a request: a new one, or the one that is there.
    pub(crate) fn issue(&self, work: &Issue) -> Issued {
        let mut ledger = self.ledger.lock().unwrap();
        let leaf = ledger.entry(work.request_id).or_insert_with(|| {
            let request = CertificateRequest::from_der(&work.csr).unwrap();
            let request = request
                .verify_with(classical_algorithms().unwrap())
                .unwrap();
            let builder = CertificateBuilder::server();
            let builder = work.identifiers.iter().fold(builder, |builder, one| {
                builder.alternative_name(one.clone().into())
            });
            self.issuer.issue(builder, &request).unwrap()
        });
        let root = self.issuer.certificate().clone();
        Issued {
            chains: vec![vec![leaf.clone(), root], vec![leaf.clone()]],
        }
    }

    pub(crate) fn issued(&self) -> usize {
        self.ledger.lock().unwrap().len()
    }

    pub(crate) fn revoked(&self) -> usize {
        self.revoked.lock().unwrap().len()
    }
}

impl Policy for Ca {
    fn meta(&self) -> Cow<'_, Meta> {
        Cow::Borrowed(&self.meta)
    }

    fn external_key(&self, kid: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
        match kid {
            "known" => Ok(EAB_KEY.to_vec().into()),
            _ => Err(Problem::unauthorized("there is no such external account")),
        }
    }

    fn may_register(&self, registration: &Registration<'_>) -> Result<(), Problem> {
        match registration
            .contact
            .iter()
            .any(|one| one.contains("refused"))
        {
            true => Err(Problem::unauthorized("refused")),
            false => Ok(()),
        }
    }

    fn may_order(&self, wish: &Wish<'_>) -> Result<Grant, Problem> {
        let refused = wish
            .identifiers
            .iter()
            .filter(|one| one.value().contains("refused"));
        let refused: Vec<_> = refused
            .map(|one| Subproblem {
                kind: ProblemType::RejectedIdentifier,
                detail: "none for this name".into(),
                identifier: Some(one.clone()),
            })
            .collect();
        if !refused.is_empty() {
            return Err(Problem::of_identifiers(refused));
        }
        match wish.profile {
            None | Some("server") => Ok(Grant {
                profile: wish.profile.map(Into::into),
            }),
            Some(_) => Err(Problem::new(ProblemType::InvalidProfile, "no such profile")),
        }
    }

    fn registration_limits(&self, _: &Registration<'_>) -> Vec<Limit> {
        self.limit("new accounts".into())
    }

    fn order_limits(&self, wish: &Wish<'_>) -> Vec<Limit> {
        self.limit(format!("new orders of the account {}", wish.account.id))
    }

    fn failure_limits(&self, account: &str, identifier: &Identifier) -> Vec<Limit> {
        self.limit(format!("failed validations of {identifier} for {account}"))
    }

    fn most_undecided(&self) -> Option<Most> {
        self.undecided
    }

    fn challenges(&self, _: &AccountRecord, _: &Identifier, _: bool) -> Vec<ChallengeKind> {
        match &*self.only.lock().unwrap() {
            Some(only) => vec![only.clone()],
            None => ChallengeKind::ALL.to_vec(),
        }
    }

    fn revoke(&self, wish: &RevocationWish<'_>) -> Result<(), RevocationRefusal> {
        let ledger = self.ledger.lock().unwrap();
        if !ledger
            .values()
            .any(|one| one.der().as_ref() == wish.certificate)
        {
            return Err(RevocationRefusal::Unknown);
        }
        let mut revoked = self.revoked.lock().unwrap();
        match revoked.insert(wish.certificate.to_vec()) {
            true => Ok(()),
            false => Err(RevocationRefusal::Already),
        }
    }
}

pub(crate) struct World {
    pub(crate) server: Server<Meanwhile, Ca>,
    now: AtomicU64,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Ca::new())
    }

    pub(crate) fn with(ca: Ca) -> Self {
        Self::on(MemoryStore::new(), ca)
    }

    pub(crate) fn on(store: MemoryStore, ca: Ca) -> Self {
        let nonces = Nonces::new([1; 32]);
        Self {
            server: Server::new(BASE, Meanwhile::around(store), ca, nonces),
            now: AtomicU64::new(1_800_000_000),
        }
    }

    /// With the usual settings, but for what this function changes.
    pub(crate) fn set(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        let Self { server, now } = Self::new();
        let server = server.with_settings(settings);
        Self { server, now }
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_secs(self.now.load(Ordering::Relaxed))
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.now.fetch_add(seconds, Ordering::Relaxed);
    }

    /// The clock was ahead.
    pub(crate) fn wait_back(&self, seconds: u64) {
        self.now.fetch_sub(seconds, Ordering::Relaxed);
    }

    pub(crate) fn ca(&self) -> &Ca {
        self.server.policy()
    }

    pub(crate) fn send(&self, method: &str, url: &str, body: &[u8]) -> Outcome {
        let request = Request {
            method,
            target: url.strip_prefix("https://ca.example").unwrap(),
            content_type: Some(jws::CONTENT_TYPE),
            body,
            from: None,
        };
        self.server.handle(&request, self.now())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", &at(path), b"").answer
    }

    pub(crate) fn nonce(&self) -> String {
        let answer = self.send("HEAD", &at("new-nonce"), b"").answer;
        answer.header("Replay-Nonce").unwrap().into()
    }

    /// What nobody finished.
    pub(crate) fn take_up(&self) -> Vec<Work> {
        let taken = self.server.take_up(self.now(), 1000).unwrap();
        taken.into_iter().collect::<Result<_, _>>().unwrap()
    }

    /// Carries out work as it should be, and says how much there was.
    pub(crate) fn work(&self, work: Option<Work>) -> usize {
        match work {
            None => 0,
            Some(Work::Validate(work)) => {
                let seen = Ok("as it should be".into());
                self.server.validated(&work, seen, self.now()).unwrap();
                1
            }
            Some(Work::Issue(work)) => {
                let issued = self.ca().issue(&work);
                self.server.issued(&work.order, Ok(issued)).unwrap();
                1
            }
        }
    }
}

pub(crate) fn at(path: &str) -> String {
    format!("{BASE}/{path}")
}

/// A client, with an account or without.
pub(crate) struct Client<'a> {
    pub(crate) world: &'a World,
    pub(crate) key: Box<dyn Signer>,
    pub(crate) kid: Option<String>,
}

pub(crate) fn ed25519() -> ClassicalKey {
    ClassicalKey::generate(ClassicalAlgorithm::Ed25519).unwrap()
}

impl<'a> Client<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self::with_key(world, Box::new(ed25519()))
    }

    pub(crate) fn with_key(world: &'a World, key: Box<dyn Signer>) -> Self {
        Self {
            world,
            key,
            kid: None,
        }
    }

    pub(crate) fn registered(world: &'a World) -> Self {
        let mut client = Self::new(world);
        client.register();
        client
    }

    pub(crate) fn register(&mut self) {
        let answer = self.post(
            &at("new-account"),
            r#"{"contact":["mailto:a@example.org"]}"#,
        );
        assert_eq!(answer.status, 201, "{}", text(&answer));
        self.kid = answer.header("Location").map(Into::into);
    }

    pub(crate) fn jwk(&self) -> AnyJwk {
        AnyJwk::of(&*self.key).unwrap()
    }

    pub(crate) fn by(&self) -> KeyId {
        match &self.kid {
            Some(kid) => KeyId::Account(kid.clone()),
            None => KeyId::Key(Box::new(self.jwk())),
        }
    }

    pub(crate) fn signed(&self, url: &str, payload: &str) -> String {
        let nonce = self.world.nonce();
        jws::write(
            &*self.key,
            &self.by(),
            Some(&nonce),
            url,
            payload.as_bytes(),
        )
        .unwrap()
    }

    pub(crate) fn post_for(&self, url: &str, payload: &str) -> Outcome {
        self.world
            .send("POST", url, self.signed(url, payload).as_bytes())
    }

    pub(crate) fn post(&self, url: &str, payload: &str) -> Answer {
        self.post_for(url, payload).answer
    }

    pub(crate) fn external(&self, kid: &str, key: &[u8]) -> String {
        let url = at("new-account");
        external_account::write(kid, key, Default::default(), &url, &self.jwk())
    }

    /// An order's URL and what the server says of it.
    pub(crate) fn order(&self, names: &[&str]) -> (String, Value) {
        let answer = self.post(&at("new-order"), &order_of(names));
        assert_eq!(answer.status, 201, "{}", text(&answer));
        (answer.header("Location").unwrap().into(), json(&answer))
    }

    /// Answers the first challenge of each authorization that is pending.
    pub(crate) fn meet(&self, order: &Value) {
        for url in order["authorizations"].as_array().unwrap() {
            let authorization = json(&self.post(url.as_str().unwrap(), ""));
            if authorization["status"] == "pending" {
                let challenge = authorization["challenges"][0]["url"].as_str().unwrap();
                let outcome = self.post_for(challenge, "{}");
                assert_eq!(outcome.answer.status, 200, "{}", text(&outcome.answer));
                assert_eq!(self.world.work(outcome.work), 1);
            }
        }
    }

    pub(crate) fn finalize(&self, order: &Value, csr: &CertificateRequest) -> Outcome {
        self.post_for(order["finalize"].as_str().unwrap(), &finalization(csr))
    }

    /// A certificate's URL and its chain.
    pub(crate) fn obtain(&self, names: &[&str], key: &dyn Signer) -> (String, Vec<Certificate>) {
        let (url, order) = self.order(names);
        self.meet(&order);
        let outcome = self.finalize(&order, &csr(names, key));
        assert_eq!(json(&outcome.answer)["status"], "processing");
        self.world.work(outcome.work);
        let order = json(&self.post(&url, ""));
        assert_eq!(order["status"], "valid");
        let url = order["certificate"].as_str().unwrap();
        let answer = self.post(url, "");
        assert_eq!(
            answer.header("Content-Type"),
            Some("application/pem-certificate-chain")
        );
        (
            url.into(),
            Certificate::chain_from_pem(&answer.body).unwrap(),
        )
    }
}

pub(crate) fn order_of(names: &[&str]) -> String {
    let names: Vec<_> = names
        .iter()
        .map(|name| {
            let kind = match name.parse::<core::net::IpAddr>() {
                Ok(_) => "ip",
                Err(_) => "dns",
            };
            format!(r#"{{"type":"{kind}","value":"{name}"}}"#)
        })
        .collect();
    format!(r#"{{"identifiers":[{}]}}"#, names.join(","))
}

pub(crate) fn request(names: &[&str]) -> RequestBuilder {
    names
        .iter()
        .fold(CertificateRequest::builder(), |builder, name| {
            builder.alternative_name(name.parse().unwrap())
        })
}

pub(crate) fn csr(names: &[&str], key: &dyn Signer) -> CertificateRequest {
    request(names).sign(key).unwrap()
}

pub(crate) fn finalization(csr: &CertificateRequest) -> String {
    format!(r#"{{"csr":"{}"}}"#, base64url::encode(csr.to_der()))
}

pub(crate) fn text(answer: &Answer) -> Cow<'_, str> {
    String::from_utf8_lossy(&answer.body)
}

pub(crate) fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// The problem of an answer, with its status.
pub(crate) fn problem(answer: &Answer) -> (u16, ProblemType) {
    assert_eq!(
        answer.header("Content-Type"),
        Some("application/problem+json"),
        "{} {}",
        answer.status,
        text(answer)
    );
    let problem = Problem::from_json(answer.status, &answer.body).unwrap();
    assert_eq!(problem.status(), answer.status);
    (answer.status, problem.kind)
}
