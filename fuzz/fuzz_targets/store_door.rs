//! The network door of a store of keys: whatever the path, the query, the tokens and the body, the answer has Vault's
//! form; who isn't known or has no right learns nothing, and no signature verifies that nobody made.
#![no_main]

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use fuzz::stores::{HOUSE, somebody};
use fuzz::{Bytes, one_of};
use libfuzzer_sys::fuzz_target;
use pq_keystore::door::{AccessList, Door, Request, Response};
use pq_keystore::policy::{Grants, Policy, Role};

fuzz_target!(|input: Input<'_>| {
    let (method, path, body) = input.what.request();
    let token = match input.who {
        Who::Somebody => Some(TOKEN),
        Who::Stranger => Some(STRANGER),
        Who::Unknown(token) => Some(token),
        Who::Nobody => None,
    };
    let request = Request {
        method: &method,
        path: &path,
        query: input.query,
        vault_token: token,
        authorization: input.authorization,
        body: &body,
        ..Request::default()
    };
    let response = DOOR.answer(&request);
    check_form(&response);
    let is_known = token.is_some_and(|token| token == TOKEN || token == STRANGER)
        || token.is_none()
            && input
                .authorization
                .is_some_and(|field| field.ends_with(TOKEN) || field.ends_with(STRANGER));
    if !is_known && path != "/v1/sys/health" {
        assert!([403, 404].contains(&response.status));
        assert!(response.status == 403 || !path.starts_with("/v1/"));
    }
    if token == Some(STRANGER) && response.status < 400 {
        assert!(
            ["/v1/auth/token/lookup-self", "/v1/sys/health"].contains(&&*path),
            "{path}"
        );
    }
    // There is one signature of this, by one version.
    if is_verification(&path, &body) && response.status == 200 {
        let said = std::str::from_utf8(&response.body).expect("JSON");
        let is_made = std::str::from_utf8(&body)
            .is_ok_and(|text| text.contains(&*SIGNATURE) && text.contains(MESSAGE));
        let has_escapes = body.contains(&b'\\');
        assert!(
            is_made || has_escapes || !said.contains("\"valid\":true"),
            "{said}"
        );
    }
});

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    what: What<'a>,
    who: Who<'a>,
    query: Option<&'a str>,
    authorization: Option<&'a str>,
}

#[derive(Arbitrary, Debug)]
enum Who<'a> {
    Somebody,
    Stranger,
    Unknown(&'a str),
    Nobody,
}

#[derive(Arbitrary, Debug)]
enum What<'a> {
    /// A request that is known, with changes to its body.
    Known(u8, Bytes<'a>),
    /// The body of one request with the path of another.
    Mixed {
        path: u8,
        body: u8,
        edits: Bytes<'a>,
    },
    /// Members of objects, put together.
    Members(u8, Vec<(u8, u8)>),
    Path(&'a str, Bytes<'a>, u8),
}

