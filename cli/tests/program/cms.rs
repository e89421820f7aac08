//! Messages that are signed and encrypted.

use std::fs;

use crate::folder::Folder;

fn with_keys() -> Folder {
    let folder = Folder::new();
    for command in [
        "key new ML-DSA-44 --out a.key",
        "key new Ed25519 --out b.key",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "cert self-sign a.key --name a.example --out a.pem",
        "cert self-sign b.key --name b.example --out b.pem",
    ] {
        folder.pqtls(command).ok();
    }
    let content: Vec<u8> = (0..300_000_u32).map(|i| (i / 3) as u8).collect();
    folder.write("content", content);
    folder
}

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn what_is_signed_is_verified_and_what_is_changed_leaves_nothing() {
    let folder = with_keys();
    let keys = "--key a.key --cert a.pem --key b.key --cert b.pem";
    for form in ["", "--pem"] {
        folder
            .pqtls(&format!("cms sign content {keys} {form} --out m --force"))
            .ok();
        let verify = "cms verify m --signer a.pem --signer b.pem";
        folder.pqtls(&format!("{verify} --out found --force")).ok();
        assert!(bytes(&folder, "found") == bytes(&folder, "content"));
        let piped =
            folder.shell("pqtls cms verify - --signer a.pem --signer b.pem --out - < m > piped");
        piped.ok();
        assert!(bytes(&folder, "piped") == bytes(&folder, "content"));
        folder
            .pqtls("cms verify m --signer a.pem")
            .fails(1, "m was refused: signature");
    }
    let mut changed = bytes(&folder, "content");
    changed[200_000] ^= 1;
    folder.write("changed", &changed);
    folder
        .pqtls("cms sign content --key a.key --cert a.pem --detached --out s")
        .ok();
    let verify = "cms verify s --signer a.pem --content";
    folder.pqtls(&format!("{verify} content")).ok();
    folder
        .pqtls(&format!("{verify} changed"))
        .fails(1, "the content is not what was signed");
    folder
        .pqtls("cms verify s --signer a.pem")
        .fails(1, "the signature is detached");

    folder
        .pqtls("cms sign content --key a.key --cert a.pem --out m --force")
        .ok();
    let mut message = bytes(&folder, "m");
    message[200_000] ^= 1;
    folder.write("m", &message);
    for out in ["not-there", "-"] {
        let outcome = folder.pqtls(&format!("cms verify m --signer a.pem --out {out}"));
        assert_eq!(outcome.stdout(), "");
        outcome.fails(1, "the content is not what was signed");
    }
    assert!(!folder.path().join("not-there").exists());
}

#[test]
fn keys_and_certificates_belong_together() {
    let folder = with_keys();
    folder
        .pqtls("cms sign content --key a.key --key b.key --cert a.pem --out m")
        .fails(2, "2 keys and 1 certificates");
    folder
        .pqtls("cms sign content --key a.key --cert b.pem --out m")
        .fails(1, "is not that of the key");
    assert!(!folder.path().join("m").exists());
}

#[test]
fn what_is_encrypted_is_decrypted_and_what_is_changed_leaves_nothing() {
    let folder = with_keys();
    for form in ["", "--pem"] {
        folder
            .pqtls(&format!(
                "cms encrypt content --to kem.pub {form} --out e --force"
            ))
            .ok();
        folder
            .pqtls("cms decrypt e --key kem.key --out found --force")
            .ok();
        assert!(bytes(&folder, "found") == bytes(&folder, "content"));
    }
    folder
        .pqtls("cms encrypt content --to kem.pub --out e --force")
        .ok();
    let mut message = bytes(&folder, "e");
    let at = message.len() - 20;
    message[at] ^= 1;
    folder.write("e", &message);
    for out in ["not-there", "-"] {
        let outcome = folder.pqtls(&format!("cms decrypt e --key kem.key --out {out}"));
        assert_eq!(outcome.stdout(), "");
        assert_ne!(outcome.status(), 0);
    }
    assert!(!folder.path().join("not-there").exists());
    folder
        .pqtls("cms encrypt content --to a.pem --out x")
        .fails(1, "one of an ML-KEM key");
    folder.pqtls("key new ML-KEM-512 --out other.key").ok();
    folder
        .pqtls("cms encrypt content --to kem.pub --out e --force")
        .ok();
    folder
        .pqtls("cms decrypt e --key other.key --out x")
        .fails(1, "e was not decrypted");
}
