//! Keys behind a door: `pqtls store serve` has the store, and the commands have none of its keys.

use core::time::Duration;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Instant;

use pq_x509::certificate::Certificate;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::folder::{Folder, Outcome};
use crate::served::{Served, with_server};

/// Who asks, and which server is believed.
const WHO: &str = "--store-token-file token --store-ca tls/root.pem";

/// A server whose keys are a CA's, under `pki`.
const CA: &str = "--mount pki=pki/ca --new-keys new-keys.toml";

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.ok()).unwrap()
}

fn pki(served: &Served) -> String {
    format!("https://127.0.0.1:{}/v1/pki", served.port)
}

/// A folder in which a CA's keys can be made behind a door: `issuer` may make and use them, `successor` may use them and make
/// versions of those that are there, `maker` may make them and use none, `reader` may only see them.
fn for_cas() -> Folder {
    let folder = with_server(&["issuer", "successor", "maker", "reader"]);
    folder
        .pqtls("store grants show --out grants.toml --kek-file kek")
        .ok();
    let grants = folder.read("grants.toml");
    let of_ca = "[\"pki/ca/*\"]\nissuer = [\"create\", \"rotate\", \"sign\", \"show\"]\nsuccessor = [\"rotate\", \"sign\", \"show\"]\nmaker = [\"create\", \"rotate\", \"show\"]\nreader = [\"show\"]\n";
    folder.write("grants.toml", grants + of_ca);
    folder
        .pqtls("store grants set grants.toml --kek-file kek")
        .ok();
    folder.write("new-keys.toml", "audit = \"each\"\n");
    folder
}

fn as_issuer(line: &str) -> String {
    format!("{line} --store-token-file issuer --store-ca tls/root.pem")
}

fn init(served: &Served, options: &str) -> String {
    as_issuer(&format!(
        "ca init --name Example --algorithm ML-DSA-44 --key-store {} {options}",
        pki(served)
    ))
}

/// The texts of the CA's keys name the server that runs now.
fn follow(folder: &Folder, served: &Served) {
    name_store(folder, &pki(served));
}

fn name_store(folder: &Folder, store: &str) {
    for entry in fs::read_dir(folder.path().join("ca")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "key") {
            let text = fs::read_to_string(&path).unwrap();
            let (begin, rest) = text.split_once("store: ").unwrap();
            let (_, key) = rest.split_once('\n').unwrap();
            fs::write(&path, format!("{begin}store: {store}\n{key}")).unwrap();
        }
    }
}

fn reference(served: &Served, key: &str) -> String {
    format!(
        "pqtls key in a store 1\nstore: {}\nkey: {key}\n",
        pki(served)
    )
}

/// The files of a CA with what they have.
fn content(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let listed = folder.shell("cd ca && find . -type f | sort");
    let files = listed.ok().lines();
    files
        .map(|file| (file.into(), folder.bytes(&format!("ca/{file}"))))
        .collect()
}

#[track_caller]
fn refuses(folder: &Folder, line: &str, status: i32, words: &str) {
    let refused = folder.pqtls(line);
    assert_eq!(refused.status(), status, "{line}: {}", refused.stderr());
    assert!(
        refused.stderr().contains(words),
        "{line}: {}",
        refused.stderr()
    );
}

/// A CA of ECDSA, whose leaves are of ML-DSA by default: the clients of this program accept the server.
#[test]
fn a_server_with_ml_dsa_under_a_classical_root() {
    let folder = with_server(&[]);
    folder
        .pqtls("ca init --name Classical --algorithm ECDSA-P256 --dir classical")
        .ok();
    folder.shell("rm server.key server.pem").ok();
    folder
        .pqtls("ca issue 127.0.0.1 --dir classical --new-key server.key --out server.pem")
        .ok();
    folder
        .pqtls(
            "store new shop/files/app --algorithm ML-DSA-44 --grant operator=user --kek-file kek",
        )
        .ok();
    let served = Served::start(&folder, "--mount files=shop/files");
    let store = format!(
        "--store https://127.0.0.1:{}/v1/files --store-token-file token --store-ca classical/root.pem",
        served.port
    );
    folder
        .pqtls(&format!("store public app --out app.pub {store}"))
        .ok();
}

