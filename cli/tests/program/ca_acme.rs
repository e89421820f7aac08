//! `pqtls ca serve --acme` and `pqtls cert obtain` with each other: a certificate is obtained, renewed, revoked and refused.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use pq_x509::ocsp::CertStatus;

use crate::ca_served::{Serving, status, until};
use crate::folder::{Folder, Outcome};

/// A port that was free just now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A CA for addresses of this machine, whose policy has this table.
fn with_ca(acme: &str) -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --algorithm ML-DSA-44 --ip 127.0.0.0/8 --dns localhost")
        .ok();
    let policy = folder.read("ca/policy.toml") + acme;
    folder.write("ca/policy.toml", policy);
    folder
}

struct Acme {
    serving: Serving,
    directory: String,
    /// The port of plain HTTP.
    plain: u16,
    /// The port that http-01 asks.
    http: u16,
}

impl Acme {
    fn start(folder: &Folder, more: &str) -> Self {
        let http = free_port();
        let mut serving = Serving::start(
            folder,
            &format!(
                "ca serve --name 127.0.0.1 --listen 127.0.0.1:0 --plain 127.0.0.1:0 --acme --ask 127.0.0.0/8 --resolver 127.0.0.1:1 \
                 --http-01-port {http} {more}"
            ),
        );
        let plain = serving.line();
        let plain = plain.rsplit(':').next().unwrap().trim_end_matches('.');
        let plain = plain.parse().unwrap();
        let line = serving.line();
        let directory = line.strip_prefix("ACME is at ").unwrap().to_owned();
        Self {
            serving,
            directory,
            plain,
            http,
        }
    }

    fn obtain(&self, names: &str, more: &str) -> String {
        format!(
            "cert obtain {names} --from {} --trust ca/root.pem --http-01=127.0.0.1:{} {more}",
            self.directory, self.http
        )
    }
}

/// Meanwhile the server writes to its files.
#[track_caller]
fn says(outcome: &Outcome, status: i32, words: &str) {
    assert_eq!(outcome.status(), status, "{}", outcome.stderr());
    assert!(outcome.stderr().contains(words), "{}", outcome.stderr());
}

#[test]
fn a_certificate_is_obtained_renewed_and_revoked() {
    let folder = with_ca("\n[acme]\n");
    let acme = Acme::start(&folder, "");
    let obtain = acme.obtain("127.0.0.1", "--new-key own.key --out own.pem");
    folder.pqtls(&obtain).ok();
    folder
        .pqtls("cert verify own.pem --roots ca/root.pem --name 127.0.0.1")
        .ok();
    assert_eq!(status(&folder, acme.plain, "own.pem"), CertStatus::Good);
    // The ledger says by which challenge.
    let shown = folder.pqtls("ca show own.pem");
    let shown = shown.ok();
    assert!(shown.contains("http-01 127.0.0.1"), "{shown}");
    assert!(shown.contains("ACME account"), "{shown}");
    // Not yet due.
    let renew = format!("{obtain} --renew");
    assert_eq!(folder.pqtls(&renew).status(), 6);
    let first = folder.read("own.pem");
    folder.pqtls("ca revoke own.pem --reason superseded").ok();
    until("the server tells of the revocation", || {
        matches!(
            status(&folder, acme.plain, "own.pem"),
            CertStatus::Revoked { .. }
        )
    });
    // What was revoked is to be renewed at once.
    says(&folder.pqtls(&renew), 0, "own.pem is renewed");
    assert_ne!(folder.read("own.pem"), first);
    assert_eq!(status(&folder, acme.plain, "own.pem"), CertStatus::Good);
    acme.serving.end_in_order();
    // Accounts and orders outlive the server.
    let acme = Acme::start(&folder, "");
    let again = acme.obtain("127.0.0.1", "--new-key other.key --out other.pem");
    folder.pqtls(&again).ok();
    let listed = folder.pqtls("ca list --json");
    let listed = listed.ok();
    assert_eq!(listed.matches("ACME account").count(), 3, "{listed}");
}

/// The client shows the line of the policy.
#[test]
fn what_the_policy_forbids_is_refused_with_its_line() {
    let folder = with_ca("\n[acme]\nip = [\"127.0.0.0/24\"]\n");
    let acme = Acme::start(&folder, "");
    let refused = folder.pqtls(&acme.obtain("127.1.2.3", "--new-key a.key --out a.pem"));
    says(
        &refused,
        4,
        "acme.ip permits \"127.0.0.0/24\", not \"127.1.2.3\"",
    );
    // A key that the policy does not permit.
    let refused = folder.pqtls(&acme.obtain(
        "127.0.0.1",
        "--algorithm ECDSA-P256 --new-key a.key --out a.pem",
    ));
    says(&refused, 1, "keys.algorithms permits");
    assert!(!folder.path().join("a.pem").exists());
    let listed = folder.pqtls("ca list --json");
    let listed = listed.ok();
    assert!(!listed.contains("ACME account"), "{listed}");
}

