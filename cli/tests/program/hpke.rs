//! Files that are encrypted to a key, and keys of X-Wing.

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, SignatureAlgorithm, SigningKey};

use crate::folder::Folder;

fn with_keys() -> Folder {
    let folder = Folder::new();
    for command in [
        "key new X-Wing --out xwing.key --public xwing.pub",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "key new ML-DSA-44 --out sign.key --public sign.pub",
    ] {
        folder.pqtls(command).ok();
    }
    let content: Vec<u8> = (0..200_000_u32).map(|i| (i / 3) as u8).collect();
    folder.write("content", content);
    folder
}

#[test]
fn what_is_encrypted_is_decrypted_and_what_is_changed_leaves_nothing() {
    let folder = with_keys();
    for key in ["xwing", "kem"] {
        for aead in ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"] {
            let encrypt = format!("encrypt content --to {key}.pub --aead {aead} --out e --force");
            folder.pqtls(&encrypt).ok();
            let decrypt = format!("decrypt e --key {key}.key --out found --force");
            folder.pqtls(&decrypt).ok();
            assert!(folder.bytes("found") == folder.bytes("content"));
        }
        // to a private key's public half
        let piped = format!(
            "pqtls encrypt --to {key}.key < content | pqtls decrypt --key {key}.key > piped"
        );
        folder.shell(&piped).ok();
        assert!(folder.bytes("piped") == folder.bytes("content"));
    }

    folder
        .pqtls("encrypt content --to xwing.pub --out e --force")
        .ok();
    let whole = folder.bytes("e");
    let at_second_chunk = 14 + 1120 + 65_536 + 16;
    let mut altered = whole.clone();
    altered[at_second_chunk + 7] ^= 1;
    for damaged in [&altered[..], &whole[..at_second_chunk], &whole[..1000]] {
        folder.write("e", damaged);
        for out in ["not-there", "-"] {
            let outcome = folder.pqtls(&format!("decrypt e --key xwing.key --out {out}"));
            assert_eq!(outcome.stdout(), "");
            assert_ne!(outcome.status(), 0);
        }
    }
    assert!(!folder.path().join("not-there").exists());
    folder.write("e", altered);
    folder.pqtls("decrypt e --key xwing.key --out x").fails(
        1,
        "e was not decrypted: it was altered or cut short: its first 65536 bytes",
    );
    folder
        .pqtls("decrypt content --key xwing.key --out x")
        .fails(3, "not a file of this format");
}

#[test]
fn only_the_key_that_it_is_for_decrypts() {
    let folder = with_keys();
    folder.pqtls("encrypt content --to xwing.pub --out e").ok();
    folder
        .pqtls("decrypt e --key kem.key --out x")
        .fails(1, "a key of X-Wing, and the key is one of ML-KEM-512");
    folder.pqtls("key new X-Wing --out other.key").ok();
    folder
        .pqtls("decrypt e --key other.key --out x")
        .fails(1, "it is not for this key");
    folder
        .pqtls("decrypt e --key sign.key --out x")
        .fails(3, "ML-DSA-44, which signs");
    folder
        .pqtls("encrypt content --to sign.pub --out x")
        .fails(3, "ML-DSA-44, which signs");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_certificate_is_taken_if_its_key_is_for_that() {
    let folder = with_keys();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key).unwrap();
    let key = DecapsulationKey::from_pkcs8_pem(&folder.read("kem.key")).unwrap();
    let bob = CertificateBuilder::end_entity().common_name("Bob");
    let bob = root.issue(bob, &key).unwrap();
    // the first certificate of a chain is used
    folder.write("bob.pem", bob.to_pem() + &root.certificate().to_pem());
    let outcome = folder.pqtls("encrypt content --to bob.pem --out e");
    assert!(outcome.ok().contains("for CN=Bob, ML-KEM-512"));
    folder.pqtls("decrypt e --key kem.key --out found").ok();
    assert!(folder.bytes("found") == folder.bytes("content"));

    folder.write("root.pem", root.certificate().to_pem());
    folder
        .pqtls("encrypt content --to root.pem --out x")
        .fails(1, "the certificate of CN=Root is not keyEncipherment");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn the_key_may_be_under_a_passphrase() {
    let folder = with_keys();
    folder.write("passphrase", "correct horse battery staple");
    for key in ["kem", "xwing"] {
        for command in [
            format!("key encrypt {key}.key --passphrase-file passphrase --out secret.key --force"),
            format!("encrypt content --to {key}.pub --out e --force"),
            "decrypt e --key secret.key --passphrase-file passphrase --out found --force".into(),
        ] {
            folder.pqtls(&command).ok();
        }
        assert!(folder.bytes("found") == folder.bytes("content"));
    }
}

#[test]
fn keys_of_x_wing_are_for_files() {
    let folder = with_keys();
    let shown = folder.pqtls("key show xwing.key");
    assert!(shown.ok().contains("private key of X-Wing, to encapsulate"));
    assert!(
        shown
            .ok()
            .contains("1216 of the public key, 1120 of a ciphertext")
    );
    let public = folder.pqtls("key public xwing.key");
    assert_eq!(public.ok(), folder.read("xwing.pub"));
    folder.pqtls("key check xwing.key").ok();
    for command in [
        "key convert xwing.key --format hex --out raw",
        "key convert raw --algorithm x-wing --out again.key",
        "key convert again.key --format der --out again.der",
        "key convert again.der --out last.key",
    ] {
        folder.pqtls(command).ok();
    }
    assert_eq!(folder.read("last.key"), folder.read("xwing.key"));
    for (command, status) in [
        ("sign --key xwing.key content --out x", 3),
        ("cms encrypt content --to xwing.pub --out x", 3),
        ("encaps --key xwing.pub --out x --secret y", 3),
        ("cert request --key xwing.key --name a.example --out x", 3),
        ("key convert xwing.key --format jwk --out x", 1),
        ("key convert xwing.key --form seed --out x", 2),
    ] {
        let outcome = folder.pqtls(command);
        assert_eq!(outcome.status(), status, "{command}: {}", outcome.stderr());
    }
    folder
        .pqtls("sign --key xwing.key content --out x")
        .fails(3, "an X-Wing key, which is for files");
    assert!(!folder.path().join("x").exists());
    let mut damaged = folder.bytes("again.der");
    damaged.truncate(damaged.len() - 1);
    damaged[1] -= 1;
    folder.write("damaged.der", &damaged);
    assert_ne!(folder.pqtls("key show damaged.der").status(), 0);
}
