//! JSON and CBOR with any members and valid signatures: readers accept what a model of the rules accepts, refuse the
//! rest for the reasons that the model gives, and read the values that were written.
#![no_main]

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use fuzz::jose::cbor::{
    Cbor, Parameter, Parameters, are_labels, parameter, with_parameters, write_head,
};
use fuzz::jose::json::{Json, Member, NOW, Number, get, may_be_text, member, now, with};
use fuzz::jose::{
    ALGORITHM_NAMES, ALGORITHMS, COSE_NUMBERS, KEYS, Word, base64url, check_secrecy, index, seed,
};
use fuzz::one_of;
use libfuzzer_sys::fuzz_target;
use pq_jose::Algorithm;
use pq_jose::cose::{CoseError, CoseKey, CosePrivateKey, Sign1};
use pq_jose::jwk::{Jwk, JwkSet, PrivateJwk};
use pq_jose::jws::{Header, Jws, JwsError, Message};
use pq_jose::jwt::{Claims, JwtError, Policy, further_claims};
use pq_x509::keys::{Signer, VerifyingKey};
use pq_x509::pki_types::UnixTime;

fuzz_target!(|input: Input<'_>| match input {
    Input::Key(key) => key.check(),
    Input::Set { keys, members } => check_set(&keys, &members),
    Input::Signature(signature) => signature.check(),
    Input::Token(token) => token.check(),
    Input::CoseKey(key) => key.check(),
    Input::Sign1(sign1) => sign1.check(),
    Input::Made(made) => made.check(),
});

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Key(AnyKey<'a>),
    Set {
        keys: Vec<AnyKey<'a>>,
        members: Vec<Member<'a>>,
    },
    Signature(AnySignatures<'a>),
    Token(Box<AnyToken<'a>>),
    CoseKey(AnyCoseKey<'a>),
    Sign1(AnySign1<'a>),
    Made(Made<'a>),
}

// The most bytes that are read.
const MAX_KEY_LEN: usize = 64 * 1024;
const MAX_SET_LEN: usize = 1024 * 1024;
/// The most keys of a set that are told as left out.
const MOST_LEFT_OUT: usize = 32;
const MAX_HEADER_LEN: usize = 64 * 1024;
const MAX_TOKEN_LEN: usize = 256 * 1024;

// Keys.

#[derive(Arbitrary, Clone, Debug)]
struct AnyKey<'a> {
    of: u8,
    is_private: bool,
    kid: Option<Word<'a>>,
    usage: Option<Word<'a>>,
    operations: Option<Vec<Word<'a>>>,
    members: Vec<Member<'a>>,
    without: Option<u8>,
}

/// The result of reading a key.
#[derive(Debug, Eq, PartialEq)]
enum Class {
    Good(usize, Option<String>),
    /// Of another type or algorithm: key sets ignore it.
    Foreign,
    /// Damaged, private or for another use: key sets leave it out, and say so.
    Bad,
}

impl<'a> AnyKey<'a> {
    fn members(&self) -> Vec<Member<'a>> {
        let mut members = vec![
            member("kty", Json::Text(Word::Other("AKP"))),
            member(
                "alg",
                Json::Text(Word::Other(one_of(&ALGORITHM_NAMES, self.of))),
            ),
            member("pub", Json::Public(self.of)),
        ];
        if self.is_private {
            members.push(member("priv", Json::Seed(self.of)));
        }
        members.extend(self.kid.map(|kid| member("kid", Json::Text(kid))));
        members.extend(self.usage.map(|usage| member("use", Json::Text(usage))));
        if let Some(operations) = &self.operations {
            let operations = operations.iter().map(|it| Json::Text(*it)).collect();
            members.push(member("key_ops", Json::Array(operations)));
        }
        if let Some(without) = self.without {
            members.remove(usize::from(without) % members.len());
        }
        with(members, &self.members)
    }

    fn check(&self) {
        let members = self.members();
        let text = Json::Object(members.clone()).to_text();
        let is_sound = Json::Object(members.clone()).is_sound(0);
        // Errors may show the contents of other members than `priv`.
        let own_seed = base64url(&seed(self.of));
        let is_secret = (members.iter())
            .all(|it| it.name.text() == "priv" || !it.value.to_text().contains(&own_seed));
        let check_error = |text: &str| {
            if is_secret {
                check_secrecy(text, self.of);
            }
        };
        let expected = match is_sound {
            true => classify(&members, false),
            false => Class::Bad,
        };
        match Jwk::from_json(&text) {
            Ok(key) => {
                assert_eq!(
                    expected,
                    Class::Good(of_key(&key), key.kid().map(Into::into))
                );
                let again = Jwk::from_json(&key.to_json()).expect("what was written");
                assert_eq!(again.to_json(), key.to_json());
                let thumbprint = key.thumbprint().to_string();
                assert_eq!(thumbprint, base64url(key.thumbprint().as_bytes()));
                let named = again.with_thumbprint_as_kid();
                assert_eq!(named.kid(), Some(&*thumbprint));
                assert_eq!(named.thumbprint(), key.thumbprint());
            }
            Err(error) => {
                assert!(!matches!(expected, Class::Good(..)), "{error}");
                check_error(&error.to_string());
            }
        }
        let expected = match is_sound {
            true => classify(&members, true),
            false => Class::Bad,
        };
        match PrivateJwk::from_json(&text) {
            Ok(key) => {
                let public = key.public();
                let kid = public.kid().map(Into::into);
                assert_eq!(expected, Class::Good(of_key(public), kid));
                let named = key.clone().with_thumbprint_as_kid();
                assert_eq!(
                    named.public().kid(),
                    Some(&*public.thumbprint().to_string())
                );
                assert_eq!(key.signing_key().verifying_key(), public.verifying_key());
                let header = Header::new().with_kid("1");
                let signed = Message::new(b"a").to_compact(&header, &key).expect("a key");
                let key = key.with_kid("1");
                let jws = Jws::from_compact(&signed).expect("a signature");
                assert_eq!(
                    jws.verify(key.public())
                        .expect("a signature")
                        .into_payload(),
                    b"a"
                );
                check_secrecy(&format!("{key:?}"), self.of);
            }
            Err(error) => {
                assert!(!matches!(expected, Class::Good(..)), "{error}");
                check_error(&error.to_string());
            }
        }
    }
}

/// Which of [`KEYS`] it is.
fn of_key(key: &Jwk) -> usize {
    of_verifying_key(key.verifying_key(), key.algorithm())
}

fn of_verifying_key(key: &VerifyingKey, algorithm: Algorithm) -> usize {
    let of = KEYS.iter().position(|it| it.0.verifying_key() == key);
    let of = of.expect("no other key");
    assert_eq!(algorithm, ALGORITHMS[of]);
    of
}

/// The result that readers of private or of public keys must come to for these members.
fn classify(members: &[Member<'_>], is_private: bool) -> Class {
    if Json::Object(members.to_vec()).to_text().len() > MAX_KEY_LEN {
        return Class::Bad;
    }
    let Some(kty) = get(members, "kty").and_then(Json::text) else {
        return Class::Bad;
    };
    if !may_be_text(members, "alg") {
        return Class::Bad;
    }
    if kty != "AKP" {
        return Class::Foreign;
    }
    let Some(alg) = get(members, "alg").and_then(Json::text) else {
        return Class::Bad;
    };
    if !ALGORITHM_NAMES.contains(&&*alg) {
        return Class::Foreign;
    }
    let texts = ["pub", "priv", "kid", "use"];
    let operations = get(members, "key_ops").map(Json::texts);
    if !texts.iter().all(|name| may_be_text(members, name)) || operations == Some(None) {
        return Class::Bad;
    }
    // `pub` and `priv` are read without a copy, so they may not have escapes.
    let is_plain = |name| match get(members, name) {
        Some(Json::Escaped(word)) => word.text().is_empty(),
        Some(Json::Text(word)) => !word.text().contains(|it| matches!(it, '"' | '\\' | ..=' ')),
        _ => true,
    };
    let private = get(members, "priv");
    if private.is_some() != is_private || !is_plain("pub") || !is_plain("priv") {
        return Class::Bad;
    }
    let operation = if is_private { "sign" } else { "verify" };
    let has = |name, which: &dyn Fn(&Json<'_>) -> bool| get(members, name).is_some_and(which);
    if has("use", &|it| it.text().as_deref() != Some("sig"))
        || has("key_ops", &|it| {
            !it.texts()
                .unwrap_or_default()
                .iter()
                .any(|it| it == operation)
        })
    {
        return Class::Bad;
    }
    match get(members, "pub") {
        Some(Json::Public(of)) if one_of(&ALGORITHM_NAMES, *of) == alg => {
            let is_own = |it: &Json<'_>| matches!(it, Json::Seed(own) if index(*own) == index(*of));
            match private.is_none_or(is_own) {
                true => Class::Good(index(*of), get(members, "kid").and_then(Json::text)),
                false => Class::Bad,
            }
        }
        _ => Class::Bad,
    }
}

fn check_set(keys: &[AnyKey<'_>], members: &[Member<'_>]) {
    let all: Vec<_> = keys.iter().map(AnyKey::members).collect();
    let objects = all.iter().map(|it| Json::Object(it.clone())).collect();
    let is_own = |it: &&Member<'_>| it.name.text() != "keys";
    let members: Vec<_> = members.iter().filter(is_own).cloned().collect();
    let members = with(vec![member("keys", Json::Array(objects))], &members);
    let text = Json::Object(members.clone()).to_text();
    let names: BTreeSet<_> = members.iter().map(|it| it.name.text()).collect();
    let are_named = |it: &Member<'_>| !it.name.text().starts_with("$serde_json::private::");
    let are_others_sound = (members.iter())
        .filter(|it| it.name.text() != "keys")
        .all(|it| it.value.is_sound(0));
    let is_sound = names.len() == members.len()
        && members.iter().all(are_named)
        && are_others_sound
        && all.iter().flatten().all(|it| it.value.is_json())
        && text.len() <= MAX_SET_LEN;
    let mut expected = is_sound.then(Vec::new);
    let mut left_out = 0;
    for key in &all {
        let class = match Json::Object(key.clone()).is_sound(0) {
            true => classify(key, false),
            false => Class::Bad,
        };
        match class {
            Class::Good(of, kid) => {
                if let Some(expected) = &mut expected {
                    expected.push((of, kid));
                }
            }
            Class::Foreign => {}
            Class::Bad => left_out += 1,
        }
    }
    match JwkSet::from_json(&text) {
        Ok(set) => {
            let found = set.keys().iter();
            let found = found
                .map(|it| (of_key(it), it.kid().map(Into::into)))
                .collect();
            assert_eq!(Some(found), expected);
            assert_eq!(set.left_out().len(), left_out.min(MOST_LEFT_OUT));
            let again = JwkSet::from_json(&set.to_json()).expect("what was written");
            assert_eq!(again.to_json(), set.to_json());
        }
        Err(error) => assert!(expected.is_none(), "{error}"),
    }
}

/// Keys to verify with, and their key identifiers.
#[derive(Arbitrary, Debug)]
struct AnyTrusted<'a> {
    keys: Vec<(u8, Option<Word<'a>>)>,
    /// The signer's key is not added.
    without_signer: bool,
    signer: Option<Word<'a>>,
}

type Trusted<'a> = Vec<(u8, Option<Word<'a>>)>;

impl<'a> AnyTrusted<'a> {
    fn with(&self, signer: u8) -> Trusted<'a> {
        let mut keys = self.keys.clone();
        if !self.without_signer {
            keys.push((signer, self.signer));
        }
        keys
    }
}

/// A signature, or zeros, which take no time, if no trusted key would verify it.
fn sign(of: u8, message: &[u8], is_damaged: bool, trusted: &Trusted<'_>) -> Vec<u8> {
    let key = &KEYS[index(of)];
    if !trusted.iter().any(|(it, _)| index(*it) == index(of)) {
        return vec![0; 100];
    }
    let mut signature = key.sign(message).expect("a signature");
    if is_damaged {
        signature[0] ^= 1;
    }
    signature
}

fn jwks(trusted: &Trusted<'_>) -> JwkSet {
    let keys = trusted.iter().map(|(of, kid)| {
        let key = KEYS[index(*of)].0.verifying_key().clone();
        let key = Jwk::try_from(key).expect("a key of ML-DSA");
        match kid {
            Some(kid) => key.with_kid(kid.text()),
            None => key,
        }
    });
    keys.collect()
}

/// Why none of the trusted keys verifies a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoKey {
    None,
    OtherKid,
    OtherAlgorithm,
    Invalid,
}

/// The index of the trusted key that verifies a signature with this key identifier and algorithm. `signer` made the
/// signature; it is `None` if the signature is invalid.
fn find(
    trusted: &Trusted<'_>,
    kid: Option<&[u8]>,
    algorithm: Option<Algorithm>,
    signer: Option<usize>,
) -> Result<usize, NoKey> {
    if trusted.is_empty() {
        return Err(NoKey::None);
    }
    let named = trusted
        .iter()
        .enumerate()
        .filter(|(_, (_, own))| match (kid, own) {
            (Some(kid), Some(own)) => kid == own.text().as_bytes(),
            _ => true,
        });
    let named: Vec<_> = named.collect();
    let fit = |of: u8| Some(one_of(&ALGORITHMS, of)) == algorithm;
    match named
        .iter()
        .find(|(_, (of, _))| fit(*of) && Some(index(*of)) == signer)
    {
        Some((at, _)) => Ok(*at),
        None if named.is_empty() => Err(NoKey::OtherKid),
        None if named.iter().any(|(_, (of, _))| fit(*of)) => Err(NoKey::Invalid),
        None => Err(NoKey::OtherAlgorithm),
    }
}

fn algorithm_named(name: &str) -> Option<Algorithm> {
    let at = ALGORITHM_NAMES.iter().position(|it| *it == name)?;
    Some(ALGORITHMS[at])
}

// Signatures.

#[derive(Arbitrary, Debug)]
struct AnySignatures<'a> {
    form: Form,
    is_detached: bool,
    content: &'a [u8],
    signatures: Vec<AnySignature<'a>>,
    members: Vec<Member<'a>>,
    trusted: AnyTrusted<'a>,
}

#[derive(Arbitrary, Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Compact,
    Flattened,
    General,
}

