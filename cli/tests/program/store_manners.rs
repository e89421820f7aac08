//! What those who run key stores are told, and what no command does to a store.

use alloc::sync::Arc;
use core::time::Duration;
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use pq_keystore::policy::Principal;
use pq_keystore::sealing::KeyFileKek;
use pq_keystore::storage::{
    Change, Expected, RedbStorage, Row, RowChange, RowKey, RowPrefix, Storage, Write,
};
use pq_keystore::{Store, StoreOptions};

use crate::folder::{Folder, Outcome};
use crate::store::make_keks;

const KEY: &str = "shop/files/app";

/// A store with a key of ML-DSA-44, and a CA whose keys are there.
fn with_store() -> Folder {
    let folder = Folder::new();
    make_keks(&folder);
    for command in [
        "store init",
        "store new shop/files/app --algorithm ML-DSA-44 --grant operator=user",
        "ca init --name Example --algorithm ML-DSA-44 --key-store keys.redb",
    ] {
        folder.pqtls(&format!("{command} --kek-file kek")).ok();
    }
    folder.write("m", "message");
    folder
}

/// Checks that a command was refused with these words. It may have noted in the store that it was there.
#[track_caller]
fn refuses(outcome: &Outcome, status: i32, words: &str) {
    let said = outcome.stderr();
    assert_eq!(outcome.status(), status, "{said}");
    assert!(said.contains(words), "{said}");
}

#[test]
fn no_result_is_the_end_of_a_store_or_of_what_it_is_sealed_under() {
    let folder = with_store();
    folder.shell("cp ca/issuing.key reference").ok();
    folder.write("pw", "correct horse");
    folder
        .pqtls("ca init --dir other --name Other --algorithm ML-DSA-44 --passphrase-file pw")
        .ok();
    let store = "keys.redb is a key store, and would be lost";
    let read = "is what this command reads, and would be lost";
    for (command, words) in [
        ("store public shop/files/app --out keys.redb --force", store),
        ("store audit head --out keys.redb", store),
        ("store audit head --out kek --force", read),
        ("store audit head --out link --force", read),
        (
            "sign m --key store:shop/files/app --out keys.redb --force",
            store,
        ),
        (
            "jwt sign --key store:shop/files/app --subject a --out keys.redb --force",
            store,
        ),
        (
            "cert request --key store:shop/files/app --name a.example --out keys.redb --force",
            store,
        ),
        (
            "cert self-sign --key store:shop/files/app --name a.example --out kek --force",
            read,
        ),
        (
            "ca issue a.example --new-key a.key --out keys.redb --force",
            store,
        ),
        (
            "ca issue a.example --new-key keys.redb --out a.pem --force",
            store,
        ),
        ("ca crl --out kek --force", read),
        (
            "ca ocsp --for ca/issuing.pem --out keys.redb --force",
            store,
        ),
    ] {
        folder.shell("ln -sf kek link").ok();
        let refused = folder.pqtls(&format!("{command} --kek-file kek"));
        refuses(&refused, 3, words);
    }
    for (command, words) in [
        ("key new ML-DSA-44 --out keys.redb --force", store),
        (
            "key new ML-DSA-44 --out kek --force",
            "kek has 32 bytes for its owner alone",
        ),
        (
            "key new ML-DSA-44 --out reference --force",
            "reference is what says which key in a key store is the CA's, and would be lost",
        ),
        (
            "key new ML-DSA-44 --out ca/issuing.key --force",
            "ca/issuing.key is a file of the CA itself",
        ),
        (
            "ca crl --dir other --ca-passphrase-file pw --out pw --force",
            read,
        ),
    ] {
        refuses(&folder.pqtls(command), 3, words);
    }
    let by_variable = folder.shell("PQTLS_STORE_KEK=kek pqtls store audit head --out kek --force");
    refuses(&by_variable, 3, read);
    folder.pqtls("store check --kek-file kek").ok();
    assert!(!folder.path().join("a.key").exists());
    // One shared secret follows another.
    folder
        .pqtls("key new ML-KEM-512 --out kem.key --public kem.pub")
        .ok();
    for _ in 0..2 {
        folder
            .pqtls("encaps --key kem.pub --out c --secret secret --force")
            .ok();
    }
}

