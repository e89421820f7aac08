//! What Ctrl-C, `kill` and a terminal that is closed leave: no draft, and so neither a private key nor plaintext that
//! nobody has authenticated.

use core::time::Duration;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::folder::Folder;

/// By their names for a shell, as far as whoever runs the tests has not had them ignored, as `nohup` does.
fn signals() -> impl Iterator<Item = (&'static str, i32)> + Clone {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    let all = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("USR1", 10),
        ("USR2", 12),
        ("ALRM", 14),
        ("TERM", 15),
        ("XCPU", 24),
        ("XFSZ", 25),
        ("VTALRM", 26),
        ("PROF", 27),
    ];
    let all = all.into_iter();
    all.filter(move |(_, number)| ignored >> (number - 1) & 1 == 0)
}

/// Starts the program in a shell that has done something before.
fn start(folder: &Folder, before: &str, command_line: &str) -> Child {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} exec \"$@\""));
    command.args(["sh", env!("CARGO_BIN_EXE_pqtls")]);
    command.args(command_line.split_whitespace());
    command.current_dir(folder.path());
    for variable in ["PQTLS_DEV_DIR", "SUDO_USER", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    command.env("HOME", folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

fn kill(child: &Child, signal: &str) {
    let line = format!("kill -{signal} {} 2> /dev/null", child.id());
    Command::new("sh").args(["-c", &line]).status().unwrap();
}

/// The drafts in a folder, at any depth.
fn drafts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(".pqtls-") {
            found.push(path);
        } else if path.is_dir() {
            found.extend(drafts(&path));
        }
    }
    found
}

/// Waits until the program has written something, though not everything, into a draft.
fn wait_for_plaintext(folder: &Folder) {
    let has_some = |draft: &PathBuf| draft.metadata().is_ok_and(|one| one.len() > 0);
    for _ in 0..6000 {
        if drafts(folder.path()).iter().any(has_some) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no draft");
}

/// A folder with a key and messages of some megabytes for it, and the command that decrypts each.
fn with_messages() -> (Folder, [(Vec<u8>, &'static str); 2]) {
    let folder = Folder::new();
    folder.write("content", vec![7; 4 << 20]);
    for command in [
        "key new X-Wing --out box.key",
        "encrypt content --to box.key --out box",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "cms encrypt content --to kem.pub --out cms",
    ] {
        folder.pqtls(command).ok();
    }
    let messages = [
        (folder.bytes("box"), "decrypt - --key box.key --out found"),
        (
            folder.bytes("cms"),
            "cms decrypt - --key kem.key --out found",
        ),
    ];
    (folder, messages)
}

#[test]
fn no_plaintext_is_left_that_nobody_has_authenticated() {
    let (folder, messages) = with_messages();
    for (message, command) in &messages {
        for (name, number) in signals() {
            let mut child = start(&folder, "", command);
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(&message[..3 << 20]).unwrap();
            wait_for_plaintext(&folder);
            kill(&child, name);
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{command}: {status}");
            assert_eq!(drafts(folder.path()), Vec::<PathBuf>::new(), "{command}");
            assert!(!folder.path().join("found").exists());
        }
    }
}

/// As with `nohup`, and with what a shell's script has in the background.
#[test]
fn a_signal_that_is_to_be_ignored_is() {
    let (folder, messages) = with_messages();
    let (message, command) = &messages[0];
    let mut child = start(&folder, "trap '' HUP INT TERM;", command);
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&message[..3 << 20]).unwrap();
    wait_for_plaintext(&folder);
    for name in ["HUP", "INT", "TERM"] {
        kill(&child, name);
    }
    pipe.write_all(&message[3 << 20..]).unwrap();
    drop(pipe);
    assert!(child.wait().unwrap().success());
    assert!(folder.bytes("found") == folder.bytes("content"));
}

/// What the ledger has can't be issued again, and is in its file however `ca sign` ends.
#[test]
fn what_was_issued_is_in_its_file_after_a_signal() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --no-passphrase")
        .ok();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    folder
        .pqtls("cert request --key a.key --name a.example.org --out a.csr")
        .ok();
    // Certificates are recorded by the hundreds.
    let requests = folder.read("a.csr").repeat(700);
    // Whatever this process ignores, as in the background of a script, is none of them.
    for ((signal, number), file) in signals().zip(["many.pem", "others.pem"]) {
        let before = folder
            .pqtls("ca list --json")
            .ok()
            .matches("serial_number")
            .count();
        let command = format!("ca sign - --out {file} --force");
        let mut child = start(&folder, "", &command);
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(requests.as_bytes()).unwrap();
        wait_for_plaintext(&folder);
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        drop(pipe);
        assert_eq!(drafts(folder.path()), Vec::<PathBuf>::new());
        let after = folder
            .pqtls("ca list --json")
            .ok()
            .matches("serial_number")
            .count();
        let written = folder
            .read(file)
            .matches("-----END CERTIFICATE-----")
            .count();
        assert!(after > before);
        assert_eq!(written, after - before);
    }
}

/// A file that is there may be complete, and the one that a signal ends is not.
#[test]
fn a_signal_has_nothing_take_the_place_of_a_file() {
    let folder = Folder::new();
    for command in [
        "ca init --name Example --dns example.org --no-passphrase",
        "key new ML-DSA-44 --out a.key",
        "cert request --key a.key --name a.example.org --out a.csr",
        "ca sign a.csr --out many.pem",
    ] {
        folder.pqtls(command).ok();
    }
    let issued = || {
        let list = folder.pqtls("ca list --json");
        list.ok().matches("serial_number").count()
    };
    let (before, issued_before) = (folder.read("many.pem"), issued());
    let requests = folder.read("a.csr").repeat(700);
    let (signal, number) = signals().next().unwrap();
    let command = "ca sign - --out many.pem --force";
    let mut child = start(&folder, "exec 2> said;", command);
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(requests.as_bytes()).unwrap();
    wait_for_plaintext(&folder);
    kill(&child, signal);
    assert_eq!(child.wait().unwrap().signal(), Some(number));
    drop(pipe);
    assert_eq!(folder.read("many.pem"), before);
    let drafts = drafts(folder.path());
    let [draft] = &*drafts else {
        panic!("{drafts:?}");
    };
    let said = folder.read("said");
    assert!(said.contains(&*draft.to_string_lossy()), "{said}");
    assert!(said.contains("many.pem is as it was"), "{said}");
    let written = fs::read_to_string(draft).unwrap();
    let written = written.matches("-----END CERTIFICATE-----").count();
    assert_eq!(written, issued() - issued_before);
}

/// What is typed next is shown again. `script` gives the program a terminal.
#[test]
fn a_signal_at_a_question_leaves_a_terminal_that_shows_what_is_typed() {
    let folder = Folder::new();
    folder.pqtls("key new ML-DSA-44 --out a.key").ok();
    let program = env!("CARGO_BIN_EXE_pqtls");
    // The shell's process becomes the program.
    let line = format!(
        "sh -c 'echo $$ > pid; exec {program} key encrypt a.key --out b.key'; stty -a > state"
    );
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.path());
    let mut child = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut shown = Vec::new();
    while !shown.ends_with(b": ") {
        let mut byte = [0];
        std::io::Read::read_exact(&mut output, &mut byte).unwrap();
        shown.push(byte[0]);
    }
    let line = format!("kill -TERM {}", folder.read("pid"));
    Command::new("sh").args(["-c", &line]).status().unwrap();
    child.wait().unwrap();
    let state = folder.read("state");
    assert!(
        state.contains(" echo ") && !state.contains(" -echo "),
        "{state}"
    );
    assert!(!folder.path().join("b.key").exists());
}

