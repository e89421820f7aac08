//! CAs whose ledger is in PostgreSQL, on servers that these tests start.

use std::time::Instant;
use std::{fs, thread};

use databases::Cluster;
use serde_json::Value;

use crate::folder::Folder;
use crate::json::check_report;
use crate::shared_store::{PATIENCE, address};

/// A folder with a CA in `ca`, whose ledger is at this address.
fn with_ca(address: &str) -> Folder {
    let folder = Folder::new();
    let made = folder.pqtls(&format!(
        "ca init --name Example --dns example.org --algorithm ML-DSA-44 --ledger {address}"
    ));
    assert!(
        made.ok().contains("  ledger    postgres://"),
        "{}",
        made.stdout()
    );
    folder
}

fn json(folder: &Folder, line: &str) -> Value {
    let report = serde_json::from_str(folder.pqtls(&format!("{line} --json")).ok()).unwrap();
    check_report(&report, line);
    report
}

/// How many certificates a CA's ledger has.
fn count(folder: &Folder, ca: &str) -> usize {
    let listed = folder.pqtls(&format!("ca list --json --dir {ca}"));
    let listed: Value = serde_json::from_str(listed.ok()).unwrap();
    listed["certificates"].as_array().unwrap().len()
}

#[test]
fn every_command_works_on_it_from_every_copy_of_the_folder() {
    let Some(address) = address() else { return };
    let folder = with_ca(&address);
    assert!(!folder.path().join("ca/ledger").exists());
    let remembered = folder.read("ca/ledger.toml");
    assert!(remembered.contains(&address), "{remembered}");
    folder.shell("cp -r ca replica").ok();
    let shown = json(&folder, "ca show --dir replica");
    assert_eq!(shown["ledger"], address.as_str());

    let issue = "ca issue www.example.org --new-key www.key --out www.pem --algorithm ML-DSA-44";
    folder.pqtls(issue).ok();
    for line in [
        "ca show www.pem --dir replica",
        "ca renew www.pem --out again.pem --dir replica",
        "ca revoke www.pem --reason certificateHold --dir replica",
        "ca reinstate www.pem",
        "ca revoke www.pem --reason superseded",
        "ca crl --out first.crl",
        "ca crl --out second.crl --dir replica",
        "ca crl --root --out root.crl --dir replica",
        "ca ocsp --for again.pem --out again.ocsp",
        "key new ML-DSA-44 --out app.key",
        "cert request --name app.example.org --key app.key --out app.csr",
        "ca sign app.csr --out app.pem --dir replica",
        "ca init --name Below --dns below.example.org --algorithm ML-DSA-44 --under ca --dir below",
        "ca init --name Other --dns other.example.org --algorithm ML-DSA-44 --request other.csr --dir other",
        "ca certify other.csr --out other.pem",
        "ca install other.pem --root ca/root.pem --dir other",
        "ca rollover",
        "ca issue b.example.org --new-key b.key --out b.pem --algorithm ML-DSA-44",
    ] {
        folder.pqtls(line).ok();
    }
    let number = |list: &str| {
        let shown = folder.shell(&format!("openssl crl -in {list} -noout -crlnumber"));
        shown.stdout().to_string()
    };
    if folder.shell("openssl version").status() == 0 {
        assert!(
            number("second.crl").contains('2'),
            "{}",
            number("second.crl")
        );
    }
    // The copy lacks the key that follows, and the ledger says so.
    folder
        .pqtls("ca issue c.example.org --new-key c.key --out c.pem --dir replica")
        .fails(3, "issuing-2");
    folder.shell("cp ca/issuing-2.* replica/").ok();
    folder
        .pqtls("ca issue c.example.org --new-key c.key --out c.pem --algorithm ML-DSA-44 --dir replica")
        .ok();
    assert_eq!(count(&folder, "ca"), count(&folder, "replica"));
    folder.pqtls("ca adopt www.pem").ok();
}

