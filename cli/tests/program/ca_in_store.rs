//! CAs whose keys are in a key store, and never in a file.

use std::fs;

use serde_json::Value;

use crate::folder::{Folder, Outcome};
use crate::store::make_keks;

const INIT: &str = "ca init --name Example --algorithm ML-DSA-44 --kek-file kek";

/// A folder with a store.
fn with_store() -> Folder {
    let folder = Folder::new();
    make_keks(&folder);
    folder.pqtls("store init --kek-file kek").ok();
    folder
}

/// A CA in a folder with a store.
fn with_ca() -> Folder {
    let folder = with_store();
    folder.pqtls(&format!("{INIT} --key-store keys.redb")).ok();
    folder
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.ok()).unwrap()
}

/// The text that stands for a key.
fn reference(folder: &Folder, key: &str) -> String {
    let store = folder.path().join("keys.redb");
    format!(
        "pqtls key in a store 1\nstore: {}\nkey: {key}\n",
        store.display()
    )
}

/// The versions of a key that the store has.
fn versions(folder: &Folder, key: &str) -> usize {
    let shown = json(&folder.pqtls(&format!("store show {key} --kek-file kek --json")));
    shown["versions"].as_array().unwrap().len()
}

fn no_file_has_a_private_key(folder: &Folder) {
    for (path, content) in folder.files() {
        let text = String::from_utf8_lossy(&content);
        assert!(!text.contains("PRIVATE KEY"), "{}", path.display());
    }
    for entry in fs::read_dir(folder.path().join("ca")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains("PRIVATE KEY"), "{}", path.display());
        }
    }
}

/// A version that the folder names and the store lacks is lost, and one that is made is another key.
#[test]
fn a_store_that_is_older_than_the_folder_is_told() {
    let folder = with_ca();
    folder.shell("cp keys.redb older.redb").ok();
    folder.pqtls("ca rollover --kek-file kek").ok();
    folder.pqtls("key new ML-DSA-44 --out w.key").ok();
    folder
        .pqtls("ca issue w.example --key w.key --out w.pem --kek-file kek")
        .ok();
    folder.shell("cp older.redb keys.redb").ok();
    let issue =
        "ca issue a.example --new-key a.key --algorithm ML-DSA-44 --out a.pem --kek-file kek";
    let told = folder.pqtls(issue);
    assert_eq!(told.status(), 1, "{}", told.stderr());
    for words in [
        "there is no version pki/ca/issuing#2, which ca/issuing-2.key names: the store is older than the CA's folder",
        "\"pqtls ca rollover --kek-file kek\"",
        "\"pqtls ca revoke ca/issuing-2.pem\"",
        "\"pqtls ca crl --kek-file kek --root\"",
        "a version that \"pqtls store rotate\" makes is another key",
    ] {
        assert!(told.stderr().contains(words), "{}", told.stderr());
    }
    folder.pqtls("ca revoke ca/issuing-2.pem").ok();
    let next = folder.pqtls("ca rollover --kek-file kek");
    assert!(
        next.ok().contains("--issuer issuing\""),
        "{}",
        next.stdout()
    );
    let listed = folder.pqtls("ca crl --out ca.crl --kek-file kek");
    assert!(
        listed.ok().contains("the list of \"issuing\", too"),
        "{}",
        listed.stdout()
    );
    let words = "The CA's keys are in the key store ";
    let needed = "commands that use them need the options that open it, such as --kek-file FILE.\n";
    let early = folder.pqtls("ca revoke ca/issuing-2.pem");
    for words in [words, needed] {
        assert!(early.ok().contains(words), "{}", early.stdout());
    }
    // Nobody can make lists of the lost key, and nobody is told to.
    let revoked = folder.pqtls("ca revoke w.pem");
    let words = "The certificate of \"issuing-2\" is revoked itself, and clients that know it from the root's list";
    assert!(revoked.ok().contains(words), "{}", revoked.stdout());
    for told in [&next, &listed, &revoked] {
        let said = told.stdout();
        assert!(!said.contains("--issuer issuing-2"), "{said}");
    }
    folder
        .pqtls("ca crl --root --out root.crl --kek-file kek")
        .ok();
    folder.pqtls(issue).ok();
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
}

