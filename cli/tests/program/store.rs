//! `pqtls store`: keys in custody.

use serde_json::Value;

use crate::folder::{Folder, Outcome};

/// Two files that stores can be sealed under.
pub(crate) fn make_keks(folder: &Folder) {
    folder
        .shell("umask 077; head -c 32 /dev/urandom > kek; head -c 32 /dev/urandom > kek-2")
        .ok();
}

/// A folder with a store in it, which has the key `shop/files/app`.
struct Custody(Folder);

impl Custody {
    fn new() -> Self {
        let folder = Folder::new();
        make_keks(&folder);
        folder.write("app", "Version 1.0\n");
        let custody = Self(folder);
        custody.run("init").ok();
        custody
            .run("new shop/files/app --algorithm ML-DSA-44 --grant operator=user")
            .ok();
        custody
    }

    /// A command on the store.
    fn run(&self, line: &str) -> Outcome {
        self.0.pqtls(&format!("store {line} --kek-file kek"))
    }

    /// A command on the store, which is refused with this status, code and words. The audit log may have an entry of it.
    #[track_caller]
    fn refuses(&self, line: &str, status: i32, code: &str, words: &str) {
        let refused = self.run(&format!("{line} --json"));
        assert_eq!(refused.status(), status, "{line}: {}", refused.stderr());
        let report: Value = serde_json::from_str(refused.stdout()).unwrap();
        assert_eq!(report["schema"], "pqtls/failure/1", "{line}");
        assert_eq!(report["code"], code, "{line}: {report}");
        assert!(
            report["error"].as_str().unwrap().contains(words),
            "{report}"
        );
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(self.run(&format!("{line} --json")).ok()).unwrap()
    }
}

#[test]
fn signatures_name_the_version_that_made_them_and_verify_after_a_rotation() {
    let custody = Custody::new();
    let folder = &custody.0;
    let verify = "verify --key shop/files/app --signature";
    custody
        .run("sign --key shop/files/app app --out 1.sig")
        .ok();
    assert!(
        folder
            .read("1.sig")
            .starts_with("pqtls store signature 1\nkey: shop/files/app#1\nsignature: ")
    );
    custody.run("rotate shop/files/app").ok();
    custody
        .run("sign --key shop/files/app app --out 2.sig --context v1")
        .ok();
    custody
        .run("sign --key shop/files/app#1 app --out 1.raw --raw")
        .ok();
    assert_eq!(custody.json(&format!("{verify} 1.sig app"))["version"], 1);
    let second = custody.json(&format!("{verify} 2.sig app --context v1"));
    assert_eq!(second["version"], 2);
    // Bytes alone are tried with each version.
    assert_eq!(custody.json(&format!("{verify} 1.raw app"))["version"], 1);
    // The program without the store verifies them, too.
    custody.run("public shop/files/app#1 --out 1.pub").ok();
    folder
        .pqtls("verify --key 1.pub --signature 1.raw app")
        .ok();
    // Another context, message, version or key is another signature.
    let invalid = custody.run(&format!("{verify} 2.sig app"));
    assert_eq!(invalid.status(), 1);
    assert!(invalid.stderr().contains("the signature is not valid"));
    for (line, words) in [
        (
            "verify --key shop/files/app#2 --signature 1.sig app",
            "is a signature by shop/files/app#1",
        ),
        (
            "verify --key shop/files/other --signature 1.sig app",
            "not by shop/files/other",
        ),
    ] {
        let other = custody.run(line);
        assert_eq!(other.status(), 1, "{}", other.stderr());
        assert!(other.stderr().contains(words), "{}", other.stderr());
    }
    let moved = folder.read("1.sig").replace("app#1", "app#2");
    folder.write("moved.sig", moved);
    assert_eq!(custody.run(&format!("{verify} moved.sig app")).status(), 1);
    let text = folder.read("1.sig");
    for changed in [
        text.trim_end().to_owned(),
        text.replace("app#1", "app#01"),
        text + "\n",
    ] {
        folder.write("changed.sig", changed);
        let refused = custody.run(&format!("{verify} changed.sig app"));
        assert_eq!(refused.status(), 3, "{}", refused.stderr());
    }
}