/// Machines that issue at once have all certificates in one ledger.
#[test]
fn copies_issue_at_once() {
    let Some(address) = address() else { return };
    let folder = with_ca(&address);
    const COPIES: usize = 4;
    thread::scope(|scope| {
        for number in 0..COPIES {
            let folder = &folder;
            scope.spawn(move || {
                folder.shell(&format!("cp -r ca copy-{number}")).ok();
                for again in 0..3 {
                    let line = format!(
                        "ca issue {number}.example.org --new-key {number}-{again}.key --out {number}-{again}.pem \
                         --algorithm ML-DSA-44 --dir copy-{number}"
                    );
                    folder.pqtls(&line).ok();
                }
            });
        }
    });
    assert_eq!(count(&folder, "ca"), 1 + 3 * COPIES);
}

/// No error leads to a ledger in the folder, and each says which file is meant.
#[test]
fn nothing_falls_back_to_a_ledger_in_the_folder() {
    let (Some(first), Some(second)) = (address(), address()) else {
        return;
    };
    let folder = with_ca(&first);
    // A ledger of another CA, or of none, is not this one's.
    let init = |dir: &str, address: &str| {
        folder.pqtls(&format!(
            "ca init --name Other --algorithm ML-DSA-44 --dir {dir} --ledger {address}"
        ))
    };
    init("other", &first).fails(3, "each CA has a ledger of its own");
    assert!(!folder.path().join("other").exists());
    init("other", &second).ok();
    let file = folder.read("ca/ledger.toml");
    folder.write("ca/ledger.toml", folder.read("other/ledger.toml"));
    folder
        .pqtls("ca list")
        .fails(1, "does not fit the CA in ca/issuing.pem");
    // The same with one in the folder beside it.
    folder
        .pqtls("ca init --name Local --algorithm ML-DSA-44 --dir local")
        .ok();
    folder.shell("cp -r local/ledger ca/ledger").ok();
    let nowhere = "postgres://postgres@%2Fnowhere/postgres?connect_timeout=1&timeout=1";
    let nobody = first.replace("postgres@", "nobody@");
    let missing = first.replace("schema=", "schema=missing_");
    for (address, status, words) in [
        (nowhere, 3, "nothing was changed; try again"),
        (&nobody, 3, "trying again doesn't help before that"),
        (
            &missing,
            3,
            "has no ledger; check the address and the schema",
        ),
        (
            "redis://here",
            3,
            "ca/ledger.toml does not say where this CA's ledger is",
        ),
        ("postgres://postgres@db/postgres", 2, "?sslrootcert=FILE"),
        (
            "postgres://postgres:hunter2@db/postgres",
            2,
            "change the password",
        ),
    ] {
        folder.write("ca/ledger.toml", format!("postgres = \"{address}\"\n"));
        for line in [
            "list",
            "show",
            "crl --out a.crl",
            "issue a.example.org --out a.pem --new-key a.key",
        ] {
            let refused = folder.pqtls(&format!("ca {line}"));
            refused.fails(status, words);
            let said = refused.stderr();
            assert!(
                said.contains("ca/ledger.toml") && !said.contains("hunter"),
                "{said}"
            );
        }
    }
    for wrong in [
        "",
        "postgres = 7",
        "postgres = \"postgres://hunter2",
        "mysql = \"x\"",
    ] {
        folder.write("ca/ledger.toml", wrong);
        let refused = folder.pqtls("ca crl --out a.crl");
        refused.fails(3, "ca/ledger.toml");
        assert!(!refused.stderr().contains("hunter"), "{}", refused.stderr());
    }
    // Without the file, a CA that never had a ledger in its folder has none.
    fs::remove_file(folder.path().join("ca/ledger.toml")).unwrap();
    fs::remove_dir_all(folder.path().join("ca/ledger")).unwrap();
    folder
        .pqtls("ca crl --out a.crl")
        .fails(3, "ledger.toml instead");
    assert!(!folder.path().join("a.crl").exists());
    folder.write("ca/ledger.toml", file);
    folder.pqtls("ca crl --out a.crl").ok();
}