/// A new issuing key takes the root's: whoever lost both with the store is not sent round.
#[test]
fn a_lost_store_with_the_root_is_told_as_that() {
    let folder = with_ca();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder.shell("mv keys.redb lost.redb").ok();
    folder
        .pqtls("store init --store other.redb --kek-file kek")
        .ok();
    for command in [
        "ca issue a.example --key a.key --out a.pem --kek-file kek",
        "ca crl --root --out root.crl --kek-file kek",
        "ca rollover --key-store other.redb --kek-file kek",
    ] {
        let told = folder.pqtls(command);
        assert_eq!(told.status(), 3, "{}", told.stderr());
        let words =
            "it has the root's key, too, so if it is lost, only a backup of the store is left";
        assert!(told.stderr().contains(words), "{}", told.stderr());
        assert!(!told.stderr().contains("rollover"), "{}", told.stderr());
    }
    // With the root elsewhere, a new key can follow.
    folder.shell("mv ca/root.key root.key").ok();
    let told = folder.pqtls("ca issue a.example --key a.key --out a.pem --kek-file kek");
    let words = "if it is lost, \"pqtls ca rollover --kek-file kek --key-store OTHER\"";
    assert!(told.stderr().contains(words), "{}", told.stderr());
}

#[test]
fn a_root_that_was_never_a_file_does_all_that_a_ca_does() {
    let folder = with_store();
    let made = folder.pqtls(&format!("{INIT} --key-store keys.redb"));
    let said = made.ok();
    assert!(said.contains("in the key store"), "{said}");
    assert!(said.contains("pki/ca/root#1, pki/ca/issuing#1"), "{said}");
    assert!(
        !said.contains("in the clear") && !said.contains("move "),
        "{said}"
    );
    assert_eq!(
        folder.read("ca/root.key"),
        reference(&folder, "pki/ca/root#1")
    );
    assert_eq!(
        folder.read("ca/issuing.key"),
        reference(&folder, "pki/ca/issuing#1")
    );
    no_file_has_a_private_key(&folder);
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert request --key a.key --name a.example --out a.csr")
        .ok();
    // The store is named by the folder, wherever the command runs.
    for command in [
        "ca issue a.example --key a.key --out a.pem",
        "ca sign a.csr --out b.pem",
        "ca renew a.pem --out c.pem",
        "ca revoke b.pem",
        "ca crl --out ca.crl",
        "ca crl --root --out root.crl",
        "ca ocsp --for a.pem --out a.ocsp",
    ] {
        let is_public = command.starts_with("ca revoke");
        let options = if is_public { "" } else { " --kek-file kek" };
        folder.pqtls(&format!("{command}{options}")).ok();
    }
    folder
        .pqtls("cert verify c.pem --roots ca/root.pem --crl ca.crl --crl root.crl")
        .ok();
    folder.pqtls("ca show").ok();
    // Each signature has an entry.
    let log = json(&folder.pqtls("store audit log --kek-file kek --json"));
    let entries = log["entries"].as_array().unwrap();
    let signed = entries.iter().filter(|entry| entry["verb"] == "sign");
    assert!(signed.count() >= 8);
}

