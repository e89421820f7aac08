//! Stores that are sealed under a key of a Transit engine.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::LazyLock;
use std::time::Instant;

use pq_keystore::policy::Input;
use pq_keystore::remote::{
    EngineAddress, InvalidAddress, RemoteToken, TlsTransport, TlsTransportOptions, TransitAddress,
    TransitKek, Transport, TransportError, TransportRequest, TransportResponse,
};
use pq_keystore::sealing::{Kek, KekError, WrappedKey};
use pq_keystore::storage::{MemoryStorage, Storage};
use pq_keystore::{Store, StoreError, StoreOptions};
use pq_serving::demonstration::Pki;
use proptest::prelude::*;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::Profile;
use vaults::{Behaviour, TOKEN, Vault};

use crate::kit::{admin, code, kek, name, named, user, user_policy};

const KEY: [u8; 32] = [5; 32];

/// How long a server has in these tests.
const PATIENCE: Duration = Duration::from_secs(60);

static PKI: LazyLock<Pki> =
    LazyLock::new(|| Pki::issue(&["127.0.0.1".try_into().unwrap()]).unwrap());

fn vault() -> Vault {
    let provider = pq_serving::provider_builder(Profile::Default, &[]).unwrap();
    let chain = PKI
        .server
        .chain
        .iter()
        .map(|certificate| certificate.der().clone());
    let key = PrivateKeyDer::Pkcs8(PKI.server.key.to_pkcs8_der().unwrap().to_vec().into());
    let vault = Vault::start(provider.build().unwrap(), chain.collect(), key);
    vault.make("store", "aes256-gcm96");
    vault
}

fn config(pki: &Pki) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(pki.root.der().clone()).unwrap();
    let builder = pq_serving::provider_builder(Profile::Default, &[]).unwrap();
    ClientConfig::builder_with_provider(builder.build().unwrap().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
        .into()
}

fn transit_with(
    pki: &Pki,
    address: &TransitAddress,
    token: &str,
    answering: Duration,
) -> TransitKek {
    let mut options = TlsTransportOptions::default();
    (options.connecting, options.answering) = (PATIENCE, answering);
    options.max_body_len = 64 * 1024;
    let (host, port) = (address.engine().host(), address.engine().port());
    let transport = TlsTransport::new(config(pki), host, port, options).unwrap();
    TransitKek::new(
        transport,
        address.clone(),
        &RemoteToken::new(token).unwrap(),
    )
}

fn transit(vault: &Vault, key: &str) -> TransitKek {
    let address = vault.address(key).parse().unwrap();
    transit_with(&PKI, &address, TOKEN, PATIENCE)
}

fn outcome<T>(result: &Result<T, KekError>) -> (&'static str, bool) {
    match result {
        Ok(_) => ("done", false),
        Err(error) => (error.code(), error.retry()),
    }
}

#[test]
fn a_store_is_sealed_under_a_key_of_a_server() {
    let vault = vault();
    vault.make("second", "chacha20-poly1305");
    let (first, second) = (transit(&vault, "store"), transit(&vault, "second"));
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let reopen = |kek: &dyn Kek| Store::open(storage.clone(), kek, StoreOptions::default());
    let store = Store::create(storage.clone(), &first, &admin(), StoreOptions::default()).unwrap();
    let key = name("k");
    let id = store
        .create_key(&admin(), &key, named("ML-DSA-44"), &user_policy())
        .unwrap();
    drop(store);
    vault.requests();
    // To open, one right is enough.
    drop(reopen(&first).unwrap());
    assert_eq!(vault.requests(), ["POST /v1/transit/decrypt/store"]);
    // What was wrapped stays, whatever the newest version is.
    vault.rotate("store");
    drop(reopen(&first).unwrap());
    assert_eq!(code(reopen(&kek(b"secret"))), "wrong-kek");
    let other = reopen(&second).err().unwrap();
    assert_eq!(other.code(), "wrong-kek");
    let said = other.to_string();
    assert!(
        said.contains(&format!(
            "sealed under {}, not under {}",
            vault.address("store"),
            vault.address("second")
        )),
        "{said}"
    );
    // Away from it, and back to it.
    let store = reopen(&first).unwrap();
    store.rewrap(&admin(), &second).unwrap();
    drop(store);
    assert_eq!(code(reopen(&first)), "wrong-kek");
    let store = reopen(&second).unwrap();
    store.rewrap(&admin(), &kek(b"secret")).unwrap();
    drop(store);
    assert_eq!(code(reopen(&second)), "wrong-kek");
    let store = reopen(&kek(b"secret")).unwrap();
    store.rewrap(&admin(), &first).unwrap();
    drop(store);
    // It is under the newest version now, and needs no other.
    vault.set_min_decryption_version("store", 2);
    let store = reopen(&first).unwrap();
    assert_eq!(
        store
            .sign(&user(), &key, Input::message(b"hello"))
            .unwrap()
            .id,
        id
    );
}

