//! A client and a server that is a few lines, and does what it is told to.

use core::time::Duration;

use pq_jose::any::AnyJwk;
use pq_jose::encoding::base64url;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};
use pq_keys::{SignatureAlgorithm, Signer, SigningKey};
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::request::CertificateRequest;
use serde_json::{Value, json};

use super::{
    Answer, ClientError, ExternalKey, Issued, Method, Obtaining, Request, Stage, Step, Wanted,
};
use crate::identifier::Identifier;
use crate::jws::external_account::{ExternalAccount, MacAlgorithm};
use crate::jws::{self, KeyId};
use crate::objects::{ChallengeKind, Time};

/// What the server does otherwise than it should, or late.
#[derive(Clone, Debug, Default)]
struct Manner {
    /// Every request of this many has a bad nonce.
    bad_nonces: usize,
    /// How often a request is refused as too frequent, and how long the client is to wait.
    limited: (usize, u64),
    /// How often the server fails.
    failures: usize,
    /// How often validation and issuing are not done yet.
    slow: usize,
    takes_ml_dsa: bool,
    terms: bool,
    external: bool,
    wildcard: bool,
    validation_fails: bool,
    order_fails: bool,
    refuses_replaces: bool,
    knows_account: bool,
    other_name: bool,
    other_key: bool,
    other_issuer: bool,
    order_of_others: bool,
    token: Option<&'static str>,
    /// Only these challenges are offered.
    offered: Option<&'static [&'static str]>,
}

impl Manner {
    fn right() -> Self {
        Self {
            takes_ml_dsa: true,
            ..Self::default()
        }
    }
}

struct Server {
    manner: Manner,
    issuer: Issuer<SigningKey>,
    nonce: usize,
    used: usize,
    requests: usize,
    account: Option<AnyJwk>,
    orders: usize,
    is_shown: bool,
    is_said: bool,
    is_finalized: bool,
    csr: Vec<u8>,
    new_order: Value,
    new_account: Value,
}

fn problem(status: u16, kind: &str) -> Answer {
    answer(
        status,
        json!({"type": format!("urn:ietf:params:acme:error:{kind}"), "detail": "no"}),
    )
}

fn answer(status: u16, body: Value) -> Answer {
    Answer {
        status,
        body: body.to_string().into_bytes(),
        ..Answer::default()
    }
}

const URL: &str = "https://ca.example";

impl Server {
    fn new(manner: Manner) -> Self {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        Self {
            manner,
            issuer: Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap(),
            nonce: 0,
            used: 0,
            requests: 0,
            account: None,
            orders: 0,
            is_shown: false,
            is_said: false,
            is_finalized: false,
            csr: Vec::new(),
            new_order: Value::Null,
            new_account: Value::Null,
        }
    }

    fn handle(&mut self, request: &Request) -> Answer {
        let path = request.url.strip_prefix(URL).expect("a URL of this server");
        let mut answer = self.answer(path, request);
        self.nonce += 1;
        if path != "/directory" {
            answer.replay_nonce = Some(format!("nonce-{}", self.nonce));
        }
        answer
    }