/// Whoever follows the advice to make a key overwrites the one that can be saved.
#[test]
fn a_kek_in_another_form_is_not_made_anew() {
    let folder = with_store();
    let forms = "(cat kek; echo) > kek.nl; base64 kek > kek.64; od -An -v -tx1 kek | tr -d ' \\n' > kek.hex; head -c 9 kek > kek.9";
    folder.shell(&format!("umask 077; {forms}")).ok();
    for (form, words) in [
        ("nl", "a line end after 32 bytes"),
        ("nl", "\"(umask 077; head -c 32 kek.nl > NEW)\""),
        ("64", "\"(umask 077; base64 -d kek.64 > NEW)\""),
        ("hex", "\"(umask 077; xxd -r -p kek.hex > NEW)\""),
        ("9", "find the right copy"),
    ] {
        for command in [
            "store list",
            "ca issue a.example --new-key a.key --out a.pem",
            "store rewrap --new-kek-file kek-2",
        ] {
            let refused = folder.pqtls(&format!("{command} --kek-file kek.{form}"));
            refuses(&refused, 3, words);
            refuses(&refused, 3, "it is not what the store is sealed under");
            assert!(
                !refused.stderr().contains("urandom"),
                "{}",
                refused.stderr()
            );
        }
        for command in [
            format!("store init --store new.redb --kek-file kek.{form}"),
            format!("store rewrap --kek-file kek --new-kek-file kek.{form}"),
        ] {
            refuses(&folder.pqtls(&command), 3, "head -c 32 /dev/urandom > NEW");
        }
    }
    folder
        .shell("umask 077; head -c 32 kek.nl > saved && pqtls store list --kek-file saved")
        .ok();
}

#[test]
fn the_next_key_of_a_ca_in_a_store_gets_into_no_file() {
    let folder = with_store();
    folder.write("pw", "correct horse");
    for option in ["--no-passphrase", "--passphrase-file pw"] {
        let refused = folder.pqtls(&format!("ca rollover {option} --kek-file kek"));
        refuses(&refused, 2, "the CA's keys are in the key store ");
    }
    assert!(!folder.path().join("ca/issuing-2.key").exists());
    folder.pqtls("ca rollover --kek-file kek").ok();
    let key = folder.read("ca/issuing-2.key");
    assert!(key.starts_with("pqtls key in a store 1\n"), "{key}");
}

#[test]
fn ssh_knows_a_key_of_a_store_by_its_line() {
    let folder = with_store();
    folder
        .pqtls("store new shop/ssh/ci --algorithm MLDSA44-Ed25519-SHA512 --grant operator=user --kek-file kek")
        .ok();
    folder
        .pqtls("store public shop/ssh/ci --format ssh --out ci.pub --kek-file kek")
        .ok();
    let line = folder.read("ci.pub");
    folder.write("allowed", format!("ci@example.org {line}"));
    folder
        .pqtls("ssh sign m --key store:shop/ssh/ci --out m.sig --kek-file kek")
        .ok();
    folder
        .pqtls("ssh verify m --signature m.sig --signers allowed --identity ci@example.org")
        .ok();
    folder
        .pqtls("store public shop/ssh/ci --out ci.pem --kek-file kek")
        .ok();
    let same = folder.pqtls("key public ci.pem --format ssh");
    assert_eq!(same.ok(), line);
    let other = folder.pqtls("store public shop/files/app --format ssh --kek-file kek");
    refuses(&other, 1, "SSH has keys of MLDSA44-Ed25519-SHA512");
    folder
        .pqtls("key new MLDSA44-Ed25519-SHA512 --out ssh.key")
        .ok();
    let private = folder.pqtls("key convert ssh.key --format ssh");
    refuses(&private, 2, "make an SSH key with \"pqtls ssh new\"");
}