#[derive(Arbitrary, Debug)]
struct AnySignature<'a> {
    of: u8,
    kid: Option<Word<'a>>,
    algorithm: Option<Word<'a>>,
    protected: Vec<Member<'a>>,
    unprotected: Option<Vec<Member<'a>>>,
    is_damaged: bool,
}

impl<'a> AnySignature<'a> {
    fn protected(&self) -> Vec<Member<'a>> {
        let name = Json::Text(Word::Other(one_of(&ALGORITHM_NAMES, self.of)));
        let name = self.algorithm.map_or(name, Json::Text);
        let mut own = vec![member("alg", name)];
        own.extend(self.kid.map(|kid| member("kid", Json::Text(kid))));
        with(own, &self.protected)
    }

    /// The protected header and the signature, encoded.
    fn sign(&self, payload: &str, trusted: &Trusted<'_>) -> [String; 2] {
        let header = base64url(Json::Object(self.protected()).to_text().as_bytes());
        let signed = format!("{header}.{payload}");
        let signature = sign(self.of, signed.as_bytes(), self.is_damaged, trusted);
        [header, base64url(&signature)]
    }

    fn is_read(&self, form: Form) -> bool {
        const TEXTS: [&str; 3] = ["kid", "typ", "cty"];

        let protected = self.protected();
        let has = |name: &str| get(&protected, name).is_some();
        let text = Json::Object(protected.clone()).to_text();
        let mut is_read = Json::Object(protected.clone()).is_sound(0)
            && text.len() <= MAX_HEADER_LEN
            && !has("crit")
            && !has("b64")
            && get(&protected, "alg").is_some_and(|it| it.text().is_some())
            && TEXTS.iter().all(|name| may_be_text(&protected, name));
        if let Some(unprotected) = &self.unprotected
            && form != Form::Compact
        {
            let is_allowed = |it: &Member<'_>| {
                let name = it.name.text();
                !["alg", "crit", "b64"].contains(&name) && !has(name)
            };
            is_read &= unprotected.iter().all(is_allowed)
                && TEXTS.iter().all(|name| may_be_text(unprotected, name));
        }
        is_read
    }

    /// The index of the key that verifies it; `is_content` says whether the content is what was signed.
    fn verify(&self, form: Form, trusted: &Trusted<'_>, is_content: bool) -> Result<usize, NoKey> {
        let protected = self.protected();
        let unprotected = self.unprotected.iter().filter(|_| form != Form::Compact);
        let mut headers = [&protected].into_iter().chain(unprotected);
        let kid = headers.find_map(|it| get(it, "kid")).and_then(Json::text);
        let alg = get(&protected, "alg").and_then(Json::text);
        let signer = (is_content && !self.is_damaged).then_some(index(self.of));
        let kid = kid.as_deref().map(str::as_bytes);
        find(
            trusted,
            kid,
            algorithm_named(&alg.unwrap_or_default()),
            signer,
        )
    }
}