/// The address has files with paths that stay, and no password: that comes from where it does for stores.
#[test]
fn the_folder_remembers_no_password() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let access = "local all postgres trust\nlocal all keeper scram-sha-256\n";
    databases::private_file(&cluster.data().join("pg_hba.conf"), access);
    let process = cluster.start();
    let role =
        "CREATE ROLE keeper LOGIN PASSWORD 'hunter2'; GRANT CREATE ON DATABASE postgres TO keeper";
    cluster.run(5432, role);
    let folder = Folder::new();
    folder.write("passfile", "*:*:*:keeper:hunter2\n");
    folder.shell("chmod 600 passfile").ok();
    let host = cluster.folder().display().to_string().replace('/', "%2F");
    let address = format!("postgres://keeper@{host}/postgres?{PATIENCE}");
    let init = "ca init --name Example --algorithm ML-DSA-44 --ledger";
    folder
        .pqtls(&format!(
            "{init} {}",
            address.replace("keeper@", "keeper:hunter2@")
        ))
        .fails(2, "change the password");
    folder
        .pqtls(&format!("{init} {address}"))
        .fails(3, "password");
    assert!(!folder.path().join("ca").exists());
    folder
        .pqtls(&format!("{init} {address}&passfile=passfile&schema=of_ca"))
        .ok();
    let file = folder.read("ca/ledger.toml");
    let path = format!(
        "passfile={}/passfile",
        folder.path().canonicalize().unwrap().display()
    );
    assert!(file.contains(&path) && !file.contains("hunter2"), "{file}");
    folder.shell("cd ca && pqtls ca list --dir .").ok();
    let without = file.replace(&format!("&{path}"), "");
    folder.write("ca/ledger.toml", without);
    folder.pqtls("ca list").fails(3, "password");
    folder.shell("PGPASSWORD=hunter2 pqtls ca list").ok();
    folder.shell("PGPASSFILE=passfile pqtls ca list").ok();
    // A server that is away is there again later.
    process.kill();
    let soon = folder.read("ca/ledger.toml").replace("=120", "=1");
    folder.write("ca/ledger.toml", soon);
    folder
        .shell("PGPASSWORD=hunter2 pqtls ca list")
        .fails(3, "try again");
    let _process = cluster.start();
    folder.write("ca/ledger.toml", file);
    folder.pqtls("ca list").ok();
}

/// A folder with a CA in `ca`, whose ledger is there, and has some of everything.
fn with_local_ca() -> Folder {
    let folder = Folder::new();
    for line in [
        "ca init --name Example --dns example.org --algorithm ML-DSA-44",
        "ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44",
        "ca issue b.example.org --new-key b.key --out b.pem --algorithm ML-DSA-44",
        "ca revoke a.pem --reason keyCompromise",
        "ca revoke b.pem --reason certificateHold",
        "ca reinstate b.pem",
        "ca crl --out 1.crl",
        "ca crl --clock-is-right --out 2.crl",
        "ca rollover",
    ] {
        folder.pqtls(line).ok();
    }
    folder
}

/// What the CA in `ca` says of itself and its certificates, whenever it is asked.
fn said(folder: &Folder) -> Vec<Value> {
    let shown = json(folder, "ca show");
    let keys = shown["keys"].as_array().unwrap().iter();
    let mut said: Vec<_> = keys
        .flat_map(|key| {
            let fingerprint = &key["certificate"]["fingerprint"];
            [&key["name"], &key["stage"], &key["revocation"], fingerprint].map(Value::clone)
        })
        .collect();
    said.push(json(folder, "ca list"));
    said
}