#[test]
fn what_a_server_wrapped_is_bound() {
    let vault = vault();
    let kek = transit(&vault, "store");
    let wrapped = kek.wrap(&KEY, b"store 1").unwrap();
    assert_ne!(wrapped, kek.wrap(&KEY, b"store 1").unwrap());
    assert_eq!(*kek.unwrap(&wrapped, b"store 1").unwrap(), KEY);
    let text = str::from_utf8(&wrapped.ciphertext).unwrap();
    assert!(text.starts_with("vault:v1:"), "{text}");
    assert_eq!(
        outcome(&kek.unwrap(&wrapped, b"store 2")),
        ("wrong-kek", false)
    );
    for part in 0..2 {
        for at in 0..[wrapped.parameters.len(), wrapped.ciphertext.len()][part] {
            for cut in [false, true] {
                let mut changed = wrapped.clone();
                let bytes = [&mut changed.parameters, &mut changed.ciphertext];
                let bytes = bytes.into_iter().nth(part).unwrap();
                match cut {
                    true => bytes.truncate(at),
                    false => bytes[at] ^= 1,
                }
                let refused = kek.unwrap(&changed, b"store 1").unwrap_err();
                assert!(
                    ["wrong-kek", "kek", "kek-missing"].contains(&refused.code()),
                    "{part} {at} {cut}: {refused}"
                );
            }
        }
    }
    // A server that leaves the binding out doesn't unwrap for another store either.
    vault.behaves(Behaviour::Unbound);
    let loose = kek.wrap(&KEY, b"store 1").unwrap();
    assert_eq!(*kek.unwrap(&loose, b"store 1").unwrap(), KEY);
    assert_eq!(
        outcome(&kek.unwrap(&loose, b"store 2")),
        ("kek-answer", false)
    );
}

#[test]
fn another_key_and_another_version_are_told() {
    let (vault, other) = (vault(), vault());
    let kek = transit(&vault, "store");
    let wrapped = kek.wrap(&KEY, b"bound").unwrap();
    let unwrapped = |kek: &TransitKek| kek.unwrap(&wrapped, b"bound").map(drop);
    // Another server, on which the key is called the same
    let elsewhere = unwrapped(&transit(&other, "store"));
    assert_eq!(outcome(&elsewhere), ("wrong-kek", false));
    let said = elsewhere.unwrap_err().to_string();
    assert!(said.contains(&vault.address("store")), "{said}");
    // One that has no such key says where it is.
    let missing = unwrapped(&transit(&other, "another"));
    assert_eq!(outcome(&missing), ("kek-missing", false));
    let said = missing.unwrap_err().to_string();
    assert!(
        said.contains("key not found") && said.contains(&vault.address("store")),
        "{said}"
    );
    vault.rotate("store");
    vault.set_min_decryption_version("store", 2);
    assert_eq!(outcome(&unwrapped(&kek)), ("kek-missing", false));
    vault.set_min_decryption_version("store", 1);
    unwrapped(&kek).unwrap();
    vault.delete("store");
    assert_eq!(outcome(&unwrapped(&kek)), ("kek-missing", false));
    vault.make("store", "aes256-gcm96");
    assert_eq!(outcome(&unwrapped(&kek)), ("wrong-kek", false));
}