impl AnySignatures<'_> {
    fn check(&self) {
        let form = self.form;
        let most = if form == Form::General { 17 } else { 1 };
        let signatures = &self.signatures[..self.signatures.len().min(most)];
        if signatures.is_empty() && form != Form::General {
            return;
        }
        let payload = base64url(self.content);
        let trusted = self.trusted.with(signatures.first().map_or(0, |it| it.of));
        let signed: Vec<_> = (signatures.iter())
            .map(|it| it.sign(&payload, &trusted))
            .collect();
        let attached = if self.is_detached { "" } else { &payload };
        let of_one = |at: usize| {
            let [protected, signature] = &signed[at];
            let mut members = vec![
                member("signature", Json::Text(Word::Other(signature))),
                member("protected", Json::Text(Word::Other(protected))),
            ];
            if let Some(unprotected) = &signatures[at].unprotected {
                members.push(member("header", Json::Object(unprotected.clone())));
            }
            members
        };
        let mut members = match form {
            Form::Compact => Vec::new(),
            Form::Flattened => of_one(0),
            Form::General => {
                let all = (0..signatures.len()).map(|at| Json::Object(of_one(at)));
                vec![member("signatures", Json::Array(all.collect()))]
            }
        };
        if !self.is_detached {
            members.push(member("payload", Json::Text(Word::Other(attached))));
        }
        let members = with(members, &self.members);
        let text = match form {
            Form::Compact => format!("{}.{attached}.{}", signed[0][0], signed[0][1]),
            _ => Json::Object(members.clone()).to_text(),
        };
        let is_json = form != Form::Compact;
        const OWN: [&str; 5] = ["payload", "protected", "header", "signature", "signatures"];
        // The model doesn't predict the effect of changing these, only that the output was signed.
        let is_unpredictable =
            is_json && self.members.iter().any(|it| OWN.contains(&it.name.text()));
        let is_read = (!is_json || Json::Object(members).is_sound(0))
            && (1..=16).contains(&signatures.len())
            && signatures.iter().all(|it| it.is_read(form));
        let jws = match is_json {
            true => Jws::from_json(&text),
            false => Jws::from_compact(&text),
        };
        let jws = match jws {
            Ok(jws) => jws,
            Err(error) => return assert!(!is_read || is_unpredictable, "{error}"),
        };
        assert!(is_read || is_unpredictable);
        assert!(is_unpredictable || jws.unverified_headers().count() == signatures.len());

        let keys = jwks(&trusted);
        let is_there = !self.is_detached || !is_json;
        let expect = |content: &[u8]| {
            let verified =
                (signatures.iter()).map(|it| it.verify(form, &trusted, content == self.content));
            verified.collect::<Vec<_>>()
        };
        let expected = expect(if self.is_detached { &[] } else { self.content });
        match jws.verify(&keys) {
            Ok(verified) => {
                assert_eq!(
                    verified.payload(),
                    if self.is_detached && !is_unpredictable {
                        &[]
                    } else {
                        self.content
                    }
                );
                if !is_unpredictable {
                    assert!(is_there);
                    let places = verified
                        .signatures()
                        .iter()
                        .map(|it| Ok(place(&keys, it.key())));
                    assert_eq!(places.collect::<Vec<_>>(), expected);
                    for (signature, verified) in signatures.iter().zip(verified.signatures()) {
                        check_header(&signature.protected(), verified.header());
                    }
                }
            }
            Err(error) if is_unpredictable => drop(error.to_string()),
            Err(JwsError::Detached) => assert!(!is_there),
            Err(error) => {
                let refusal = expected.iter().find_map(|it| it.err());
                assert_eq!(Some(no_key(&error)), refusal, "{error}");
            }
        }
        match jws.verify_any(&keys) {
            _ if is_unpredictable => {}
            Ok(verified) => {
                let valid = expected.iter().filter(|it| it.is_ok()).count();
                assert_eq!(verified.signatures().len(), valid);
            }
            Err(_) => assert!(!is_there || expected.iter().all(Result::is_err)),
        }
        let expected = expect(self.content);
        match jws.verify_detached(self.content, &keys) {
            _ if is_unpredictable => {}
            Ok(verified) => {
                assert!(self.is_detached || self.content.is_empty());
                let places = verified.iter().map(|it| Ok(place(&keys, it.key())));
                assert_eq!(places.collect::<Vec<_>>(), expected);
            }
            Err(JwsError::NotDetached) => assert!(!self.is_detached && !self.content.is_empty()),
            Err(error) => {
                assert_eq!(
                    Some(no_key(&error)),
                    expected.iter().find_map(|it| it.err())
                );
            }
        }
    }
}

