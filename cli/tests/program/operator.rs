//! What whoever runs a CA meets: signals, passphrases, files that are lost or others', and no writing where one reads.

use alloc::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::folder::Folder;

const INIT: &str = "ca init --name Example --algorithm ML-DSA-44";

/// Paths below a folder of the test, at any depth.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(all_below(&path));
        }
        found.push(path);
    }
    found
}

fn keys_below(folder: &Folder) -> Vec<PathBuf> {
    let mut all = all_below(folder.path());
    all.retain(|path| path.extension().is_some_and(|extension| extension == "key"));
    all
}

/// Signals that arrive while a draft appears, and when there is a key in it.
#[cfg(unix)]
#[test]
fn a_signal_leaves_a_whole_ca_or_no_key() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    const SIGHUP: i32 = 1;
    const SIGINT: i32 = 2;
    const SIGTERM: i32 = 15;
    let folder = Folder::new();
    for round in 0..12 {
        let signal = [SIGINT, SIGTERM, SIGHUP][round % 3];
        let is_late = round % 2 == 1;
        let mut child = Command::new(env!("CARGO_BIN_EXE_pqtls"))
            .args(INIT.split(' '))
            .current_dir(folder.path())
            .env_remove("PQTLS_CA")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        loop {
            let has_begun = match is_late {
                true => !keys_below(&folder).is_empty(),
                false => fs::read_dir(folder.path()).unwrap().next().is_some(),
            };
            if has_begun || child.try_wait().unwrap().is_some() {
                break;
            }
        }
        let kill = format!("kill -{signal} {} 2>/dev/null", child.id());
        Command::new("sh").args(["-c", &kill]).status().unwrap();
        let status = child.wait().unwrap();
        assert!(
            status.success() || status.signal() == Some(signal),
            "{status}"
        );
        let ca = folder.path().join("ca");
        let keys = keys_below(&folder);
        if ca.exists() {
            assert!(
                keys.len() == 2 && keys.iter().all(|key| key.starts_with(&ca)),
                "{keys:?}"
            );
            folder
                .pqtls("ca issue a.example --new-key - --out a.pem")
                .ok();
            fs::remove_file(folder.path().join("a.pem")).unwrap();
            fs::remove_dir_all(&ca).unwrap();
        } else {
            assert!(keys.is_empty(), "{keys:?}");
            assert_eq!(status.signal(), Some(signal));
        }
        // What is left has nothing secret, and the next command removes it.
        folder.pqtls(INIT).ok();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        fs::remove_dir_all(&ca).unwrap();
    }
}

/// A name alone makes no folder a draft: it could be another CA.
#[test]
fn making_a_ca_removes_no_other_one() {
    let folder = Folder::new();
    for name in ["ca.new-2026", "ca.new-4000000"] {
        folder.pqtls(&format!("{INIT} --dir {name}")).ok();
    }
    folder.pqtls(INIT).ok();
    for name in ["ca.new-2026", "ca.new-4000000", "ca"] {
        folder
            .pqtls(&format!(
                "ca issue a.example --new-key - --out {name}.pem --dir {name}"
            ))
            .ok();
    }
}

#[cfg(unix)]
#[test]
fn a_draft_with_other_files_in_it_stays_and_is_told() {
    let folder = Folder::new();
    let draft = format!(".pqtls-draft-of-a-ca-{}", "1".repeat(32));
    fs::create_dir(folder.path().join(&draft)).unwrap();
    folder.write(&format!("{draft}/thesis.txt"), "years of work");
    let made = folder.pqtls(INIT);
    assert_eq!(made.status(), 0);
    let words = format!("{draft} is named as the draft of a CA and was left alone");
    assert!(made.stderr().contains(&words), "{}", made.stderr());
    assert_eq!(folder.read(&format!("{draft}/thesis.txt")), "years of work");
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.pqtls(INIT).ok();
    folder.pqtls("ca list").ok();
    let key = folder.path().join("ca/issuing.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let listed = folder.pqtls("ca list");
    assert_eq!(listed.status(), 0);
    let words = "pqtls: warning: ca/issuing.key can be read by other users";
    assert!(listed.stderr().starts_with(words), "{}", listed.stderr());
    assert_eq!(listed.stderr().lines().count(), 1);
}

/// A command line that a message advises is about the CA of the message, wherever that is.
#[test]
fn advised_commands_work_on_the_ca_that_was_used() {
    let folder = Folder::new();
    folder.pqtls(&format!("{INIT} --dir our-ca")).ok();
    for name in ["a", "b"] {
        folder
            .pqtls(&format!(
                "ca issue {name}.example --profile server --out {name}.pem --dir our-ca {}",
                match name {
                    "a" => "--new-key a.key",
                    _ => "--key a.key",
                }
            ))
            .ok();
    }
    let revoked = folder.pqtls("ca revoke a.pem --reason keyCompromise --dir our-ca");
    let advised = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pqtls "));
        let lines = lines.map(|line| line.split('#').next().unwrap_or(line));
        lines.map(|line| line.replace("FILE", "new.crl")).collect()
    };
    let commands = advised(revoked.stdout());
    assert_eq!(commands.len(), 2, "{}", revoked.stdout());
    for command in commands {
        folder.pqtls(&command).ok();
    }
    folder
        .pqtls("ca revoke our-ca/issuing.pem --reason certificateHold --dir our-ca")
        .ok();
    let refused = folder.pqtls("ca issue c.example --new-key c.key --out c.pem --dir our-ca");
    let command = refused
        .stderr()
        .split('"')
        .find(|part| part.starts_with("pqtls ca reinstate"));
    let command = command.unwrap().strip_prefix("pqtls ").unwrap();
    folder.pqtls(command).ok();
    folder
        .pqtls("ca list --dir nowhere")
        .fails(3, "\"pqtls ca init --dir");
}

