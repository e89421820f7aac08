//! Requests that are wrong, generated: for each request of the protocol, each member of its content, of its header and of the
//! signature around is missing, doubled, of another type and too long; it is replayed, made by another account, with another
//! key, for another URL. Each gets the right problem, and changes nothing. Then the request as it should be is carried out.

use pq_acme::jws::{self, KeyId};
use pq_acme::objects::Meta;
use pq_acme::problem::ProblemType;
use pq_acme::server::Answer;
use pq_jose::any::{AnyJwk, write_flattened};
use pq_jose::encoding::base64url;
use serde_json::Value;

use crate::kit::{Ca, Client, EAB_KEY, World, at, csr, ed25519, finalization, json, problem, text};

/// How a member is spoilt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    Missing,
    Doubled,
    OtherType,
    TooLong,
}

/// A text with a fault in one member, whose path has dots between names and numbers.
struct Spoilt {
    path: String,
    fault: Fault,
    text: String,
}

/// Every way to spoil one member of a JSON text.
fn spoil(good: &Value) -> Vec<Spoilt> {
    let mut paths = Vec::new();
    paths_in(good, "", &mut paths);
    let mut all = Vec::new();
    for (path, value) in paths {
        let mut push = |fault, with: &dyn Fn(&str, &Value) -> Vec<String>| {
            let text = write(good, "", &path, with);
            all.push(Spoilt {
                path: path.clone(),
                fault,
                text,
            });
        };
        let is_member = path
            .rsplit('.')
            .next()
            .is_some_and(|last| last.parse::<usize>().is_err());
        if is_member {
            push(Fault::Missing, &|_, _| Vec::new());
            push(Fault::Doubled, &|name, value| {
                vec![format!("{name}{value}"); 2]
            });
        }
        for other in ["true", "1", "1.5", "\"a\"", "[]", "{}"] {
            let other_value: Value = serde_json::from_str(other).unwrap();
            let is_same = core::mem::discriminant(&other_value) == core::mem::discriminant(&value);
            if !is_same {
                push(Fault::OtherType, &|name, _| vec![format!("{name}{other}")]);
            }
        }
        if value.is_string() {
            let long = "a".repeat(10_000);
            push(Fault::TooLong, &|name, _| vec![format!("{name}\"{long}\"")]);
        }
    }
    all
}

fn paths_in(value: &Value, path: &str, all: &mut Vec<(String, Value)>) {
    let mut inner = |name: String, value: &Value| {
        let path = match path {
            "" => name,
            path => format!("{path}.{name}"),
        };
        all.push((path.clone(), value.clone()));
        paths_in(value, &path, all);
    };
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, one)| inner(name.clone(), one)),
        Value::Array(elements) => {
            let mut elements = elements.iter().enumerate();
            elements
                .by_ref()
                .for_each(|(index, one)| inner(index.to_string(), one));
        }
        _ => {}
    }
}

/// Writes a value, and at a path what this function makes of the name before the value and the value.
fn write(
    value: &Value,
    at: &str,
    path: &str,
    with: &dyn Fn(&str, &Value) -> Vec<String>,
) -> String {
    let one = |name: &str, prefix: String, value: &Value| {
        let here = match at {
            "" => name.to_owned(),
            at => format!("{at}.{name}"),
        };
        match here == path {
            true => with(&prefix, value),
            false => vec![format!("{prefix}{}", write(value, &here, path, with))],
        }
    };
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let all = members.flat_map(|(name, value)| one(name, format!("\"{name}\":"), value));
            format!("{{{}}}", all.collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            let all =
                elements.flat_map(|(index, value)| one(&index.to_string(), String::new(), value));
            format!("[{}]", all.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// A request of the protocol.
struct Case<'a> {
    name: &'static str,
    client: &'a Client<'a>,
    /// Whether it is signed by the key itself, not by an account.
    by_key: bool,
    url: String,
    /// A content, or nothing.
    content: String,
    /// The members of the content that may be missing.
    optional: &'static [&'static str],
    /// Members whose faults are other problems than malformed contents.
    others: &'static [(&'static str, Fault, ProblemType)],
    /// Whether another account gets this problem: for what belongs to one.
    stranger: Option<ProblemType>,
    /// How the answer begins when all is as it should be.
    status: u16,
}

/// What may change: the objects, and what the CA did.
fn state(world: &World) -> String {
    let (issued, revoked) = (world.ca().issued(), world.ca().revoked());
    format!("{:?} {issued} {revoked}", world.server.store())
}