fn place(keys: &JwkSet, key: &Jwk) -> usize {
    let at = keys.keys().iter().position(|it| core::ptr::eq(it, key));
    at.expect("one of the keys")
}

fn no_key(error: &JwsError) -> NoKey {
    assert!(!error.to_string().is_empty());
    match error {
        JwsError::NoKeys => NoKey::None,
        JwsError::NoSuchKey(_) => NoKey::OtherKid,
        JwsError::OtherAlgorithm { .. } => NoKey::OtherAlgorithm,
        JwsError::Invalid => NoKey::Invalid,
        other => panic!("{other}"),
    }
}

/// Checks that a header was read as it was signed.
fn check_header(members: &[Member<'_>], header: &Header) {
    let text = |name| get(members, name).and_then(Json::text);
    assert_eq!(header.kid().map(Into::into), text("kid"));
    assert_eq!(header.media_type().map(Into::into), text("typ"));
    assert_eq!(header.content_type().map(Into::into), text("cty"));
    for member in members {
        let value = header.get(member.name.text()).expect("a member");
        if let Some(text) = member.value.text() {
            assert_eq!(value.as_str(), Some(&*text));
        }
    }
}

// Tokens.

#[derive(Arbitrary, Debug)]
struct AnyToken<'a> {
    of: u8,
    kid: Option<Word<'a>>,
    token_type: Option<Word<'a>>,
    /// Whether the policy is set to accept the token's issuer, subject and type.
    takes: [bool; 3],
    header: Vec<Member<'a>>,
    claims: AnyClaims<'a>,
    members: Vec<Member<'a>>,
    policy: AnyPolicy<'a>,
    trusted: AnyTrusted<'a>,
    is_damaged: bool,
}