#[test]
fn a_ledger_moves_to_a_database_and_back() {
    let (Some(first), Some(second)) = (address(), address()) else {
        return;
    };
    let folder = with_local_ca();
    let before = said(&folder);
    folder
        .pqtls("ca move --to local")
        .fails(3, "nothing to move");
    folder
        .pqtls("ca move --to elsewhere")
        .fails(2, "postgres://USER@HOST/DATABASE, and not \"local\"");
    folder
        .pqtls("ca move --undo")
        .fails(3, "nothing to take back");
    // An old copy of the folder, which nobody should use.
    folder.shell("cp -r ca old").ok();
    let moved = json(&folder, &format!("ca move --to {first}"));
    assert_eq!(moved["certificates"], 4);
    assert!(moved["events"].as_u64().unwrap() >= 8, "{moved}");
    assert_eq!(moved["ledger"], first.as_str());
    assert_eq!(json(&folder, "ca show")["ledger"], first.as_str());
    assert_eq!(said(&folder), before);
    // The same again changes nothing, and another place is none.
    assert_eq!(json(&folder, &format!("ca move --to {first}")), moved);
    folder
        .pqtls(&format!("ca move --to {second}"))
        .fails(3, "ca/ledger.toml");
    // Without the file that names the database, the ledger that was left says where it is.
    folder.shell("mv ca/ledger.toml kept.toml").ok();
    for line in [
        "list",
        "crl --out x.crl",
        "revoke b.pem",
        "ocsp --for b.pem --out x",
    ] {
        let refused = folder.pqtls(&format!("ca {line}"));
        refused.fails(3, &format!("was moved to {first}"));
    }
    folder.pqtls("ca move --undo").fails(3, "was moved to");
    assert_eq!(json(&folder, &format!("ca move --to {first}")), moved);
    assert_eq!(folder.read("ca/ledger.toml"), folder.read("kept.toml"));
    // Another CA's ledger is not written over.
    folder
        .pqtls(&format!("ca move --dir old --to {first}"))
        .fails(3, "is not empty");
    folder.pqtls("ca list --dir old").ok();
    // From the database back into the folder of a copy.
    folder
        .pqtls("ca issue c.example.org --key b.pem --out c.pem")
        .ok();
    folder.pqtls("ca crl --out 3.crl").ok();
    folder.shell("cp -r ca replica").ok();
    let before = said(&folder);
    let back = json(&folder, "ca move --to local");
    assert_ne!(back["sha256"], moved["sha256"]);
    assert_eq!(json(&folder, "ca show")["ledger"], Value::Null);
    assert_eq!(said(&folder), before);
    assert!(folder.path().join("ca/ledger.moved-1").exists());
    for line in ["list", "crl --out x.crl", "move --to local"] {
        let refused = folder.pqtls(&format!("ca {line} --dir replica"));
        refused.fails(3, "was moved to ");
    }
    // And to another one
    let again = json(&folder, &format!("ca move --to {second}"));
    assert_eq!(again["sha256"], back["sha256"]);
    assert_eq!(said(&folder), before);
}

/// Killed at any moment, the move goes on when it is begun again, or is taken back.
#[test]
fn a_move_that_is_killed_goes_on_or_is_taken_back() {
    if databases::shared().is_none() {
        return;
    }
    let template = with_local_ca();
    // How long it takes unless it is killed
    template.shell("cp -r ca copy").ok();
    let begun = Instant::now();
    let place = address().unwrap();
    template
        .pqtls(&format!("ca move --dir copy --to {place}"))
        .ok();
    let whole = begun.elapsed().as_secs_f64();
    const ROUNDS: u32 = 12;
    for round in 0..ROUNDS {
        let folder = Folder::new();
        template
            .shell(&format!("cp -r ca {}/ca", folder.path().display()))
            .ok();
        let place = address().unwrap();
        let before = said(&folder);
        // Both ways
        for to in [place.as_str(), "local"] {
            let line = format!("ca move --to {to}");
            let delay = whole * f64::from(round + 1) / f64::from(ROUNDS);
            folder.shell(&format!("timeout -s KILL {delay} pqtls {line}"));
            let listed = folder.pqtls("ca list");
            if listed.status() != 0 {
                listed.fails(3, "ca move");
            }
            let changed = folder.pqtls("ca crl --out x.crl --force");
            let is_moving = changed.status() != 0;
            if is_moving && round % 2 == 0 && listed.status() == 0 {
                json(&folder, "ca move --undo");
                folder.pqtls("ca crl --out x.crl --force").ok();
                assert_eq!(said(&folder), before);
            }
            // Whatever was done, the same again completes it.
            let shown = folder.pqtls("ca show --json");
            let is_here = folder.path().join("ca/ledger.toml").exists();
            if shown.status() != 0 || is_here == (to == "local") {
                folder.pqtls(&line).ok();
            }
            folder.pqtls("ca crl --out x.crl --force").ok();
            assert_eq!(said(&folder), before);
        }
    }
}