#[test]
fn what_the_store_says_reaches_the_user() {
    let folder = with_ca();
    let issue = "ca issue a.example --new-key a.key --out a.pem";
    // no KEK, a wrong one, another principal, a disabled key
    for (options, status, words) in [
        ("", 2, "--kek-file FILE"),
        ("--kek-file kek-2", 1, "give that one"),
        ("--kek-file kek --as eve", 4, "eve may not sign"),
    ] {
        let refused = folder.pqtls(&format!("{issue} {options}"));
        assert_eq!(refused.status(), status, "{}", refused.stderr());
        assert!(refused.stderr().contains(words), "{}", refused.stderr());
        assert!(!folder.path().join("a.key").exists());
    }
    folder
        .pqtls("store disable pki/ca/issuing#1 --kek-file kek")
        .ok();
    let disabled = folder.pqtls(&format!("{issue} --kek-file kek"));
    assert_eq!(disabled.status(), 1, "{}", disabled.stderr());
    assert!(
        disabled.stderr().contains("is disabled"),
        "{}",
        disabled.stderr()
    );
    folder
        .pqtls("store enable pki/ca/issuing#1 --kek-file kek")
        .ok();
    // a store that is away, and a text that was changed
    fs::rename(
        folder.path().join("keys.redb"),
        folder.path().join("away.redb"),
    )
    .unwrap();
    let away = folder.pqtls(&format!("{issue} --kek-file kek"));
    assert_eq!(away.status(), 3, "{}", away.stderr());
    assert!(
        away.stderr().contains("can't be opened"),
        "{}",
        away.stderr()
    );
    let text = folder.read("ca/issuing.key");
    let moved = text.replace("keys.redb", "away.redb");
    folder.write("ca/issuing.key", &moved);
    folder.pqtls(&format!("{issue} --kek-file kek")).ok();
    folder.write("ca/issuing.key", moved.replace("#1", "#01"));
    let changed = folder.pqtls("ca crl --out x.crl --kek-file kek");
    assert_eq!(changed.status(), 3, "{}", changed.stderr());
    assert!(
        changed.stderr().contains("was changed or cut off"),
        "{}",
        changed.stderr()
    );
    // The other key is not the certificate's.
    folder.write("ca/issuing.key", moved.replace("issuing#1", "root#1"));
    let other = folder.pqtls("ca crl --out x.crl --kek-file kek");
    assert_eq!(other.status(), 1, "{}", other.stderr());
    assert!(
        other.stderr().contains("ca/issuing.key"),
        "{}",
        other.stderr()
    );
    assert!(!folder.path().join("x.crl").exists());
}

#[test]
fn a_key_that_follows_is_the_next_version_in_the_store() {
    let folder = with_ca();
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem --kek-file kek")
        .ok();
    let rolled = json(&folder.pqtls("ca rollover --kek-file kek --json"));
    assert_eq!(rolled["stored_keys"][0], "pki/ca/issuing#2");
    assert_eq!(
        folder.read("ca/issuing-2.key"),
        reference(&folder, "pki/ca/issuing#2")
    );
    folder
        .pqtls("ca issue b.example --new-key b.key --out b.pem --kek-file kek")
        .ok();
    // The version before signs the list of its own certificates.
    folder
        .pqtls("ca crl --issuer issuing --out 1.crl --kek-file kek")
        .ok();
    folder.pqtls("ca crl --out 2.crl --kek-file kek").ok();
    folder
        .pqtls("ca crl --root --out root.crl --kek-file kek")
        .ok();
    for (certificate, list) in [("a", "1"), ("b", "2")] {
        folder
            .pqtls(&format!(
                "cert verify {certificate}.pem --roots ca/root.pem --crl {list}.crl --crl root.crl"
            ))
            .ok();
    }
    folder
        .pqtls("ca rollover --use issuing --kek-file kek")
        .ok();
    // A version keeps its key's algorithm; another key may have another one.
    let other = folder.pqtls("ca rollover --algorithm ML-DSA-65 --kek-file kek");
    assert_eq!(other.status(), 2, "{}", other.stderr());
    assert!(other.stderr().contains("--key-names"), "{}", other.stderr());
    folder
        .pqtls(
            "ca rollover --algorithm ML-DSA-65 --key-store keys.redb --key-names pki/later --kek-file kek",
        )
        .ok();
    assert_eq!(
        folder.read("ca/issuing-3.key"),
        reference(&folder, "pki/later/issuing#1")
    );
    folder
        .pqtls("ca rollover --algorithm ML-DSA-44 --key-store keys.redb --kek-file kek")
        .ok();
    assert_eq!(
        folder.read("ca/issuing-4.key"),
        reference(&folder, "pki/ca/issuing#3")
    );
}