    fn answer(&mut self, path: &str, request: &Request) -> Answer {
        if path == "/directory" {
            assert_eq!(request.method, Method::Get);
            let mut meta = json!({"profiles": {"short": "a week"}});
            if self.manner.terms {
                meta["termsOfService"] = "https://ca.example/terms".into();
            }
            meta["externalAccountRequired"] = self.manner.external.into();
            let url = |path: &str| format!("{URL}{path}");
            return answer(
                200,
                json!({"newNonce": url("/nonce"), "newAccount": url("/account"), "newOrder": url("/new-order"),
                    "revokeCert": url("/revoke"), "keyChange": url("/key"), "meta": meta}),
            );
        }
        if path == "/nonce" {
            assert_eq!(request.method, Method::Head);
            return Answer {
                status: 200,
                ..Answer::default()
            };
        }
        assert_eq!(request.method, Method::Post);
        let body = request.body.as_ref().unwrap();
        let signed = jws::read(body.as_bytes()).unwrap();
        assert_eq!(signed.url(), request.url);
        self.requests += 1;
        // Each nonce once, and the newest one.
        assert_eq!(signed.nonce(), Some(&*format!("nonce-{}", self.nonce)));
        assert_ne!(self.nonce, self.used, "a nonce is used twice");
        self.used = self.nonce;
        if self.manner.bad_nonces != 0 && self.requests.is_multiple_of(self.manner.bad_nonces) {
            return problem(400, "badNonce");
        }
        if self.manner.failures > 0 {
            self.manner.failures -= 1;
            return Answer {
                status: 503,
                body: b"<html>".to_vec(),
                ..Answer::default()
            };
        }
        if self.manner.limited.0 > 0 {
            self.manner.limited.0 -= 1;
            return Answer {
                retry_after: Some(self.manner.limited.1.to_string()),
                ..problem(429, "rateLimited")
            };
        }
        let key = match signed.key() {
            KeyId::Key(key) => {
                assert_eq!(path, "/account");
                AnyJwk::clone(key)
            }
            KeyId::Account(account) => {
                assert_eq!(account, "https://ca.example/account/1");
                self.account.clone().unwrap()
            }
        };
        let payload = signed.verify(&key).unwrap();
        let content: Value = match payload.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&payload).unwrap(),
        };
        self.post(path, key, content)
    }

    fn post(&mut self, path: &str, key: AnyJwk, content: Value) -> Answer {
        let at = |location: &str, answer: Answer| Answer {
            location: Some(format!("{URL}{location}")),
            ..answer
        };
        match path {
            "/account" => {
                if !self.manner.takes_ml_dsa && key.algorithm().name().starts_with("ML-DSA") {
                    let mut refused = problem(400, "badSignatureAlgorithm");
                    let mut body: Value = serde_json::from_slice(&refused.body).unwrap();
                    body["algorithms"] = json!(["RS256", "ES256"]);
                    refused.body = body.to_string().into_bytes();
                    return refused;
                }
                if content["onlyReturnExisting"] == true && !self.manner.knows_account {
                    return problem(400, "accountDoesNotExist");
                }
                if self.manner.external {
                    let binding = content["externalAccountBinding"].to_string();
                    let url = format!("{URL}/account");
                    let read = ExternalAccount::read(binding.as_bytes(), &url, &key).unwrap();
                    assert_eq!(read.kid(), "customer");
                    assert!(read.is_by(b"secret"));
                }
                self.account = Some(key);
                self.new_account = content;
                at(
                    "/account/1",
                    answer(201, json!({"status": "valid", "orders": "x"})),
                )
            }
            "/new-order" => {
                if self.manner.refuses_replaces && content.get("replaces").is_some() {
                    return problem(409, "alreadyReplaced");
                }
                self.new_order = content;
                self.orders += 1;
                at("/order/1", answer(201, self.order()))
            }
            "/authz/0" | "/authz/1" => {
                assert!(content.is_null());
                answer(200, self.authorization(path))
            }
            "/challenge/0" | "/challenge/1" => {
                assert_eq!(content, json!({}));
                assert!(self.is_shown, "nothing is shown yet");
                self.is_said = true;
                answer(
                    200,
                    json!({"type": "http-01", "url": "x", "status": "processing", "token": "t"}),
                )
            }
            "/order/1" => answer(200, self.order()),
            "/finalize" => {
                if self.manner.slow % 2 == 1 {
                    self.manner.slow -= 1;
                    return problem(403, "orderNotReady");
                }
                self.csr = base64url::decode(content["csr"].as_str().unwrap()).unwrap();
                self.is_finalized = true;
                answer(200, self.order())
            }
            "/certificate" => Answer {
                status: 200,
                body: self.certificate().into_bytes(),
                ..Answer::default()
            },
            other => panic!("{other}"),
        }
    }

    fn authorization(&mut self, path: &str) -> Value {
        let number: usize = path[path.len() - 1..].parse().unwrap();
        let name = self.new_order["identifiers"][number]["value"]
            .as_str()
            .unwrap();
        let is_ready = self.is_said && self.manner.slow == 0;
        if self.is_said && self.manner.slow > 0 {
            self.manner.slow -= 1;
        }
        let status = match (is_ready, self.manner.validation_fails) {
            (false, _) => "pending",
            (true, false) => "valid",
            (true, true) => "invalid",
        };
        let mut http = json!({"type": "http-01", "url": format!("{URL}/challenge/{number}"), "status": status,
            "token": self.manner.token.unwrap_or("evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ")});
        if status == "invalid" {
            http["error"] =
                json!({"type": "urn:ietf:params:acme:error:connection", "detail": "nobody there"});
        }
        let mut all = vec![
            json!({"type": "other-99", "url": "x", "status": "pending"}),
            http,
            json!({"type": "dns-01", "url": format!("{URL}/challenge/{number}"), "status": status, "token": "abc"}),
        ];
        if let Some(offered) = self.manner.offered {
            all.retain(|one| offered.contains(&one["type"].as_str().unwrap()));
        }
        json!({"status": status, "challenges": all, "wildcard": self.manner.wildcard,
            "identifier": {"type": "dns", "value": name.trim_start_matches("*.")}})
    }

    fn order(&mut self) -> Value {
        let names = match self.manner.order_of_others {
            true => json!([{"type": "dns", "value": "other.example.org"}]),
            false => self.new_order["identifiers"].clone(),
        };
        let status = match (self.is_said, self.is_finalized) {
            (false, _) => "pending",
            (true, false) => "ready",
            (true, true) if self.manner.order_fails => "invalid",
            (true, true) if self.manner.slow > 0 => {
                self.manner.slow -= 1;
                "processing"
            }
            (true, true) => "valid",
        };
        let count = names.as_array().unwrap().len();
        let urls: Vec<String> = (0..count)
            .map(|number| format!("{URL}/authz/{number}"))
            .collect();
        let mut order = json!({"status": status, "identifiers": names, "authorizations": urls,
            "finalize": format!("{URL}/finalize")});
        if status == "valid" {
            order["certificate"] = format!("{URL}/certificate").into();
        }
        order
    }

    fn certificate(&self) -> String {
        let request = CertificateRequest::from_der(&self.csr)
            .unwrap()
            .verify()
            .unwrap();
        let builder = match self.manner.other_name {
            true => CertificateBuilder::server().dns_name("other.example.org"),
            false => request.certificate().server_auth(),
        };
        let leaf = match self.manner.other_key {
            true => self.issuer.issue(builder, self.issuer.signer()),
            false => self.issuer.issue(builder, &request),
        };
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let other = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
        let root = match self.manner.other_issuer {
            true => other.certificate(),
            false => self.issuer.certificate(),
        };
        Certificate::chain_to_pem(&[leaf.unwrap(), root.clone()])
    }
}