#[derive(Arbitrary, Debug)]
struct AnyClaims<'a> {
    issuer: Option<Word<'a>>,
    subject: Option<Word<'a>>,
    audience: Option<Vec<Word<'a>>>,
    expiry: Option<Number>,
    not_before: Option<Number>,
    issued_at: Option<Number>,
}

#[derive(Arbitrary, Clone, Debug)]
struct AnyPolicy<'a> {
    /// `None` accepts any issuer.
    issuer: Option<Word<'a>>,
    audiences: Option<[Word<'a>; 2]>,
    subject: Option<Word<'a>>,
    token_type: Option<Word<'a>>,
    leeway: u8,
    max_age: Option<u8>,
    without_expiry: bool,
    required: Option<Word<'a>>,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    Signature,
    Json,
    Type,
    Nested,
    Issuer,
    Audience,
    Subject,
    Expired,
    NotYet,
    FromTheFuture,
    TooOld,
    Missing,
}

impl AnyToken<'_> {
    fn claims(&self) -> Vec<Member<'_>> {
        let claims = &self.claims;
        let mut members = Vec::new();
        if let Some(issuer) = claims.issuer {
            members.push(member("iss", Json::Text(issuer)));
        }
        if let Some(subject) = claims.subject {
            members.push(member("sub", Json::Text(subject)));
        }
        if let Some(audience) = &claims.audience {
            let audience = audience.iter().map(|it| Json::Text(*it)).collect();
            members.push(member("aud", Json::Array(audience)));
        }
        let times = [
            ("exp", claims.expiry),
            ("nbf", claims.not_before),
            ("iat", claims.issued_at),
        ];
        for (name, time) in times {
            members.extend(time.map(|time| member(name, Json::Number(time))));
        }
        with(members, &self.members)
    }

    fn check(&self) {
        let claims = self.claims();
        let mut asked = self.policy.clone();
        let own = [self.claims.issuer, self.claims.subject, self.token_type];
        let fields = [&mut asked.issuer, &mut asked.subject, &mut asked.token_type];
        for ((field, own), takes) in fields.into_iter().zip(own).zip(self.takes) {
            if takes {
                *field = own;
            }
        }
        let mut header = Vec::new();
        header.extend(self.token_type.map(|it| member("typ", Json::Text(it))));
        let text = Json::Object(claims.clone()).to_text();
        let is_sound = Json::Object(claims.clone()).is_sound(0);
        let signature = AnySignature {
            of: self.of,
            kid: self.kid,
            algorithm: None,
            protected: with(header, &self.header),
            unprotected: None,
            is_damaged: self.is_damaged,
        };
        let payload = base64url(text.as_bytes());
        let trusted = self.trusted.with(self.of);
        let [encoded, signed] = signature.sign(&payload, &trusted);
        let token = format!("{encoded}.{payload}.{signed}");
        let keys = jwks(&trusted);
        if token.len() > MAX_TOKEN_LEN {
            let refused = asked.policy().verify(&token, &keys, now());
            assert!(matches!(refused, Err(JwtError::TooLong(len)) if len == token.len()));
            return;
        }
        let key = signature.verify(Form::Compact, &trusted, true);
        let mut faults = Vec::new();
        if !signature.is_read(Form::Compact) || key.is_err() {
            faults.push(Fault::Signature);
        }
        asked.judge_header(&signature.protected(), &mut faults);
        match is_sound {
            true => asked.judge(&claims, &mut faults),
            false => faults.push(Fault::Json),
        }
        let policy = asked.policy();
        match policy.verify(&token, &keys, now()) {
            Ok(verified) => {
                assert!(faults.is_empty(), "{faults:?}");
                assert_eq!(Ok(place(&keys, verified.key())), key);
                check_header(&signature.protected(), verified.header());
                let read = verified.into_claims();
                let text = |name| get(&claims, name).and_then(Json::text);
                let time = |name| get(&claims, name).and_then(Json::time);
                assert_eq!(read.issuer().map(Into::into), text("iss"));
                assert_eq!(read.subject().map(Into::into), text("sub"));
                assert_eq!(read.id().map(Into::into), text("jti"));
                assert_eq!(read.audience(), audience(&claims).expect("an audience"));
                let seconds = |time: Option<UnixTime>| time.map(|time| time.as_secs());
                assert_eq!(seconds(read.expiry()), time("exp").map(|it| it.0));
                assert_eq!(seconds(read.not_before()), time("nbf").map(|it| it.1));
                assert_eq!(seconds(read.issued_at()), time("iat").map(|it| it.1));
            }
            Err(error) => assert!(faults.contains(&fault(&error)), "{error}: {faults:?}"),
        }
        // Further claims must have the type that the application asks for.
        let are_texts = is_sound && claims.iter().all(|it| it.value.text().is_some());
        type Texts = BTreeMap<String, String>;
        let texts = further_claims::<Texts>(text.as_bytes());
        assert_eq!(texts.is_ok(), are_texts);
        let more = policy.verify_with::<Texts>(&token, &keys, now());
        assert_eq!(more.is_ok(), are_texts && faults.is_empty());
        if let (Ok(texts), Ok(more)) = (texts, more) {
            assert_eq!(*more.claims().more(), texts);
        }
    }
}

