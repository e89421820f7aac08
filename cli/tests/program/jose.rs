//! `pqtls jwt`, and keys as JOSE and COSE have them.

use crate::folder::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    folder
}

#[test]
fn keys_are_converted_there_and_back() {
    let folder = folder();
    for to in ["jwk", "cose"] {
        folder
            .pqtls(&format!("key convert a.key --format {to} --out {to}.key"))
            .ok();
        folder
            .pqtls(&format!("key public {to}.key --format {to} --out {to}.pub"))
            .ok();
        let shown = |file: &str| folder.pqtls(&format!("key show {file}")).ok().to_owned();
        assert_eq!(shown(&format!("{to}.key")), shown("a.key"));
        assert_eq!(shown(&format!("{to}.pub")), shown("a.pub"));
        for (from, back) in [("key convert", "key"), ("key public", "pub")] {
            let written = folder.pqtls(&format!("{from} {to}.{back}"));
            assert_eq!(written.ok().as_bytes(), folder.bytes(&format!("a.{back}")));
        }
        folder.pqtls(&format!("key check {to}.key")).ok();
        // Every command that takes a key takes these files.
        folder
            .pqtls(&format!("sign --key {to}.key a.pub --out {to}.sig"))
            .ok();
        folder
            .pqtls(&format!("verify --key {to}.pub --signature {to}.sig a.pub"))
            .ok();
    }
}

#[test]
fn keys_that_have_no_such_form_are_told() {
    let folder = folder();
    folder.pqtls("key new ML-KEM-512 --out kem.key").ok();
    folder
        .pqtls("key new SLH-DSA-SHAKE-128f --out slh.key")
        .ok();
    folder.pqtls("key new Ed25519 --out ed.key").ok();
    folder
        .pqtls("key new MLDSA44-Ed25519-SHA512 --out both.key")
        .ok();
    folder
        .pqtls("key convert a.key --form expanded --out expanded.key")
        .ok();
    for to in ["jwk", "cose"] {
        for (file, status, words) in [
            ("kem.key", 1, "a key that signs is needed"),
            ("slh.key", 1, "not for SLH-DSA-SHAKE-128f"),
            ("ed.key", 1, "alone, and this key is of Ed25519"),
            (
                "both.key",
                1,
                "alone, and this key is of MLDSA44-Ed25519-SHA512",
            ),
            ("expanded.key", 1, "has no seed"),
            ("a.key --form both", 2, "leave --form out"),
        ] {
            folder
                .pqtls(&format!("key convert {file} --format {to} --out out"))
                .fails(status, words);
        }
        for (file, words) in [
            ("kem.key", "a key that signs is needed"),
            ("slh.key", "not for SLH-DSA-SHAKE-128f"),
            ("ed.key", "alone, and this key is of Ed25519"),
            (
                "both.key",
                "alone, and this key is of MLDSA44-Ed25519-SHA512",
            ),
        ] {
            folder
                .pqtls(&format!("key public {file} --format {to} --out out"))
                .fails(1, words);
        }
    }
}

#[test]
fn damaged_keys_are_told() {
    let folder = folder();
    folder
        .pqtls("key convert a.key --format jwk --out jwk")
        .ok();
    folder
        .pqtls("key convert a.key --format cose --out cose")
        .ok();
    let jwk = folder.read("jwk");
    for (from, to, status, words) in [
        ("AKP", "OKP", 3, "type \"OKP\""),
        ("ML-DSA-44", "ML-DSA-65", 1, "malformed ML-DSA-65 key"),
        ("\"priv\":\"", "\"priv\":\"AAAA", 1, "35 bytes"),
        ("{", "{\"kty\":\"AKP\",", 3, "\"kty\" twice"),
        ("\"}", "\"", 3, "malformed JSON"),
    ] {
        folder.write("bad", jwk.replacen(from, to, 1));
        folder.pqtls("key show bad").fails(status, words);
    }
    let cose = folder.bytes("cose");
    folder.write("bad", &cose[..cose.len() - 1]);
    folder.pqtls("key show bad").fails(3, "cut short");
    let mut other = cose;
    *other.last_mut().unwrap() ^= 1;
    folder.write("bad", other);
    folder
        .pqtls("key show bad")
        .fails(1, "belongs to another key");
}

