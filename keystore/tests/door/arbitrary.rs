//! Whatever comes, the answer is of Vault's form, and who isn't known learns nothing.

use std::sync::LazyLock;

use pq_keystore::door::Request;
use proptest::prelude::*;

use crate::kit::{House, ROOT};

static HOUSE: LazyLock<House> = LazyLock::new(|| {
    let house = House::new();
    house.create("a", "ed25519");
    house.create("e", "mlkem-512");
    house
});

/// Parts that paths are made of.
const PARTS: [&str; 20] = [
    "v1",
    "transit",
    "keys",
    "a",
    "e",
    "config",
    "rotate",
    "trim",
    "export",
    "signing-key",
    "public-key",
    "sign",
    "verify",
    "encrypt",
    "decrypt",
    "datakey",
    "wrapped",
    "sys",
    "",
    "..",
];

/// Pieces that bodies are made of.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "null",
    "true",
    "1",
    "-1",
    "1e9",
    r#""input""#,
    r#""batch_input""#,
    r#""signature""#,
    r#""vault:v1:AAAA""#,
    r#""aGVsbG8=""#,
    r#""ciphertext""#,
    r#""plaintext""#,
    r#""key_version""#,
    r#""type""#,
    "\u{b5}",
    " ",
];

fn path() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..6);
    prop_oneof![
        3 => parts.clone().prop_map(|parts| format!("/v1/transit/{}", parts.join("/"))),
        1 => parts.prop_map(|parts| format!("/{}", parts.join("/"))),
        1 => any::<String>(),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..12);
    let member = (0..PIECES.len(), 0..PIECES.len());
    prop_oneof![
        pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        member.prop_map(|(name, value)| {
            format!("{{{}: {}}}", PIECES[name], PIECES[value]).into_bytes()
        }),
        prop::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #[test]
    fn every_answer_has_a_form(
        method in prop::sample::select(vec!["GET", "POST", "PUT", "LIST", "PATCH"]),
        path in path(),
        query in prop::option::of(".{0,20}"),
        body in body(),
        is_known in any::<bool>(),
    ) {
        let request = Request {
            method,
            path: &path,
            query: query.as_deref(),
            vault_token: is_known.then_some(ROOT),
            body: &body,
            ..Request::default()
        };
        let answer = HOUSE.send(&request);
        prop_assert!([200, 204, 400, 403, 404, 405].contains(&answer.status), "{answer:?}");
        if answer.status >= 400 {
            let members = answer.body.as_object().map(serde_json::Map::len);
            prop_assert_eq!(members, Some(1));
            prop_assert!(answer.body["errors"].is_array());
        }
        if !is_known && path != "/v1/sys/health" {
            let refused = if path.starts_with("/v1/") { 403 } else { 404 };
            prop_assert_eq!(answer.status, refused);
        }
    }
}
