//! Against `ssh-keygen` of OpenSSH 10.6 or later, both ways. `SSH_KEYGEN` names the program; without it, the
//! tests use the one on `PATH`. If that doesn't know the algorithm, these tests say that they are skipped; a program
//! that `SSH_KEYGEN` names has to know the algorithm.

use core::time::Duration;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use pq_keys::pki_types::UnixTime;
use pq_ssh::{
    AllowedSigners, HashAlgorithm, HashedMessage, KeyName, Passphrase, PrivateKey, PrivateKeyError,
    PublicKey, Signature,
};
use tempfile::TempDir;
use testing::skipped::cannot_run;

use crate::KEY;

const MESSAGE: &[u8] = b"a message\n";

/// A folder in which the program runs.
struct OpenSsh(TempDir);

impl OpenSsh {
    fn new() -> Option<Self> {
        Self::that_knows("mldsa44-ed25519")
    }

    /// With a key of this algorithm.
    fn that_knows(algorithm: &str) -> Option<Self> {
        let this = Self(TempDir::new().expect("a folder"));
        let (works, said) = this.try_run(&["-q", "-t", algorithm, "-N", "", "-f", "key"], b"");
        if works {
            return Some(this);
        }
        let named = std::env::var_os("SSH_KEYGEN");
        assert!(
            named.is_none(),
            "what SSH_KEYGEN names makes no key: {said}"
        );
        // In CI neither: Debian's is older, and `.ci/run newest_peers` names another one.
        cannot_run(&format!(
            "there is no ssh-keygen that knows {algorithm}: {said}"
        ));
        None
    }

    fn try_run(&self, arguments: &[&str], input: &[u8]) -> (bool, String) {
        let program = std::env::var_os("SSH_KEYGEN").unwrap_or_else(|| "ssh-keygen".into());
        let child = Command::new(program)
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return (false, error.to_string()),
        };
        let mut stdin = child.stdin.take().expect("it was asked for");
        // If the program has already ended, its output says why.
        let _ = stdin.write_all(input);
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    }

    #[track_caller]
    fn run(&self, arguments: &[&str], input: &[u8]) -> String {
        let (works, said) = self.try_run(arguments, input);
        assert!(works, "{arguments:?}: {said}");
        said
    }

    /// Writes a file that only its owner can read: the program refuses others.
    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let path = self.0.path().join(name);
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path);
        let mut file = file.expect("the folder is ours");
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .expect("the file is ours");
        file.write_all(contents.as_ref()).expect("there is room");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("the program wrote it")
    }
}

fn hashed(hash: HashAlgorithm) -> HashedMessage {
    HashedMessage::read(hash, MESSAGE).expect("a slice")
}

#[test]
fn we_read_keys_of_openssh() {
    let Some(openssh) = OpenSsh::new() else {
        return;
    };
    for (passphrase, rounds) in [("", "16"), ("a pass phrase", "3"), ("\u{e9}", "24")] {
        let _ = fs::remove_file(openssh.0.path().join("theirs"));
        let arguments = [
            "-q",
            "-t",
            "mldsa44-ed25519",
            "-C",
            "a comment",
            "-a",
            rounds,
            "-f",
            "theirs",
        ];
        openssh.run(&[&arguments[..], &["-N", passphrase]].concat(), b"");
        let passphrase = Passphrase::new(passphrase.as_bytes());
        let key = PrivateKey::from_openssh(&openssh.read("theirs"), Some(&passphrase))
            .expect("a key of OpenSSH");
        let public = PublicKey::from_line(&openssh.read("theirs.pub")).expect("a line of OpenSSH");
        assert_eq!(key.public_key(), &public);
        assert_eq!(
            (public.name(), public.comment()),
            (KeyName::Standard, "a comment")
        );
        assert_eq!(public.to_line() + "\n", openssh.read("theirs.pub"));
        let shown = openssh.run(&["-l", "-f", "theirs.pub"], b"");
        assert!(shown.contains(&public.fingerprint()), "{shown}");
    }
}

/// `ssh-keygen -Z` takes every cipher of OpenSSH.
#[test]
fn we_read_keys_under_each_cipher_of_openssh() {
    let Some(openssh) = OpenSsh::new() else {
        return;
    };
    for cipher in [
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "chacha20-poly1305@openssh.com",
    ] {
        let _ = fs::remove_file(openssh.0.path().join("theirs"));
        let key = ["-q", "-t", "mldsa44-ed25519", "-a", "3", "-f", "theirs"];
        openssh.run(&[&key[..], &["-N", "right", "-Z", cipher]].concat(), b"");
        let text = openssh.read("theirs");
        let read = |passphrase: &str| {
            PrivateKey::from_openssh(&text, Some(&Passphrase::new(passphrase.as_bytes())))
        };
        let public = PublicKey::from_line(&openssh.read("theirs.pub")).expect("a line of OpenSSH");
        let key = read("right").expect(cipher);
        assert_eq!(key.public_key(), &public, "{cipher}");
        assert_eq!(read("wrong").unwrap_err(), PrivateKeyError::WrongPassphrase);
    }
}