#[test]
fn tokens_are_verified_by_whatever_has_the_key() {
    let folder = folder();
    folder
        .pqtls("jwt sign --key a.key --issuer i --audience x --audience y --id 7 --out token")
        .ok();
    folder
        .pqtls("key public a.pub --format jwk --out a.jwk")
        .ok();
    folder
        .pqtls("key public a.pub --format cose --out a.cose")
        .ok();
    folder
        .pqtls("cert self-sign --key a.key --name a.example --out a.pem")
        .ok();
    let jwk = folder.read("a.jwk");
    folder.write("set", format!("{{\"keys\": [{{\"kty\": \"EC\"}}, {jwk}]}}"));
    for key in ["a.pub", "a.key", "a.jwk", "a.cose", "a.pem", "set"] {
        let verified = folder.pqtls(&format!(
            "jwt verify --key {key} token --issuer i --audience y"
        ));
        let said = verified.ok();
        assert!(
            said.starts_with("token: valid token, signed by ML-DSA-44\n"),
            "{said}"
        );
        assert!(said.contains("jti          7\n"), "{said}");
    }
    let token = folder.read("token");
    let read = folder.pqtls_reading(
        token,
        "jwt verify --key set --any-issuer --any-audience --require jti",
    );
    read.ok();
    folder.pqtls("key new ML-DSA-44 --out other.key").ok();
    folder.pqtls("key new ML-DSA-65 --out large.key").ok();
    folder
        .pqtls("jwt verify --key other.key token --issuer i --audience x")
        .fails(1, "is not valid for this content and key");
    folder
        .pqtls("jwt verify --key large.key token --issuer i --audience x")
        .fails(1, "the key is one of ML-DSA-65; the key decides");
}