/// Methods, paths under the mount, and bodies.
const KNOWN: [(&str, &str, &str); 20] = [
    (
        "POST",
        "sign/a",
        r#"{"input":"bWVzc2FnZQ==","key_version":2,"prehashed":false}"#,
    ),
    (
        "POST",
        "verify/a",
        r#"{"input":"bWVzc2FnZQ==","signature":"SIGNATURE"}"#,
    ),
    (
        "POST",
        "sign/a/sha2-256",
        r#"{"batch_input":[{"input":"bWVzc2FnZQ==","reference":"1"},{"input":"AA=="}]}"#,
    ),
    (
        "POST",
        "verify/a",
        r#"{"batch_input":[{"input":"bWVzc2FnZQ==","signature":"SIGNATURE"},{"input":"","signature":""}]}"#,
    ),
    (
        "POST",
        "sign/b",
        r#"{"input":"bWVzc2FnZQ==","signature_context":"AA=="}"#,
    ),
    (
        "POST",
        "encrypt/e",
        r#"{"plaintext":"bWVzc2FnZQ==","associated_data":"AA==","key_version":"1"}"#,
    ),
    ("POST", "decrypt/e", r#"{"ciphertext":"CIPHERTEXT"}"#),
    (
        "POST",
        "decrypt/e",
        r#"{"batch_input":[{"ciphertext":"CIPHERTEXT","reference":"x"}]}"#,
    ),
    ("POST", "datakey/plaintext/e", r#"{"bits":512}"#),
    (
        "POST",
        "keys/a",
        r#"{"type":"ml-dsa","parameter_set":"44","exportable":false,"auto_rotate_period":"720h"}"#,
    ),
    (
        "POST",
        "keys/a/config",
        r#"{"min_decryption_version":1,"deletion_allowed":false,"auto_rotate_period":3600}"#,
    ),
    ("POST", "keys/a/trim", r#"{"min_available_version":1}"#),
    ("GET", "keys/a", ""),
    ("LIST", "keys", ""),
    ("GET", "keys", ""),
    ("GET", "export/public-key/a/latest", ""),
    ("GET", "export/signing-key/a/1", ""),
    ("GET", "../sys/health", ""),
    ("POST", "sign/e", "null"),
    ("POST", "keys/nothing/rotate", "{}"),
];

/// What objects are made of.
const NAMES: [&str; 20] = [
    "input",
    "signature",
    "batch_input",
    "key_version",
    "prehashed",
    "hash_algorithm",
    "signature_context",
    "reference",
    "ciphertext",
    "plaintext",
    "associated_data",
    "context",
    "nonce",
    "bits",
    "type",
    "parameter_set",
    "exportable",
    "min_available_version",
    "auto_rotate_period",
    "marshaling_algorithm",
];

const VALUES: [&str; 20] = [
    r#""bWVzc2FnZQ==""#,
    r#""SIGNATURE""#,
    r#""CIPHERTEXT""#,
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "4294967296",
    "1e3",
    r#""""#,
    r#""\u0000""#,
    "[]",
    "{}",
    r#"[{"input":"AA=="}]"#,
    r#""asn1""#,
    r#""sha2-512""#,
    r#""vault:v1:""#,
    r#""99999999999999999999h""#,
];

impl What<'_> {
    fn request(&self) -> (String, String, Vec<u8>) {
        let filled = |body: &str| {
            let body = body.replace("SIGNATURE", &SIGNATURE);
            body.replace("CIPHERTEXT", &CIPHERTEXT)
        };
        let (which, body) = match self {
            Self::Known(which, edits) => (
                *which,
                edits.of(filled(one_of(&KNOWN, *which).2).as_bytes()),
            ),
            Self::Mixed { path, body, edits } => {
                (*path, edits.of(filled(one_of(&KNOWN, *body).2).as_bytes()))
            }
            Self::Members(which, members) => {
                let member = |(name, value): &(u8, u8)| {
                    format!(
                        "{:?}:{}",
                        one_of(&NAMES, *name),
                        filled(one_of(&VALUES, *value))
                    )
                };
                let members: Vec<_> = members.iter().map(member).collect();
                (*which, format!("{{{}}}", members.join(",")).into())
            }
            Self::Path(path, body, which) => {
                let (method, _, known) = one_of(&KNOWN, *which);
                let body = body.of(filled(known).as_bytes());
                return (method.into(), format!("/v1/transit/{path}"), body);
            }
        };
        let (method, path, _) = one_of(&KNOWN, which);
        let path = match path.strip_prefix("../") {
            Some(path) => format!("/v1/{path}"),
            None => format!("/v1/transit/{path}"),
        };
        (method.into(), path, body)
    }
}

const TOKEN: &str = "root-token-0123456789";
const STRANGER: &str = "stranger-token-0123456789";
const MESSAGE: &str = "bWVzc2FnZQ==";

static DOOR: LazyLock<Door> = LazyLock::new(|| {
    let storage = HOUSE.storage(&HOUSE.rows, &HOUSE.log);
    let store = HOUSE.open(storage).expect("the store as it was");
    let mut access = String::new();
    for (token, principal) in [(TOKEN, somebody().as_str()), (STRANGER, "stranger")] {
        let digest = AccessList::digest(token.as_bytes());
        access += &format!("[[tokens]]\nsha256 = {digest:?}\nprincipal = {principal:?}\n");
    }
    let access = AccessList::from_toml(&access).expect("a list");
    let mut policy = Policy::default();
    policy.grants = Grants::new().grant(&somebody(), Role::User.verbs());
    Door::new(store, access)
        .mount("transit", "t", "p")
        .expect("a mount")
        .new_keys(policy)
});

fn ask(path: &str, body: &str) -> Response {
    DOOR.answer(&Request {
        method: "POST",
        path,
        vault_token: Some(TOKEN),
        body: body.as_bytes(),
        ..Request::default()
    })
}

/// What stands in an answer after this name.
fn member(response: &Response, name: &str) -> String {
    let text = std::str::from_utf8(&response.body).expect("JSON");
    let (_, rest) = text.split_once(&format!("\"{name}\":\"")).expect(text);
    rest.split('"').next().expect("its end").into()
}

static SIGNATURE: LazyLock<String> = LazyLock::new(|| {
    member(
        &ask("/v1/transit/sign/a", r#"{"input":"bWVzc2FnZQ=="}"#),
        "signature",
    )
});

static CIPHERTEXT: LazyLock<String> = LazyLock::new(|| {
    ask("/v1/transit/keys/e", r#"{"type":"mlkem-512"}"#);
    member(
        &ask("/v1/transit/encrypt/e", r#"{"plaintext":"bWVzc2FnZQ=="}"#),
        "ciphertext",
    )
});

fn is_verification(path: &str, body: &[u8]) -> bool {
    path.starts_with("/v1/transit/verify/") && !body.is_empty()
}

fn check_form(response: &Response) {
    let statuses = [200, 204, 400, 403, 404, 405, 413, 503];
    assert!(statuses.contains(&response.status), "{response:?}");
    let text = std::str::from_utf8(&response.body).expect("UTF-8");
    match response.status {
        204 => assert!(text.is_empty()),
        200 => assert!(text.starts_with('{') && text.ends_with('}')),
        _ => assert!(
            text.starts_with("{\"errors\":[") && text.ends_with("]}"),
            "{text}"
        ),
    }
}