#[test]
fn what_a_killed_command_left_in_the_store_gets_no_second_certificate() {
    let folder = with_store();
    // as if the command had ended after it made the root's key, or both
    folder.write("policy", "audit = \"each\"\n");
    folder
        .pqtls(
            "store new pki/ca/root --algorithm ML-DSA-44 --policy policy --grant operator=user --kek-file kek",
        )
        .ok();
    folder.pqtls(&format!("{INIT} --key-store keys.redb")).ok();
    assert_eq!(
        folder.read("ca/root.key"),
        reference(&folder, "pki/ca/root#2")
    );
    assert_eq!(
        folder.read("ca/issuing.key"),
        reference(&folder, "pki/ca/issuing#1")
    );
    // Another CA of these names has versions of its own.
    folder
        .pqtls(&format!("{INIT} --key-store keys.redb --dir other"))
        .ok();
    assert_eq!(
        folder.read("other/root.key"),
        reference(&folder, "pki/ca/root#3")
    );
    // as if a rollover had ended after it made a version
    folder
        .pqtls("store rotate pki/ca/issuing --kek-file kek")
        .ok();
    folder.pqtls("ca rollover --kek-file kek").ok();
    assert_eq!(
        folder.read("ca/issuing-2.key"),
        reference(&folder, "pki/ca/issuing#4")
    );
    assert_eq!(versions(&folder, "pki/ca/issuing"), 4);
    // A folder that is not free makes no key.
    let taken = folder.pqtls(&format!("{INIT} --key-store keys.redb"));
    assert_eq!(taken.status(), 3, "{}", taken.stderr());
    assert_eq!(versions(&folder, "pki/ca/root"), 3);
    // The key of that name has another algorithm.
    let other = folder.pqtls(&format!(
        "{INIT} --root ML-DSA-65 --key-store keys.redb --dir third"
    ));
    assert_eq!(other.status(), 2, "{}", other.stderr());
    assert!(other.stderr().contains("--key-names"), "{}", other.stderr());
    assert!(!folder.path().join("third").exists());
}

#[test]
fn cas_below_others_have_their_keys_in_a_store_too() {
    let folder = with_ca();
    let below = "ca init --name Below --algorithm ML-DSA-44 --key-store keys.redb --kek-file kek";
    folder
        .pqtls(&format!(
            "{below} --key-names pki/below --dir below --under ca"
        ))
        .ok();
    assert_eq!(
        folder.read("below/issuing.key"),
        reference(&folder, "pki/below/issuing#1")
    );
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem --dir below --kek-file kek")
        .ok();
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
    folder
        .pqtls("ca rollover --dir below --under ca --kek-file kek")
        .ok();
    assert_eq!(
        folder.read("below/issuing-2.key"),
        reference(&folder, "pki/below/issuing#2")
    );
    // by a request
    folder
        .pqtls(&format!(
            "{} --key-names pki/asked --dir asked --request asked.csr",
            below.replace("Below", "Asked")
        ))
        .ok();
    folder
        .pqtls("ca certify asked.csr --out asked.pem --kek-file kek")
        .ok();
    folder
        .pqtls("ca install asked.pem --root ca/root.pem --dir asked")
        .ok();
    folder
        .pqtls("ca issue b.example --new-key b.key --out b.pem --dir asked --kek-file kek")
        .ok();
    folder.pqtls("cert verify b.pem --roots ca/root.pem").ok();
    folder
        .pqtls("ca rollover --dir asked --request asked-2.csr --kek-file kek")
        .ok();
    assert_eq!(
        folder.read("asked/issuing-2.key"),
        reference(&folder, "pki/asked/issuing#2")
    );
    folder
        .pqtls("ca certify asked-2.csr --out asked-2.pem --kek-file kek")
        .ok();
    folder.pqtls("ca install asked-2.pem --dir asked").ok();
    folder
        .pqtls("ca rollover --use issuing-2 --dir asked --kek-file kek")
        .ok();
    folder
        .pqtls("ca crl --dir asked --out asked.crl --kek-file kek")
        .ok();
}

/// Killed after the key and the request were written, before the CA above knew of it: the same command goes on.
#[test]
fn a_ca_that_was_begun_goes_on_with_its_key() {
    let folder = with_ca();
    let below = "ca init --name Below --algorithm ML-DSA-44 --key-store keys.redb --kek-file kek \
                 --key-names pki/below --dir below";
    folder.pqtls(&format!("{below} --request below.csr")).ok();
    let key = folder.read("below/issuing.key");
    let done = json(&folder.pqtls(&format!("{below} --under ca --json")));
    assert_eq!(done["stored_keys"][0], "pki/below/issuing#1");
    assert_eq!(folder.read("below/issuing.key"), key);
    assert_eq!(versions(&folder, "pki/below/issuing"), 1);
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem --dir below --kek-file kek")
        .ok();
    folder.pqtls("cert verify a.pem --roots ca/root.pem").ok();
}