#[test]
fn mu_is_signed_in_place_of_the_message() {
    let custody = Custody::new();
    let folder = &custody.0;
    custody.run("public shop/files/app --out app.pub").ok();
    folder.pqtls("mu --key app.pub app --out app.mu").ok();
    custody
        .run("sign --key shop/files/app app.mu --mu --raw --out mu.sig")
        .ok();
    folder
        .pqtls("verify --key app.pub --signature mu.sig app")
        .ok();
    custody
        .run("verify --key shop/files/app --signature mu.sig app.mu --mu")
        .ok();
}

#[test]
fn who_has_no_right_gets_nothing() {
    let custody = Custody::new();
    for line in [
        "sign --key shop/files/app app --out x --as eve",
        "verify --key shop/files/app --signature app app --as eve",
        "rotate shop/files/app --as eve",
        "new shop/files/more --as eve",
        "list --as eve",
        "show shop/files/app --as eve",
        "show shop/files/missing --as eve",
        "policy set shop/files/app kek --as eve",
        "grants show --out x --as eve",
        "audit log --as eve",
        "audit head --out x --as eve",
        "check --as eve",
        "rewrap --new-kek-file kek-2 --as eve",
        "export shop/files/app#1 --out x",
        "disable shop/files/app#1 --as eve",
    ] {
        match line.starts_with("policy") {
            // What can't be a policy is read first.
            true => assert_eq!(custody.run(line).status(), 3),
            false => custody.refuses(line, 4, "denied", " may not "),
        }
        assert!(!custody.0.path().join("x").exists(), "{line}");
    }
    // The refusals are in the log, by name.
    let log = custody.json("audit log");
    let entries = log["entries"].as_array().unwrap();
    let by_eve = entries.iter().filter(|entry| entry["principal"] == "eve");
    assert_eq!(
        by_eve.filter(|entry| entry["refused"] == "denied").count(),
        13
    );
    // The store grants what a key's policy doesn't.
    custody.run("grants show --out grants.toml").ok();
    let grants = custody.0.read("grants.toml") + "[\"shop/*\"]\neve = [\"show\", \"list\"]\n";
    custody.0.write("grants.toml", grants);
    custody.run("grants set grants.toml").ok();
    custody.run("show shop/files/app --as eve").ok();
    custody.refuses(
        "sign --key shop/files/app app --out x --as eve",
        4,
        "denied",
        "eve may not sign",
    );
}

/// The log says which of the things was done that one verb stands for. It is shown from its end, unless a place in it is named.
#[test]
fn the_log_is_shown_in_words_from_its_end() {
    let custody = Custody::new();
    custody.run("rotate shop/files/app").ok();
    custody.run("policy show shop/files/app --out policy").ok();
    let policy = custody.0.read("policy") + "\n";
    let policy = policy.replace("min-version = 1", "min-version = 2");
    custody.0.write("policy", policy);
    custody.run("policy set shop/files/app policy").ok();
    custody.run("trim shop/files/app#2").ok();
    custody.run("grants show --out grants").ok();
    custody.run("grants set grants").ok();
    custody.run("confirm-time").ok();
    custody.run("rewrap --new-kek-file kek").ok();

    let text = custody.run("audit log --count 4");
    let lines: Vec<&str> = text.ok().lines().collect();
    let expected = [
        "operator destroy shop/files/app, all versions before #2, with their public keys (trim)",
        "operator administer, the store's grants were changed",
        "operator administer, the clock was said to be right",
        "operator administer, what the store is sealed under was changed (rewrap)",
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, words) in lines.iter().zip(expected) {
        assert!(line.ends_with(words), "{line}");
    }
    let last = custody.json("audit log --count 1");
    assert_eq!(last["entries"][0]["deed"], "rewrap");
    assert_eq!(last["next"], Value::Null);

    let first = custody.run("audit log --from 1 --count 1");
    let first = first.ok();
    assert!(
        first.contains("  operator administer, the store was made\nmore may follow: --from 2\n")
    );
    let sequences = |log: &Value| {
        let entries = log["entries"].as_array().unwrap().iter();
        let numbers = entries.map(|entry| entry["sequence"].as_u64().unwrap());
        numbers.collect::<Vec<_>>()
    };
    let all = sequences(&custody.json("audit log"));
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let page = custody.json("audit log --from 3 --count 2");
    assert_eq!(sequences(&page), [3, 4]);
    assert_eq!(page["next"], 5);
}