#[test]
fn advice_is_of_what_exists() {
    let folder = with_store();
    folder.write("f.txt", "text");
    let taken = "exists, and stays as it is; choose another name, or move it away first";
    for (command, status, words) in [
        ("store init", 3, taken),
        ("store init --store f.txt", 3, taken),
        ("store backup f.txt", 3, taken),
        (
            "store list --store f.txt",
            3,
            "f.txt is no file of a key store",
        ),
        (
            "store restore f.txt --store new.redb",
            3,
            "the backup: the file f.txt is no file of a key store",
        ),
        (
            "store restore nope --store new.redb",
            3,
            "name a file that \"pqtls store backup\" wrote",
        ),
        (
            "ca init --dir new --name New --key-store nope",
            3,
            "check --key-store",
        ),
        (
            "sign m --key store:shop/files/ap",
            4,
            "operator may not sign shop/files/ap; if \"pqtls store list --kek-file kek\" has it",
        ),
        ("store rotate shop/files/ap", 1, "there is no key"),
        (
            "sign m --key store:shop/files/ap --as eve",
            4,
            "eve may not sign shop/files/ap",
        ),
        ("store rotate shop/files/app#1", 2, "leave \"#1\" out"),
        ("store show shop/files/app#7", 2, "leave \"#7\" out"),
        ("ca renew ca/issuing.pem --out x", 1, "pqtls ca rollover"),
    ] {
        let is_open = !command.starts_with("store backup");
        let kek = if is_open { " --kek-file kek" } else { "" };
        refuses(&folder.pqtls(&format!("{command}{kek}")), status, words);
    }
    folder.pqtls("store backup copy").ok();
    let restored = folder.pqtls("store restore copy --store f.txt --kek-file kek");
    refuses(&restored, 3, taken);
    folder.write("bytes", [0xff; 8]);
    let policy = folder.pqtls("store policy set shop/files/app bytes --kek-file kek");
    refuses(&policy, 3, "bytes is not text, as it has to be");
    for command in [
        "verify m --key store:shop/files/app --signature m",
        "key show store:shop/files/app",
        "key public store:shop/files/app",
        "decrypt m --key store:shop/files/app",
        "ca issue a.example --key store:shop/files/app --kek-file kek",
    ] {
        refuses(&folder.pqtls(command), 3, "\"pqtls store public");
    }
    folder.shell("mv keys.redb away.redb").ok();
    let issue = "ca issue a.example --new-key a.key --out a.pem --kek-file kek";
    for command in [issue, "ca rollover --kek-file kek"] {
        let missing = folder.pqtls(command);
        refuses(&missing, 3, "write where it is now after \"store:\" in ca/");
        assert!(!missing.stderr().contains("store init"));
    }
}

#[test]
fn files_of_a_store_say_what_they_are() {
    let folder = with_store();
    for command in [
        "store audit head --out head",
        "store attest shop/files/app --out attestation",
        "store sign --key shop/files/app m --out signature",
    ] {
        folder.pqtls(&format!("{command} --kek-file kek")).ok();
    }
    for (file, words) in [
        ("head", "pqtls store check --head"),
        ("attestation", "pqtls store verify-attestation"),
        ("signature", "pqtls store verify"),
        ("keys.redb", "keys.redb is a key store"),
        ("ca/issuing.key", "stands for a CA's key in a key store"),
    ] {
        for command in ["show", "key show"] {
            refuses(&folder.pqtls(&format!("{command} {file}")), 3, words);
        }
    }
}