/// Killed before the last file was written: the report names the key that the CA has, and no other version is made.
#[test]
fn a_ca_that_is_all_but_complete_goes_on_with_its_key() {
    const OTHER: &str = "give the options with which it was begun";
    let folder = with_ca();
    let below = "ca init --name Below --algorithm ML-DSA-44 --kek-file kek --dir below";
    let stored = format!("{below} --key-store keys.redb --key-names pki/below");
    folder.pqtls(&format!("{stored} --request below.csr")).ok();
    let request = folder.read("below/issuing.csr");
    folder.pqtls(&format!("{stored} --under ca")).ok();
    folder.write("below/issuing.csr", request);
    fs::remove_file(folder.path().join("below/root.pem")).unwrap();
    for other in [
        stored.replace("ML-DSA-44", "ML-DSA-65"),
        stored.replace("pki/below", "pki/other"),
        below.into(),
    ] {
        let refused = folder.pqtls(&format!("{other} --under ca"));
        assert_eq!(refused.status(), 1, "{}", refused.stderr());
        assert!(refused.stderr().contains(OTHER), "{}", refused.stderr());
    }
    assert_eq!(versions(&folder, "pki/below/issuing"), 1);
    let done = json(&folder.pqtls(&format!("{stored} --under ca --json")));
    assert_eq!(done["stored_keys"][0], "pki/below/issuing#1");
    assert_eq!(versions(&folder, "pki/below/issuing"), 1);

    // A key in a file is followed by none in a store.
    let filed = below.replace("below", "filed").replace("Below", "Filed");
    folder.pqtls(&format!("{filed} --request filed.csr")).ok();
    let refused = folder.pqtls(&format!("{filed} --key-store keys.redb --under ca"));
    assert!(refused.stderr().contains(OTHER), "{}", refused.stderr());
    assert_eq!(versions(&folder, "pki/ca/issuing"), 1);
}

/// A key that somebody else made has their policy: nobody's CA takes it.
#[test]
fn a_key_that_others_may_use_is_no_cas() {
    let folder = with_store();
    let mut grants = folder
        .pqtls("store grants show --kek-file kek")
        .ok()
        .to_string();
    grants.push_str("[\"pki/*\"]\nmallory = [\"create\"]\n");
    folder.write("grants.toml", grants);
    folder
        .pqtls("store grants set grants.toml --kek-file kek")
        .ok();
    let init = |names: &str| {
        folder.pqtls(&format!(
            "{INIT} --key-store keys.redb --dir {names} --key-names pki/{names}"
        ))
    };
    for (names, policy, words) in [
        (
            "exported",
            "exportable = true\naudit = \"each\"\n[grants]\n",
            "pki/exported/issuing was there already, and was made to be exported",
        ),
        (
            "signed",
            "audit = \"each\"\n[grants]\nmallory = [\"sign\", \"export\", \"show\"]\n",
            "mallory may sign, export by it",
        ),
        (
            "governed",
            "audit = \"each\"\n[grants]\nmallory = [\"set-policy\"]\n",
            "mallory may set-policy by it",
        ),
        (
            "anyones",
            "audit = \"each\"\n[grants]\n\"*\" = [\"sign\"]\n",
            "anyone may sign by it",
        ),
        ("counted", "[grants]\n", "audit = \"each\""),
    ] {
        folder.write("policy", format!("{policy}operator = [\"user\"]\n"));
        let key = format!("pki/{names}/issuing");
        folder
            .pqtls(&format!(
                "store new {key} --algorithm ML-DSA-44 --policy policy --as mallory --kek-file kek"
            ))
            .ok();
        let refused = init(names);
        assert_eq!(refused.status(), 4, "{}", refused.stderr());
        for words in [words, "--key-names", "pki/anyones/root#1"] {
            let words = words.replace("anyones", names);
            assert!(refused.stderr().contains(&words), "{}", refused.stderr());
        }
        assert!(!folder.path().join(names).exists());
        assert_eq!(versions(&folder, &key), 1);
    }
    // What others may know is no reason.
    folder.write(
        "policy",
        "audit = \"each\"\n[grants]\noperator = [\"user\"]\n\"*\" = [\"public\"]\n",
    );
    folder
        .pqtls("store new pki/known/issuing --algorithm ML-DSA-44 --policy policy --kek-file kek")
        .ok();
    init("known").ok();
    assert_eq!(
        folder.read("known/issuing.key"),
        reference(&folder, "pki/known/issuing#2")
    );
}