/// The server says where it is, and why it is not where something else is.
#[test]
fn the_address_that_is_said_is_the_one_that_is_listened_on() {
    let folder = with_server(&[]);
    let first = Served::start(&folder, "--mount a=b/c --listen 127.0.0.1:0");
    let (serving, port) = (&first.serving, first.port);
    let expected = format!("Serving https://localhost:{port}/ on 127.0.0.1:{port}");
    assert_eq!(*serving, expected);
    let taken = format!("127.0.0.1:{port}");
    folder
        .pqtls("store init --store other.redb --kek-file kek")
        .ok();
    let serve = "store serve --store other.redb --kek-file kek --cert server.pem --key server.key --tokens tokens.toml";
    for options in [
        format!("--listen {taken}"),
        format!("--listen 127.0.0.1:0 --metrics {taken}"),
    ] {
        let refused = folder.pqtls(&format!("{serve} {options}"));
        let words =
            format!("can't listen on {taken}, where something else listens already; choose");
        assert!(refused.stderr().contains(&words), "{}", refused.stderr());
        assert_eq!(refused.status(), 3);
    }
    drop(first);
    if cfg!(target_os = "linux") {
        let other = Served::start(&folder, "--mount a=b/c --listen 127.0.0.2:0");
        let port = other.port;
        let expected = format!("Serving https://127.0.0.2:{port}/ on 127.0.0.2:{port}");
        assert_eq!(other.serving, expected);
    }
}