/// The audience of claims; `None` if `aud` is malformed.
fn audience(claims: &[Member<'_>]) -> Option<Vec<String>> {
    match get(claims, "aud") {
        None => Some(Vec::new()),
        Some(value) => value.text().map(|one| vec![one]).or_else(|| value.texts()),
    }
}

fn fault(error: &JwtError) -> Fault {
    assert!(!error.to_string().is_empty());
    match error {
        JwtError::Jws(_) => Fault::Signature,
        JwtError::Json(_) => Fault::Json,
        JwtError::Type { .. } => Fault::Type,
        JwtError::Nested => Fault::Nested,
        JwtError::Issuer { .. } => Fault::Issuer,
        JwtError::Audience { .. } => Fault::Audience,
        JwtError::Subject { .. } => Fault::Subject,
        JwtError::Expired(_) => Fault::Expired,
        JwtError::NotYet(_) => Fault::NotYet,
        JwtError::FromTheFuture(_) => Fault::FromTheFuture,
        JwtError::TooOld(_) => Fault::TooOld,
        JwtError::Missing(_) => Fault::Missing,
        other => panic!("{other}"),
    }
}

impl AnyPolicy<'_> {
    fn policy(&self) -> Policy {
        let mut policy = Policy::default().leeway(Duration::from_secs(self.leeway.into()));
        policy = match self.issuer {
            Some(issuer) => policy.issuer(issuer.text()),
            None => policy.any_issuer(),
        };
        policy = match self.audiences {
            Some([one, other]) => policy.audience(one.text()).audience(other.text()),
            None => policy.any_audience(),
        };
        if let Some(subject) = self.subject {
            policy = policy.subject(subject.text());
        }
        if let Some(token_type) = self.token_type {
            policy = policy.token_type(token_type.text());
        }
        if let Some(age) = self.max_age {
            policy = policy.max_age(Duration::from_secs(age.into()));
        }
        if self.without_expiry {
            policy = policy.without_expiry();
        }
        match self.required {
            Some(claim) => policy.require(claim.text()),
            None => policy,
        }
    }

    /// Adds all faults of a token's header.
    fn judge_header(&self, header: &[Member<'_>], faults: &mut Vec<Fault>) {
        let short = |type_: &str| {
            let lower = type_.to_ascii_lowercase();
            match lower.strip_prefix("application/") {
                Some(rest) if !rest.contains('/') => rest.to_owned(),
                _ => lower,
            }
        };
        let mut note = |is_wrong: bool, fault| {
            if is_wrong {
                faults.push(fault);
            }
        };
        let content_type = get(header, "cty").and_then(Json::text);
        note(
            content_type.is_some_and(|it| short(&it) == "jwt"),
            Fault::Nested,
        );
        let expected = self.token_type.map(Word::text);
        let is_other = match get(header, "typ").and_then(Json::text) {
            Some(found) => short(&found) != short(expected.unwrap_or("JWT")),
            None => expected.is_some(),
        };
        note(is_other, Fault::Type);
    }

    /// Adds all faults of a token's claims.
    fn judge(&self, claims: &[Member<'_>], faults: &mut Vec<Fault>) {
        let mut note = |is_wrong: bool, fault| {
            if is_wrong {
                faults.push(fault);
            }
        };
        let text = |name| get(claims, name).and_then(Json::text);
        let times = ["exp", "nbf", "iat"].map(|name| get(claims, name).map(Json::time));
        let are_texts = ["iss", "sub", "jti"]
            .iter()
            .all(|it| may_be_text(claims, it));
        let audience = audience(claims);
        note(
            !are_texts || audience.is_none() || times.contains(&Some(None)),
            Fault::Json,
        );

        let is_other = |expected: Option<Word<'_>>, name| {
            expected.is_some_and(|it| text(name).as_deref() != Some(it.text()))
        };
        note(is_other(self.issuer, "iss"), Fault::Issuer);
        note(is_other(self.subject, "sub"), Fault::Subject);
        let audience = audience.unwrap_or_default();
        let is_in = |it: &Word<'_>| audience.iter().any(|one| one == it.text());
        note(
            self.audiences.is_some_and(|all| !all.iter().any(is_in)),
            Fault::Audience,
        );

        let (now, leeway) = (NOW.as_secs(), u64::from(self.leeway));
        let [expiry, not_before, issued_at] = times.map(Option::flatten);
        note(expiry.is_none() && !self.without_expiry, Fault::Missing);
        note(
            expiry.is_some_and(|(end, _)| end <= now - leeway),
            Fault::Expired,
        );
        let is_to_come = |time: Option<(u64, u64)>| time.is_some_and(|(_, at)| at > now + leeway);
        note(is_to_come(not_before), Fault::NotYet);
        note(is_to_come(issued_at), Fault::FromTheFuture);
        if let Some(age) = self.max_age {
            note(issued_at.is_none(), Fault::Missing);
            let end = |(_, at): (u64, u64)| at.saturating_add(age.into());
            note(
                issued_at.is_some_and(|it| end(it) < now - leeway),
                Fault::TooOld,
            );
        }
        let is_null = |it: &Json<'_>| matches!(it, Json::Null);
        let is_missing = |it: Word<'_>| get(claims, it.text()).is_none_or(is_null);
        note(self.required.is_some_and(is_missing), Fault::Missing);
    }
}

// Signatures and tokens that pq-jose itself makes.

/// A signature in one of the forms and a token, both made and read by pq-jose.
#[derive(Arbitrary, Debug)]
struct Made<'a> {
    of: u8,
    form: Form,
    kid: Word<'a>,
    type_: Word<'a>,
    content_type: Word<'a>,
    content: &'a [u8],
    name: Word<'a>,
    number: i64,
}