#[test]
fn openssh_reads_our_keys() {
    let Some(openssh) = OpenSsh::new() else {
        return;
    };
    let public = KEY.public_key();
    openssh.write("ours.pub", &(public.to_line() + "\n"));
    let shown = openssh.run(&["-l", "-f", "ours.pub"], b"");
    assert!(shown.contains(&public.fingerprint()), "{shown}");
    for passphrase in ["", "a pass phrase"] {
        let own = Passphrase::new(passphrase.as_bytes()).rounds(4);
        let own = (!passphrase.is_empty()).then_some(&own);
        openssh.write("ours", KEY.to_openssh(own).expect("randomness"));
        let derived = openssh.run(&["-y", "-P", passphrase, "-f", "ours"], b"");
        assert_eq!(PublicKey::from_line(&derived).as_ref(), Ok(public));
    }
}

#[test]
fn we_verify_signatures_of_openssh() {
    let Some(openssh) = OpenSsh::new() else {
        return;
    };
    let line = openssh.read("key.pub");
    let key = PublicKey::from_line(&line).expect("a line of OpenSSH");
    for &hash in HashAlgorithm::ALL {
        let option = format!("hashalg={hash}");
        let text = openssh.run(
            &["-Y", "sign", "-f", "key", "-n", "file", "-O", &option],
            MESSAGE,
        );
        let end = "-----END SSH SIGNATURE-----\n";
        let start = text.find("-----BEGIN").expect("it signs");
        let stop = text.find(end).expect("all of it") + end.len();
        let text = &text[start..stop];
        let signature = Signature::from_armored(text).expect("a signature of OpenSSH");
        assert_eq!(
            (signature.hash_algorithm(), signature.namespace()),
            (hash, "file")
        );
        assert_eq!(signature.verify(&key, "file", &hashed(hash)), Ok(()));
        assert_eq!(signature.to_armored(), text);
    }
}

#[test]
fn openssh_verifies_our_signatures_and_lists_mean_the_same_to_both() {
    let Some(openssh) = OpenSsh::new() else {
        return;
    };
    let line = KEY.public_key().to_line();
    for &hash in HashAlgorithm::ALL {
        let signature = KEY.sign("file", &hashed(hash)).expect("randomness");
        openssh.write("sig", signature.to_armored());
        for (signers, is_permitted) in [
            (format!("me@x {line}"), true),
            (format!("*@x,!you@x namespaces=\"git,fi*\" {line}"), true),
            (format!("\"you@x,me@?\" NameSpaces=\"file\" {line}"), true),
            (
                format!("me@x valid-after=\"20260101Z\",valid-before=\"20260103Z\" {line}"),
                true,
            ),
            (format!("me@x valid-before=\"20260102Z\" {line}"), true),
            (
                format!("me@x valid-before=\"20260101235959Z\" {line}"),
                false,
            ),
            (format!("me@x valid-before=\"20260102z\" {line}"), true),
            (format!("me@x valid-before=\"20260102Utc\" {line}"), true),
            (format!("me@x valid-before=\"20260101z\" {line}"), false),
            (
                format!("me@x ,,namespaces=\"file\",,valid-before=\"20260102Z\" {line}"),
                true,
            ),
            (format!("me@x valid-after=\"202601020000Z\" {line}"), true),
            (format!("me@x valid-after=\"202601020001Z\" {line}"), false),
            (format!("you@x {line}"), false),
            (format!("*,!me@x {line}"), false),
            (format!("me@x namespaces=\"git\" {line}"), false),
            (format!("me@x namespaces=\"*,!file\" {line}"), false),
            (format!("me@x cert-authority {line}"), false),
            (format!("me@x {}", openssh.read("key.pub")), false),
        ] {
            openssh.write("signers", &(signers.clone() + "\n"));
            let time = "verify-time=20260102Z";
            let arguments = [
                "-Y", "verify", "-f", "signers", "-I", "me@x", "-n", "file", "-s", "sig", "-O",
                time,
            ];
            let (theirs, said) = openssh.try_run(&arguments, MESSAGE);
            let list = AllowedSigners::parse(&signers).expect("a list");
            // the same time
            let time = UnixTime::since_unix_epoch(Duration::from_secs(1_767_312_000));
            let ours = list.verify("me@x", "file", time, &signature, &hashed(hash));
            assert_eq!(
                (theirs, ours.is_ok()),
                (is_permitted, is_permitted),
                "{signers}: {said}"
            );
        }
        // A list that neither of the two takes.
        for options in ["namespaces=\"file\",", "valid-before=\"20260102Z\",", ","] {
            let signers = format!("me@x {options} {line}");
            openssh.write("signers", &(signers.clone() + "\n"));
            let arguments = [
                "-Y", "verify", "-f", "signers", "-I", "me@x", "-n", "file", "-s", "sig",
            ];
            let (theirs, said) = openssh.try_run(&arguments, MESSAGE);
            assert!(!theirs, "{signers}: {said}");
            AllowedSigners::parse(&signers).expect_err(&signers);
        }
        let other = ["-Y", "check-novalidate", "-n", "file", "-s", "sig"];
        assert!(openssh.try_run(&other, MESSAGE).0);
        assert!(!openssh.try_run(&other, b"another message").0);
    }
}