fn wanted(names: &[&str]) -> Wanted {
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let mut csr = CertificateRequest::builder();
    for name in names {
        csr = csr.dns_name(*name);
    }
    let names = names.iter().map(|name| Identifier::dns(name).unwrap());
    Wanted::new(
        names.collect(),
        csr.sign(&key).unwrap(),
        vec![ChallengeKind::TlsAlpn01, ChallengeKind::Http01],
    )
}

/// What happened on the way: the certificate or not, and how long it took.
struct Way {
    result: Result<Issued, ClientError>,
    server: Server,
    seconds: u64,
}

fn go(manner: Manner, key: &dyn Signer, wanted: Wanted) -> Way {
    go_with(manner, key, wanted, |_| false)
}

/// Requests of which `is_lost` says so reach the server, but their answers don't arrive.
fn go_with(
    manner: Manner,
    key: &dyn Signer,
    wanted: Wanted,
    is_lost: impl Fn(usize) -> bool,
) -> Way {
    let begin = 1_796_040_000;
    let names = wanted.names.len();
    let mut now = begin;
    let mut server = Server::new(manner);
    let mut sent = 0;
    let go = || {
        let mut client = Obtaining::new(format!("{URL}/directory"), key, wanted)?;
        for _ in 0..1000 {
            match client.next(Time::from_secs(now))? {
                Step::Send(request) => {
                    sent += 1;
                    let answer = server.handle(&request);
                    match is_lost(sent) {
                        true => assert!(client.unanswered(Time::from_secs(now))),
                        false => client.received(&answer, Time::from_secs(now))?,
                    }
                }
                Step::Wait(time) => {
                    assert!(time >= Duration::from_secs(1));
                    now += time.as_secs();
                }
                Step::Show(shown) => {
                    assert_eq!(shown.len(), names);
                    assert!(shown.iter().all(|one| one.kind == ChallengeKind::Http01));
                    server.is_shown = true;
                    client.shown();
                }
                Step::Done(issued) => return Ok(issued),
            }
        }
        panic!("it doesn't end");
    };
    let result = go();
    Way {
        result,
        server,
        seconds: now - begin,
    }
}

fn key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap()
}

const NAMES: &[&str] = &["www.example.org", "example.org"];

#[test]
fn from_the_directory_to_the_certificate() {
    let way = go(Manner::right(), &key(), wanted(NAMES));
    let issued = way.result.unwrap();
    assert_eq!(issued.chain.len(), 2);
    assert_eq!(issued.chain[0].dns_names(), NAMES);
    assert_eq!(issued.account, "https://ca.example/account/1");
    assert_eq!(issued.order, "https://ca.example/order/1");
    // account, order, 2 authorizations, 2 challenges, 2 again, order, finalize, certificate
    assert_eq!(way.server.requests, 11);
    assert!(way.server.new_order.get("replaces").is_none());
}