impl Made<'_> {
    fn check(&self) {
        let key = &KEYS[index(self.of)];
        let header = Header::new()
            .with_kid(self.kid.text())
            .with_type(self.type_.text())
            .with_content_type(self.content_type.text());
        let public = Jwk::new(key.0.verifying_key().clone()).expect("a key of ML-DSA");
        let public = public.with_kid(self.kid.text());
        let message = Message::new(self.content);
        let other = &KEYS[(index(self.of) + 1) % 4];
        let text = match self.form {
            Form::Compact => message.to_compact(&header, key),
            Form::Flattened => message.to_flattened(&header, key),
            Form::General => message.to_general(&[(header.clone(), key), (header.clone(), other)]),
        };
        let text = text.expect("a signature");
        let jws = match self.form {
            Form::Compact => Jws::from_compact(&text),
            _ => Jws::from_json(&text),
        };
        let jws = jws.expect("a signature");
        let verified = jws.verify_any(&public).expect("a signature");
        assert_eq!(verified.payload(), self.content);
        let read = verified.signatures()[0].header();
        assert_eq!(read.kid(), header.kid());
        assert_eq!(read.media_type(), header.media_type());
        assert_eq!(read.content_type(), header.content_type());
        // The general form has a signature by another key, too.
        assert_eq!(jws.verify(&public).is_ok(), self.form != Form::General);
        let again = message.to_compact(read, other).expect("a signature");
        assert!(
            Jws::from_compact(&again)
                .expect("a signature")
                .verify(&public)
                .is_err()
        );
        assert!(message.to_general(&[]).is_err());

        let claim = self.name.text();
        let more = BTreeMap::from([(claim.to_owned(), self.number)]);
        let claims = Claims::new()
            .with_lifetime(now(), NOW)
            .with_more(more.clone());
        const CLAIMS: [&str; 7] = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"];
        match claims.sign(&Header::new(), key) {
            Ok(token) => {
                let verified =
                    Policy::new().verify_with::<BTreeMap<String, i64>>(&token, &public, now());
                match verified {
                    Ok(verified) => {
                        assert_eq!(verified.claims().more().get(claim), Some(&self.number));
                    }
                    Err(error) => assert!(claim.starts_with("$serde_json"), "{error}"),
                }
            }
            Err(JwtError::Reserved(name)) => assert!(CLAIMS.contains(&name) && name == claim),
            Err(error) => panic!("{error}"),
        }
        let claims = Claims::new().with_more(vec![self.number]);
        assert!(claims.sign(&Header::new(), key).is_err());
    }
}

#[derive(Arbitrary, Debug)]
struct AnyCoseKey<'a> {
    of: u8,
    is_private: bool,
    kid: Option<&'a [u8]>,
    operations: Option<Vec<Cbor<'a>>>,
    parameters: Vec<Parameter<'a>>,
    without: Option<u8>,
    rest: Option<u8>,
}

impl AnyCoseKey<'_> {
    fn check(&self) {
        let mut all: Parameters<'_> = vec![
            (Cbor::Number(1), Cbor::Number(7)),
            (Cbor::Number(3), Cbor::Algorithm(self.of)),
            (Cbor::Number(-1), Cbor::Public(self.of)),
        ];
        if self.is_private {
            all.push((Cbor::Number(-2), Cbor::Seed(self.of)));
        }
        all.extend(self.kid.map(|kid| (Cbor::Number(2), Cbor::Bytes(kid))));
        let operations = self.operations.clone().map(Cbor::Array);
        all.extend(operations.map(|all| (Cbor::Number(4), all)));
        if let Some(without) = self.without {
            all.remove(usize::from(without) % all.len());
        }
        let all = with_parameters(all, &self.parameters);
        let mut bytes = Cbor::Map(all.clone()).to_bytes();
        bytes.extend(self.rest);
        let expect = |is_private| self.expected(&all, is_private);
        match CoseKey::from_cbor(&bytes) {
            Ok(key) => {
                assert_eq!(
                    Some((of_cose_key(&key), key.kid().map(Into::into))),
                    expect(false)
                );
                let again = CoseKey::from_cbor(&key.to_cbor()).expect("what was written");
                assert_eq!(again.to_cbor(), key.to_cbor());
                let named = again.with_thumbprint_as_kid();
                assert_eq!(named.kid(), Some(&key.thumbprint().as_bytes()[..]));
                assert_eq!(named.thumbprint(), key.thumbprint());
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(expect(false), None, "{error}");
            }
        }
        match CosePrivateKey::from_cbor(&bytes) {
            Ok(key) => {
                let public = key.public();
                let kid = public.kid().map(Into::into);
                assert_eq!(Some((of_cose_key(public), kid)), expect(true));
                assert_eq!(key.signing_key().verifying_key(), public.verifying_key());
                let named = key.clone().with_thumbprint_as_kid();
                assert_eq!(
                    named.public().kid(),
                    Some(&public.thumbprint().as_bytes()[..])
                );
                let written = key.to_cbor().expect("a key with a seed");
                assert!(CosePrivateKey::from_cbor(&written).is_ok());
                let key = key.with_kid(b"1");
                check_secrecy(&format!("{key:?}"), self.of);
                let message = Sign1::new().sign(b"a", Some(b"1"), &key).expect("a key");
                let verified = Sign1::new().verify(&message, key.public());
                assert_eq!(verified.expect("a signature").payload(), b"a");
            }
            Err(error) => {
                assert_eq!(expect(true), None, "{error}");
                check_secrecy(&error.to_string(), self.of);
            }
        }
    }

    /// The index of the key in [`KEYS`] that readers must return, and its identifier.
    fn expected(&self, all: &Parameters<'_>, is_private: bool) -> Option<(usize, Option<Vec<u8>>)> {
        let is = |number| parameter(all, number);
        if self.rest.is_some() || !are_labels(all, &[1, 2, 3, 4, -1, -2]) {
            return None;
        }
        let kid = match is(2) {
            Some(kid) => Some(kid.bytes()?),
            None => None,
        };
        let operation = if is_private { 1 } else { 2 };
        match is(4) {
            None => {}
            Some(Cbor::Array(all)) => {
                let has = all.iter().any(|it| it.number() == Some(operation));
                (has && all.iter().all(Cbor::is_label)).then_some(())?;
            }
            Some(_) => return None,
        }
        let (public, private) = (is(-1)?.bytes()?, is(-2).map(Cbor::bytes));
        let of = KEYS
            .iter()
            .position(|it| it.0.verifying_key().as_bytes() == public)?;
        let own_seed = match private {
            None => !is_private,
            Some(private) => is_private && private? == seed(of as u8),
        };
        let is_right =
            is(1)?.number() == Some(7) && is(3)?.number() == Some(COSE_NUMBERS[of]) && own_seed;
        is_right.then_some((of, kid))
    }
}

fn of_cose_key(key: &CoseKey) -> usize {
    of_verifying_key(key.verifying_key(), key.algorithm())
}

