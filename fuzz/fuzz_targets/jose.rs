//! Every reader of pq-jose: accepted input is written again as the same value, and nothing is verified
//! that was not signed.
#![no_main]

use core::time::Duration;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::Bytes;
use fuzz::pki::FixedKey;
use libfuzzer_sys::fuzz_target;
use pq_jose::cose::{CoseKey, CosePrivateKey, Sign1};
use pq_jose::jwk::{Jwk, JwkSet, PrivateJwk};
use pq_jose::jws::{Header, Jws, Message};
use pq_jose::jwt::{Claims, Policy};
use pq_x509::keys::SignatureAlgorithm;
use pq_x509::pki_types::UnixTime;

fuzz_target!(|input: Input<'_>| {
    let document = &DOCUMENTS[usize::from(input.document) % DOCUMENTS.len()];
    let bytes = input.bytes.of(document);
    read_cbor(&bytes);
    if let Ok(text) = str::from_utf8(&bytes) {
        read_keys(text);
        read_signatures(text);
        read_token(text, &input.policy);
    }
    input.claims.check(&input.policy);
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    document: u8,
    claims: AnyClaims<'a>,
    policy: AnyPolicy<'a>,
    bytes: Bytes<'a>,
}

/// A token's claims, each of which may be missing.
#[derive(Arbitrary, Debug)]
struct AnyClaims<'a> {
    issuer: Option<Word<'a>>,
    subject: Option<Word<'a>>,
    audience: Vec<Word<'a>>,
    id: Option<Word<'a>>,
    token_type: Option<Word<'a>>,
    issued_at: Option<u8>,
    not_before: Option<u8>,
    expiry: Option<u8>,
}

/// What a policy requires of a token.
#[derive(Arbitrary, Debug)]
struct AnyPolicy<'a> {
    /// `None` accepts any issuer.
    issuers: Option<Vec<Word<'a>>>,
    audiences: Option<Vec<Word<'a>>>,
    subject: Option<Word<'a>>,
    token_type: Option<Word<'a>>,
    leeway: u8,
    max_age: Option<u8>,
    without_expiry: bool,
    required: Option<Word<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Word<'a> {
    I,
    A,
    Claim,
    Media,
    Other(&'a str),
}

impl Word<'_> {
    fn text(&self) -> &str {
        match self {
            Self::I => "i",
            Self::A => "a",
            Self::Claim => "sub",
            Self::Media => "application/at+jwt",
            Self::Other(text) => text,
        }
    }
}

/// Seconds around [`NOW`].
fn time(around: u8) -> UnixTime {
    UnixTime::since_unix_epoch(NOW + Duration::from_secs(around.into()) - Duration::from_secs(128))
}

impl AnyPolicy<'_> {
    fn policy(&self) -> Policy {
        let mut policy = Policy::new().leeway(Duration::from_secs(self.leeway.into()));
        policy = match &self.issuers {
            None => policy.any_issuer(),
            Some(issuers) => (issuers.iter()).fold(policy, |it, issuer| it.issuer(issuer.text())),
        };
        policy = match &self.audiences {
            None => policy.any_audience(),
            Some(all) => (all.iter()).fold(policy, |it, audience| it.audience(audience.text())),
        };
        if let Some(subject) = &self.subject {
            policy = policy.subject(subject.text());
        }
        if let Some(token_type) = &self.token_type {
            policy = policy.token_type(token_type.text());
        }
        if let Some(age) = self.max_age {
            policy = policy.max_age(Duration::from_secs(age.into()));
        }
        if self.without_expiry {
            policy = policy.without_expiry();
        }
        match &self.required {
            Some(claim) => policy.require(claim.text()),
            None => policy,
        }
    }
}