/// An account of those to whom the operator gave a key, and of nobody else.
#[test]
fn accounts_are_bound_to_others() {
    let folder = with_ca("\n[acme]\nexternal-account-required = true\n");
    let key = "FdGpRmjNLIuGKLMlwOtGxkYMPFa6iQmTDmBD3C2oP9A";
    let accounts = format!("[[accounts]]\nkid = \"web\"\nkey = \"{key}\"\n");
    for (file, text) in [("accounts.toml", &*accounts), ("eab.key", key)] {
        folder.write(file, text);
        let path = folder.path().join(file);
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    let acme = Acme::start(&folder, "--external-accounts accounts.toml");
    let without = folder.pqtls(&acme.obtain("127.0.0.1", "--new-key a.key --out a.pem"));
    says(&without, 2, "--eab-kid");
    let bound = acme.obtain(
        "127.0.0.1",
        "--new-key a.key --out a.pem --eab-kid web --eab-key-file eab.key",
    );
    folder.pqtls(&bound).ok();
}

/// The operator ends accounts: by name, also while the server has them open, and by taking back the external account.
#[test]
fn accounts_are_ended_by_the_operator() {
    let folder = with_ca("\n[acme]\n");
    says(&folder.pqtls("ca accounts"), 3, "there are no accounts");
    let key = "FdGpRmjNLIuGKLMlwOtGxkYMPFa6iQmTDmBD3C2oP9A";
    let accounts = format!("[[accounts]]\nkid = \"web\"\nkey = \"{key}\"\n");
    for (file, text) in [("accounts.toml", &*accounts), ("eab.key", key)] {
        folder.write(file, text);
        let path = folder.path().join(file);
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    let acme = Acme::start(&folder, "--external-accounts accounts.toml");
    let obtain = |name: &str, account: &str, more: &str| {
        let options =
            format!("--new-key {name}.key --out {name}.pem --account {account}-account.key {more}");
        folder.pqtls(&acme.obtain("127.0.0.1", &options))
    };
    obtain("a", "first", "").ok();
    obtain("b", "bound", "--eab-kid web --eab-key-file eab.key").ok();
    // The ledger says whose a certificate is.
    let shown = folder.pqtls("ca show a.pem");
    let shown = shown.ok();
    let (_, rest) = shown.split_once("ACME account ").unwrap();
    let id = rest
        .split([' ', '\n', ',', ')', ';'])
        .next()
        .unwrap()
        .to_owned();
    says(&folder.pqtls("ca accounts"), 3, "in use");
    says(
        &folder.pqtls("ca accounts no-such --end"),
        1,
        "no account no-such",
    );
    let ended = folder.pqtls(&format!("ca accounts {id} --end"));
    assert!(
        ended.ok().contains(&format!("{id}: ended")),
        "{}",
        ended.stdout()
    );
    says(&obtain("c", "first", ""), 1, "the account was ended");
    folder.write("accounts.toml", "");
    let tries = core::cell::Cell::new(0);
    until("the file of external accounts is read again", || {
        tries.set(tries.get() + 1);
        let outcome = obtain(&format!("d{}", tries.get()), "bound", "");
        outcome.status() == 1 && outcome.stderr().contains("external account")
    });
    acme.serving.end_in_order();
    let list = folder.pqtls("ca accounts --json");
    let list: serde_json::Value = serde_json::from_str(list.ok()).unwrap();
    assert_eq!(
        crate::json::check_report(&list, "ca accounts"),
        "ca-accounts.1.json"
    );
    let of = |status: &str| {
        let all = list["accounts"].as_array().unwrap().iter();
        all.filter(|one| one["status"] == status).count()
    };
    assert_eq!((of("valid"), of("revoked")), (1, 1), "{list}");
    let again = folder.pqtls(&format!("ca accounts {id} --end --json"));
    let again: serde_json::Value = serde_json::from_str(again.ok()).unwrap();
    crate::json::check_report(&again, "ca accounts --end");
    assert_eq!(again["was_valid"], false);
    let shown = folder.pqtls(&format!("ca accounts {id}"));
    assert!(shown.ok().contains("ended, made"), "{}", shown.stdout());
}