/// How lists are read does not depend on the key's algorithm, so any `ssh-keygen` shows it.
#[test]
fn lists_in_unusual_forms_mean_the_same_to_both() {
    let Some(openssh) = OpenSsh::that_knows("ed25519") else {
        return;
    };
    let theirs = openssh.read("key.pub");
    openssh.write("message", MESSAGE);
    openssh.run(
        &["-q", "-Y", "sign", "-n", "file", "-f", "key", "message"],
        b"",
    );
    let (ours, message) = (KEY.public_key().to_line(), hashed(HashAlgorithm::Sha512));
    let signature = KEY.sign("file", &message).expect("randomness");
    let long = |len| [&b"x@x,"[..], &b"y".repeat(len), b",me@x KEY"].concat();
    let (longest, too_long) = (long(1022), long(1023));
    let forbidding = [&b"!"[..], &b"y".repeat(1022), b",me@x KEY"].concat();
    let mut cases: Vec<&[u8]> = vec![
        b"me@x KEY",
        b"m\"e@x\" KEY",
        b"m\"e@x KEY",
        b"\"me@x\"KEY",
        b"\"me@x\" \tKEY\r",
        b"\"\"me@x KEY",
        b"me@x\"\" KEY",
        b"me\"@x namespaces=\"file\" KEY",
        b"me@x\rKEY",
        b"\x0cme@x KEY",
        b"\xe9@x,me@x KEY",
        b"*\xe9*,me@x KEY",
        b"\"\xe9 b,me@x\" KEY \xe9",
        b"me@x KEY\0",
        b"me@x KEY\0 \xe9\"",
        b"me@x\0 KEY",
        b"\0me@x KEY",
        &longest,
        &too_long,
        &forbidding,
    ];
    let times = [
        "19700101Z",
        "197001010000Z",
        "19700101000000UTC",
        "19700101000001Z",
        "20260101235960Z",
        "20260101235961Z",
        "20260101235962Z",
        "20260101236000Z",
        "20260101240000Z",
        "20260230Z",
        "20260431Z",
        "20251232Z",
        "20250100Z",
        "20251301Z",
        "20250001Z",
        "19691231Z",
        "2025 1 1Z",
        "2025 101Z",
        "20251 01Z",
        "202501  Z",
        "+0250101Z",
        "00000101Z",
        "99991231Z",
        "Z",
        "20260101235959Z",
        "202601 1 0 0Z",
    ];
    let times = times.iter().flat_map(|time| {
        let list = |option| format!("me@x {option}=\"{time}\" KEY").into_bytes();
        ["valid-after", "valid-before"].map(list)
    });
    let times: Vec<_> = times.collect();
    cases.extend(times.iter().map(|list| &**list));
    for case in cases {
        let with = |key: &str| {
            let at = case.windows(3).position(|word| word == b"KEY");
            let (before, after) = case.split_at(at.expect("each has one"));
            [before, key.trim_end().as_bytes(), &after[3..]].concat()
        };
        openssh.write("signers", [&with(&theirs), &b"\n"[..]].concat());
        let arguments = [
            "-Y",
            "verify",
            "-f",
            "signers",
            "-I",
            "me@x",
            "-n",
            "file",
            "-s",
            "message.sig",
            "-O",
            "verify-time=20260102Z",
        ];
        let (is_allowed, said) = openssh.try_run(&arguments, MESSAGE);
        let time = UnixTime::since_unix_epoch(Duration::from_secs(1_767_312_000));
        let allowed = AllowedSigners::parse(with(&ours)).is_ok_and(|list| {
            let verified = list.verify("me@x", "file", time, &signature, &message);
            verified.is_ok()
        });
        assert_eq!(allowed, is_allowed, "{}: {said}", case.escape_ascii());
    }
}