impl Case<'_> {
    fn check(&self, stranger: &Client<'_>) -> Answer {
        self.check_content();
        self.check_header();
        self.check_signature();
        self.check_door();
        let client = self.client;
        let world = client.world;
        if let Some(expected) = &self.stranger {
            self.refused(
                "by another account",
                &stranger.signed(&self.url, &self.content),
                expected,
            );
        }
        if self.content.is_empty() {
            // An update of an account may change nothing.
            let empty = if self.name == "account" { "[]" } else { "{}" };
            for content in [empty, "null", "\"\"", " "] {
                let body = self.sign(&self.header(), content);
                self.refused(content, &body, &ProblemType::Malformed);
            }
        } else {
            for content in ["null", "[]", "\"\"", "{", "{} {}", "1", "\u{feff}{}"] {
                let body = self.sign(&self.header(), content);
                self.refused(content, &body, &ProblemType::Malformed);
            }
        }
        let good = self.sign(&self.header(), &self.content);
        let outcome = world.send("POST", &self.url, good.as_bytes());
        let answer = outcome.answer;
        assert_eq!(
            answer.status,
            self.status,
            "{}: {}",
            self.name,
            text(&answer)
        );
        world.work(outcome.work);
        self.refused("replayed", &good, &ProblemType::BadNonce);
        answer
    }

    fn check_content(&self) {
        if self.content.is_empty() {
            return;
        }
        let good: Value = serde_json::from_str(&self.content).unwrap();
        for spoilt in spoil(&good) {
            let Spoilt { path, fault, text } = spoilt;
            if fault == Fault::Missing && self.optional.contains(&path.as_str()) {
                continue;
            }
            let mut others = self.others.iter();
            let other = others.find(|(at, of, _)| *at == path && *of == fault);
            let expected = other.map_or(&ProblemType::Malformed, |(_, _, kind)| kind);
            let body = self.sign(&self.header(), &text);
            self.refused(
                &format!("{path} {fault:?} in the content: {text:.200}"),
                &body,
                expected,
            );
        }
    }

    fn header(&self) -> String {
        self.header_for(&self.url)
    }

    fn header_for(&self, url: &str) -> String {
        let client = self.client;
        let public = client.jwk();
        let who = match self.by_key {
            true => format!("\"jwk\":{}", public.to_json()),
            false => format!("\"kid\":\"{}\"", client.kid.as_ref().unwrap()),
        };
        let (alg, nonce) = (public.algorithm(), client.world.nonce());
        format!(r#"{{"alg":"{alg}",{who},"nonce":"{nonce}","url":"{url}"}}"#)
    }

    fn sign(&self, header: &str, content: &str) -> String {
        write_flattened(header.as_bytes(), content.as_bytes(), &*self.client.key).unwrap()
    }

    fn check_header(&self) {
        let good: Value = serde_json::from_str(&self.header()).unwrap();
        for spoilt in spoil(&good) {
            let Spoilt { path, fault, text } = spoilt;
            let expected = match (path.as_str(), fault) {
                (_, Fault::Doubled | Fault::OtherType) => ProblemType::Malformed,
                ("alg", Fault::TooLong) => ProblemType::BadSignatureAlgorithm,
                ("kid", Fault::TooLong) => ProblemType::AccountDoesNotExist,
                ("nonce", _) => ProblemType::BadNonce,
                ("url", Fault::TooLong) => ProblemType::Unauthorized,
                ("jwk.kty", Fault::Missing) => ProblemType::Malformed,
                (path, _) if path.starts_with("jwk.") => ProblemType::BadPublicKey,
                _ => ProblemType::Malformed,
            };
            let what = format!("{path} {fault:?} in the header");
            self.refused(&what, &self.sign(&text, &self.content), &expected);
        }
        let header = self.header();
        let with = |member: &str| header.replacen('{', &format!("{{{member},"), 1);
        let other_who = match self.by_key {
            true => r#""kid":"https://ca.example/acme/account/x""#.to_owned(),
            false => format!("\"jwk\":{}", self.client.jwk().to_json()),
        };
        for (header, expected) in [
            (
                with(r#""crit":["b64"],"b64":false"#),
                ProblemType::Malformed,
            ),
            (with(r#""b64":true"#), ProblemType::Malformed),
            (with(&other_who), ProblemType::Malformed),
            (header.replace("EdDSA", "ES256"), ProblemType::Malformed),
            (
                header.replace("EdDSA", "none"),
                ProblemType::BadSignatureAlgorithm,
            ),
            (
                header.replace("EdDSA", "HS256"),
                ProblemType::BadSignatureAlgorithm,
            ),
            (
                self.header_for(&format!("{}/", self.url)),
                ProblemType::Unauthorized,
            ),
            (
                self.header_for(&self.url.replace("https://ca.", "https://CA.")),
                ProblemType::Unauthorized,
            ),
        ] {
            self.refused(&header, &self.sign(&header, &self.content), &expected);
        }
    }

    fn check_signature(&self) {
        let good = self.sign(&self.header(), &self.content);
        let good_value: Value = serde_json::from_str(&good).unwrap();
        for spoilt in spoil(&good_value) {
            let what = format!("{} {:?} in the signature", spoilt.path, spoilt.fault);
            self.refused(&what, &spoilt.text, &ProblemType::Malformed);
        }
        for with in [r#""header":{}"#, r#""signatures":[]"#] {
            let body = good.replacen('{', &format!("{{{with},"), 1);
            self.refused(with, &body, &ProblemType::Malformed);
        }
        let other = ed25519();
        let by_other = write_flattened(self.header().as_bytes(), self.content.as_bytes(), &other);
        self.refused(
            "with another key",
            &by_other.unwrap(),
            &ProblemType::Malformed,
        );
        let signature = good_value["signature"].as_str().unwrap();
        let mut bytes = base64url::decode(signature).unwrap();
        for index in [0, 31, 32, 63] {
            bytes[index] ^= 1;
            let damaged = good.replace(signature, &base64url::encode(&bytes));
            self.refused("a damaged signature", &damaged, &ProblemType::Malformed);
            bytes[index] ^= 1;
        }
        for body in ["", "{}", "[]", "null", "a.b.c", "\u{0}"] {
            self.refused(body, body, &ProblemType::Malformed);
        }
    }

    /// What is wrong before the body is looked at.
    fn check_door(&self) {
        let world = self.client.world;
        let before = state(world);
        let body = self.sign(&self.header(), &self.content);
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "post", ""] {
            let answer = world.send(method, &self.url, body.as_bytes()).answer;
            assert_eq!(problem(&answer), (405, ProblemType::Malformed));
        }
        let long = body.replacen('{', &format!("{{{}", " ".repeat(jws::MAX_BODY_LEN)), 1);
        let answer = world.send("POST", &self.url, long.as_bytes()).answer;
        assert_eq!(problem(&answer), (413, ProblemType::Malformed));
        let request = pq_acme::server::Request {
            method: "POST",
            target: self.url.strip_prefix("https://ca.example").unwrap(),
            content_type: None,
            body: body.as_bytes(),
            from: None,
        };
        for content_type in [
            None,
            Some("application/json"),
            Some("application/jose"),
            Some(""),
        ] {
            let request = pq_acme::server::Request {
                content_type,
                ..request
            };
            let answer = world.server.handle(&request, world.now()).answer;
            assert_eq!(problem(&answer), (415, ProblemType::Malformed));
        }
        assert_eq!(state(world), before);
    }

    fn refused(&self, what: &str, body: &str, expected: &ProblemType) {
        let world = self.client.world;
        let before = state(world);
        let outcome = world.send("POST", &self.url, body.as_bytes());
        let shown = text(&outcome.answer);
        let name = self.name;
        let is_refused = outcome.answer.status >= 400;
        assert!(is_refused, "{name}: {what:.300}: accepted: {shown}");
        let (status, kind) = problem(&outcome.answer);
        assert_eq!(&kind, expected, "{name}: {what:.300}: {status} {shown}");
        assert!(
            (400..500).contains(&status),
            "{name}: {what:.300}: {status} {shown}"
        );
        assert!(outcome.answer.header("Replay-Nonce").is_some());
        assert!(outcome.work.is_none());
        assert!(
            state(world) == before,
            "{name}: {what:.300}: something changed"
        );
    }
}

#[test]
fn what_is_wrong_gets_the_right_problem_and_changes_nothing() {
    let mut ca = Ca::new();
    ca.meta = Meta {
        terms_of_service: Some("https://ca.example/terms".into()),
        external_account_required: true,
        ..Meta::default()
    };
    let world = World::with(ca);
    let register = |case: &dyn Fn(&Client<'_>, String) -> Answer| {
        let mut client = Client::new(&world);
        let proof = client.external("known", EAB_KEY);
        let content = format!(
            r#"{{"contact":["mailto:a@example.org"],"termsOfServiceAgreed":true,"onlyReturnExisting":false,"externalAccountBinding":{proof}}}"#
        );
        let answer = case(&client, content);
        client.kid = answer.header("Location").map(Into::into);
        client
    };
    let stranger = register(&|client, content| client.post(&at("new-account"), &content));
    let client = register(&|client, content| {
        let case = Case {
            name: "newAccount",
            client,
            by_key: true,
            url: at("new-account"),
            content,
            optional: &["contact", "onlyReturnExisting"],
            others: &[
                ("contact.0", Fault::TooLong, ProblemType::UnsupportedContact),
                (
                    "termsOfServiceAgreed",
                    Fault::Missing,
                    ProblemType::UserActionRequired,
                ),
                (
                    "externalAccountBinding",
                    Fault::Missing,
                    ProblemType::ExternalAccountRequired,
                ),
                (
                    "externalAccountBinding.signature",
                    Fault::TooLong,
                    ProblemType::Unauthorized,
                ),
            ],
            stranger: None,
            status: 201,
        };
        case.check(&stranger)
    });
    let case = |name, url: &str, content: &str| Case {
        name,
        client: &client,
        by_key: false,
        url: url.into(),
        content: content.into(),
        optional: &[],
        others: &[],
        stranger: Some(ProblemType::Unauthorized),
        status: 200,
    };
    let kid = client.kid.clone().unwrap();
    case("account", &kid, "").check(&stranger);
    case("orders", &format!("{kid}/orders"), "").check(&stranger);
    let update = Case {
        optional: &["contact", "termsOfServiceAgreed", "status"],
        others: &[("contact.0", Fault::TooLong, ProblemType::UnsupportedContact)],
        ..case(
            "update of an account",
            &kid,
            r#"{"contact":["mailto:b@example.org"],"termsOfServiceAgreed":true,"status":"valid"}"#,
        )
    };
    update.check(&stranger);

    let name = "www.example.org";
    let new_order = format!(
        r#"{{"identifiers":[{{"type":"dns","value":"{name}"}},{{"type":"dns","value":"b.example"}}],
            "notBefore":"2030-01-01T00:00:00Z","notAfter":"2030-02-01T00:00:00Z"}}"#
    );
    let order = Case {
        optional: &["notBefore", "notAfter"],
        others: &[
            (
                "identifiers.0.type",
                Fault::TooLong,
                ProblemType::UnsupportedIdentifier,
            ),
            (
                "identifiers.1.type",
                Fault::TooLong,
                ProblemType::UnsupportedIdentifier,
            ),
        ],
        stranger: None,
        status: 201,
        ..case("newOrder", &at("new-order"), &new_order)
    };
    let answer = order.check(&stranger);
    let (url, order) = (answer.header("Location").unwrap().to_owned(), json(&answer));
    case("order", &url, "").check(&stranger);

    let finalize = order["finalize"].as_str().unwrap();
    let key = ed25519();
    let content = finalization(&csr(&[name, "b.example"], &key));
    let body = client.signed(finalize, &content);
    case("finalize", finalize, &content).refused("too early", &body, &ProblemType::OrderNotReady);
    for authorization in order["authorizations"].as_array().unwrap() {
        let authorization = authorization.as_str().unwrap();
        let shown = case("authorization", authorization, "").check(&stranger);
        let challenge = json(&shown)["challenges"][0]["url"]
            .as_str()
            .unwrap()
            .to_owned();
        let shown = client.post(&challenge, "");
        assert_eq!(json(&shown)["status"], "pending");
        case("challenge", &challenge, r#"{"a":{"b":1}}"#).check_challenge(&stranger);
        let other = case("authorization", authorization, r#"{"status":"valid"}"#);
        let body = client.signed(authorization, r#"{"status":"valid"}"#);
        other.refused("made valid by its holder", &body, &ProblemType::Malformed);
    }
    let case_of_finalize = Case {
        others: &[("csr", Fault::TooLong, ProblemType::BadCsr)],
        ..case("finalize", finalize, &content)
    };
    case_of_finalize.check(&stranger);
    let other = finalization(&csr(&[name, "b.example"], &ed25519()));
    let body = client.signed(finalize, &other);
    case("finalize", finalize, &content).refused("twice", &body, &ProblemType::OrderNotReady);

    let shown = json(&client.post(&url, ""));
    assert_eq!(shown["status"], "valid");
    let certificate = shown["certificate"].as_str().unwrap();
    let chain = case("certificate", certificate, "").check(&stranger);
    let leaf = &pq_x509::certificate::Certificate::chain_from_pem(&chain.body).unwrap()[0];

    let revocation = format!(
        r#"{{"certificate":"{}","reason":4}}"#,
        base64url::encode(leaf.der())
    );
    let case_of_revocation = Case {
        optional: &["reason"],
        ..case("revokeCert", &at("revoke-cert"), &revocation)
    };
    case_of_revocation.check(&stranger);
    let body = client.signed(&at("revoke-cert"), &revocation);
    case("revokeCert", &at("revoke-cert"), "").refused(
        "twice",
        &body,
        &ProblemType::AlreadyRevoked,
    );

    let (_, order) = client.order(&["c.example"]);
    let authorization = order["authorizations"][0].as_str().unwrap();
    case("deactivation", authorization, r#"{"status":"deactivated"}"#).check(&stranger);
    let challenge = format!(
        "{}/http-01",
        authorization.replace("/authorization/", "/challenge/")
    );
    let body = client.signed(&challenge, "{}");
    case("challenge", &challenge, "").refused("given up", &body, &ProblemType::Malformed);

    let new = ed25519();
    let new_key = KeyId::Key(Box::new(AnyJwk::of(&new).unwrap()));
    let to = at("key-change");
    let content = format!(
        r#"{{"account":"{kid}","oldKey":{}}}"#,
        client.jwk().to_json()
    );
    let inner = jws::write(&new, &new_key, None, &to, content.as_bytes()).unwrap();
    let case_of_change = case("keyChange", &to, &inner);
    let sign = |content: &str, header: &str| {
        let inner = write_flattened(header.as_bytes(), content.as_bytes(), &new).unwrap();
        client.signed(&to, &inner)
    };
    let header = format!(
        r#"{{"alg":"EdDSA","jwk":{},"url":"{to}"}}"#,
        match &new_key {
            KeyId::Key(key) => key.to_json(),
            KeyId::Account(_) => String::new(),
        }
    );
    for spoilt in spoil(&serde_json::from_str(&content).unwrap()) {
        let what = format!("{} {:?} in the inner content", spoilt.path, spoilt.fault);
        case_of_change.refused(&what, &sign(&spoilt.text, &header), &ProblemType::Malformed);
    }
    for spoilt in spoil(&serde_json::from_str(&header).unwrap()) {
        let what = format!("{} {:?} in the inner header", spoilt.path, spoilt.fault);
        let expected = match (spoilt.path.as_str(), spoilt.fault) {
            ("alg", Fault::TooLong) => ProblemType::BadSignatureAlgorithm,
            ("jwk.kty", Fault::Missing) => ProblemType::Malformed,
            (path, Fault::Missing | Fault::TooLong) if path.starts_with("jwk.") => {
                ProblemType::BadPublicKey
            }
            _ => ProblemType::Malformed,
        };
        case_of_change.refused(&what, &sign(&content, &spoilt.text), &expected);
    }
    let with_nonce = header.replacen('{', &format!("{{\"nonce\":\"{}\",", world.nonce()), 1);
    case_of_change.refused(
        "a nonce",
        &sign(&content, &with_nonce),
        &ProblemType::Malformed,
    );
    let case_of_change = Case {
        stranger: Some(ProblemType::Malformed),
        ..case_of_change
    };
    case_of_change.check_change(&stranger);
}

impl Case<'_> {
    /// What is in the content of a challenge does not matter, if it is an object.
    fn check_challenge(&self, stranger: &Client<'_>) {
        self.check_header();
        self.check_signature();
        self.check_door();
        let doubled = self.sign(&self.header(), r#"{"a":1,"a":1}"#);
        self.refused("doubled", &doubled, &ProblemType::Malformed);
        for content in ["null", "[]", "1", "{"] {
            let body = self.sign(&self.header(), content);
            self.refused(content, &body, &ProblemType::Malformed);
        }
        let body = stranger.signed(&self.url, &self.content);
        self.refused("by another account", &body, &ProblemType::Unauthorized);
        let body = self.sign(&self.header(), &self.content);
        let outcome = self.client.world.send("POST", &self.url, body.as_bytes());
        assert_eq!(self.client.world.work(outcome.work), 1);
        self.refused("replayed", &body, &ProblemType::BadNonce);
    }

    /// After it, the client's key is another one, so that a replay is no longer signed by it.
    fn check_change(&self, stranger: &Client<'_>) {
        self.check_header();
        self.check_signature();
        self.check_door();
        let body = stranger.signed(&self.url, &self.content);
        self.refused("by another account", &body, &ProblemType::Malformed);
        let body = self.sign(&self.header(), &self.content);
        let answer = self
            .client
            .world
            .send("POST", &self.url, body.as_bytes())
            .answer;
        assert_eq!(answer.status, 200, "{}", text(&answer));
        self.refused("replayed", &body, &ProblemType::BadNonce);
        let again = self.sign(&self.header(), &self.content);
        self.refused("with the old key", &again, &ProblemType::Malformed);
    }
}