#[test]
fn versions_are_used_as_their_states_permit() {
    let custody = Custody::new();
    let sign = "sign --key shop/files/app app --out";
    let verify = "verify --key shop/files/app --signature 1.sig app";
    custody.run(&format!("{sign} 1.sig")).ok();
    custody.run("disable shop/files/app#1").ok();
    custody.refuses(&format!("{sign} x"), 1, "no-enabled-version", "enable one");
    custody.refuses(verify, 1, "state", "is disabled");
    custody.run("enable shop/files/app#1").ok();
    custody.run(verify).ok();
    custody.run("rotate shop/files/app").ok();
    custody.refuses(
        "trim shop/files/app#2",
        1,
        "state",
        "or that are older than the policy's min-version",
    );
    custody.refuses(
        "destroy shop/files/app#1",
        1,
        "state",
        "schedule-destruction",
    );
    custody.refuses(
        "schedule-destruction shop/files/app#1 --after 1h",
        4,
        "policy",
        "longer time",
    );
    custody
        .run("schedule-destruction shop/files/app#1 --after 1d")
        .ok();
    custody.refuses(
        "destroy shop/files/app#1",
        1,
        "not-yet",
        " on, 24 hours from now; see \"pqtls store show --kek-file kek shop/files/app",
    );
    custody.run(verify).ok();
    custody.run("cancel-destruction shop/files/app#1").ok();
    // The shortest wait is one that the key's policy permits.
    let toml = "destroy-after = \"0s\"\n[grants]\noperator = [\"user\"]\n";
    custody.0.write("short.toml", toml);
    custody.run("policy set shop/files/app short.toml").ok();
    custody.run("enable shop/files/app#1").ok();
    custody
        .run("schedule-destruction shop/files/app#1 --after 0s")
        .ok();
    custody.run("destroy shop/files/app#1").ok();
    custody.run(verify).ok();
    custody.refuses(
        "sign --key shop/files/app#1 app --out x",
        1,
        "state",
        "is destroyed",
    );
    custody.refuses(
        "trim shop/files/app#3",
        1,
        "version-not-found",
        "store show",
    );
    custody.run("trim shop/files/app#2").ok();
    custody.refuses(verify, 1, "version-not-found", "shop/files/app#1");
    let versions = custody.json("show shop/files/app");
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);

    // Of a key that was deleted, nothing can be enabled or rotated.
    custody
        .run("schedule-destruction shop/files/app#2 --after 0s")
        .ok();
    custody.run("destroy shop/files/app#2").ok();
    custody.run("disable shop/files/app#2").ok();
    custody.refuses("public shop/files/app --out x", 1, "deleted", "was deleted");
    custody.refuses(
        "new shop/files/agreed --algorithm X25519",
        1,
        "algorithm",
        "store new --help",
    );
    let help = custody.run("new --help");
    assert!(!help.ok().contains("and X25519 for"), "{}", help.stdout());
}