/// A new CA would be another one.
#[test]
fn a_lost_file_comes_from_a_backup_and_not_from_init() {
    for lost in ["root.pem", "policy.toml", "ledger", "ledger/journal"] {
        let folder = Folder::new();
        folder.pqtls(INIT).ok();
        fs::rename(
            folder.path().join("ca").join(lost),
            folder.path().join("lost"),
        )
        .unwrap();
        let issued = folder.pqtls("ca issue a.example --new-key - --out a.pem");
        issued.fails(3, &format!("ca/{lost} is missing"));
        let words = match lost.starts_with("ledger") {
            true => "restore the newest backup of the ledger's folder",
            false => "restore it from a backup",
        };
        assert!(issued.stderr().contains(words), "{}", issued.stderr());
        assert!(!issued.stderr().contains("init"));
    }
}

/// Post-quantum, composite and classical keys, by every command that uses one.
#[test]
fn keys_under_a_passphrase_work_everywhere() {
    for (root, issuing) in [
        ("ML-DSA-44", "ML-DSA-44"),
        ("Ed25519", "MLDSA44-Ed25519-SHA512"),
    ] {
        let folder = Folder::new();
        folder.write("pw", "of the CA\n");
        folder.write("other", "of the server\n");
        let made = folder.pqtls(&format!(
            "ca init --name Example --root {root} --algorithm {issuing} --passphrase-file pw"
        ));
        assert!(
            made.ok().contains("  keys      encrypted by "),
            "{}",
            made.ok()
        );
        for key in ["ca/root.key", "ca/issuing.key"] {
            assert!(
                folder
                    .read(key)
                    .starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
            );
        }
        folder
            .pqtls("key new ML-DSA-44 --encrypt --passphrase-file other --out a.key")
            .ok();
        folder
            .pqtls("cert request --key a.key --passphrase-file other --name a.example --out a.csr")
            .ok();
        for (command, key) in [
            (
                "ca issue a.example --key a.key --passphrase-file other --out a.pem",
                "issuing",
            ),
            ("ca issue b.example --new-key b.key --out b.pem", "issuing"),
            ("ca sign a.csr --out c.pem", "issuing"),
            ("ca renew a.pem --out d.pem", "issuing"),
            ("ca crl --out ca.crl", "issuing"),
            ("ca crl --root --out root.crl", "root"),
            ("ca ocsp --for a.pem --out a.ocsp", "issuing"),
        ] {
            let asked = format!(
                "ca/{key}.key is encrypted: give its passphrase with --ca-passphrase-file FILE"
            );
            folder.pqtls(command).fails(2, &asked);
            folder
                .pqtls(&format!("{command} --ca-passphrase-file other"))
                .fails(1, "wrong passphrase");
            folder
                .pqtls(&format!("{command} --ca-passphrase-file pw"))
                .ok();
        }
        // The CA's key has the same options in all commands.
        folder
            .pqtls("ca sign a.csr --ca-passphrase-file pw --out e.pem")
            .ok();
        folder
            .shell("PW='of the CA' pqtls ca crl --ca-passphrase-env PW --out f.crl")
            .ok();
        folder
            .pqtls("ca sign a.csr --ca-passphrase-fd 3 --out g.pem")
            .fails(3, "/dev/fd/3");
        // What needs no key needs no passphrase.
        folder.pqtls("ca revoke a.pem").ok();
        folder.pqtls("ca show").ok();
        folder.pqtls("ca list").ok();
        folder.pqtls("cert verify d.pem --roots ca/root.pem").ok();
    }
}

#[test]
fn keys_in_the_clear_are_called_so() {
    let folder = Folder::new();
    for (options, dir) in [
        ("", "a"),
        ("--no-passphrase", "b"),
        ("--no-intermediate", "c"),
    ] {
        let made = folder.pqtls(&format!("{INIT} {options} --dir {dir}"));
        let said = made.ok();
        assert!(
            said.contains("  keys      in the clear: whoever can read them"),
            "{said}"
        );
        // The advice works as it stands.
        let (_, advice) = said.split_once("encrypt the keys: \"").unwrap();
        let (command, _) = advice.split_once('"').unwrap();
        folder.write("pw", "new\n");
        folder
            .shell(&format!("{command} --passphrase-file pw"))
            .ok();
        folder
            .pqtls(&format!(
                "ca crl --dir {dir} --ca-passphrase-file pw --out {dir}.crl"
            ))
            .ok();
    }
    folder.write("empty", "\n");
    folder
        .pqtls(&format!("{INIT} --dir d --passphrase-file empty"))
        .fails(2, "an empty passphrase protects nothing");
    folder
        .pqtls(&format!(
            "{INIT} --dir d --passphrase-file pw --no-passphrase"
        ))
        .fails(2, "cannot be used with");
    assert!(!folder.path().join("d").exists());
}

