//! Stores that are sealed under a key of Vault or OpenBao.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use vaults::{Behaviour, TOKEN, Vault};

use crate::folder::{Folder, Outcome};
use crate::store::make_keks;

/// A folder with a token, and a server with the keys `store` and `second`.
fn with_vault() -> (Folder, Vault) {
    let folder = Folder::new();
    make_keks(&folder);
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44")
        .ok();
    folder
        .pqtls("ca issue 127.0.0.1 --new-key server.key --out server.pem")
        .ok();
    let vault = start(&folder);
    folder.write("token", format!("{TOKEN}\n"));
    folder.shell("chmod 600 token").ok();
    (folder, vault)
}

fn start(folder: &Folder) -> Vault {
    let provider = rustls_pq::Builder::with_default_base().unwrap();
    let chain = CertificateDer::pem_file_iter(folder.path().join("server.pem")).unwrap();
    let chain = chain.collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.path().join("server.key")).unwrap();
    let vault = Vault::start(provider.build().unwrap(), chain, key);
    vault.make("store", "aes256-gcm96");
    vault.make("second", "chacha20-poly1305");
    vault
}

fn address(vault: &Vault, key: &str) -> String {
    format!("{}?cacert=ca/root.pem&token_file=token", vault.address(key))
}

/// Checks the failure of a command that has opened the store's file, which writes to it.
#[track_caller]
fn fails(outcome: &Outcome, status: i32, words: &str) {
    let said = outcome.stderr();
    assert_eq!(outcome.status(), status, "{said}");
    assert!(
        said.starts_with("pqtls: ") && said.contains(words),
        "{said}"
    );
}

#[test]
fn a_store_is_made_opened_and_rewrapped() {
    let (folder, vault) = with_vault();
    let (first, second) = (address(&vault, "store"), address(&vault, "second"));
    let made = folder.pqtls(&format!("store init --kek-transit {first}"));
    assert!(made.ok().contains("sealed under  transit"));
    folder
        .pqtls(&format!(
            "store new shop/files/app --grant operator=user --kek-transit {first}"
        ))
        .ok();
    let other = folder.pqtls("store list --kek-file kek");
    fails(&other, 1, "\"transit\"; give this one");
    fails(&folder.pqtls("store list"), 2, "--kek-transit ADDRESS");
    // The newest version of Vault's key wraps from now on; what is there is opened as before.
    vault.rotate("store");
    let rewrap = |from: &str, to: &str| folder.pqtls(&format!("store rewrap {from} {to}"));
    let rewrapped = rewrap(
        &format!("--kek-transit {first}"),
        &format!("--new-kek-transit {second}"),
    );
    assert!(rewrapped.ok().contains("under the new transit"));
    let refused = folder.pqtls(&format!("store list --kek-transit {first}"));
    let words = format!(
        "sealed under {}, not under {}; give that one",
        vault.address("second"),
        vault.address("store")
    );
    fails(&refused, 1, &words);
    rewrap(&format!("--kek-transit {second}"), "--new-kek-file kek").ok();
    rewrap("--kek-file kek", &format!("--new-kek-transit {first}")).ok();
    // By variables alone, which are Vault's
    let bare = vault.address("store");
    let environment = format!("PQTLS_STORE_KEK={bare} VAULT_CACERT=ca/root.pem");
    folder.write("app.txt", "hello");
    folder
        .shell(&format!(
            "{environment} VAULT_TOKEN={TOKEN} VAULT_NAMESPACE=team pqtls store sign --key shop/files/app app.txt --out app.sig"
        ))
        .ok();
    assert_eq!(vault.namespaces().last().unwrap().as_deref(), Some("team"));
    // The variable gives way to options.
    let by_option = folder.shell(&format!(
        "{environment} VAULT_TOKEN={TOKEN} pqtls store list --kek-file kek"
    ));
    fails(&by_option, 1, "\"transit\"");
    folder
        .shell(&format!(
            "mkdir credentials && cp token credentials/vault && CREDENTIALS_DIRECTORY=credentials pqtls store list \
             --kek-transit '{bare}?cacert=ca%2Froot.pem&token_credential=vault&timeout=60&namespace=a/b'"
        ))
        .ok();
    assert_eq!(vault.namespaces().last().unwrap().as_deref(), Some("a/b"));
    // The token is never a result's place.
    folder
        .shell(&format!(
            "PQTLS_STORE_KEK='{first}' pqtls store audit head --out token --force"
        ))
        .fails(3, "token is what this command reads");
    assert_eq!(folder.read("token").trim(), TOKEN);
    folder
        .pqtls(&format!(
            "store audit head --out token --force --kek-transit {first}"
        ))
        .fails(3, "token is what this command reads");
}