#[test]
fn they_sign_files_requests_messages_and_tokens() {
    let folder = with_server(&[]);
    for (name, algorithm) in [
        ("app", "ML-DSA-44"),
        ("old", "SLH-DSA-SHA2-128f"),
        ("web", "ECDSA-P256"),
        ("ssh", "MLDSA44-Ed25519-SHA512"),
    ] {
        folder
            .pqtls(&format!(
                "store new shop/files/{name} --algorithm {algorithm} --grant operator=user --kek-file kek"
            ))
            .ok();
    }
    folder.write("release.txt", "Version 1.0\n");
    let served = Served::start(&folder, "--mount files=shop/files");
    let store = format!("--store https://127.0.0.1:{}/v1/files {WHO}", served.port);
    for name in ["app", "old", "web", "ssh"] {
        folder
            .pqtls(&format!("store public {name} --out {name}.pub {store}"))
            .ok();
        let key = format!("--key store:{name}#1 {store}");
        folder
            .pqtls(&format!(
                "cert request --name {name}.example --out {name}.csr {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cert self-sign --name {name}.example --validity 30d --out {name}.pem {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cms sign release.txt --cert {name}.pem --out {name}.cms {key}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cms verify {name}.cms --signer {name}.pem --out {name}.txt"
            ))
            .ok();
    }
    for name in ["app", "old"] {
        folder
            .pqtls(&format!(
                "sign release.txt --context v1 --out {name}.sig --key store:{name} {store}"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "verify --key {name}.pub --signature {name}.sig --context v1 release.txt"
            ))
            .ok();
    }
    folder
        .pqtls(&format!(
            "jwt sign --subject alice --out alice.jwt --key store:app {store}"
        ))
        .ok();
    folder.pqtls("jwt verify --key app.pub alice.jwt").ok();
    folder
        .pqtls(&format!(
            "ssh sign release.txt --out ssh.sig --key store:ssh {store}"
        ))
        .ok();

    // The commands on the store, by variables
    let by_variables = |line: &str| {
        let variables = format!(
            "PQTLS_STORE=https://127.0.0.1:{}/v1/files PQTLS_STORE_TOKEN_FILE=token PQTLS_STORE_CA=tls/root.pem",
            served.port
        );
        folder.shell(&format!("{variables} pqtls store {line}"))
    };
    by_variables("new later --algorithm ML-DSA-44").ok();
    by_variables("new both --algorithm MLDSA44-Ed25519-SHA512").ok();
    // Of ML-DSA, µ is sent.
    folder.write("large", vec![7; 3 << 20]);
    by_variables("sign large --key app --context v1 --out large.sig").ok();
    by_variables("sign large --key app --context v1 --raw --out large.raw").ok();
    folder
        .pqtls("verify --key app.pub --signature large.raw --context v1 large")
        .ok();
    let long = by_variables("sign large --key old --out x");
    assert!(long.stderr().contains("too long"), "{}", long.stderr());
    let made = by_variables("rotate app");
    assert_eq!(made.ok(), "app#2 signs from now on\n");
    by_variables("sign release.txt --key app --out 2.sig").ok();
    assert!(folder.read("2.sig").contains("\nkey: app#2\n"));
    by_variables("verify release.txt --key app --signature 2.sig").ok();
    by_variables("sign release.txt --key app#1 --raw --out 1.raw").ok();
    by_variables("verify release.txt --key app#1 --signature 1.raw").ok();
    folder
        .pqtls("verify --key app.pub --signature 1.raw release.txt")
        .ok();
    let other = by_variables("verify release.txt --key app#2 --signature 1.raw");
    assert_eq!(other.status(), 1, "{}", other.stderr());
    for (line, status, words) in [
        (
            "verify release.txt --key app --signature 1.raw",
            2,
            "NAME#VERSION",
        ),
        ("new later --algorithm ML-DSA-44", 1, "exists already"),
        ("new third --grant ci=sign", 2, "--new-keys"),
        ("public missing", 1, "there is no key missing"),
        ("public app#9", 1, "there is no version app#9"),
        ("public shop/files/app", 2, "so write app"),
        ("public", 2, "needs the store itself"),
        ("list", 2, "needs the store itself"),
        ("show shop/files/app", 2, "needs the store itself"),
        ("rotate --due", 2, "needs the store itself"),
        ("show app", 2, "needs the store itself"),
        ("disable app#1", 2, "needs the store itself"),
        ("destroy app#1", 2, "needs the store itself"),
        (
            "schedule-destruction app#1 --after 1d",
            2,
            "needs the store itself",
        ),
        (
            "encaps --key app --out x.ct --secret x",
            2,
            "needs the store itself",
        ),
        (
            "decaps --key app#1 release.txt --out x",
            2,
            "needs the store itself",
        ),
        ("import --key app none.key", 2, "needs the store itself"),
        ("policy set app none.toml", 2, "needs the store itself"),
        ("policy show app", 2, "needs the store itself"),
        ("attest app --out x", 2, "needs the store itself"),
        ("export app#1 --out x", 2, "needs the store itself"),
        ("trim app#2", 2, "needs the store itself"),
        ("backup copy", 2, "needs the store itself"),
        (
            "backup copy --store-token-file token",
            2,
            "needs the store itself",
        ),
        ("init --kek-file kek", 2, "needs the store itself"),
        ("check --kek-file kek", 2, "needs the store itself"),
    ] {
        let refused = by_variables(line);
        assert_eq!(refused.status(), status, "{line}: {}", refused.stderr());
        assert!(
            refused.stderr().contains(words),
            "{line}: {}",
            refused.stderr()
        );
    }
    // A name that is only behind a door's, in a store that is opened here
    refuses(
        &folder,
        "store sign release.txt --key app --store missing.redb --kek-file kek",
        3,
        "missing.redb",
    );
}