#[test]
fn a_key_has_to_be_there_and_fit() {
    let vault = vault();
    let wrap = |key: &str| transit(&vault, key).wrap(&KEY, b"bound");
    assert_eq!(outcome(&wrap("typo")), ("kek-missing", false));
    // It was not made.
    assert_eq!(outcome(&wrap("typo")), ("kek-missing", false));
    assert_eq!(vault.requests(), ["GET /v1/transit/keys/typo"; 2]);
    for kind in ["rsa-4096", "aes128-gcm96", "ml-dsa", "hmac", "\u{1b}[2J"] {
        vault.make("unfit", kind);
        let refused = wrap("unfit");
        assert_eq!(outcome(&refused), ("kek-unfit", false), "{kind}");
        assert!(!refused.unwrap_err().to_string().contains('\u{1b}'));
    }
    for kind in ["aes256-gcm96", "chacha20-poly1305", "xchacha20-poly1305"] {
        vault.make("fit", kind);
        wrap("fit").unwrap();
    }
    vault.derives("fit");
    assert_eq!(outcome(&wrap("fit")), ("kek-unfit", false));
}

/// Whatever a server answers, it is an error with a code, at wrapping and at unwrapping.
#[test]
fn a_server_that_fails_is_told() {
    let vault = vault();
    let kek = transit(&vault, "store");
    let wrapped = kek.wrap(&KEY, b"bound").unwrap();
    let text = |text: &str| Behaviour::Says(text.as_bytes().to_vec());
    let json = |body: &str| {
        let len = body.len();
        text(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {len}\r\n\r\n{body}"
        ))
    };
    for (behaviour, expected) in [
        (
            Behaviour::Refuses(503, "Vault is sealed"),
            ("kek-away", true),
        ),
        (
            Behaviour::Refuses(429, "request path is rate limited"),
            ("kek-away", true),
        ),
        (
            Behaviour::Refuses(500, "internal error"),
            ("kek-away", true),
        ),
        (Behaviour::Refuses(502, "bad gateway"), ("kek-away", true)),
        (
            Behaviour::Refuses(403, "permission denied"),
            ("kek-token", false),
        ),
        (
            Behaviour::Refuses(404, "no handler for route"),
            ("kek-missing", false),
        ),
        (Behaviour::Refuses(307, "standby"), ("kek-refused", false)),
        (Behaviour::Refuses(400, "what?"), ("kek-refused", false)),
        (Behaviour::Huge, ("kek-answer", false)),
        (Behaviour::Endless, ("kek-answer", false)),
        (text("SSH-2.0-OpenSSH\r\n\r\n"), ("kek-answer", false)),
        (text("HTTP/1.1 200 OK\r\n\r\n"), ("kek-answer", false)),
        (
            text("HTTP/1.1 204 No Content\r\n\r\n"),
            ("kek-answer", false),
        ),
        (json(""), ("kek-answer", false)),
        (json("{}"), ("kek-answer", false)),
        (json("<html>"), ("kek-answer", false)),
        (json(r#"{"data":null}"#), ("kek-answer", false)),
        (json(r#"{"data":{}}"#), ("kek-answer", false)),
        (
            json(r#"{"data":{"plaintext":7,"type":7,"ciphertext":7}}"#),
            ("kek-answer", false),
        ),
        (
            json(r#"{"data":{"plaintext":null,"type":null,"ciphertext":null}}"#),
            ("kek-answer", false),
        ),
    ] {
        vault.behaves(behaviour.clone());
        let unwrapped = kek.unwrap(&wrapped, b"bound");
        assert_eq!(outcome(&unwrapped), expected, "{behaviour:?}");
        assert_eq!(
            outcome(&kek.wrap(&KEY, b"bound")),
            expected,
            "{behaviour:?}"
        );
    }
    for body in [
        r#"{"data":{"plaintext":""}}"#,
        r#"{"data":{"plaintext":"AAAA"}}"#,
        r#"{"data":{"plaintext":"!"}}"#,
        r#"{"data":{"plaintext":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#,
    ] {
        vault.behaves(json(body));
        assert_eq!(
            outcome(&kek.unwrap(&wrapped, b"bound")),
            ("kek-answer", false),
            "{body}"
        );
    }
    for len in [0, 31, 33, 64, 10_000] {
        vault.behaves(Behaviour::Decrypts(vec![5; len]));
        assert_eq!(
            outcome(&kek.unwrap(&wrapped, b"bound")),
            ("kek-answer", false),
            "{len}"
        );
        assert_eq!(
            outcome(&kek.wrap(&KEY, b"bound")),
            ("kek-answer", false),
            "{len}"
        );
    }
    // Another key of the same length is not taken for the store's, which would make its rows look damaged.
    vault.behaves(Behaviour::Decrypts(vec![6; 32]));
    assert_eq!(
        outcome(&kek.unwrap(&wrapped, b"bound")),
        ("kek-answer", false)
    );
    // What it calls a ciphertext would not be read again.
    for ciphertext in ["", "vault:v0:AAAA", "vault:v1:!", "AAAA"] {
        let body = format!(r#"{{"data":{{"type":"aes256-gcm96","ciphertext":"{ciphertext}"}}}}"#);
        vault.behaves(json(&body));
        assert_eq!(
            outcome(&kek.wrap(&KEY, b"bound")),
            ("kek-answer", false),
            "{ciphertext}"
        );
    }
    vault.behaves(Behaviour::Right);
    assert_eq!(*kek.unwrap(&wrapped, b"bound").unwrap(), KEY);
    assert_eq!(code(Err::<(), _>(StoreError::Kek(kek_away()))), "kek-away");
    assert!(StoreError::Kek(kek_away()).retry());
}

/// What is said of a server that isn't there.
fn kek_away() -> KekError {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let address = format!("https://127.0.0.1:{port}/v1/transit/keys/store")
        .parse()
        .unwrap();
    let kek = transit_with(&PKI, &address, TOKEN, PATIENCE);
    kek.wrap(&KEY, b"bound").unwrap_err()
}

/// Answers with what it was told to, whatever it is asked.
struct Told(u16, Vec<u8>);

impl Transport for Told {
    fn send(&self, _: &TransportRequest<'_>) -> Result<TransportResponse, TransportError> {
        Ok(TransportResponse {
            status: self.0,
            body: self.1.clone().into(),
        })
    }
}

/// What is asked for.
const NAMES: [&str; 6] = [
    "data",
    "errors",
    "plaintext",
    "ciphertext",
    "type",
    "derived",
];

/// Bodies of any bytes, or of JSON that has what is asked for in some form.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        "[ -~]{0,80}".prop_map(|text| serde_json::Value::from(text).to_string()),
        "(vault:v[0-9]{1,3}:)?[A-Za-z0-9+/]{0,80}={0,2}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""aes256-gcm96""#.to_owned()),
    ];
    let field = (prop::sample::select(&NAMES), value)
        .prop_map(|(name, value)| format!("\"{name}\":{value}"));
    let fields = prop::collection::vec(field, 0..5).prop_map(|fields| fields.join(","));
    prop_oneof![
        any::<Vec<u8>>(),
        fields
            .clone()
            .prop_map(|fields| format!("{{\"data\":{{{fields}}}}}").into_bytes()),
        fields.prop_map(|fields| format!("{{{fields}}}").into_bytes()),
    ]
}

proptest! {
    /// Nothing that a server makes up is taken for the store's key, or for one that is wrapped.
    #[test]
    fn what_is_made_up_is_an_error(status in prop_oneof![Just(200), Just(400), 100_u16..600], body in bodies()) {
        let address = "https://vault/v1/transit/keys/store".parse().unwrap();
        let kek = TransitKek::new(Told(status, body), address, &RemoteToken::new(TOKEN).unwrap());
        for error in [kek.unwrap(&MADE, b"bound").unwrap_err(), kek.wrap(&KEY, b"bound").unwrap_err()] {
            prop_assert!(matches!(error, KekError::Server { .. } | KekError::Wrong { .. } | KekError::Other { .. }), "{error}");
            let said = error.to_string();
            prop_assert!(said.len() < 20_000 && !said.contains(char::is_control), "{said}");
        }
    }
}

/// A key as a server wrapped it.
static MADE: LazyLock<WrappedKey> =
    LazyLock::new(|| transit(&vault(), "store").wrap(&KEY, b"bound").unwrap());

#[test]
fn a_server_has_its_time_and_no_more() {
    let vault = vault();
    let wrapped = transit(&vault, "store").wrap(&KEY, b"bound").unwrap();
    vault.behaves(Behaviour::Slow);
    let begun = Instant::now();
    let address = vault.address("store").parse().unwrap();
    let kek = transit_with(&PKI, &address, TOKEN, Duration::from_secs(3));
    // A whole answer would take more than a minute.
    assert_eq!(outcome(&kek.unwrap(&wrapped, b"bound")), ("kek-away", true));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn tokens_servers_and_namespaces_are_told_apart() {
    let vault = vault();
    let address: TransitAddress = vault.address("store").parse().unwrap();
    let wrapped = transit(&vault, "store").wrap(&KEY, b"bound").unwrap();
    let unwrap = |kek: TransitKek| kek.unwrap(&wrapped, b"bound").map(drop);
    let refused = unwrap(transit_with(&PKI, &address, "hvs.another", PATIENCE));
    assert_eq!(outcome(&refused), ("kek-token", false));
    assert!(!refused.unwrap_err().to_string().contains("hvs.another"));
    // A server whose certificate is another CA's
    let others = Pki::issue(&["127.0.0.1".try_into().unwrap()]).unwrap();
    let refused = unwrap(transit_with(&others, &address, TOKEN, PATIENCE));
    assert_eq!(outcome(&refused), ("kek-tls", false));
    vault.namespaces();
    let inside = address.namespace("team/a").unwrap();
    unwrap(transit_with(&PKI, &inside, TOKEN, PATIENCE)).unwrap();
    let wrapped = transit_with(&PKI, &inside, TOKEN, PATIENCE)
        .wrap(&KEY, b"bound")
        .unwrap();
    assert!(
        vault
            .namespaces()
            .iter()
            .all(|namespace| namespace.as_deref() == Some("team/a"))
    );
    let of_root = transit(&vault, "store").unwrap(&WrappedKey::default(), b"bound");
    assert_eq!(outcome(&of_root), ("kek", false));
    let found = transit(&vault, "second")
        .unwrap(&wrapped, b"bound")
        .unwrap_err();
    assert!(found.to_string().contains("?namespace=team/a"), "{found}");
}

#[test]
fn addresses_are_read() {
    for (text, host, port, mount, key) in [
        (
            "https://vault/v1/transit/keys/a",
            "vault",
            443,
            "transit",
            "a",
        ),
        (
            "https://v.example:8200/v1/a/b/keys/K_1.x-",
            "v.example",
            8200,
            "a/b",
            "K_1.x-",
        ),
        (
            "https://[::1]:8200/v1/keys/keys/keys",
            "::1",
            8200,
            "keys",
            "keys",
        ),
        (
            "https://10.0.0.1:1/v1/a/keys/b/keys/c",
            "10.0.0.1",
            1,
            "a/keys/b",
            "c",
        ),
    ] {
        let address: TransitAddress = text.parse().unwrap();
        assert_eq!(
            (
                address.engine().host(),
                address.engine().port(),
                address.engine().mount(),
                address.key()
            ),
            (host, port, mount, key)
        );
        assert_eq!(address.to_string(), text);
    }
    use InvalidAddress::{KeyForm, NotHttps, TooLong, User};
    for (text, reason) in [
        ("http://127.0.0.1:8200/v1/transit/keys/a", NotHttps),
        ("vault:8200/v1/transit/keys/a", NotHttps),
        ("", NotHttps),
        ("https://u:p@vault/v1/transit/keys/a", User),
        ("https://vault", KeyForm),
        ("https:///v1/transit/keys/a", KeyForm),
        ("https://vault:/v1/transit/keys/a", KeyForm),
        ("https://vault:0/v1/transit/keys/a", KeyForm),
        ("https://vault:65536/v1/transit/keys/a", KeyForm),
        ("https://vault:+1/v1/transit/keys/a", KeyForm),
        ("https://[::1/v1/transit/keys/a", KeyForm),
        ("https://[::1]x/v1/transit/keys/a", KeyForm),
        ("https://va ult/v1/transit/keys/a", KeyForm),
        ("https://vault/transit/keys/a", KeyForm),
        ("https://vault/v1/keys/a", KeyForm),
        ("https://vault/v1//keys/a", KeyForm),
        ("https://vault/v1/transit/keys/", KeyForm),
        ("https://vault/v1/transit/keys/a/b", KeyForm),
        ("https://vault/v1/transit/keys/..", KeyForm),
        ("https://vault/v1/../keys/a", KeyForm),
        ("https://vault/v1/transit/keys/a?x=y", KeyForm),
        ("https://vault/v1/transit/keys/a#1", KeyForm),
        ("https://vault/v1/transit/encrypt/a", KeyForm),
        (
            &format!("https://vault/v1/transit/keys/{}", "a".repeat(1024)),
            TooLong,
        ),
    ] {
        assert_eq!(text.parse::<TransitAddress>(), Err(reason), "{text}");
    }
    let is_on_server = |one: &TransitAddress, other: &str| {
        let other: TransitAddress = other.parse().unwrap();
        one.engine().is_on_server_of(other.engine())
    };
    let address: TransitAddress = "https://Vault/v1/transit/keys/a".parse().unwrap();
    assert!(is_on_server(&address, "https://vault:443/v1/b/keys/c"));
    assert!(!is_on_server(
        &address,
        "https://vault:8200/v1/transit/keys/a"
    ));
    for wrong in ["", "/", "a b", "a\r\nX: y", "../a", "a//b"] {
        assert_eq!(
            address.clone().namespace(wrong),
            Err(InvalidAddress::Namespace),
            "{wrong}"
        );
    }
    let inside = address.namespace("a/b/").unwrap();
    assert_eq!(
        inside.to_string(),
        "https://Vault/v1/transit/keys/a?namespace=a/b/"
    );
}

#[test]
fn addresses_of_engines() {
    use InvalidAddress::{EngineForm, NotHttps, TooLong, User};

    for (text, host, port, mount) in [
        ("https://keys.example", "keys.example", 443, "transit"),
        ("https://keys.example/", "keys.example", 443, "transit"),
        ("https://key_s:8200/v1/pki", "key_s", 8200, "pki"),
        ("https://127.0.0.1:1/v1/a/b/", "127.0.0.1", 1, "a/b"),
        ("https://[::1]/v1/pki", "::1", 443, "pki"),
    ] {
        let address: EngineAddress = text.parse().unwrap();
        assert_eq!(
            (address.host(), address.port(), address.mount()),
            (host, port, mount),
            "{text}"
        );
        let again: EngineAddress = address.to_string().parse().unwrap();
        assert_eq!(again, address);
    }
    for (text, reason) in [
        ("http://keys.example", NotHttps),
        ("https://", EngineForm),
        ("https://:8200", EngineForm),
        ("https://token@keys.example", User),
        ("https://keys.example:x", EngineForm),
        ("https://::1", EngineForm),
        ("https://[keys.example]", EngineForm),
        ("https://keys.example/v1/", EngineForm),
        ("https://keys.example/v1", EngineForm),
        ("https://keys.example/transit", EngineForm),
        ("https://keys.example/v1/a/../b", EngineForm),
        ("https://keys.example/v1/a#b", EngineForm),
        ("https://keys.example?timeout=1", EngineForm),
        (
            &format!("https://keys.example/v1/{}", "a".repeat(1024)),
            TooLong,
        ),
    ] {
        assert_eq!(text.parse::<EngineAddress>(), Err(reason), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_token_is_read_from_a_file_of_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let read = |text: &[u8], mode: u32| {
        let path = folder.path().join("token");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        RemoteToken::read(&path)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(b"hvs.abc\n", 0o600), Ok(()));
    assert_eq!(read(&[b'1'; 4096], 0o400), Ok(()));
    assert!(
        RemoteToken::new(b"hvs.\xff")
            .unwrap_err()
            .to_string()
            .contains("ASCII")
    );
    for wrong in [
        &b""[..],
        b"\n",
        &[b'1'; 4097],
        b"\xff",
        b"two\nlines\n",
        b"a b",
    ] {
        let refused = read(wrong, 0o600).unwrap_err();
        assert!(
            !refused.contains("two") && refused.contains("token"),
            "{refused}"
        );
    }
    assert!(read(b"hvs.abc", 0o644).unwrap_err().contains("chmod 600"));
    assert_eq!(
        format!("{:?}", RemoteToken::new("hvs.abc").unwrap()),
        "RemoteToken"
    );
}