#[test]
fn what_fails_at_a_server_is_told_with_a_code() {
    let (folder, vault) = with_vault();
    let at = address(&vault, "store");
    let init = format!("store init --kek-transit {at}");
    // Nothing is left of a store that could not be made.
    vault.behaves(Behaviour::Refuses(503, "Vault is sealed"));
    folder.pqtls(&init).fails(3, "Vault is sealed; try again");
    assert!(!folder.path().join("keys.redb").exists());
    vault.behaves(Behaviour::Right);
    folder
        .pqtls(&format!(
            "store init --kek-transit {}",
            address(&vault, "typo")
        ))
        .fails(3, "vault write -f transit/keys/NAME");
    folder.pqtls(&init).ok();
    for (behaviour, code, words) in [
        (
            Behaviour::Refuses(503, "Vault is sealed"),
            "kek-away",
            "try again",
        ),
        (
            Behaviour::Refuses(403, "permission denied"),
            "kek-token",
            "renew the token",
        ),
        (
            Behaviour::Refuses(400, "encryption key not found"),
            "kek-missing",
            "check the address",
        ),
        (Behaviour::Huge, "kek-answer", "its body is too long"),
        (Behaviour::Says(b"\0\0\0".to_vec()), "kek-away", ""),
        (
            Behaviour::Decrypts(vec![1; 32]),
            "kek-answer",
            "not what was encrypted for this store",
        ),
        (
            Behaviour::Refuses(400, "\u{1b}[2Jx"),
            "kek-refused",
            " [2Jx",
        ),
    ] {
        vault.behaves(behaviour);
        let line = format!("store list --json --kek-transit {at}&timeout=5");
        let failed = folder.pqtls(&line);
        assert_eq!(failed.status(), 3, "{}", failed.stderr());
        assert!(failed.stderr().contains(words), "{}", failed.stderr());
        let json: serde_json::Value = serde_json::from_str(failed.stdout()).unwrap();
        assert_eq!(json["code"], code, "{json}");
        assert!(!failed.stderr().contains(TOKEN) && !failed.stdout().contains(TOKEN));
    }
    vault.behaves(Behaviour::Right);
    folder.write("wrong", "hvs.wrong-one\n");
    folder.shell("chmod 600 wrong").ok();
    folder
        .pqtls("ca init --name Other --algorithm ML-DSA-44 --dir other")
        .ok();
    let bare = vault.address("store");
    for (address, status, words) in [
        (
            format!("{bare}?cacert=ca/root.pem&token_file=wrong"),
            3,
            "permission denied",
        ),
        (
            format!("{bare}?cacert=ca/root.pem&token_file=missing"),
            3,
            "missing: ",
        ),
        (
            format!("{bare}?cacert=ca/root.pem&token_file=app.txt"),
            3,
            "app.txt: ",
        ),
        (
            format!("{bare}?cacert=other/root.pem&token_file=token"),
            3,
            "?cacert=FILE",
        ),
        (
            format!("{bare}?cacert=missing&token_file=token"),
            3,
            "missing",
        ),
        (format!("{bare}?cacert=ca/root.pem"), 2, "?token_file=FILE"),
        (format!("{bare}?token_file=token"), 2, "?cacert=FILE"),
        (format!("{at}&token=hunter2"), 2, "revoke the token"),
        (format!("{at}&tokn=hunter2"), 2, "an option that isn't one"),
        (format!("{at}&token_file=wrong"), 2, "twice"),
        (format!("{at}&timeout=0"), 2, "timeout"),
        (format!("{at}&timeout=hunter2"), 2, "timeout"),
        (format!("{at}&namespace="), 2, "namespace"),
        (format!("{at}&namespace=a%0d%0ab"), 2, "a namespace has"),
        (
            at.replace("https://", "https://me:hunter2@"),
            2,
            "no user, no password and no token",
        ),
        (at.replace("https://", "http://"), 2, "begins with https://"),
        (
            at.replace("/keys/", "/hunter2/"),
            2,
            "https://HOST:PORT/v1/MOUNT/keys/NAME",
        ),
    ] {
        let refused = folder.pqtls(&format!("store list --kek-transit {address}"));
        let said = refused.stderr();
        assert_eq!(refused.status(), status, "{address}: {said}");
        assert!(said.contains(words), "{address}: {said}");
        assert!(!said.contains("hunter") && !said.contains("hvs."), "{said}");
    }
}

/// One server's token is never sent to another for want of options.
#[test]
fn the_variable_is_the_token_of_one_server() {
    let (folder, vault) = with_vault();
    let other = start(&folder);
    folder
        .pqtls(&format!(
            "store init --kek-transit {}",
            address(&vault, "store")
        ))
        .ok();
    let rewrap = |from: &str, to: &str| {
        folder.shell(&format!(
            "VAULT_TOKEN={TOKEN} VAULT_CACERT=ca/root.pem pqtls store rewrap --kek-transit '{from}' --new-kek-transit '{to}'"
        ))
    };
    rewrap(&vault.address("store"), &other.address("store")).fails(2, "of one server");
    assert_eq!(other.requests(), [""; 0]);
    rewrap(&vault.address("store"), &vault.address("second")).ok();
    rewrap(&vault.address("second"), &address(&other, "store")).ok();
    assert!(!other.requests().is_empty());
}