#[test]
fn who_is_not_known_or_believed_gets_nothing() {
    let folder = with_server(&["reader"]);
    folder
        .pqtls("store new shop/files/app --algorithm ML-DSA-44 --grant operator=user --grant reader=show --kek-file kek")
        .ok();
    folder.write("release.txt", "Version 1.0\n");
    folder.shell("echo another > other; cp token open; chmod 600 other; chmod 644 open; mkdir credentials; cp token credentials/keys").ok();
    folder
        .pqtls("ca init --name Others --algorithm ML-DSA-44 --dir others")
        .ok();
    let served = Served::start(&folder, "--mount files=shop/files");
    let port = served.port;
    let sign = "sign release.txt --out x --key store:app --store";
    let files = format!("https://127.0.0.1:{port}/v1/files");
    let root = "--store-ca tls/root.pem";
    for (options, status, words) in [
        (
            format!("{files} --store-token-file other {root}"),
            4,
            "permission denied",
        ),
        (
            format!("{files} --store-token-file reader {root}"),
            4,
            "permission denied",
        ),
        (
            format!("{files} --store-token-file open {root}"),
            3,
            "chmod 600",
        ),
        (format!("{files} --store-token-file none {root}"), 3, "none"),
        (
            format!("{files} --store-token-credential keys {root}"),
            3,
            "CREDENTIALS_DIRECTORY",
        ),
        (format!("{files} {root}"), 2, "--store-token-file"),
        (format!("{files} --store-token-file token"), 2, "--store-ca"),
        (
            format!("{files} --store-cert server.pem {root}"),
            2,
            "--store-cert-key",
        ),
        (
            format!("{files} --store-token-file token --store-ca others/root.pem"),
            3,
            "--store-ca",
        ),
        (format!("{files} {WHO} --as operator"), 2, "--as"),
        // Its certificate is for 127.0.0.1.
        (
            format!("https://localhost:{port}/v1/files {WHO}"),
            3,
            "this name",
        ),
        (
            format!("https://127.0.0.1:{port}/v1/others {WHO}"),
            1,
            "check the mount",
        ),
        (
            format!("https://127.0.0.1:{port} {WHO}"),
            1,
            "check the mount",
        ),
        (
            format!("http://127.0.0.1:{port}/v1/files {WHO}"),
            2,
            "https://",
        ),
        (
            format!("https://hunter2@127.0.0.1:{port}/v1/files {WHO}"),
            2,
            "no user, no password and no token",
        ),
    ] {
        let refused = folder.pqtls(&format!("{sign} {options}"));
        assert_eq!(refused.status(), status, "{options}: {}", refused.stderr());
        assert!(
            refused.stderr().contains(words),
            "{options}: {}",
            refused.stderr()
        );
        assert!(
            !refused.stderr().contains("hunter2"),
            "{}",
            refused.stderr()
        );
        assert!(!folder.path().join("x").exists(), "{options}");
    }
    let refused = folder.shell("PQTLS_STORE=https://hunter2@keys.example pqtls store list --json");
    assert_eq!(refused.status(), 2, "{}", refused.stderr());
    assert!(!refused.stdout().contains("hunter2") && !refused.stderr().contains("hunter2"));
    folder
        .shell(&format!(
            "CREDENTIALS_DIRECTORY=credentials pqtls {sign} {files} --store-token-credential keys {root}"
        ))
        .ok();
}

#[test]
fn a_certificate_says_who_asks_too() {
    let folder = with_server(&[]);
    folder
        .pqtls("store new shop/files/app --algorithm ML-DSA-44 --grant web=user --kek-file kek")
        .ok();
    folder
        .pqtls("ca issue web.example --profile client --dir tls --new-key web.key --out web.pem")
        .ok();
    let chain = Certificate::chain_from_pem(&folder.read("web.pem")).unwrap();
    let digest = base16ct::lower::encode_string(&Sha256::digest(chain[0].der()));
    let known = format!("[[certificates]]\nsha256 = {digest:?}\nprincipal = \"web\"\n");
    folder.write("tokens.toml", folder.read("tokens.toml") + &known);
    folder.write("release.txt", "Version 1.0\n");
    let served = Served::start(&folder, "--mount files=shop/files --client-ca tls/root.pem");
    let store = format!(
        "--store https://127.0.0.1:{}/v1/files --store-ca tls/root.pem",
        served.port
    );
    folder
        .pqtls(&format!(
            "sign release.txt --out app.sig --key store:app {store} --store-cert web.pem --store-cert-key web.key"
        ))
        .ok();
    // Without it there is no connection.
    let refused = folder.pqtls(&format!(
        "sign release.txt --out x --key store:app {store} --store-token-file token"
    ));
    assert_eq!(refused.status(), 3, "{}", refused.stderr());
}