#[test]
fn digests_are_taken_as_they_are_printed() {
    let folder = with_store();
    folder
        .pqtls(
            "cert self-sign --key store:shop/files/app --name localhost --out c.pem --kek-file kek",
        )
        .ok();
    let printed = folder.pqtls("cert fingerprint c.pem");
    let digest = printed
        .ok()
        .split_whitespace()
        .find(|word| word.starts_with("sha256:"));
    let digest = digest.unwrap();
    let serve =
        "store serve --cert c.pem --key nope --tokens tokens --listen 127.0.0.1:0 --kek-file kek";
    let with = |digest: &str| {
        let entry = format!("[[certificates]]\nsha256 = \"{digest}\"\nprincipal = \"web\"\n");
        folder.write("tokens", entry);
        folder.pqtls(serve)
    };
    // It goes on to the key.
    let taken = with(digest);
    assert!(!taken.stderr().contains("tokens"), "{}", taken.stderr());
    refuses(
        &with(&format!("{digest}  c.pem")),
        3,
        "cut off all else, such as a file's name",
    );
    assert!(
        !folder
            .pqtls("store serve --help")
            .stdout()
            .contains("--watch")
    );
}

/// Runs the program beside others.
fn begin(folder: &Folder, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pqtls"));
    command.args(line.split_whitespace());
    command.current_dir(folder.path()).stdout(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn commands_wait_for_each_other() {
    let folder = with_store();
    let issue = |number: u32| {
        let line = format!("ca issue a{number}.example --new-key {number}.key --out {number}.pem");
        begin(&folder, &format!("{line} --kek-file kek"))
    };
    let issuing: Vec<Child> = (0..6).map(issue).collect();
    for mut one in issuing {
        assert!(one.wait().unwrap().success());
    }
    // Not for ever
    let held = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
    let refused = folder.pqtls(&format!("store show {KEY} --kek-file kek"));
    refuses(
        &refused,
        3,
        "try again, or keep the store in PostgreSQL (docs/keys.md)",
    );
    refuses(
        &refused,
        3,
        "pqtls: waiting for another process that uses the file keys.redb\n",
    );
    // Once
    assert_eq!(refused.stderr().matches("waiting for").count(), 1);
    drop(held);
    folder
        .pqtls(&format!("store show {KEY} --kek-file kek"))
        .ok();
}

/// Deletes rows behind the store's back.
fn delete(folder: &Folder, rows: &RowPrefix) {
    let storage = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
    let found = storage.list(rows, None, 100).unwrap().rows;
    assert!(!found.is_empty());
    let delete = |(key, row): (RowKey, _)| RowChange {
        key,
        expected: Expected::unchanged(Some(&row)),
        write: Write::Delete,
    };
    let change = Change {
        rows: found.into_iter().map(delete).collect(),
        append: None,
    };
    storage.commit(&change).unwrap();
}

/// Changes the last byte of rows behind the store's back.
fn flip(folder: &Folder, rows: &RowPrefix, begin: &str) {
    let storage = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
    let found = storage.list(rows, None, 1_000).unwrap().rows.into_iter();
    let flip = |(key, row): (RowKey, Row)| {
        let mut value = row.value.clone();
        *value.last_mut().unwrap() ^= 1;
        RowChange {
            key,
            expected: Expected::unchanged(Some(&row)),
            write: Write::Put(value),
        }
    };
    let found = found.filter(|(key, _)| key.as_str().starts_with(begin));
    let rows: Vec<_> = found.map(flip).collect();
    assert!(!rows.is_empty());
    let append = None;
    storage.commit(&Change { rows, append }).unwrap();
}

/// A backup of damaged rows says so, and nobody is sent from a backup to a backup.
#[test]
fn damage_is_told_of_backups() {
    let folder = with_store();
    folder.pqtls("store backup whole.bak").ok();
    flip(&folder, &RowPrefix::keys_of_tenant("shop"), "key/");
    let backed = folder.pqtls("store backup f.bak");
    refuses(
        &backed,
        1,
        "1 rows are damaged: key/shop/files/app (it was changed",
    );
    refuses(&backed, 1, "keep the backups from before");
    let json = folder.pqtls("store backup g.bak --json");
    assert_eq!(json.status(), 1);
    assert!(
        json.stdout()
            .contains("\"the row key/shop/files/app is damaged"),
        "{}",
        json.stdout()
    );
    let restored = folder.pqtls("store restore f.bak --store new.redb --kek-file kek");
    for words in [
        "nothing was restored: 1 rows of the backup f.bak are damaged: key/shop/files/app (",
        "restore another backup; if there is none",
    ] {
        refuses(&restored, 1, words);
    }
    assert!(!folder.path().join("new.redb").exists());
    // As it says
    folder
        .pqtls("store show pki/ca/root --store f.bak --kek-file kek")
        .ok();
    let whole = folder.bytes("whole.bak");
    folder.write("cut.bak", &whole[..whole.len() / 2]);
    let cut = folder.pqtls("store restore cut.bak --store new.redb --kek-file kek");
    refuses(&cut, 3, "the backup cut.bak is damaged: ");
    refuses(&cut, 3, "; restore another backup\n");
    let sealed = folder.pqtls("store restore whole.bak --store new.redb");
    refuses(
        &sealed,
        2,
        "the store in the backup whole.bak is sealed under a key",
    );
}

/// Where nothing works, no error says that other keys do.
#[test]
fn a_store_that_nobody_opens_is_called_that() {
    for row in ["store", "index/", "kek"] {
        let folder = with_store();
        flip(&folder, &RowPrefix::all(), row);
        for command in ["show pki/ca/root", "check", "list"] {
            let refused = folder.pqtls(&format!("store {command} --kek-file kek"));
            assert!([1, 3].contains(&refused.status()), "{}", refused.stderr());
            let said = refused.stderr();
            let is_told = said.contains("nothing in the store can be used until then");
            assert!(is_told || row == "kek", "{row} {command}: {said}");
        }
    }
}

/// What is missing is told by what lists keys, and all that is damaged is named.
#[test]
fn rows_that_are_missing_are_told() {
    const MISSING: &str = "the store's index has 2 more keys than were found";
    let folder = with_store();
    delete(&folder, &RowPrefix::keys_of_tenant("pki"));
    for option in ["", "--due", "--json"] {
        let listed = folder.pqtls(&format!("store list --kek-file kek {option}"));
        refuses(&listed, 1, MISSING);
        assert!(!listed.stdout().contains("no keys"), "{}", listed.stdout());
    }
    let json = folder.pqtls("store list --kek-file kek --json");
    assert!(json.stdout().contains(MISSING), "{}", json.stdout());
    folder.pqtls("store list --tenant shop --kek-file kek").ok();
    let checked = folder.pqtls("store check --kek-file kek");
    for words in ["2 of the", "key/pki/ca/root", "key/pki/ca/issuing"] {
        refuses(&checked, 1, words);
    }
    let more = "store new shop/files/more --algorithm ML-DSA-44 --kek-file kek";
    folder.pqtls(more).ok();
    refuses(&folder.pqtls("store list --kek-file kek"), 1, MISSING);
}

/// What is set by mistake: a key that nothing can be done with, or that is always due, and a key that anybody guesses.
#[test]
fn what_nobody_means_is_refused() {
    let folder = with_store();
    for policy in [
        "min-version = 99",
        "min-signing-version = 2",
        "rotate-after = \"0s\"",
    ] {
        folder.write("policy", policy);
        for command in [
            "store policy set shop/files/app policy",
            "store new shop/files/other --policy policy",
        ] {
            let refused = folder.pqtls(&format!("{command} --kek-file kek"));
            assert_eq!(refused.status(), 4, "{}", refused.stderr());
        }
    }
    folder.shell("umask 077; head -c 32 /dev/zero > zeros").ok();
    for command in [
        "store init --store new.redb --kek-file zeros",
        "store rewrap --kek-file kek --new-kek-file zeros",
    ] {
        refuses(&folder.pqtls(command), 3, "anybody can guess it");
    }
    assert!(!folder.path().join("new.redb").exists());
}

/// By a clock that is behind, nothing is called due that is then refused.
#[test]
fn a_clock_that_is_behind_finds_nothing_due() {
    let folder = with_store();
    folder.write("policy", "rotate-after = \"90d\"\n");
    folder
        .pqtls("store policy set shop/files/app policy --kek-file kek")
        .ok();
    // Another machine is two days ahead, and makes a version.
    let ahead = StoreOptions::default().clock(|| SystemTime::now() + Duration::from_hours(48));
    let storage = RedbStorage::open(&folder.path().join("keys.redb")).unwrap();
    let kek = KeyFileKek::read(&folder.path().join("kek")).unwrap();
    let store = Store::open(Arc::new(storage), &kek, ahead).unwrap();
    let operator = Principal::new("operator").unwrap();
    store.rotate(&operator, &KEY.parse().unwrap()).unwrap();
    drop(store);

    let run = |line: &str| folder.pqtls(&format!("store {line} --kek-file kek"));
    let which = "the clock of the machine that has the store open is 172";
    let confirm = "by \"pqtls store confirm-time --kek-file kek\"";
    for line in ["list", "show shop/files/app"] {
        let shown = run(line);
        assert_eq!(shown.status(), 0, "{}", shown.stderr());
        assert!(!shown.stdout().contains("due"), "{}", shown.stdout());
        for words in ["it is not known what is due: ", which, confirm] {
            assert!(shown.stderr().contains(words), "{}", shown.stderr());
        }
    }
    for line in ["list --due", "rotate --due"] {
        let refused = run(&format!("{line} --json"));
        assert_eq!(refused.status(), 1, "{}", refused.stderr());
        assert!(refused.stdout().contains("\"code\": \"clock-behind\""));
        for words in [which, confirm] {
            assert!(refused.stderr().contains(words), "{}", refused.stderr());
        }
    }
    run("confirm-time").ok();
    // Its age is not known, so it is due.
    assert!(run("list --due").ok().contains("shop/files/app#2"));
    assert!(run("rotate --due").ok().contains("shop/files/app#3"));
}

/// Advised commands are given the options that the command was given and that they take, so that they reach the same store.
#[test]
fn advice_repeats_how_the_store_is_opened() {
    let folder = Folder::new();
    make_keks(&folder);
    let options = "--store my.redb --kek-file kek";
    folder.pqtls(&format!("store init {options}")).ok();
    let refused = |line: &str| {
        let refused = folder.pqtls(line);
        assert_ne!(refused.status(), 0, "{line}");
        refused.stderr().to_owned()
    };
    let said = refused(&format!("store show a/b/c {options} --pin-file pin"));
    let advised = format!("\"pqtls store list {options} --pin-file pin\"");
    assert!(said.contains(&advised), "{said}");

    // A key that is made says what is next.
    let made = folder.pqtls(&format!("store new a/b/c {options}"));
    let advised = format!("\"pqtls store policy set {options}\"");
    assert!(made.ok().contains(&advised));
    // What the advised command can do is done by somebody else.
    folder.write("file", "x");
    let said = refused(&format!("sign --key store:a/b/c file {options} --as eve"));
    assert!(
        said.contains(&advised) && !said.contains("--as eve"),
        "{said}"
    );
    // What is said of a command is none to run.
    let said = refused("store restore file --store new.redb --kek-file kek");
    assert!(said.contains("that \"pqtls store backup\" wrote"), "{said}");

    // Nor was the store named for a command on a CA, whose folder has its path.
    folder
        .pqtls("ca init --name CA --dir ca --key-store my.redb --kek-file kek")
        .ok();
    let rolled = folder.pqtls("ca rollover --dir ca --kek-file kek");
    assert!(
        rolled
            .ok()
            .contains("\"pqtls ca crl --kek-file kek --dir ca\"")
    );
    let said = refused("ca issue a.test --new-key key --out pem --dir ca --kek-file kek --as eve");
    let place = folder.path().join("my.redb");
    let advised = format!(
        "\"pqtls store grants set --kek-file kek --store {}\"",
        place.display()
    );
    assert!(said.contains(&advised), "{said}");
}
