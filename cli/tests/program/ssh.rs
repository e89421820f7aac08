//! SSH keys and signatures by them. pq-ssh's own tests check that OpenSSH reads them.

use crate::folder::Folder;

/// With a key of Alice, and a file that she signed.
fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ssh new --out alice --comment alice@example.org")
        .ok();
    folder.write("message", "a message");
    folder
        .pqtls("ssh sign message --key alice --out message.sig")
        .ok();
    let key = folder.read("alice.pub");
    folder.write("signers", format!("alice@example.org {key}"));
    folder
}

const VERIFY: &str = "ssh verify message --signature message.sig --signers signers --identity";

#[test]
fn a_signature_is_for_one_file_signer_and_purpose() {
    let folder = folder();
    folder.pqtls(&format!("{VERIFY} alice@example.org")).ok();
    folder
        .pqtls(&format!("{VERIFY} bob@example.org"))
        .fails(1, "message.sig was refused: no line has the key SHA256:");
    folder
        .pqtls(&format!("{VERIFY} alice@example.org --namespace git"))
        .fails(1, "\"git\"");
    folder.write("message", "another message");
    folder
        .pqtls(&format!("{VERIFY} alice@example.org"))
        .fails(1, "message.sig was refused");
    folder
        .pqtls("ssh sign message --key alice --namespace= --out other.sig")
        .fails(2, "nothing was signed");

    // another key under the same name
    folder.pqtls("ssh new --out mallory").ok();
    folder.write("message", "a message");
    folder
        .pqtls("ssh sign message --key mallory --out mallory.sig")
        .ok();
    folder
        .pqtls("ssh verify message --signature mallory.sig --signers signers --identity alice@example.org")
        .fails(1, "no line has the key");
}

#[test]
fn keys_are_under_a_passphrase_if_asked() {
    let folder = folder();
    folder.write("passphrase", "correct horse battery staple\n");
    folder.write("other", "another passphrase\n");
    folder
        .pqtls("ssh new --out bob --encrypt --passphrase-file passphrase")
        .ok();
    folder
        .pqtls("ssh sign message --key bob --out bob.sig")
        .fails(
            2,
            "bob is encrypted: give its passphrase with --passphrase-file",
        );
    folder
        .pqtls("ssh sign message --key bob --passphrase-file other --out bob.sig")
        .fails(1, "the passphrase is wrong");
    folder
        .pqtls("ssh sign message --key bob --passphrase-file passphrase --out bob.sig")
        .ok();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = std::fs::metadata(folder.path().join("bob")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let folder = folder();
    folder.pqtls("ssh new --out alice").fails(3, "alice exists");
    folder.write("bytes", [0xff; 100]);
    for (command, words) in [
        (
            "ssh sign message --key message.sig --out x",
            "message.sig: ",
        ),
        ("ssh sign message --key bytes --out x", "bytes is not text"),
        ("ssh sign message --key none --out x", "can't read none"),
        (
            "ssh verify message --signature alice --signers signers --identity x",
            "alice: ",
        ),
        (
            "ssh verify message --signature message.sig --signers alice --identity x",
            "alice: ",
        ),
    ] {
        folder.pqtls(command).fails(3, words);
    }
}

/// A file of a public key is none of allowed signers until a name is in front.
#[test]
fn a_public_key_is_no_line_of_allowed_signers() {
    let folder = folder();
    let verify = VERIFY.replace("--signers signers", "--signers alice.pub");
    let answer = folder.pqtls(&format!("{verify} alice@example.org"));
    assert_ne!(answer.status(), 0);
    let words = "the name of its signer is missing";
    assert!(answer.stderr().contains(words), "{}", answer.stderr());
}