#[test]
fn a_ca_whose_keys_are_behind_a_door_does_all_that_a_ca_does() {
    let folder = for_cas();
    let mut served = Served::start(&folder, CA);
    let said = folder.pqtls(&init(&served, ""));
    assert!(
        said.ok().contains("ca-root#1, ca-issuing#1"),
        "{}",
        said.stdout()
    );
    assert_eq!(folder.read("ca/root.key"), reference(&served, "ca-root#1"));
    assert_eq!(
        folder.read("ca/issuing.key"),
        reference(&served, "ca-issuing#1")
    );
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert request --key a.key --name a.example --out a.csr")
        .ok();
    for command in [
        "ca issue a.example --key a.key --out a.pem",
        "ca sign a.csr --out b.pem",
        "ca renew a.pem --out c.pem",
        "ca crl --out 1.crl",
        "ca crl --root --out root.crl",
        "ca ocsp --for a.pem --out a.ocsp",
    ] {
        folder.pqtls(&as_issuer(command)).ok();
    }
    folder
        .pqtls("cert verify c.pem --roots ca/root.pem --crl 1.crl --crl root.crl")
        .ok();
    let rolled = json(&folder.pqtls(&as_issuer("ca rollover --json")));
    assert_eq!(rolled["stored_keys"][0], "ca-issuing#2");
    assert_eq!(
        folder.read("ca/issuing-2.key"),
        reference(&served, "ca-issuing#2")
    );
    folder.pqtls("ca revoke b.pem").ok();
    for command in [
        "ca issue d.example --new-key d.key --out d.pem",
        "ca crl --issuer issuing --out 1.crl --force",
        "ca crl --out 2.crl",
        "ca crl --root --out root.crl --force",
    ] {
        folder.pqtls(&as_issuer(command)).ok();
    }
    folder.pqtls("ca adopt a.pem").ok();
    for (certificate, list) in [("a", 1), ("c", 1), ("d", 2)] {
        folder
            .pqtls(&format!(
                "cert verify {certificate}.pem --roots ca/root.pem --crl {list}.crl --crl root.crl"
            ))
            .ok();
    }
    let revoked = folder.pqtls("cert verify b.pem --roots ca/root.pem --crl 1.crl --crl root.crl");
    assert_eq!(revoked.status(), 1, "{}", revoked.stderr());
    assert!(revoked.stderr().contains("revoked"), "{}", revoked.stderr());
    folder.pqtls("ca show").ok();

    // The CA's OCSP responder may have its key there, too.
    let policy = folder.read("ca/policy.toml");
    folder.write(
        "ca/policy.toml",
        policy.replace(
            "\"server+client\"]",
            "\"server+client\", \"ocsp-responder\"]",
        ),
    );
    let store = format!("--store {}", pki(&served));
    folder
        .pqtls(&as_issuer(&format!(
            "store new ocsp --algorithm ML-DSA-44 {store}"
        )))
        .ok();
    folder
        .shell(&as_issuer(&format!(
            "pqtls cert request --key store:ocsp --subject 'CN=Our OCSP' --out ocsp.csr {store}"
        )))
        .ok();
    folder
        .pqtls(&as_issuer(
            "ca sign ocsp.csr --profile ocsp-responder --out ocsp.pem",
        ))
        .ok();
    folder
        .pqtls(&as_issuer(&format!(
            "ca ocsp --for d.pem --key store:ocsp --cert ocsp.pem --out d.ocsp {store}"
        )))
        .ok();
    folder
        .pqtls("cert verify d.pem --roots ca/root.pem --ocsp d.ocsp")
        .ok();

    for (file, bytes) in content(&folder) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("PRIVATE KEY"), "{file}");
        assert!(!text.contains("the-token-of"), "{file}");
    }
    // Who may only see the keys issues nothing.
    refuses(
        &folder,
        "ca issue e.example --new-key e.key --out e.pem --store-token-file reader --store-ca tls/root.pem",
        4,
        "permission denied",
    );
    assert!(!folder.path().join("e.pem").exists() && !folder.path().join("e.key").exists());
    // Nor is anything half made by who may make keys, and can't sign with them.
    let before = content(&folder);
    let as_maker = |line: &str| as_issuer(line).replace("file issuer", "file maker");
    for line in [
        as_maker("ca rollover"),
        init(&served, "--dir half").replace("file issuer", "file maker"),
    ] {
        refuses(&folder, &line, 4, "permission denied");
    }
    assert_eq!(content(&folder), before);
    assert!(!folder.path().join("half").exists());
    // Each signature has an entry.
    served.end();
    let log = json(&folder.pqtls("store audit log --kek-file kek --json"));
    let entries = log["entries"].as_array().unwrap();
    let signed = entries.iter().filter(|entry| entry["verb"] == "sign");
    assert!(signed.count() >= 14);
}

