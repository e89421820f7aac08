//! Every `--json` output against its schema.
//!
//! The schemas use few words of JSON Schema; [`check`] knows these and refuses others. It is stricter than
//! the schemas in one point: every property has to be in its schema, so that every field is documented.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::dev::make_trust_stores;
use crate::folder::Folder;

#[test]
fn every_report_is_as_its_schema_says() {
    let folder = Folder::with_ca();
    fs::create_dir(folder.path().join("man1")).unwrap();
    make_trust_stores(&folder);
    crate::store::make_keks(&folder);
    let mut seen = BTreeSet::new();
    for (command, status) in [
        ("key new ML-DSA-44 --out a.key --public a.pub", 0),
        ("key new ML-KEM-512 --out kem.key", 0),
        ("key show a.key", 0),
        ("key show a.pub", 0),
        ("key show kem.key", 0),
        ("key new Ed25519 --out ed.key --public ed.pub", 0),
        ("key show ed.key", 0),
        ("key show ed.pub", 0),
        ("key convert ed.key --out ed-2.key", 0),
        ("key check ed.key", 0),
        ("cert request --key ed.key --name a.example --out ed.csr", 0),
        ("key public a.key --format hex --out a.hex", 0),
        ("key convert a.key --form both --out b.key", 0),
        ("key check a.key", 0),
        ("key encrypt a.key --passphrase-file a.pub --out e.key", 0),
        ("key show e.key --passphrase-file a.pub", 0),
        ("key decrypt e.key --passphrase-file a.pub --out d.key", 0),
        (
            "key export www.key --certs www.pem --passphrase-file a.pub --out w.p12",
            0,
        ),
        (
            "key import w.p12 --passphrase-file a.pub --out w.key --certs w.pem",
            0,
        ),
        ("cert import w.p12 --passphrase-file a.pub --out w-2.pem", 0),
        ("key new --encrypt --passphrase-file a.pub --out n.key", 0),
        ("key check www.key --cert www.pem", 0),
        ("cert request --key a.key --name a.example --out a.csr", 0),
        ("cert self-sign --key a.key --name a.example --out a.pem", 0),
        (
            "cert self-sign --key ed.key --name a.example --out ed.pem",
            0,
        ),
        ("cert show www.pem", 0),
        ("cert show ca.pem", 0),
        ("cert show ca.pem --at 2000-01-01", 0),
        ("cert show ca.pem --at 2100-01-01", 0),
        ("cert bundle www.pem ca.pem --out chain.pem", 0),
        ("cert show chain.pem", 0),
        ("cert verify chain.pem --roots ca-root.pem", 0),
        (
            "cert verify chain.pem --roots ca-root.pem --name a.example",
            1,
        ),
        ("cert ocsp-request chain.pem --out chain.req", 0),
        (
            "cert ocsp-request www.pem --issuer ca.pem --no-nonce --out w.req",
            0,
        ),
        ("cert lint chain.pem www.crl a.csr", 0),
        ("cert lint --list", 0),
        ("cert fingerprint chain.pem", 0),
        ("cert needs-renewal chain.pem", 0),
        (
            "cert obtain www.example.org --from https://127.0.0.1:1/ --trust ca-root.pem --http-01 --key www.key --out www.pem \
             --renew",
            6,
        ),
        (
            "cert obtain www.example.org --from https://ca.example/ --http-01 --key www.key --out www.pem --print",
            0,
        ),
        ("cert needs-renewal chain.pem --at 2100-01-01", 5),
        ("sign --key a.key a.pub --out a.sig --context x", 0),
        ("verify --key a.pub --signature a.sig a.pub --context x", 0),
        (
            "verify --key a.pub --signature a.sig a.pub --pre-hash SHA-512",
            1,
        ),
        ("mu --key a.pub a.pub --out a.mu", 0),
        ("sign --key a.key a.mu --mu --deterministic --out mu.sig", 0),
        ("verify --key a.pub --signature mu.sig a.mu --mu", 0),
        ("encaps --key kem.key --out ct --secret secret", 0),
        ("decaps --key kem.key ct --out secret2", 0),
        ("cms sign a.pub --key a.key --cert a.pem --out a.cms", 0),
        (
            "cms sign a.pub --key ed.key --cert ed.pem --detached --out a.p7s",
            0,
        ),
        ("cms verify a.cms --signer a.pem", 0),
        ("cms verify a.pub --signature a.p7s --signer ed.pem", 0),
        ("cms verify a.key --signature a.p7s --signer ed.pem", 1),
        ("cms encrypt a.pub --to kem.key --out a.enc", 0),
        ("cms decrypt a.enc --key kem.key --out a.dec", 0),
        ("key new X-Wing --out xwing.key", 0),
        ("key show xwing.key", 0),
        ("encrypt a.pub --to xwing.key --out a.hpke", 0),
        ("decrypt a.hpke --key xwing.key --out a.pub.2", 0),
        ("key new ECDSA-P256 --out ec.key --public ec.pub", 0),
        ("cms encrypt a.pub --to kem.key --to ec.pub --out b.enc", 0),
        ("cms show a.cms", 0),
        ("cms show a.p7s", 0),
        ("cms show b.enc", 0),
        ("ssh new --out id", 0),
        ("ssh sign a.pub --key id --out a.pub.sig", 0),
        (
            "ssh verify a.pub --signature a.pub.sig --signers signers --identity a",
            0,
        ),
        (
            "ssh verify a.pub --signature a.pub.sig --signers signers --identity b",
            1,
        ),
        ("key convert a.key --format jwk --out a.jwk", 0),
        ("key convert a.key --format cose --out a.cose", 0),
        ("key show a.jwk", 0),
        ("key show a.cose", 0),
        ("jwt sign --key a.jwk --issuer x --out a.jwt", 0),
        ("jwt verify --key a.cose a.jwt --issuer x", 0),
        ("jwt verify --key a.pub a.jwt", 1),
        ("man --out-dir man1", 0),
        ("dev localhost 127.0.0.1", 0),
        ("dev --install --dry-run", 0),
        ("dev --install", 0),
        ("dev --uninstall", 0),
        ("ca init --name Safe --dir safe --passphrase-file a.pub", 0),
        ("ca init --name CA --algorithm ML-DSA-44 --dns a.example", 0),
        (
            "ca init --name CA --algorithm ML-DSA-44 --no-intermediate --dir small",
            0,
        ),
        ("ca issue a.example --key a.pub --out ca-a.pem", 0),
        ("ca issue a.example --new-key ca-b.key --out ca-b.pem", 0),
        ("ca renew ca-a.pem --out ca-c.pem", 0),
        ("ca sign a.csr --dry-run", 0),
        ("ca sign a.csr --out ca-d.pem", 0),
        ("ca sign a.csr --validity 90y --out ca-e.pem", 4),
        ("ca revoke ca-a.pem --reason certificateHold", 0),
        ("ca list", 0),
        ("ca show ca-a.pem", 0),
        ("ca reinstate ca-a.pem", 0),
        ("ca adopt ca-a.pem", 0),
        ("ca revoke ca-a.pem ca-b.pem", 0),
        ("ca revoke ca-a.pem --reason keyCompromise", 1),
        (
            "ca revoke ca-a.pem --reason keyCompromise --all-with-key",
            0,
        ),
        ("ca crl --out ca.crl", 0),
        ("cert ocsp-request ca-a.pem --out a.req", 0),
        ("ca ocsp a.req --out a.ocsp", 0),
        ("ca ocsp --for ca-d.pem --out d.ocsp", 0),
        ("ca list --revoked", 0),
        ("ca list --dir small", 0),
        ("ca show", 0),
        ("ca show ca-a.pem", 0),
        ("ca show ca-b.pem --pem --out ca-f.pem", 0),
        ("ca rollover --publish", 0),
        ("ca audit --new-head ca.head", 0),
        ("ca audit --head ca.head", 0),
        ("ca rollover --use issuing-2", 0),
        ("ca crl --issuer issuing --out ca-old.crl", 0),
        ("ca show", 0),
        ("ca init --name Below --dir below --under ca", 0),
        ("ca init --name Waiting --dir waiting --request w.csr", 0),
        ("ca certify w.csr --out w-ca.pem", 0),
        ("ca install w-ca.pem --root ca/root.pem --dir waiting", 0),
        ("store init --kek-file kek", 0),
        ("store init --kek-file kek", 3),
        (
            "store new a/b/c --algorithm ML-DSA-44 --grant operator=user,export --exportable --kek-file kek",
            0,
        ),
        (
            "store new a/b/kem --algorithm ML-KEM-512 --grant *=user --kek-file kek",
            0,
        ),
        ("store import --key a/b/i a.key --kek-file kek", 0),
        ("store list --kek-file kek", 0),
        ("store show a/b/c --kek-file kek", 0),
        ("store public a/b/c --out c.pub --kek-file kek", 0),
        ("store public --out store.pub --kek-file kek", 0),
        ("store sign --key a/b/c a.pub --out c.sig --kek-file kek", 0),
        ("store sign --key a/b/i a.pub --out i.sig --kek-file kek", 4),
        (
            "store verify --key a/b/c --signature c.sig a.pub --kek-file kek",
            0,
        ),
        (
            "store verify --key a/b/c --signature c.sig c.pub --kek-file kek",
            1,
        ),
        (
            "store verify --key a/b/c --signature a.sig a.pub --kek-file kek",
            1,
        ),
        (
            "store encaps --key a/b/kem --out s.ct --secret s.1 --kek-file kek",
            0,
        ),
        (
            "store decaps --key a/b/kem#1 s.ct --out s.2 --kek-file kek",
            0,
        ),
        ("store rotate a/b/c --kek-file kek", 0),
        ("store rotate --due --kek-file kek", 0),
        (
            "store schedule-destruction a/b/c#1 --after 2d --kek-file kek",
            0,
        ),
        ("store show a/b/c --kek-file kek", 0),
        ("store cancel-destruction a/b/c#1 --kek-file kek", 0),
        ("store enable a/b/c#1 --kek-file kek", 0),
        ("store destroy a/b/c#1 --kek-file kek", 1),
        ("store export a/b/c#1 --out c.key --kek-file kek", 0),
        ("store trim a/b/c#1 --kek-file kek", 0),
        ("store policy show a/b/c --out c.toml --kek-file kek", 0),
        ("store policy set a/b/c c.toml --kek-file kek", 0),
        ("store grants show --out grants.toml --kek-file kek", 0),
        ("store grants set grants.toml --kek-file kek", 0),
        ("store attest a/b/c --out c.attestation --kek-file kek", 0),
        ("store verify-attestation --key store.pub c.attestation", 0),
        ("store audit log --kek-file kek", 0),
        ("store audit log --from 1000 --kek-file kek", 0),
        ("store audit head --out store.head --kek-file kek", 0),
        ("store check --head store.head --kek-file kek", 0),
        ("store confirm-time --kek-file kek", 0),
        ("store rewrap --kek-file kek --new-kek-file kek-2", 0),
        ("store list --kek-file kek", 1),
        ("store backup keys.backup", 0),
        (
            "store restore keys.backup --store again.redb --kek-file kek-2",
            0,
        ),
        ("show a.csr", 0),
        ("show www.pem", 0),
        ("show a.jwt", 3),
        ("key show missing", 3),
        ("key new ML-DSA-44", 2),
        ("key shwo", 2),
        ("sign a.key a.pub", 2),
        ("bench ML-KEM-768 issuing --time 0.005", 0),
        ("bench documents --size 1", 0),
    ] {
        let outcome = folder.pqtls(&format!("{command} --json"));
        assert_eq!(outcome.status(), status, "{command}: {}", outcome.stderr());
        if command == "ssh new --out id" {
            folder.write("signers", format!("a {}", folder.read("id.pub")));
        }
        let report: Value = serde_json::from_str(outcome.stdout()).unwrap();
        seen.insert(check_report(&report, command));
    }
    // The schemas that reports share, and those of reports that need a database (`shared_ledger`) or a server (`ca_acme`).
    seen.extend(
        [
            "certificate.1.json",
            "ca-entry.1.json",
            "bench-rates.1.json",
            "ca-move.1.json",
            "ca-move-undo.1.json",
            "ca-accounts.1.json",
            "ca-accounts-end.1.json",
        ]
        .map(String::from),
    );
    let all = fs::read_dir(schemas()).unwrap();
    let all: BTreeSet<String> = all
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(seen, all, "a schema without a report, or the reverse");
}

