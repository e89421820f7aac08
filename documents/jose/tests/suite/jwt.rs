//! JSON Web Tokens.

use core::time::Duration;

use pq_jose::jwk::PrivateJwk;
use pq_jose::jws::{Header, JwsError, Message};
use pq_jose::jwt::{Claims, JwtError, Policy};
use pq_keys::pki_types::UnixTime;
use serde::{Deserialize, Serialize};

use crate::keys::{changes, private, public};

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

const NOW: u64 = 1_800_000_000;

/// A token with exactly these claims.
fn token(claims: &str) -> String {
    token_by(&private(1), &Header::new().with_type("JWT"), claims)
}

fn token_by(key: &PrivateJwk, header: &Header, claims: &str) -> String {
    Message::new(claims.as_bytes())
        .to_compact(header, key)
        .unwrap()
}

fn verdict(policy: &Policy, claims: &str, now: u64) -> Result<(), JwtError> {
    policy
        .verify(&token(claims), &public(1), at(now))
        .map(|_| ())
}

#[test]
fn what_is_signed_is_read() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct More {
        role: String,
        level: u8,
    }

    let more = More {
        role: "admin".into(),
        level: 7,
    };
    let key = private(1).with_kid("k");
    let claims = Claims::new()
        .with_issuer("iss")
        .with_subject("sub")
        .with_audience("a")
        .with_audience("b")
        .with_lifetime(at(NOW), Duration::from_secs(60))
        .with_not_before(at(NOW - 1))
        .with_id("id")
        .with_more(more);
    let token = claims.sign(&Header::new().with_kid("k"), &key).unwrap();
    let policy = Policy::new()
        .issuer("iss")
        .audience("b")
        .subject("sub")
        .require("role");
    let verified = policy
        .verify_with::<More>(&token, key.public(), at(NOW))
        .unwrap();
    assert_eq!(verified.key().kid(), Some("k"));
    assert_eq!(verified.header().media_type(), Some("JWT"));
    let read = verified.into_claims();
    assert_eq!(read.more(), claims.more());
    assert_eq!(read.audience(), ["a", "b"]);
    assert_eq!(
        (read.issuer(), read.subject(), read.id()),
        (Some("iss"), Some("sub"), Some("id"))
    );
    assert_eq!(read.expiry(), Some(at(NOW + 60)));
    assert_eq!(read.not_before(), Some(at(NOW - 1)));
    assert_eq!(read.issued_at(), Some(at(NOW)));
}

#[test]
fn claims_that_cant_be_written_are_refused() {
    let sign = |claims: Claims<serde_json::Value>| claims.sign(&Header::new(), &private(1));
    for name in ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"] {
        let more = serde_json::json!({ name: "x" });
        let refused = sign(Claims::new().with_more(more)).unwrap_err();
        assert!(matches!(refused, JwtError::Reserved(reserved) if reserved == name));
    }
    for more in [serde_json::json!([1]), serde_json::json!(null)] {
        let refused = sign(Claims::new().with_more(more)).unwrap_err();
        assert!(matches!(refused, JwtError::NotMembers(_)));
    }
}