#[test]
fn cas_below_others_have_their_keys_behind_a_door_too() {
    let folder = for_cas();
    let served = Served::start(&folder, CA);
    folder.pqtls(&init(&served, "")).ok();
    let init = |options: &str| init(&served, options).replace("Example", "Below");
    let below = init("--key-names below --dir below --request below.csr");
    folder.pqtls(&below).ok();
    let key = folder.read("below/issuing.key");
    assert_eq!(key, reference(&served, "below-issuing#1"));
    // The same command goes on with the version that it has.
    folder
        .pqtls(&init("--key-names below --dir below --under ca"))
        .ok();
    assert_eq!(folder.read("below/issuing.key"), key);
    folder
        .pqtls(&as_issuer(
            "ca issue a.example --new-key a.key --out a.pem --dir below",
        ))
        .ok();
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
    folder
        .pqtls(&as_issuer("ca rollover --dir below --under ca"))
        .ok();
    assert_eq!(
        folder.read("below/issuing-2.key"),
        reference(&served, "below-issuing#2")
    );
    // A CA with one key in a store here, and the one above behind a door
    let mixed = "ca init --name Mixed --algorithm ML-DSA-44 --dir mixed --under ca --key-store here.redb --kek-file kek";
    folder
        .pqtls("store init --store here.redb --kek-file kek")
        .ok();
    folder.pqtls(&as_issuer(mixed)).ok();
    folder
        .pqtls("ca issue b.example --new-key b.key --out b.pem --dir mixed --kek-file kek")
        .ok();
    folder.pqtls("cert verify b.pem --roots ca/root.pem").ok();
    // Another algorithm takes another key.
    refuses(
        &folder,
        &as_issuer("ca rollover --algorithm ML-DSA-65"),
        2,
        "--key-names",
    );
    refuses(
        &folder,
        &init("--key-names pki/ca --dir third"),
        2,
        "NAME for one at https://",
    );
}

/// What a killed command left behind is followed, and two commands at once never get one version.
#[test]
fn a_version_is_of_the_process_that_made_it() {
    let folder = for_cas();
    let served = Served::start(&folder, CA);
    let store = format!("--store {}", pki(&served));
    folder
        .pqtls(&as_issuer(&format!(
            "store new ca-root --algorithm ML-DSA-44 {store}"
        )))
        .ok();
    folder.pqtls(&init(&served, "")).ok();
    assert_eq!(folder.read("ca/root.key"), reference(&served, "ca-root#2"));
    folder
        .pqtls(&as_issuer(&format!("store rotate ca-issuing {store}")))
        .ok();
    let rollover = "ca rollover --store-token-file successor --store-ca tls/root.pem";
    folder.pqtls(rollover).ok();
    assert_eq!(
        folder.read("ca/issuing-2.key"),
        reference(&served, "ca-issuing#3")
    );
    let folders = ["w", "x", "y", "z"];
    let path = folder.path();
    thread::scope(|scope| {
        for dir in folders {
            let line = init(&served, &format!("--dir {dir}"));
            scope.spawn(move || {
                let words = line.split_whitespace();
                let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
                command.args(words).current_dir(path);
                assert!(command.output().unwrap().status.success(), "{dir}");
            });
        }
    });
    for key in ["root", "issuing"] {
        let mut texts = folders.map(|dir| folder.read(&format!("{dir}/{key}.key")));
        texts.sort();
        assert!(texts.windows(2).all(|two| two[0] != two[1]), "{texts:?}");
    }
}