#[test]
fn a_key_leaves_the_store_only_if_it_was_made_for_that() {
    let custody = Custody::new();
    let folder = &custody.0;
    custody
        .run("new shop/files/out --algorithm ML-DSA-44 --exportable --grant operator=export,set-policy")
        .ok();
    custody.run("export shop/files/out#1 --out out.key").ok();
    folder.pqtls("key check out.key").ok();
    // It is the same key as in the store.
    custody.run("public shop/files/out --out store.pub").ok();
    folder.pqtls("key public out.key --out out.pub").ok();
    assert_eq!(folder.read("store.pub"), folder.read("out.pub"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for private in ["out.key", "keys.redb"] {
            let about = std::fs::metadata(folder.path().join(private)).unwrap();
            assert_eq!(about.permissions().mode() & 0o777, 0o600, "{private}");
        }
    }
    custody.refuses(
        "export shop/files/app#1 --out x",
        4,
        "denied",
        "only a key that was made to be exported can be",
    );
    folder.write("export.toml", "[grants]\noperator = [\"export\"]\n");
    custody.run("policy set shop/files/app export.toml").ok();
    custody.refuses(
        "export shop/files/app#1 --out x",
        4,
        "not-exportable",
        "--exportable",
    );
    folder.write("made.toml", "exportable = true\n");
    custody.refuses(
        "policy set shop/files/app made.toml",
        4,
        "exportable-changed",
        "doesn't change",
    );
}

#[test]
fn keys_come_from_files_and_are_used() {
    let custody = Custody::new();
    let folder = &custody.0;
    folder.write("pw", "correct horse battery staple\n");
    folder
        .pqtls("key new ML-DSA-44 --encrypt --passphrase-file pw --out a.key --public a.pub")
        .ok();
    folder.pqtls("key new Ed25519 --out ed.key").ok();
    custody
        .run("import --key shop/files/in a.key --passphrase-file pw --grant operator=user")
        .ok();
    custody
        .run("sign --key shop/files/in app --raw --out a.sig")
        .ok();
    folder
        .pqtls("verify --key a.pub --signature a.sig app")
        .ok();
    custody.refuses(
        "import --key shop/files/in ed.key",
        1,
        "exists",
        "another name",
    );
    custody.refuses(
        "import --key shop/files/in ed.key --new-version",
        1,
        "algorithm",
        "another algorithm",
    );
    custody.refuses("new shop/files/in", 1, "exists", "another name");
    let bad = custody.run("new shop/files");
    assert_eq!(bad.status(), 2);
    assert!(
        bad.stderr().contains("tenant/purpose/name"),
        "{}",
        bad.stderr()
    );
}

#[test]
fn secrets_are_shared_through_the_store() {
    let custody = Custody::new();
    let folder = &custody.0;
    for algorithm in ["ML-KEM-512", "X-Wing"] {
        let key = format!("shop/mail/{}", algorithm.to_lowercase());
        custody
            .run(&format!("new {key} --algorithm {algorithm} --grant *=user"))
            .ok();
        custody
            .run(&format!("encaps --key {key} --out ct --secret s --force"))
            .ok();
        custody.run(&format!("rotate {key}")).ok();
        custody
            .run(&format!("decaps --key {key}#1 ct --out s2 --force"))
            .ok();
        assert_eq!(folder.bytes("s"), folder.bytes("s2"));
        assert_eq!(folder.bytes("s").len(), 32);
        custody
            .run(&format!("decaps --key {key}#2 ct --out s2 --force"))
            .ok();
        assert_ne!(folder.bytes("s"), folder.bytes("s2"));
        custody.refuses(
            &format!("sign --key {key} app --out x"),
            1,
            "algorithm",
            "can't",
        );
    }
    folder.write("short", [0; 31]);
    let refused = custody.run("decaps --key shop/mail/x-wing#1 short --out s3");
    assert_eq!(refused.status(), 1);
    assert!(
        refused.stderr().contains("no ciphertext"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn only_what_the_store_is_sealed_under_opens_it() {
    let custody = Custody::new();
    let folder = &custody.0;
    let with = |kek: &str| folder.pqtls(&format!("store list {kek}"));
    folder.write("pw", "correct horse battery staple\n");
    // Nobody ever writes into it.
    folder.shell("mkfifo -m 600 pipe").ok();
    for (kek, status, words) in [
        ("--kek-file kek-2", 1, "not what the store is sealed under"),
        (
            "--store-passphrase-file pw",
            1,
            "another kind, \"key-file\"",
        ),
        ("--kek-file app", 3, "others than its owner may read it"),
        ("--kek-file missing", 3, "missing"),
        ("--kek-file pipe", 3, "pipe: it is no file"),
        ("--kek-credential x", 3, "$CREDENTIALS_DIRECTORY is not set"),
        (
            "--kek-file kek --kek-credential x",
            2,
            "cannot be used with",
        ),
        (
            "--kek-file kek --store-passphrase-file pw",
            2,
            "cannot be used with",
        ),
        ("", 2, "--kek-file FILE"),
    ] {
        // Whoever opens a store's file may write to it, also in vain.
        let refused = with(kek);
        assert_eq!(refused.status(), status, "{kek}: {}", refused.stderr());
        assert!(refused.stderr().contains(words), "{}", refused.stderr());
    }
    let open = "warning: others may read pw, which has the passphrase of the store";
    folder.shell("chmod 644 pw").ok();
    let rewrapped = custody.run("rewrap --new-passphrase-file pw");
    assert_eq!(rewrapped.status(), 0, "{}", rewrapped.stderr());
    assert!(rewrapped.stderr().contains(open), "{}", rewrapped.stderr());
    let opened = with("--store-passphrase-file pw");
    assert!(opened.stderr().contains(open), "{}", opened.stderr());
    folder.shell("chmod 600 pw").ok();
    assert_eq!(with("--store-passphrase-file pw").stderr(), "");
    let nothing = folder.pqtls("store init --store without.redb");
    assert_eq!(nothing.status(), 2);
    assert!(
        nothing.stderr().contains("give it with --kek-file FILE"),
        "{}",
        nothing.stderr()
    );
    let kind = with("--kek-file kek");
    assert_eq!(kind.status(), 1);
    assert!(kind.stderr().contains("\"passphrase\""));
    folder.write("pw-2", "other\n");
    assert_eq!(with("--store-passphrase-file pw-2").status(), 1);
    folder
        .shell("PW=$(cat pw) pqtls store rewrap --store-passphrase-env PW --new-kek-file kek")
        .ok();
    custody.run("list").ok();
    for time in ["5m", "5min", "0s"] {
        let after = custody.run(&format!(
            "schedule-destruction shop/files/app#1 --after {time}"
        ));
        assert_eq!(after.status(), 4, "{}", after.stderr());
    }
    // The environment names the store, who asks, and the file of the key.
    folder
        .shell("PQTLS_STORE=keys.redb PQTLS_STORE_KEK=kek PQTLS_STORE_AS=operator pqtls store list")
        .ok();
    let eve = folder.shell("PQTLS_STORE_AS=eve PQTLS_STORE_KEK=kek pqtls store list");
    assert_eq!(eve.status(), 4);
}

#[test]
fn an_older_backup_is_noticed_by_a_head_that_was_kept() {
    let custody = Custody::new();
    let folder = &custody.0;
    folder.pqtls("store backup old.backup").ok();
    custody.run("disable shop/files/app#1").ok();
    custody.run("audit head --out head").ok();
    folder.pqtls("store backup new.backup").ok();
    custody.run("rotate shop/files/app").ok();
    custody.run("check --head head").ok();
    let backups = ["old.backup", "new.backup"];
    let before = backups.map(|backup| folder.bytes(backup));
    folder.shell("chmod 400 old.backup new.backup").ok();
    let old = custody.run("restore old.backup --head head --store r.redb");
    assert_eq!(old.status(), 1);
    assert!(
        old.stderr().contains("does not lead to the kept head"),
        "{}",
        old.stderr()
    );
    assert!(!folder.path().join("r.redb").exists());
    custody
        .run("restore new.backup --head head --store r.redb")
        .ok();
    custody.run("check --head head --store r.redb").ok();
    assert_eq!(backups.map(|backup| folder.bytes(backup)), before);
    folder.shell("chmod 600 old.backup new.backup").ok();
    let again = custody.run("restore new.backup --store r.redb");
    assert_eq!(again.status(), 3);
    assert!(
        again.stderr().contains("r.redb exists"),
        "{}",
        again.stderr()
    );
    // Put in place by hand, the older one opens, and the head tells.
    std::fs::copy(
        folder.path().join("old.backup"),
        folder.path().join("keys.redb"),
    )
    .unwrap();
    custody.run("list").ok();
    custody.refuses(
        "check --head head",
        1,
        "head-not-reached",
        "who changed the store before",
    );
    // The head of another store is no head of this one.
    let other = Custody::new();
    other.run("audit head --out head").ok();
    folder.write("other", other.0.read("head"));
    custody.refuses(
        "check --head other",
        1,
        "head",
        "other: it is a head of another store's log",
    );
    folder.write("no-head", "pq-keystore log head 1\n");
    assert_eq!(custody.run("check --head no-head").status(), 3);
}

#[test]
fn a_damaged_file_is_refused() {
    let custody = Custody::new();
    let folder = &custody.0;
    let whole = folder.bytes("keys.redb");
    folder.write("keys.redb", &whole[..whole.len() / 2]);
    custody.refuses("list", 3, "storage-damaged", "restore it from a backup");
    folder.write("keys.redb", "no store\n");
    custody.refuses("list", 3, "not-a-storage", "restore it from a backup");
    // Where redb panics, there is a sentence all the same: the released program would abort.
    const PIECE: usize = 4096;
    let list = |changed: &[u8], what: &str| {
        folder.write("keys.redb", changed);
        let listed = custody.run("list");
        let said = listed.stderr().to_owned();
        assert!(
            !listed.was_killed() && !said.contains("panicked"),
            "{what}: {said}"
        );
        assert!(said.lines().count() <= 1, "{what}: {said}");
        !said.is_empty()
    };
    for start in (0..whole.len()).step_by(PIECE) {
        let end = whole.len().min(start + PIECE);
        if whole[start..end].iter().all(|byte| *byte == 0) {
            continue;
        }
        let mut changed = whole.clone();
        changed[start..end].fill(0xff);
        list(&changed, &format!("page at {start}"));
    }
    // Nor does it take a page for one of terabytes, or follow one that is below itself until its stack is full: nothing
    // catches that.
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let count = |at: usize| usize::from(u16::from_le_bytes([whole[at + 2], whole[at + 3]]));
    let mut refused = 0;
    for start in (PIECE..whole.len()).step_by(PIECE) {
        if whole[start] != 2 {
            continue;
        }
        let children = count(start) + 1;
        // The first page after the header has the number 0.
        for other in [31 << 59, (start / PIECE - 1) as u64] {
            let mut changed = whole.clone();
            let numbers = start + 8 + 16 * children..start + 8 + 24 * children;
            for child in changed[numbers].as_chunks_mut().0 {
                *child = other.to_le_bytes();
            }
            refused += usize::from(list(&changed, &format!("children of {start}: {other:x}")));
        }
    }
    // At least one such page is in use.
    assert!(refused >= 2);
    // The lists of tables, the store's and redb's own, of the newest commit.
    let newest = 64 + 128 * usize::from(whole[9] & 1);
    for list_number in [newest + 8, newest + 40] {
        let start = (usize::try_from(number(list_number)).unwrap() + 1) * PIECE;
        let pairs = count(start);
        let offset = |at: usize| start + (number(start + 4 + 4 * at) as u32) as usize;
        for pair in 0..pairs {
            let value = offset(pairs - 1 + pair);
            let mut changed = whole.clone();
            changed[value + 17] |= 31 << 3;
            list(&changed, &format!("table {pair} at {value}"));
        }
    }
    std::fs::remove_file(folder.path().join("keys.redb")).unwrap();
    custody.refuses("list", 3, "storage", "pqtls store init");
    folder
        .pqtls("store list --store postgres://me:secret@db/keys --kek-file kek")
        .fails(2, "change the password");
}

#[test]
fn an_attestation_is_the_stores() {
    let custody = Custody::new();
    let folder = &custody.0;
    custody
        .run("attest shop/files/app --out app.attestation")
        .ok();
    custody.run("public --out store.pub").ok();
    custody.run("public shop/files/app --out app.pub").ok();
    let verify = |rest: &str| folder.pqtls(&format!("store verify-attestation --key {rest}"));
    verify("store.pub app.attestation --of shop/files/app").ok();
    verify("store.pub app.attestation --of shop/files/other")
        .fails(1, "of shop/files/app, not of shop/files/other");
    verify("app.pub app.attestation").fails(1, "signature is not the store's");
    let mut changed = folder.bytes("app.attestation");
    changed[60] ^= 1;
    folder.write("changed", &changed);
    assert_ne!(verify("store.pub changed").status(), 0);
    folder.write("cut", &changed[..100]);
    verify("store.pub cut").fails(3, "it is no attestation");
}

/// Also in failures, and with a passphrase that is wrong.
#[test]
fn no_secret_is_printed() {
    let custody = Custody::new();
    let folder = &custody.0;
    folder.write("pw", "correct-horse-battery\n");
    folder.shell("chmod 600 pw").ok();
    folder
        .pqtls("store init --store p.redb --store-passphrase-file pw")
        .ok();
    for line in [
        "store list --store p.redb --store-passphrase-file pw",
        "store list --store p.redb --store-passphrase-file pw --json --as eve",
        "store list --store keys.redb --store-passphrase-file pw --json",
    ] {
        let outcome = folder.pqtls(line);
        let said = [outcome.stdout(), outcome.stderr()].concat();
        assert!(!said.contains("correct-horse"), "{said}");
    }
    // No option takes a passphrase or a key itself.
    fn visit(command: &clap::Command) {
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let is_reference = ["_file", "_fd", "_env", "_credential", "_pkcs11", "_transit"];
            assert!(
                !(id.contains("passphrase") || id.contains("kek"))
                    || is_reference.iter().any(|end| id.ends_with(end)),
                "{id}"
            );
        }
        command.get_subcommands().for_each(visit);
    }
    visit(pqtls_commands::command().find_subcommand("store").unwrap());
}