#[test]
fn nothing_is_taken_that_was_not_asked_for() {
    let policy = Policy::new();
    assert!(verdict(&policy, r#"{"exp":1800000001}"#, NOW).is_ok());
    for (claims, words) in [
        (r#"{}"#, "no claim \"exp\""),
        (
            r#"{"exp":1800000001,"iss":"x"}"#,
            "issuer, \"iss\", is \"x\", but the policy accepts none",
        ),
        (
            r#"{"exp":1800000001,"aud":"x"}"#,
            "audience, \"aud\", is \"x\", but the policy accepts none",
        ),
        (
            r#"{"exp":1800000001,"aud":["x","y"]}"#,
            "audience, \"aud\", is \"x\", \"y\", but",
        ),
    ] {
        let refused = verdict(&policy, claims, NOW).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    let any = policy.any_issuer().any_audience().without_expiry();
    for claims in [r#"{}"#, r#"{"iss":"x","aud":"y"}"#, r#"{"aud":[]}"#] {
        assert!(verdict(&any, claims, NOW).is_ok());
    }
}

#[test]
fn parties_are_those_that_were_named() {
    let policy = Policy::new()
        .without_expiry()
        .issuer("i")
        .issuer("j")
        .audience("a")
        .audience("b")
        .subject("s");
    for claims in [
        r#"{"iss":"i","aud":"a","sub":"s"}"#,
        r#"{"iss":"j","aud":["x","b"],"sub":"s"}"#,
    ] {
        assert!(verdict(&policy, claims, NOW).is_ok());
    }
    let refused = |claims: &str| verdict(&policy, claims, NOW).unwrap_err();
    for claims in [
        r#"{"aud":"a","sub":"s"}"#,
        r#"{"iss":"I","aud":"a","sub":"s"}"#,
        r#"{"iss":"","aud":"a","sub":"s"}"#,
    ] {
        assert!(matches!(refused(claims), JwtError::Issuer { .. }));
    }
    for claims in [
        r#"{"iss":"i","sub":"s"}"#,
        r#"{"iss":"i","aud":[],"sub":"s"}"#,
        r#"{"iss":"i","aud":["x"],"sub":"s"}"#,
        r#"{"iss":"i","aud":"a ","sub":"s"}"#,
    ] {
        assert!(matches!(refused(claims), JwtError::Audience { .. }));
    }
    for claims in [
        r#"{"iss":"i","aud":"a"}"#,
        r#"{"iss":"i","aud":"a","sub":"S"}"#,
    ] {
        assert!(matches!(refused(claims), JwtError::Subject { .. }));
    }
    let long = format!(
        r#"{{"iss":"\u001b{}","aud":"a","sub":"s"}}"#,
        "x".repeat(10_000)
    );
    let message = refused(&long).to_string();
    assert!(
        message.len() < 1000 && !message.contains('\u{1b}'),
        "{message}"
    );
}

#[test]
fn times_at_their_edges() {
    let policy = Policy::new();
    let lenient = policy.clone().leeway(Duration::from_secs(10));
    let exp = r#"{"exp":1800000000}"#;
    for (policy, now, is_valid) in [
        (&policy, NOW - 1, true),
        (&policy, NOW, false),
        (&lenient, NOW + 9, true),
        (&lenient, NOW + 10, false),
    ] {
        assert_eq!(verdict(policy, exp, now).is_ok(), is_valid, "{now}");
    }
    assert!(matches!(
        verdict(&policy, exp, NOW + 3),
        Err(JwtError::Expired(3))
    ));
    for (seconds, said) in [
        (1, "1 second"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (172_799, "47 hours"),
        (31_536_000, "365 days"),
    ] {
        let said = format!("it expired {said} ago;");
        let error = verdict(&policy, exp, NOW + seconds).err().unwrap();
        assert!(error.to_string().contains(&said), "{error}");
    }
    for name in ["nbf", "iat"] {
        let claims = format!(r#"{{"exp":1900000000,"{name}":1800000000}}"#);
        for (policy, now, is_valid) in [
            (&policy, NOW, true),
            (&policy, NOW - 1, false),
            (&lenient, NOW - 10, true),
            (&lenient, NOW - 11, false),
        ] {
            assert_eq!(
                verdict(policy, &claims, now).is_ok(),
                is_valid,
                "{name} {now}"
            );
        }
        let half = format!(r#"{{"exp":1900000000,"{name}":1800000000.5}}"#);
        assert!(verdict(&policy, &half, NOW).is_err() && verdict(&policy, &half, NOW + 1).is_ok());
    }
    let half = r#"{"exp":1800000000.5}"#;
    assert!(verdict(&policy, half, NOW - 1).is_ok() && verdict(&policy, half, NOW).is_err());
    // The largest number of seconds.
    let end = r#"{"exp":18446744073709551615}"#;
    assert!(verdict(&policy, end, u64::MAX - 1).is_ok());
    assert!(verdict(&policy, end, u64::MAX).is_err());
    let forever = lenient.leeway(Duration::MAX).max_age(Duration::MAX);
    assert!(verdict(&forever, r#"{"exp":0,"iat":0,"nbf":5}"#, 0).is_err());
    assert!(verdict(&forever, r#"{"exp":1,"iat":0,"nbf":5}"#, u64::MAX).is_ok());
}

#[test]
fn old_tokens_are_refused_where_that_is_asked_for() {
    let policy = Policy::new().max_age(Duration::from_secs(100));
    let claims = |iat: u64| format!(r#"{{"exp":1900000000,"iat":{iat}}}"#);
    assert!(verdict(&policy, &claims(NOW - 100), NOW).is_ok());
    assert!(matches!(
        verdict(&policy, &claims(NOW - 103), NOW),
        Err(JwtError::TooOld(3))
    ));
    assert!(
        verdict(
            &policy.clone().leeway(Duration::from_secs(3)),
            &claims(NOW - 103),
            NOW
        )
        .is_ok()
    );
    let refused = verdict(&policy, r#"{"exp":1900000000}"#, NOW).unwrap_err();
    assert!(matches!(refused, JwtError::Missing(name) if name == "iat"));
}

#[test]
fn claims_are_as_the_standard_has_them() {
    let policy = Policy::new().any_issuer().any_audience().without_expiry();
    for bad in [
        r#"{"exp":"1900000000"}"#,
        r#"{"exp":null}"#,
        r#"{"exp":-1}"#,
        r#"{"exp":1e300}"#,
        r#"{"exp":1e999}"#,
        r#"{"exp":NaN}"#,
        r#"{"exp":true}"#,
        r#"{"exp":[1900000000]}"#,
        r#"{"nbf":"x"}"#,
        r#"{"iat":null}"#,
        r#"{"iss":7}"#,
        r#"{"sub":null}"#,
        r#"{"aud":7}"#,
        r#"{"aud":[7]}"#,
        r#"{"aud":null}"#,
        r#"{"jti":{}}"#,
        r#"{"exp":1,"exp":1900000000}"#,
        r#"{"x":[{"a":1,"a":1}]}"#,
        "[]",
        "null",
        "7",
        "",
        "{",
        "{}{}",
        "{}x",
    ] {
        let refused = verdict(&policy, bad, NOW).unwrap_err();
        assert!(matches!(refused, JwtError::Json(_)), "{bad}: {refused}");
    }
    let deep = format!(r#"{{"x":{}}}"#, "[".repeat(10_000));
    assert!(matches!(
        verdict(&policy, &deep, NOW),
        Err(JwtError::Json(_))
    ));
    let huge = format!(r#"{{"x":{}}}"#, "9".repeat(300_000));
    assert!(matches!(
        verdict(&policy, &huge, NOW),
        Err(JwtError::TooLong(_))
    ));
    let required = policy.require("x");
    assert!(verdict(&required, r#"{"x":0}"#, NOW).is_ok());
    for missing in [r#"{}"#, r#"{"x":null}"#] {
        assert!(matches!(
            verdict(&required, missing, NOW),
            Err(JwtError::Missing(_))
        ));
    }
}

#[test]
fn types_are_told_apart() {
    let verify = |policy: Policy, header: Header| {
        let token = token_by(&private(1), &header, "{}");
        policy
            .without_expiry()
            .verify(&token, &public(1), at(NOW))
            .map(|_| ())
    };
    let typed = |type_: &str| Header::new().with_type(type_);
    for header in [
        Header::new(),
        typed("JWT"),
        typed("jwt"),
        typed("application/jwt"),
    ] {
        assert!(verify(Policy::new(), header.clone()).is_ok());
        let refused = verify(Policy::new().token_type("at+jwt"), header).unwrap_err();
        assert!(matches!(refused, JwtError::Type { .. }));
    }
    for type_ in ["at+jwt", "application/at+JWT"] {
        assert!(verify(Policy::new().token_type("at+jwt"), typed(type_)).is_ok());
        let refused = verify(Policy::new(), typed(type_)).unwrap_err();
        assert!(matches!(refused, JwtError::Type { .. }));
    }
    let nested = verify(Policy::new(), Header::new().with_content_type("JWT")).unwrap_err();
    assert!(matches!(nested, JwtError::Nested));
}

#[test]
fn every_byte_counts() {
    let token = token(r#"{"exp":1900000000}"#);
    let verify = |token: &str| Policy::new().verify(token, &public(1), at(NOW)).map(|_| ());
    verify(&token).unwrap();
    // The signature is that of a JWS, whose tests change all of it.
    for at in 0..token.rfind('.').unwrap() + 10 {
        for other in changes(token.as_bytes()[at]) {
            let mut changed = token.clone().into_bytes();
            changed[at] = other;
            if let Ok(changed) = String::from_utf8(changed) {
                assert!(verify(&changed).is_err(), "{at}: {other}");
            }
        }
        assert!(verify(&token[..at]).is_err());
    }
    let refused = Policy::new()
        .verify(&token, &public(2), at(NOW))
        .unwrap_err();
    assert!(matches!(refused, JwtError::Jws(JwsError::Invalid)));
}