/// By `script`, which every Debian has.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_a_passphrase_is_offered() {
    let folder = Folder::new();
    let at_terminal = |typed: &str, command: &str| {
        let line = format!("printf '{typed}' | TERM=xterm script -qec '{command}' /dev/null");
        folder.shell(&line).stdout().to_owned()
    };
    let offered = at_terminal("secret\\nsecret\\n", &format!("pqtls {INIT}"));
    assert!(offered.contains("Passphrase for the CA"), "{offered}");
    assert!(offered.contains("encrypted by"), "{offered}");
    folder.write("pw", "secret\n");
    folder
        .pqtls("ca crl --ca-passphrase-file pw --out a.crl")
        .ok();
    let declined = at_terminal("\\n", &format!("pqtls {INIT} --dir b"));
    assert!(declined.contains("in the clear"), "{declined}");
    let mistyped = at_terminal("one\\nother\\n", &format!("pqtls {INIT} --dir c"));
    assert!(
        mistyped.contains("the two passphrases differ"),
        "{mistyped}"
    );
    assert!(!folder.path().join("c").exists());
    let unasked = at_terminal("", &format!("pqtls {INIT} --dir d --no-passphrase"));
    assert!(!unasked.contains("Passphrase for"), "{unasked}");
}

#[test]
fn a_lost_issuing_certificate_stops_the_ca_and_comes_back_from_the_ledger() {
    let folder = Folder::new();
    folder.pqtls(INIT).ok();
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem")
        .ok();
    folder
        .pqtls("cert request --key a.key --name a.example --out a.csr")
        .ok();
    let certificate = folder.read("ca/issuing.pem");
    fs::remove_file(folder.path().join("ca/issuing.pem")).unwrap();
    for command in [
        "ca issue b.example --new-key b.key --out b.pem",
        "ca sign a.csr --out b.pem",
        "ca renew a.pem --out b.pem",
        "ca crl --out b.crl",
        "ca ocsp --for a.pem --out b.ocsp",
        "ca show",
    ] {
        folder.pqtls(command).fails(
            3,
            "ca/issuing.pem is not there, and the root is not for issuing; put it back from a backup, or from the \
             ledger: \"pqtls ca show ",
        );
    }
    let listed = folder.pqtls("ca list --subject Example");
    let number = listed
        .ok()
        .lines()
        .find(|line| line.ends_with("Example"))
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    folder
        .pqtls(&format!("ca show {number} --pem --out ca/issuing.pem"))
        .ok();
    assert_eq!(folder.read("ca/issuing.pem"), certificate);
    folder
        .pqtls("ca issue b.example --new-key b.key --out b.pem")
        .ok();
    folder.pqtls("cert verify b.pem --roots ca/root.pem").ok();
}

/// The names, contents and times of everything in the CA's folder, except its ledger.
fn beside_the_ledger(folder: &Folder) -> BTreeMap<PathBuf, (SystemTime, Option<Vec<u8>>)> {
    let ca = folder.path().join("ca");
    let all = all_below(&ca).into_iter().chain([ca.clone()]);
    let others = all.filter(|path| !path.starts_with(ca.join("ledger")));
    let facts = |path: PathBuf| {
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let content = fs::read(&path).ok();
        (path, (time, content))
    };
    others.map(facts).collect()
}

#[test]
fn nothing_is_written_beside_the_ledger() {
    let folder = Folder::new();
    folder.pqtls(INIT).ok();
    let before = beside_the_ledger(&folder);
    for command in [
        "ca issue a.example --new-key a.key --out a.pem",
        "ca list",
        "ca show",
        "ca show a.pem",
        "ca ocsp --for a.pem --out a.ocsp",
        "ca revoke a.pem",
        "ca crl --out a.crl",
    ] {
        folder.pqtls(command).ok();
        assert_eq!(beside_the_ledger(&folder), before, "{command}");
    }
}

#[cfg(unix)]
#[test]
fn files_that_others_can_change_are_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.pqtls(INIT).ok();
    for file in [
        "ca",
        "ca/ledger",
        "ca/policy.toml",
        "ca/issuing.pem",
        "ca/issuing.key",
    ] {
        let path = folder.path().join(file);
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode.mode() | 0o002)).unwrap();
        folder
            .pqtls("ca issue a.example --new-key a.key --out a.pem")
            .fails(3, &format!("{file} can be changed by other users"));
        fs::set_permissions(&path, mode).unwrap();
    }
    folder
        .pqtls("ca issue a.example --new-key a.key --out a.pem")
        .ok();
}