impl AnyClaims<'_> {
    /// Checks that a token of these claims is accepted only if the policy permits all of them.
    fn check(&self, asked: &AnyPolicy<'_>) {
        let mut claims = Claims::new();
        if let Some(issuer) = &self.issuer {
            claims = claims.with_issuer(issuer.text());
        }
        if let Some(subject) = &self.subject {
            claims = claims.with_subject(subject.text());
        }
        for audience in &self.audience {
            claims = claims.with_audience(audience.text());
        }
        if let Some(id) = &self.id {
            claims = claims.with_id(id.text());
        }
        if let Some(at) = self.issued_at {
            claims = claims.with_issued_at(time(at));
        }
        if let Some(at) = self.not_before {
            claims = claims.with_not_before(time(at));
        }
        if let Some(at) = self.expiry {
            claims = claims.with_expiry(time(at));
        }
        let header = match &self.token_type {
            Some(token_type) => Header::new().with_type(token_type.text()),
            None => Header::new(),
        };
        let Ok(token) = claims.sign(&header, &*KEY) else {
            return;
        };
        let token = match asked
            .policy()
            .verify(&token, &*PUBLIC, UnixTime::since_unix_epoch(NOW))
        {
            Ok(token) => token,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let text = |word: &Option<Word<'_>>| word.as_ref().map(|word| word.text().to_owned());
        let read = token.claims();
        assert_eq!(read.issuer().map(str::to_owned), text(&self.issuer));
        assert_eq!(read.subject().map(str::to_owned), text(&self.subject));
        assert_eq!(read.id().map(str::to_owned), text(&self.id));
        assert_eq!(read.audience().len(), self.audience.len());
        assert_eq!(read.issued_at(), self.issued_at.map(time));
        assert_eq!(read.not_before(), self.not_before.map(time));
        assert_eq!(read.expiry(), self.expiry.map(time));
        assert!(read.expiry().is_some() || asked.without_expiry);
        let leeway = NOW.as_secs() + u64::from(asked.leeway);
        assert!(read.not_before().is_none_or(|at| at.as_secs() <= leeway));
        if let Some(subject) = &asked.subject {
            assert_eq!(read.subject(), Some(subject.text()));
        }
        if let Some(issuers) = &asked.issuers {
            let is = |word: &Word<'_>| read.issuer() == Some(word.text());
            assert!(issuers.iter().any(is) || issuers.is_empty() && read.issuer().is_none());
        }
    }
}

const CONTENT: &[u8] = b"content";

static KEY: LazyLock<FixedKey> = LazyLock::new(|| FixedKey::new(SignatureAlgorithm::MlDsa44, 1));

static PUBLIC: LazyLock<Jwk> = LazyLock::new(|| {
    let key = KEY.0.verifying_key().clone();
    Jwk::new(key).expect("a key of ML-DSA").with_kid("1")
});

static COSE_PUBLIC: LazyLock<CoseKey> = LazyLock::new(|| {
    let key = KEY.0.verifying_key().clone();
    CoseKey::new(key).expect("a key of ML-DSA").with_kid(b"1")
});

static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let now = UnixTime::since_unix_epoch(NOW);
    let claims = Claims::new()
        .with_issuer("i")
        .with_audience("a")
        .with_lifetime(now, NOW);
    claims.sign(&Header::new(), &*KEY).expect("a token")
});

const NOW: Duration = Duration::from_secs(1_800_000_000);