/// A CA goes on with its own key after others were granted something, and with none that may be exported.
#[test]
fn a_ca_may_change_the_policy_of_its_own_key() {
    let folder = with_ca();
    let policy = "[grants]\noperator = [\"user\"]\nissuer = [\"sign\", \"show\"]\n";
    folder.write("policy", policy);
    folder
        .pqtls("store policy set pki/ca/issuing policy --kek-file kek")
        .ok();
    folder.pqtls("ca rollover --kek-file kek").ok();
    folder
        .pqtls("ca rollover --key-store keys.redb --kek-file kek")
        .ok();
    assert_eq!(
        folder.read("ca/issuing-3.key"),
        reference(&folder, "pki/ca/issuing#3")
    );
    let other = folder.pqtls(&format!("{INIT} --key-store keys.redb --dir other"));
    assert_eq!(other.status(), 4, "{}", other.stderr());
    assert!(
        other.stderr().contains("issuer may sign by it"),
        "{}",
        other.stderr()
    );
    folder.write("exportable", format!("exportable = true\n{policy}"));
    folder
        .pqtls("store new pki/out/issuing --algorithm ML-DSA-44 --policy exportable --kek-file kek")
        .ok();
    let text = folder.read("ca/issuing-3.key");
    folder.write(
        "ca/issuing-3.key",
        text.replace("pki/ca/issuing#3", "pki/out/issuing#1"),
    );
    let refused = folder.pqtls("ca rollover --kek-file kek");
    assert_eq!(refused.status(), 4, "{}", refused.stderr());
    assert!(
        refused.stderr().contains("was made to be exported"),
        "{}",
        refused.stderr()
    );
}

/// A place that the file of a key can't say is refused before a key is made.
#[cfg(unix)]
#[test]
fn a_place_that_no_file_can_say_is_refused() {
    let folder = with_store();
    let place = "$'new\\nline.redb'";
    let refused = folder.shell(&format!(
        "bash -c \"cp keys.redb {place} && pqtls {INIT} --key-store {place}\""
    ));
    assert_eq!(refused.status(), 2, "{}", refused.stderr());
    assert!(
        refused.stderr().contains("one line of text"),
        "{}",
        refused.stderr()
    );
    assert!(!folder.path().join("ca").exists());
    let listed = folder.shell(&format!(
        "bash -c \"pqtls store list --store {place} --kek-file kek\""
    ));
    assert!(!listed.ok().contains("pki/"));
}

/// One store that two files name in two ways is opened once.
#[cfg(unix)]
#[test]
fn a_store_has_several_names() {
    let folder = with_ca();
    folder.shell("ln -s keys.redb link.redb").ok();
    let text = folder.read("ca/root.key");
    folder.write("ca/root.key", text.replace("keys.redb", "link.redb"));
    let rolled = folder.pqtls("ca rollover --kek-file kek");
    rolled.ok();
    assert!(!rolled.stderr().contains("waiting"), "{}", rolled.stderr());
}

/// Of several that have a key follow at once, those that lose say what they made.
#[test]
fn a_version_that_is_made_for_nothing_is_told() {
    let folder = with_ca();
    let told = folder.shell(
        "for name in 1 2 3 4; do pqtls ca rollover --kek-file kek > /dev/null 2> $name.log & done; wait; cat *.log >&2"
    );
    let told = told.stderr();
    let made = versions(&folder, "pki/ca/issuing");
    let used = (1..=made).filter(|number| {
        let text = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        let id = format!("pki/ca/issuing#{number}\n");
        text("ca/issuing.key").ends_with(&id)
            || (2..=made).any(|next| text(&format!("ca/issuing-{next}.key")).ends_with(&id))
    });
    let unused = made - used.count();
    let warned = told.matches("no certificate is for it").count();
    assert_eq!(warned, unused, "{told}");
}