#[test]
fn tokens_that_were_not_asked_for_are_refused() {
    let folder = folder();
    folder.write("claims", r#"{"role": "admin", "level": 7}"#);
    folder
        .pqtls("jwt sign --key a.key --issuer i --claims claims --type at+jwt --not-before 2001-01-01 --out token")
        .ok();
    let verify = |options: &str| folder.pqtls(&format!("jwt verify --key a.pub token {options}"));
    verify("--issuer i --type at+jwt --require role --max-age 1h --leeway 5s").ok();
    for (options, words) in [
        ("--type at+jwt", "see --issuer and --any-issuer"),
        ("--type at+jwt --issuer j", "the policy accepts \"j\""),
        ("--issuer i", "See --type"),
        ("--type at+jwt --issuer i --audience x", "see --audience"),
        ("--type at+jwt --issuer i --subject x", "its subject"),
        ("--type at+jwt --issuer i --require jti", "no claim \"jti\""),
        ("--type at+jwt --issuer i --at 2100-01-01", "it expired"),
        (
            "--type at+jwt --issuer i --at 2000-01-01",
            "it becomes valid in",
        ),
    ] {
        verify(options).fails(1, words);
    }
    folder
        .pqtls("jwt sign --key a.key --no-expiry --out forever")
        .ok();
    let verify = |options: &str| folder.pqtls(&format!("jwt verify --key a.pub forever {options}"));
    verify("").fails(1, "with --no-expiry");
    verify("--no-expiry").ok();
    folder.write("bad", "a.b");
    folder
        .pqtls("jwt verify --key a.pub bad")
        .fails(1, "but this has 2");
    folder.write("bad", [0xff, b'.', b'.']);
    folder
        .pqtls("jwt verify --key a.pub bad")
        .fails(1, "base64url");
    folder.write("bad", r#"{"iss": "x"}"#);
    folder
        .pqtls("jwt sign --key a.key --claims bad --out new")
        .fails(1, "an option is for");
    folder.write("bad", "[]");
    folder
        .pqtls("jwt sign --key a.key --claims bad --out new")
        .fails(3, "Claims are one JSON object");
    folder.write("bad", r#"{"role": "user", "role": "admin"}"#);
    folder
        .pqtls("jwt sign --key a.key --claims bad --out new")
        .fails(3, "the member \"role\" twice");
}

#[cfg(unix)]
#[test]
fn tokens_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    folder.pqtls("jwt sign --key a.key --out token").ok();
    let metadata = std::fs::metadata(folder.path().join("token")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

/// A token that expires before it is valid is of no use.
#[test]
fn no_token_expires_before_it_becomes_valid() {
    let folder = Folder::with_ca();
    let command = "jwt sign --key www.key --not-before 2090-01-01 --out t";
    folder
        .pqtls(command)
        .fails(2, "from 2090-01-01T00:00:00Z, and expire before that");
    folder.pqtls(&format!("{command} --no-expiry")).ok();
}

/// A refusal names the token's file, and has nothing to say about clocks if the time was given; the key is that of the
/// first certificate of a chain.
#[test]
fn refused_tokens_are_named_and_clocks_are_not_for_given_times() {
    let folder = Folder::with_ca();
    folder.pqtls("jwt sign --key www.key --out t").ok();
    let chain = folder.read("www.pem") + &folder.read("ca.pem");
    folder.write("chain.pem", chain);
    folder.pqtls("jwt verify --key chain.pem t").ok();
    let refused = folder.pqtls("jwt verify --key chain.pem t --at 2020-01-01");
    refused.fails(1, "counted from 2020-01-01T00:00:00Z, the time of --at");
    assert!(!refused.stderr().contains("clocks"), "{}", refused.stderr());
    folder
        .pqtls("jwt verify --key chain.pem ca.pem")
        .fails(1, "pqtls: ca.pem: ");
}

/// A key that says that it is for something else is left out of its set, and so it is said.
#[test]
fn keys_of_a_set_that_are_for_something_else_are_told() {
    let folder = Folder::new();
    for command in [
        "key new ML-DSA-44 --out a.key --public a.pub",
        "key public a.key --format jwk --out a.jwk",
        "jwt sign --key a.key --validity 1h --out a.jwt",
    ] {
        folder.pqtls(command).ok();
    }
    let key = folder.read("a.jwk");
    for (member, why) in [
        (r#""use":"enc""#, "says by \"use\" that it is not for this"),
        (
            r#""key_ops":["sign"]"#,
            "says by \"key_ops\" that it is not for this",
        ),
    ] {
        let unfit = key.trim().replacen('{', &format!("{{{member},"), 1);
        folder.write("set.jwks", format!("{{\"keys\":[{unfit}]}}"));
        let refused = folder.pqtls("jwt verify --key set.jwks a.jwt");
        assert_eq!(refused.status(), 1, "{}", refused.stderr());
        let warning = format!(
            "pqtls: warning: set.jwks: key 1 of the set is left out: the JSON Web Key {why}"
        );
        assert!(refused.stderr().contains(&warning), "{}", refused.stderr());
        let shown = folder.pqtls("show set.jwks");
        assert!(
            !shown.stdout().contains("not read here"),
            "{}",
            shown.stdout()
        );
        assert!(shown.stdout().contains(why), "{}", shown.stdout());
        folder.write("one.jwk", &unfit);
        let shown = folder.pqtls("show one.jwk");
        assert!(
            !shown.stdout().contains("not read here"),
            "{}",
            shown.stdout()
        );
        assert!(
            shown.stdout().contains("that it is not for this"),
            "{}",
            shown.stdout()
        );
    }
    // Where one key is needed, a set is none.
    folder.write("set.jwks", format!("{{\"keys\":[{}]}}", key.trim()));
    folder.write("m", "message");
    for command in [
        "key show set.jwks",
        "key public set.jwks",
        "verify --key set.jwks --signature a.jwt m",
        "jwt sign --key set.jwks --validity 1h",
    ] {
        let answer = folder.pqtls(command);
        assert_ne!(answer.status(), 0, "{command}");
        let words = "is a set of JSON Web Keys, and one key is needed";
        assert!(
            answer.stderr().contains(words),
            "{command}: {}",
            answer.stderr()
        );
    }
}

/// Whoever has a token may use it: no message repeats one.
#[test]
fn a_token_in_the_place_of_a_file_is_not_repeated() {
    let folder = Folder::new();
    for command in [
        "key new ML-DSA-44 --out a.key --public a.pub",
        "jwt sign --key a.key --validity 1h --out a.jwt",
    ] {
        folder.pqtls(command).ok();
    }
    let token = folder.read("a.jwt").trim().to_owned();
    let short = "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.";
    for token in [&*token, short] {
        for command in [
            "jwt verify --key a.pub",
            "jwt verify --json --key a.pub",
            "show",
        ] {
            let answer = folder.pqtls(&format!("{command} {token}"));
            assert_eq!(answer.status(), 3, "{}", answer.stderr());
            assert!(
                answer
                    .stderr()
                    .contains("a token was given in the place of a file's name")
            );
            for part in [answer.stderr(), answer.stdout()] {
                assert!(!part.contains("eyJ"), "{part}");
            }
        }
    }
}