#[test]
fn accounts_of_every_kind_of_key() {
    for algorithm in [
        ClassicalAlgorithm::EcdsaP256,
        ClassicalAlgorithm::EcdsaP384,
        ClassicalAlgorithm::Ed25519,
    ] {
        let key = ClassicalKey::generate(algorithm).unwrap();
        go(Manner::right(), &key, wanted(NAMES)).result.unwrap();
    }
}

#[test]
fn a_server_that_fails_or_is_slow_now_and_then() {
    for bad_nonces in 2..6 {
        let manner = Manner {
            bad_nonces,
            ..Manner::right()
        };
        go(manner, &key(), wanted(NAMES)).result.unwrap();
    }
    let manner = Manner {
        failures: 4,
        ..Manner::right()
    };
    go(manner, &key(), wanted(NAMES)).result.unwrap();
    for slow in [1, 2, 7, 20] {
        let manner = Manner {
            slow,
            ..Manner::right()
        };
        let way = go(manner, &key(), wanted(NAMES));
        way.result.unwrap();
        assert!(way.seconds >= slow as u64);
    }
    // Any answer may get lost, but for that of finalization the server knows what to do.
    for lost in 1..16 {
        let way = go_with(Manner::right(), &key(), wanted(NAMES), |sent| sent == lost);
        way.result.unwrap();
    }
}

#[test]
fn patience_ends() {
    let manner = Manner {
        slow: 100_000,
        ..Manner::right()
    };
    let way = go(manner, &key(), wanted(NAMES));
    let error = way.result.unwrap_err();
    assert!(matches!(error, ClientError::TooLong { .. }), "{error}");
    assert_eq!(way.seconds, 600);
    let manner = Manner {
        bad_nonces: 1,
        ..Manner::right()
    };
    let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
    assert!(error.to_string().contains("badNonce"), "{error}");
    let manner = Manner {
        failures: 100,
        ..Manner::right()
    };
    let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
    assert!(
        error.to_string().contains("status 503: \"<html>\""),
        "{error}"
    );
}

#[test]
fn a_limit_is_waited_for_or_told() {
    let manner = |seconds| Manner {
        limited: (2, seconds),
        ..Manner::right()
    };
    let way = go(manner(100), &key(), wanted(NAMES));
    way.result.unwrap();
    assert!(way.seconds >= 200);
    let way = go(manner(86400), &key(), wanted(NAMES));
    assert_eq!(way.seconds, 0);
    let error = way.result.unwrap_err().to_string();
    assert!(error.contains("until 2026-12-01T"), "{error}");
}

#[test]
fn another_kind_of_account_key_is_asked_for() {
    let manner = Manner {
        takes_ml_dsa: false,
        ..Manner::right()
    };
    let error = go(manner.clone(), &key(), wanted(NAMES))
        .result
        .unwrap_err();
    let ClientError::AccountKey { algorithm, problem } = error else {
        panic!("{error}");
    };
    assert_eq!(algorithm, "ML-DSA-65");
    assert_eq!(problem.algorithms, ["RS256", "ES256"]);
    let key = ClassicalKey::generate(ClassicalAlgorithm::EcdsaP256).unwrap();
    go(manner, &key, wanted(NAMES)).result.unwrap();
}

#[test]
fn accounts_are_found_or_made_and_bound() {
    let mut wish = wanted(NAMES);
    wish.has_account = true;
    let known = Manner {
        knows_account: true,
        terms: true,
        ..Manner::right()
    };
    let way = go(known, &key(), wish.clone());
    way.result.unwrap();
    assert_eq!(way.server.new_account, json!({"onlyReturnExisting": true}));
    wish.agrees = true;
    wish.contact = vec!["mailto:a@example.org".into()];
    let gone = Manner {
        terms: true,
        ..Manner::right()
    };
    let way = go(gone.clone(), &key(), wish);
    way.result.unwrap();
    let made = json!({"contact": ["mailto:a@example.org"], "termsOfServiceAgreed": true});
    assert_eq!(way.server.new_account, made);
    let error = go(gone, &key(), wanted(NAMES)).result.unwrap_err();
    assert!(matches!(&error, ClientError::Terms(url) if url == "https://ca.example/terms"));

    let external = Manner {
        external: true,
        ..Manner::right()
    };
    let error = go(external.clone(), &key(), wanted(NAMES))
        .result
        .unwrap_err();
    assert!(matches!(error, ClientError::NoExternalAccount), "{error}");
    let mut wish = wanted(NAMES);
    wish.external = Some(ExternalKey {
        kid: "customer".into(),
        key: b"secret".to_vec(),
        algorithm: MacAlgorithm::Hs256,
    });
    assert!(!format!("{wish:?}").contains("secret"));
    go(external, &key(), wish).result.unwrap();
}