/// A door that is away makes nothing half: the same commands succeed once it is back.
#[test]
fn a_door_that_is_away_in_mid_life() {
    let folder = for_cas();
    let mut served = Served::start(&folder, CA);
    let made = folder.pqtls(&init(&served, ""));
    made.ok();
    folder
        .pqtls(&as_issuer("ca issue a.example --new-key a.key --out a.pem"))
        .ok();
    served.end();
    // Its port may be another test's by now, and nobody listens on this one.
    let nowhere = "https://127.0.0.1:1/v1/pki";
    name_store(&folder, nowhere);
    let before = content(&folder);
    let away = [
        "ca issue b.example --new-key b.key --out b.pem",
        "ca renew a.pem --out b.pem",
        "ca crl --out b.crl",
        "ca ocsp --for a.pem --out b.ocsp",
        "ca rollover",
    ];
    let refuse = |words: &str| {
        for line in away {
            refuses(&folder, &as_issuer(line), 3, words);
            for file in ["b.key", "b.pem", "b.crl", "b.ocsp"] {
                assert!(!folder.path().join(file).exists(), "{line}: {file}");
            }
            assert_eq!(content(&folder), before, "{line}");
        }
    };
    refuse("try again");
    let coded = folder.pqtls(&as_issuer(&format!("{} --json", away[0])));
    let report: Value = serde_json::from_str(coded.stdout()).unwrap();
    assert_eq!(report["code"], "away", "{report}");
    let second = init(&served, "--dir second").replace(&pki(&served), nowhere);
    refuses(&folder, &second, 3, "try again");
    assert!(!folder.path().join("second").exists());

    // It is back, elsewhere.
    let served = Served::start(&folder, CA);
    follow(&folder, &served);
    for line in away {
        folder.pqtls(&as_issuer(line)).ok();
        for file in ["b.key", "b.pem", "b.crl", "b.ocsp"] {
            // It may be another line's.
            let _ = fs::remove_file(folder.path().join(file));
        }
    }
    let listed = json(&folder.pqtls("ca list --json"));
    let listed = listed["certificates"].as_array().unwrap().iter();
    assert_eq!(listed.filter(|one| one["profile"] == "server").count(), 3);

    // It takes connections, and answers none.
    #[cfg(unix)]
    {
        let patient = folder.read("ca/issuing-2.key");
        folder.write(
            "ca/issuing-2.key",
            patient.replace("/v1/pki", "/v1/pki?timeout=1"),
        );
        let before = content(&folder);
        served.stop();
        refuses(
            &folder,
            &as_issuer("ca issue c.example --new-key c.key --out c.pem"),
            3,
            "not answered in time; try again",
        );
        assert_eq!(content(&folder), before);
        assert!(!folder.path().join("c.pem").exists());
    }
}

/// A store that is older than the folder lacks a version, and one that is made is another key.
#[test]
fn a_store_that_is_older_than_the_folder_is_told() {
    let folder = for_cas();
    let mut served = Served::start(&folder, CA);
    folder.pqtls(&init(&served, "")).ok();
    served.end();
    folder.shell("cp keys.redb older.redb").ok();
    let mut served = Served::start(&folder, CA);
    follow(&folder, &served);
    folder.pqtls(&as_issuer("ca rollover")).ok();
    served.end();
    folder.shell("cp older.redb keys.redb").ok();
    let served = Served::start(&folder, CA);
    follow(&folder, &served);
    let issue = as_issuer("ca issue a.example --new-key a.key --out a.pem");
    refuses(
        &folder,
        &issue,
        1,
        "there is no version ca-issuing#2, which ca/issuing-2.key names: the store is older than the CA's folder",
    );
    // A mount that isn't there is no key that isn't.
    let text = folder.read("ca/issuing-2.key");
    folder.write("ca/issuing-2.key", text.replace("/v1/pki", "/v1/others"));
    refuses(&folder, &issue, 1, "check the mount");
    folder.write("ca/issuing-2.key", text);
    folder.pqtls(&as_issuer("ca rollover")).ok();
    folder.pqtls(&issue).ok();
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
}