/// Signals at any time: there are all roots or none, and no draft of them.
#[test]
fn no_draft_of_a_roots_key_is_left() {
    let folder = Folder::new();
    for (round, (name, number)) in signals().cycle().take(18).enumerate() {
        let data = format!("data{round}");
        let command = format!("dev localhost --out-dir . --force --data-dir {data}");
        let mut child = start(&folder, "", &command);
        let wait = Duration::from_millis(2 * round as u64);
        let has_begun = || !drafts(&folder.path().join(&data)).is_empty();
        let mut ended = None;
        while !has_begun() && ended.is_none() {
            ended = child.try_wait().unwrap();
        }
        // Nobody else has its number as long as nobody has waited for its end.
        if ended.is_none() {
            // Different parts of the work are done by then, whichever they are.
            thread::sleep(wait);
            kill(&child, name);
        }
        let status = child.wait().unwrap();
        assert!(
            status.success() || status.signal() == Some(number),
            "{status}"
        );
        assert_eq!(drafts(folder.path()), Vec::<PathBuf>::new(), "{round}");
        let roots = folder.path().join(&data).join("local");
        assert!(!roots.exists() || roots.join("roots-for-browsers.pem").exists());
    }
}

/// A new key is in its file before the CA's key signs, and is worth nothing without a certificate.
#[test]
fn no_key_is_left_whose_certificate_was_not_issued() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --no-intermediate --algorithm SLH-DSA-SHA2-256s")
        .ok();
    let ledger = pq_ca::ledger::LocalLedger::open(folder.path().join("ca/ledger")).unwrap();
    let issue = "ca issue a.example.org --new-key a.key --out a.pem --algorithm ML-DSA-44";
    let [key, certificate] = ["a.key", "a.pem"].map(|file| folder.path().join(file));
    let issued = || {
        let mut issued = 0;
        let mut count = |_| {
            issued += 1;
            core::ops::ControlFlow::Continue(())
        };
        pq_ca::ledger::Ledger::find(&ledger, &pq_ca::ledger::Filter::all(), &mut count).unwrap();
        issued
    };
    for (name, number) in signals() {
        // Again if this process was stopped for as long as the other one signed.
        let stopped = (0..30).any(|_| {
            let before = issued();
            let mut child = start(&folder, "", issue);
            while !key.exists() && child.try_wait().unwrap().is_none() {
                thread::yield_now();
            }
            kill(&child, name);
            let status = child.wait().unwrap();
            assert_eq!(drafts(folder.path()), Vec::<PathBuf>::new());
            let is_left = fs::remove_file(&key).is_ok();
            let _ = fs::remove_file(&certificate);
            // Without its key there is no certificate.
            assert!(is_left || issued() == before);
            // With a certificate, it stays.
            assert!(!is_left || issued() == before + 1);
            status.signal() == Some(number) && !is_left
        });
        assert!(stopped);
    }
}