#[derive(Arbitrary, Debug)]
struct AnySign1<'a> {
    of: u8,
    kid: Option<Word<'a>>,
    is_kid_protected: bool,
    is_untagged: bool,
    is_detached: bool,
    data: &'a [u8],
    content: &'a [u8],
    protected: Vec<Parameter<'a>>,
    unprotected: Vec<Parameter<'a>>,
    trusted: AnyTrusted<'a>,
    flaw: Option<Flaw>,
}

/// A fault of a whole message.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Flaw {
    Tag(u8),
    Damage,
    OtherData,
    NoProtected,
    Rest(u8),
}

impl AnySign1<'_> {
    fn check(&self) {
        let is_damaged = matches!(self.flaw, Some(Flaw::Damage));
        let is_other_data = matches!(self.flaw, Some(Flaw::OtherData));
        let rest = match self.flaw {
            Some(Flaw::Rest(rest)) => Some(rest),
            _ => None,
        };
        let mut own = vec![(Cbor::Number(1), Cbor::Algorithm(self.of))];
        let mut others = Vec::new();
        if let Some(kid) = self.kid {
            let kid = (Cbor::Number(4), Cbor::Bytes(kid.text().as_bytes()));
            match self.is_kid_protected {
                true => own.push(kid),
                false => others.push(kid),
            }
        }
        let unprotected = with_parameters(others, &self.unprotected);
        let (protected, header) = match self.flaw {
            Some(Flaw::NoProtected) => (Vec::new(), Vec::new()),
            _ => {
                let protected = with_parameters(own, &self.protected);
                let header = Cbor::Map(protected.clone()).to_bytes();
                (protected, header)
            }
        };
        let to_sign = Cbor::Array(vec![
            Cbor::Text(Word::Other("Signature1")),
            Cbor::Bytes(&header),
            Cbor::Bytes(self.data),
            Cbor::Bytes(self.content),
        ]);
        let trusted = self.trusted.with(self.of);
        let signature = sign(self.of, &to_sign.to_bytes(), is_damaged, &trusted);
        let mut bytes = Vec::new();
        let tag = match self.flaw {
            Some(Flaw::Tag(tag)) => Some(tag),
            _ => (!self.is_untagged).then_some(18),
        };
        if let Some(tag) = tag {
            write_head(6, tag.into(), &mut bytes);
        }
        let content = match self.is_detached {
            true => Cbor::Null,
            false => Cbor::Bytes(self.content),
        };
        Cbor::Array(vec![
            Cbor::Bytes(&header),
            Cbor::Map(unprotected.clone()),
            content,
            Cbor::Bytes(&signature),
        ])
        .write(&mut bytes);
        bytes.extend(rest);

        let data = match is_other_data {
            true => [self.data, b"!"].concat(),
            false => self.data.to_vec(),
        };
        let mut sign1 = Sign1::new().external_aad(&data);
        if self.is_untagged {
            sign1 = sign1.untagged();
        }
        let signer = (!is_damaged && !is_other_data).then_some(index(self.of));
        let has_tag = tag == (!self.is_untagged).then_some(18);
        let expected = expected_of(&protected, &unprotected, &trusted, signer);
        let expected = expected.filter(|_| has_tag && rest.is_none());
        let keys: Vec<CoseKey> = (trusted.iter())
            .map(|(of, kid)| {
                let key = CoseKey::new(KEYS[index(*of)].0.verifying_key().clone());
                let key = key.expect("a key of ML-DSA");
                match kid {
                    Some(kid) => key.with_kid(kid.text().as_bytes()),
                    None => key,
                }
            })
            .collect();
        let check = |key: Result<&CoseKey, CoseError>| match key {
            Ok(key) => {
                let at = keys.iter().position(|it| core::ptr::eq(it, key));
                assert_eq!(expected, Some(Ok(at.expect("one of the keys"))));
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                let refusal = match error {
                    CoseError::NoKeys => Some(NoKey::None),
                    CoseError::NoSuchKey => Some(NoKey::OtherKid),
                    CoseError::OtherAlgorithm { .. } => Some(NoKey::OtherAlgorithm),
                    CoseError::Invalid => Some(NoKey::Invalid),
                    _ => None,
                };
                assert_eq!(expected, refusal.map(Err), "{error}");
            }
        };
        let attached = sign1.verify(&bytes, &keys);
        let detached = sign1.verify_detached(&bytes, self.content, &keys);
        match self.is_detached {
            true => {
                assert!(attached.is_err());
                check(detached);
            }
            false => {
                assert!(detached.is_err());
                if let Ok(verified) = &attached {
                    assert_eq!(verified.payload(), self.content);
                }
                check(attached.map(|it| it.key()));
            }
        }
    }
}

/// The key that verifies a message with these headers, or why none does; `None` if the message is malformed.
fn expected_of(
    protected: &Parameters<'_>,
    unprotected: &Parameters<'_>,
    trusted: &Trusted<'_>,
    signer: Option<usize>,
) -> Option<Result<usize, NoKey>> {
    let labels: BTreeSet<_> = protected
        .iter()
        .map(|(label, _)| label.to_bytes())
        .collect();
    let is_shared = |(label, _): &(Cbor<'_>, Cbor<'_>)| labels.contains(&label.to_bytes());
    let has = |number| parameter(unprotected, number).is_some();
    if !are_labels(protected, &[1, 4])
        || !are_labels(unprotected, &[4])
        || parameter(protected, 2).is_some()
        || has(1)
        || has(2)
        || unprotected.iter().any(is_shared)
    {
        return None;
    }
    let algorithm = parameter(protected, 1).filter(|it| it.is_label())?;
    let kid = match parameter(protected, 4).or(parameter(unprotected, 4)) {
        Some(kid) => Some(kid.bytes()?),
        None => None,
    };
    let at = (COSE_NUMBERS.iter()).position(|it| algorithm.number() == Some(*it));
    let algorithm = at.map(|at| ALGORITHMS[at]);
    Some(find(trusted, kid.as_deref(), algorithm, signer))
}