/// Checks that a report is as its schema says, and returns the name of that.
pub(crate) fn check_report(report: &Value, command: &str) -> String {
    let name = report["schema"].as_str().unwrap();
    let file = name.strip_prefix("pqtls/").unwrap().replace('/', ".") + ".json";
    check(report, &schema(&file), command);
    file
}

fn schemas() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"))
}

fn schema(file: &str) -> Value {
    let text = fs::read_to_string(schemas().join(file));
    let text = text.unwrap_or_else(|error| panic!("cli/schemas/{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("cli/schemas/{file}: {error}"))
}

fn check(value: &Value, schema: &Value, at: &str) {
    let schema = schema.as_object().unwrap();
    for (word, operand) in schema {
        let holds = match word.as_str() {
            "$schema" | "title" | "description" | "required" => true,
            "$ref" => {
                check(value, &self::schema(operand.as_str().unwrap()), at);
                true
            }
            "const" => value == operand,
            "enum" => operand.as_array().unwrap().contains(value),
            "anyOf" => {
                let kinds = operand.as_array().unwrap();
                let kind = kinds.iter().find(|kind| kind["type"] != "null").unwrap();
                if !value.is_null() {
                    check(value, kind, at);
                }
                true
            }
            "type" => match operand {
                Value::Array(types) => types.iter().any(|one| is_of_type(value, one)),
                one => is_of_type(value, one),
            },
            "minimum" => value
                .as_i64()
                .is_none_or(|n| n >= operand.as_i64().unwrap()),
            "maximum" => value
                .as_i64()
                .is_none_or(|n| n <= operand.as_i64().unwrap()),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(item, operand, &format!("{at}[{index}]"));
                }
                true
            }
            "properties" => {
                // Where null is allowed, "type" says so.
                if let Some(object) = value.as_object() {
                    check_properties(object, schema, at);
                }
                true
            }
            other => panic!("{at}: this test doesn't know the word {other}"),
        };
        assert!(holds, "{at}: {value} is not of {word} {operand}");
    }
}

fn check_properties(object: &Map<String, Value>, schema: &Map<String, Value>, at: &str) {
    let properties = schema["properties"].as_object().unwrap();
    for (name, value) in object {
        let schema = properties.get(name);
        let schema = schema.unwrap_or_else(|| panic!("{at}: {name} is not in the schema"));
        check(value, schema, &format!("{at}.{name}"));
    }
    for name in schema["required"].as_array().unwrap() {
        assert!(
            object.contains_key(name.as_str().unwrap()),
            "{at}: {name} is missing"
        );
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("this test doesn't know the type {other}"),
    }
}
