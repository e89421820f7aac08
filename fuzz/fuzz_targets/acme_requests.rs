//! Signed requests of ACME, whose headers have any members: a model says what is read, and with which problem the rest is
//! refused. What is accepted was signed.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::jose::json::{Json, Member, get, may_be_text, member, with};
use fuzz::jose::{ALGORITHM_NAMES, KEYS, PUBLIC, Word, base64url, index};
use fuzz::{Bytes, one_of};
use libfuzzer_sys::fuzz_target;
use pq_acme::jws::{self, KeyId, MAX_BODY_LEN};
use pq_acme::problem::ProblemType;
use pq_jose::any::{AnyJwk, AnyJwsAlgorithm, sign};
use pq_keys::Signer;
use pq_keys::classical::{ClassicalAlgorithm, ClassicalKey};

fuzz_target!(|input: Input<'_>| input.check());

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Which key signs.
    of: u8,
    /// Whether the header has the key, or else an account.
    jwk: Option<Key<'a>>,
    without: Option<u8>,
    header: Vec<Member<'a>>,
    body: Vec<Member<'a>>,
    payload: &'a [u8],
    changes: Option<Bytes<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Key<'a> {
    /// One of ML-DSA, with changed members.
    Changed(u8, Vec<Member<'a>>),
    Any(Json<'a>),
}

/// Keys of other algorithms than ML-DSA.
static CLASSICAL: LazyLock<[ClassicalKey; 3]> = LazyLock::new(|| {
    [
        ClassicalAlgorithm::EcdsaP256,
        ClassicalAlgorithm::EcdsaP384,
        ClassicalAlgorithm::Ed25519,
    ]
    .map(|algorithm| {
        let len = algorithm.raw_private_key_len().expect("not RSA");
        ClassicalKey::from_raw(algorithm, &vec![7; len]).expect("below the order of its group")
    })
});

const CLASSICAL_NAMES: [&str; 3] = ["ES256", "ES384", "EdDSA"];
const URL: &str = "https://ca.example/acme/new-order";
const MAX_HEADER_LEN: usize = 16 * 1024;

impl Input<'_> {
    fn signer(&self) -> (&'static dyn Signer, &'static str) {
        let which = usize::from(self.of) % 7;
        match which.checked_sub(4) {
            Some(classical) => (&CLASSICAL[classical], CLASSICAL_NAMES[classical]),
            None => (&KEYS[which].0, ALGORITHM_NAMES[which]),
        }
    }

    fn check(&self) {
        let (signer, name) = self.signer();
        let members = self.header_members(name);
        let header = Json::Object(members.clone());
        let header_text = header.to_text();
        let protected = base64url(header_text.as_bytes());
        let payload = base64url(self.payload);
        let signed = format!("{protected}.{payload}");
        let signature = base64url(&sign(signed.as_bytes(), signer).expect("a key that signs"));
        let text = |text| Json::Text(Word::Other(text));
        let usual = vec![
            member("protected", text(&protected)),
            member("payload", text(&payload)),
            member("signature", text(&signature)),
        ];
        let body_members = with(usual, &self.body);
        let body = Json::Object(body_members.clone());
        let mut body_text = body.to_text().into_bytes();
        let is_whole = self.changes.is_none();
        if let Some(changes) = &self.changes {
            body_text = changes.of(&body_text);
        }
        let read = jws::read(&body_text);
        let key = AnyJwk::of(signer).expect("a known key");
        if let Ok(request) = &read
            && let Ok(content) = request.verify(&key)
        {
            assert_eq!(content, self.payload);
            assert_eq!(request.algorithm(), key.algorithm());
        }
        if !is_whole {
            return;
        }
        let is_plain = |name: &str, expected: &str| match get(&body_members, name) {
            Some(Json::Text(word)) => word.text() == expected,
            _ => false,
        };
        let is_usual = is_plain("protected", &protected)
            && is_plain("payload", &payload)
            && is_plain("signature", &signature);
        let is_refused = !body.is_sound(0)
            || body_text.len() > MAX_BODY_LEN
            || get(&body_members, "header").is_some()
            || get(&body_members, "signatures").is_some();
        match (read, self.expected(&members, &header)) {
            (Err(problem), _) if is_refused => assert_eq!(problem.kind, ProblemType::Malformed),
            (Ok(_), _) if is_refused => panic!("accepted: {}", body.to_text()),
            _ if !is_usual => {}
            (Ok(request), Expected::Good) => {
                let content = request.verify(&key);
                let is_of_key = get(&members, "alg").and_then(Json::text);
                let is_of_key = is_of_key.and_then(|name| AnyJwsAlgorithm::of_name(&name));
                assert_eq!(content.is_ok(), is_of_key == Some(key.algorithm()));
                let nonce = get(&members, "nonce").and_then(Json::text);
                assert_eq!(request.nonce(), nonce.as_deref());
                assert_eq!(
                    Some(request.url()),
                    get(&members, "url").and_then(Json::text).as_deref()
                );
                if let KeyId::Account(account) = request.key() {
                    let kid = get(&members, "kid").and_then(Json::text);
                    assert_eq!(Some(account.as_str()), kid.as_deref());
                }
            }
            (Err(problem), Expected::Refused(kinds)) => {
                assert!(kinds.contains(&problem.kind), "{problem}: {header_text}");
            }
            (Ok(request), Expected::OfKey) => {
                let KeyId::Key(key) = request.key() else {
                    panic!("an account: {header_text}");
                };
                let is_one = |key: &AnyJwk| {
                    KEYS.iter()
                        .any(|one| AnyJwk::of(&one.0).expect("a known key") == *key)
                };
                assert!(is_one(key), "{header_text}");
            }
            (Err(problem), Expected::OfKey) => {
                let kinds = [ProblemType::Malformed, ProblemType::BadPublicKey];
                assert!(kinds.contains(&problem.kind), "{problem}: {header_text}");
            }
            (Ok(_), Expected::Refused(_)) => panic!("accepted: {header_text}"),
            (Err(problem), Expected::Good) => panic!("{problem}: {header_text}"),
        }
    }

    fn header_members(&self, name: &'static str) -> Vec<Member<'_>> {
        let text = |text| Json::Text(Word::Other(text));
        let mut members = vec![
            member("alg", text(name)),
            member("nonce", text("abc")),
            member("url", text(URL)),
        ];
        members.push(match &self.jwk {
            None => member("kid", text("https://ca.example/acme/account/1")),
            Some(Key::Any(json)) => member("jwk", json.clone()),
            Some(Key::Changed(of, changes)) => {
                let usual = vec![
                    member("kty", text("AKP")),
                    member("alg", text(one_of(&ALGORITHM_NAMES, *of))),
                    member("pub", Json::Public(*of)),
                ];
                member("jwk", Json::Object(with(usual, changes)))
            }
        });
        if let Some(without) = self.without {
            members.remove(usize::from(without) % members.len());
        }
        with(members, &self.header)
    }

    /// The rules of RFC 8555, section 6.2, in the order in which the reader has them.
    fn expected(&self, members: &[Member<'_>], header: &Json<'_>) -> Expected {
        let refused = |kind| Expected::Refused(vec![kind]);
        let texts = ["alg", "kid", "nonce", "url"];
        if !header.is_sound(0)
            || header.to_text().len() > MAX_HEADER_LEN
            || !texts.iter().all(|name| may_be_text(members, name))
            || get(members, "crit").is_some()
            || get(members, "b64").is_some()
        {
            return refused(ProblemType::Malformed);
        }
        let Some(name) = get(members, "alg").and_then(Json::text) else {
            return refused(ProblemType::Malformed);
        };
        let Some(algorithm) = AnyJwsAlgorithm::of_name(&name) else {
            return refused(ProblemType::BadSignatureAlgorithm);
        };
        let has_url = get(members, "url").is_some();
        match (get(members, "jwk"), get(members, "kid")) {
            (None, None) | (Some(_), Some(_)) => refused(ProblemType::Malformed),
            (None, Some(_)) if has_url => Expected::Good,
            (None, Some(_)) => refused(ProblemType::Malformed),
            (Some(jwk), None) => match of_unchanged_key(jwk) {
                Some(of) if ALGORITHM_NAMES[of] != algorithm.name() || !has_url => {
                    refused(ProblemType::Malformed)
                }
                Some(_) => Expected::Good,
                None if has_url => Expected::OfKey,
                None => Expected::Refused(vec![ProblemType::Malformed, ProblemType::BadPublicKey]),
            },
        }
    }
}

#[derive(Debug)]
enum Expected {
    Good,
    /// It is refused, or has one of the keys.
    OfKey,
    Refused(Vec<ProblemType>),
}

/// Which key it is, if it has the members of a key and no others.
fn of_unchanged_key(jwk: &Json<'_>) -> Option<usize> {
    let Json::Object(members) = jwk else {
        return None;
    };
    let [first, second, third] = members.as_slice() else {
        return None;
    };
    let names = [first, second, third].map(|one| one.name.text());
    let Json::Public(of) = third.value else {
        return None;
    };
    let texts = [&first.value, &second.value].map(|one| one.text());
    let of = index(of);
    let is_usual = names == ["kty", "alg", "pub"]
        && texts == [Some("AKP".into()), Some(ALGORITHM_NAMES[of].into())];
    (is_usual && !PUBLIC[of].is_empty()).then_some(of)
}