#[test]
fn what_an_order_may_say() {
    let mut wish = wanted(NAMES);
    wish.profile = Some("short".into());
    wish.replaces = Some("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE".into());
    let way = go(Manner::right(), &key(), wish.clone());
    way.result.unwrap();
    assert_eq!(way.server.new_order["profile"], "short");
    assert_eq!(
        way.server.new_order["replaces"],
        "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE"
    );
    let manner = Manner {
        refuses_replaces: true,
        ..Manner::right()
    };
    let way = go(manner, &key(), wish.clone());
    way.result.unwrap();
    assert!(way.server.new_order.get("replaces").is_none());
    wish.profile = Some("long".into());
    let error = go(Manner::right(), &key(), wish).result.unwrap_err();
    assert!(error.to_string().contains("it has short"), "{error}");
    let manner = Manner {
        order_of_others: true,
        ..Manner::right()
    };
    let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
    assert!(error.to_string().contains("for other names"), "{error}");
}

#[test]
fn names_that_are_not_validated() {
    let manner = Manner {
        validation_fails: true,
        ..Manner::right()
    };
    let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("www.example.org was not validated: connection: nobody there"),
        "{text}"
    );
    for manner in [
        Manner {
            offered: Some(&["dns-01", "other-99"]),
            ..Manner::right()
        },
        Manner {
            wildcard: true,
            ..Manner::right()
        },
        Manner {
            token: Some("../../etc/passwd"),
            ..Manner::right()
        },
        Manner {
            token: Some(""),
            ..Manner::right()
        },
    ] {
        let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("dns-01, of which none") || text.contains("none can be shown"),
            "{text}"
        );
    }
    let manner = Manner {
        order_fails: true,
        ..Manner::right()
    };
    let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
    assert!(matches!(error, ClientError::OrderInvalid(None)), "{error}");
}

#[test]
fn certificates_that_were_not_ordered_are_refused() {
    for (manner, what) in [
        (
            Manner {
                other_key: true,
                ..Manner::right()
            },
            "for another key",
        ),
        (
            Manner {
                other_name: true,
                ..Manner::right()
            },
            "not for www.example.org",
        ),
        (
            Manner {
                other_issuer: true,
                ..Manner::right()
            },
            "was not issued by what follows it",
        ),
    ] {
        let error = go(manner, &key(), wanted(NAMES)).result.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
    let account = key();
    let csr = CertificateRequest::builder()
        .dns_name("example.org")
        .sign(&account)
        .unwrap();
    let wish = Wanted::new(
        vec![Identifier::dns("example.org").unwrap()],
        csr,
        vec![ChallengeKind::Http01],
    );
    let error = go(Manner::right(), &account, wish).result.unwrap_err();
    assert!(matches!(error, ClientError::SameKey), "{error}");
}

/// Each answer is replaced by what is no answer of ACME.
#[test]
fn answers_that_are_none() {
    for body in ["", "{}", "[]", "null", "{\"status\":\"x\"}", "\u{1f600}"] {
        for at in 1..13 {
            let key = key();
            let mut server = Server::new(Manner::right());
            let mut client =
                Obtaining::new(format!("{URL}/directory"), &key, wanted(NAMES)).unwrap();
            let (mut now, mut sent) = (1_796_040_000, 0);
            let mut go = || {
                loop {
                    match client.next(Time::from_secs(now))? {
                        Step::Send(request) => {
                            sent += 1;
                            let mut answer = server.handle(&request);
                            if sent == at {
                                answer.body = body.into();
                                answer.location = None;
                            }
                            client.received(&answer, Time::from_secs(now))?;
                        }
                        Step::Wait(time) => now += time.as_secs(),
                        Step::Show(_) => {
                            server.is_shown = true;
                            client.shown();
                        }
                        Step::Done(_) => return Ok::<_, ClientError>(()),
                    }
                }
            };
            match go() {
                // What is said to a challenge isn't looked at, nor the body with a nonce.
                Ok(()) => assert!([2, 7, 8].contains(&at), "{at}: {body}"),
                Err(ClientError::Unexpected { stage, .. }) => {
                    assert_eq!(stage == Stage::Directory, at == 1);
                }
                Err(ClientError::Chain(_)) => assert_eq!(at, 13),
                Err(error) => panic!("{at}: {body}: {error}"),
            }
        }
    }
}