/// Who may sign with a key that is there already, a door doesn't show, but whether somebody may have it.
#[test]
fn no_ca_takes_a_key_that_may_be_exported() {
    let folder = for_cas();
    folder
        .pqtls(
            "store new pki/ca/ca-issuing --algorithm ML-DSA-44 --exportable --grant issuer=user --kek-file kek",
        )
        .ok();
    let served = Served::start(&folder, CA);
    refuses(&folder, &init(&served, ""), 4, "was made to be exported");
    assert!(!folder.path().join("ca").exists());
    folder.pqtls(&init(&served, "--key-names other")).ok();
    let text = folder.read("ca/issuing.key");
    folder.write(
        "ca/issuing.key",
        text.replace("other-issuing", "ca-issuing"),
    );
    let rollover = as_issuer("ca rollover");
    refuses(&folder, &rollover, 4, "was made to be exported");
}

/// No command can open the file of a store that is served, so the server rotates what is due.
#[test]
fn keys_that_are_due_are_rotated_while_the_store_is_served() {
    let folder = with_server(&[]);
    folder.write("policy.toml", "rotate-after = \"1s\"\n");
    for key in ["shop/files/app", "shop/other/app"] {
        folder
            .pqtls(&format!(
                "store new {key} --algorithm ML-DSA-44 --policy policy.toml --kek-file kek"
            ))
            .ok();
    }
    let newest = |served: &mut Served| {
        served.end();
        let shown = json(&folder.pqtls("--json store show shop/files/app --kek-file kek"));
        shown["versions"].as_array().unwrap().len()
    };
    thread::sleep(Duration::from_secs(2));
    let mut served = Served::start(&folder, "--no-rotation");
    thread::sleep(Duration::from_secs(2));
    assert_eq!(newest(&mut served), 1);

    let mut served = Served::start(&folder, "");
    let begun = Instant::now();
    while folder
        .read("log")
        .matches("rotated, as its policy wants")
        .count()
        < 2
    {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{}",
            folder.read("log")
        );
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(newest(&mut served), 2);
    let log = folder.pqtls("store audit log --kek-file kek");
    let log = log.ok();
    assert_eq!(log.matches("auto-rotate").count(), 2, "{log}");
    folder.pqtls("store check --kek-file kek").ok();
}

/// How many bytes the body has in which a list is sent to be signed.
fn body_len(list: &[u8]) -> usize {
    // Both the list and what is signed of it have a length of two bytes.
    let [0x30, 0x82, _, _, 0x30, 0x82, high, low, ..] = list else {
        panic!("the list is short");
    };
    let signed = 4 + usize::from(u16::from_be_bytes([*high, *low]));
    let frame =
        r#"{"key_version":1,"prehashed":false,"signature_algorithm":"pkcs1v15","input":""}"#;
    frame.len() + signed.div_ceil(3) * 4
}

/// A list of a CA whose key has no µ is sent whole. One as long as the server takes is signed, and a longer one refused.
#[test]
fn a_list_of_a_ca_is_as_long_as_the_door_takes() {
    let folder = for_cas();
    let served = Served::start(&folder, CA);
    let made = init(&served, "").replace("ML-DSA-44", "MLDSA44-Ed25519-SHA512");
    folder.pqtls(&made).ok();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    // The server takes no limit below 1,024.
    let certificates: Vec<_> = (0..20).map(|number| format!("{number}.pem")).collect();
    for file in &certificates {
        let issue = format!("ca issue a.example --key a.key --out {file}");
        folder.pqtls(&as_issuer(&issue)).ok();
    }
    let revoke = format!("ca revoke {}", certificates.join(" "));
    folder.pqtls(&revoke).ok();
    folder.pqtls(&as_issuer("ca crl --der --out 1.crl")).ok();
    let len = body_len(&folder.bytes("1.crl"));
    drop(served);
    // A list that was refused may have used up its number, and the next one is as long.
    for (limit, is_refused) in [(len - 1, true), (len, false)] {
        let served = Served::start(&folder, &format!("{CA} --max-body {limit}"));
        follow(&folder, &served);
        let list = as_issuer(&format!("ca crl --der --out {limit}.crl"));
        if is_refused {
            refuses(&folder, &list, 1, "status 413: the body is too long");
            refuses(&folder, &list, 1, "--max-body");
            assert!(!folder.path().join(format!("{limit}.crl")).exists());
        } else {
            folder.pqtls(&list).ok();
            assert_eq!(body_len(&folder.bytes(&format!("{limit}.crl"))), len);
        }
    }
}