/// Valid documents of every kind.
static DOCUMENTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let private = PrivateJwk::new(KEY.0.clone()).expect("a key with a seed");
    let cose = CosePrivateKey::new(KEY.0.clone()).expect("a key with a seed");
    let set: JwkSet = [PUBLIC.clone()].into_iter().collect();
    let header = Header::new().with_kid("1");
    let (attached, detached) = (Message::new(CONTENT), Message::detached(CONTENT));
    let signers = [(header.clone(), &*KEY as _)];
    let texts = [
        private.to_json().expect("a key with a seed").to_string(),
        PUBLIC.to_json(),
        set.to_json(),
        TOKEN.clone(),
        attached.to_compact(&header, &*KEY).expect("a signature"),
        detached.to_compact(&header, &*KEY).expect("a signature"),
        attached.to_flattened(&header, &*KEY).expect("a signature"),
        detached.to_flattened(&header, &*KEY).expect("a signature"),
        attached.to_general(&signers).expect("a signature"),
    ];
    let mut documents: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    let sign1 = Sign1::new();
    documents.push(cose.to_cbor().expect("a key with a seed").to_vec());
    documents.push(COSE_PUBLIC.to_cbor());
    documents.push(sign1.sign(CONTENT, Some(b"1"), &*KEY).expect("a signature"));
    documents.push(
        sign1
            .sign_detached(CONTENT, None, &*KEY)
            .expect("a signature"),
    );
    documents
});

fn read_keys(text: &str) {
    if let Ok(key) = PrivateJwk::from_json(text) {
        let written = key.to_json().expect("a key with a seed");
        let again = PrivateJwk::from_json(&written).expect("what was written");
        assert_eq!(again.public().to_json(), key.public().to_json());
        assert!(Jwk::from_json(text).is_err());
    }
    if let Ok(key) = Jwk::from_json(text) {
        let again = Jwk::from_json(&key.to_json()).expect("what was written");
        assert_eq!(again.to_json(), key.to_json());
        assert_eq!(again.thumbprint(), key.thumbprint());
    }
    if let Ok(set) = JwkSet::from_json(text) {
        let again = JwkSet::from_json(&set.to_json()).expect("what was written");
        assert_eq!(again.to_json(), set.to_json());
    }
}

fn read_signatures(text: &str) {
    for jws in [Jws::from_compact(text), Jws::from_json(text)] {
        match jws {
            Ok(jws) => {
                for verified in [jws.verify(&*PUBLIC), jws.verify_any(&*PUBLIC)] {
                    match verified {
                        // The token has another payload.
                        Ok(verified) => assert!(verified.payload() == CONTENT || text == *TOKEN),
                        Err(error) => drop(error.to_string()),
                    }
                }
                assert!(jws.verify_detached(b"other", &*PUBLIC).is_err());
                let _ = jws.verify_detached(CONTENT, &*PUBLIC);
            }
            Err(error) => drop(error.to_string()),
        }
    }
}

fn read_token(text: &str, asked: &AnyPolicy<'_>) {
    if asked
        .policy()
        .verify(text, &*PUBLIC, UnixTime::since_unix_epoch(NOW))
        .is_ok()
    {
        assert_eq!(text, *TOKEN);
    }
    let policy = Policy::new().any_issuer().any_audience().leeway(NOW);
    let now = UnixTime::since_unix_epoch(NOW);
    match policy.verify(text, &*PUBLIC, now) {
        Ok(_) => assert_eq!(text, *TOKEN),
        Err(error) => drop(error.to_string()),
    }
}

fn read_cbor(bytes: &[u8]) {
    if let Ok(key) = CosePrivateKey::from_cbor(bytes) {
        let written = key.to_cbor().expect("a key with a seed");
        let again = CosePrivateKey::from_cbor(&written).expect("what was written");
        assert_eq!(again.public().to_cbor(), key.public().to_cbor());
    }
    match CoseKey::from_cbor(bytes) {
        Ok(key) => {
            let again = CoseKey::from_cbor(&key.to_cbor()).expect("what was written");
            assert_eq!(again.to_cbor(), key.to_cbor());
        }
        Err(error) => drop(error.to_string()),
    }
    for sign1 in [Sign1::new(), Sign1::new().untagged()] {
        match sign1.verify(bytes, &*COSE_PUBLIC) {
            Ok(verified) => assert_eq!(verified.payload(), CONTENT),
            Err(error) => drop(error.to_string()),
        }
        assert!(
            sign1
                .verify_detached(bytes, b"other", &*COSE_PUBLIC)
                .is_err()
        );
    }
}
