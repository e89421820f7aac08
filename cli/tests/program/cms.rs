//! Messages that are signed and encrypted.

use core::time::Duration;
use std::fs;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{DecapsulationKey, SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;

use crate::folder::Folder;

fn with_keys() -> Folder {
    let folder = Folder::new();
    for command in [
        "key new ML-DSA-44 --out a.key",
        "key new Ed25519 --out b.key",
        "key new ML-KEM-512 --out kem.key --public kem.pub",
        "cert self-sign --key a.key --name a.example --out a.pem",
        "cert self-sign --key b.key --name b.example --out b.pem",
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
    let verify = "cms verify --signature s --signer a.pem";
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
fn what_a_message_is_instead_is_told() {
    let folder = with_keys();
    folder
        .pqtls("cms sign content --key a.key --cert a.pem --out signed")
        .ok();
    folder
        .pqtls("cms encrypt content --to kem.pub --out sealed")
        .ok();
    folder
        .pqtls("cms decrypt signed --key kem.key --out x")
        .fails(
            1,
            "signed was not decrypted: it is signed, and not encrypted; see \"pqtls cms verify\"",
        );
    folder.pqtls("cms verify sealed --signer a.pem").fails(
        1,
        "sealed was refused: it is encrypted, and not signed; see \"pqtls cms decrypt\"",
    );
    folder.write(
        "mime",
        "MIME-Version: 1.0\nContent-Type: application/pkcs7-mime; smime-type=signed-data\n\nMIAG\n",
    );
    for command in [
        "verify mime --signer a.pem",
        "decrypt mime --key kem.key --out x",
        "show mime",
    ] {
        folder
            .pqtls(&format!("cms {command}"))
            .fails(3, "\"openssl cms -cmsout -in FILE -outform DER\"");
    }
    folder
        .pqtls("cms verify signed --roots a.pem")
        .fails(1, "give it with --signer in place of --roots");
}

/// The clock has nothing to do with it.
#[test]
fn a_list_from_after_the_signing_is_told() {
    let folder = with_keys();
    folder.pqtls("ca init --name A --algorithm ML-DSA-44").ok();
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace("\"server+client\"]", "\"any\"]");
    folder.write("ca/policy.toml", policy);
    folder
        .shell("pqtls ca issue --common-name 'Alice Example' --profile any --key a.key --out alice.pem")
        .ok();
    folder
        .pqtls("cms sign content --key a.key --cert alice.pem --out signed")
        .ok();
    // Lists have whole seconds.
    let seconds = || UnixTime::now().as_secs();
    let signed = seconds();
    while seconds() == signed {
        std::thread::sleep(Duration::from_millis(10));
    }
    for command in ["ca crl --out ca.crl", "ca crl --root --out root.crl"] {
        folder.pqtls(command).ok();
    }
    let verify = "cms verify signed --roots ca/root.pem --crl ca.crl --crl root.crl";
    folder.pqtls(verify).ok();
    let refused = folder.pqtls(&format!("{verify} --at-signing-time"));
    refused.fails(1, "--at-signing-time takes only lists that were valid then");
    assert!(
        !refused.stderr().contains("check the clock"),
        "{}",
        refused.stderr()
    );
}

#[test]
fn keys_and_certificates_belong_together() {
    let folder = with_keys();
    folder
        .pqtls("cms sign content --key a.key --key b.key --cert a.pem --out m")
        .fails(2, "2 keys and 1 certificates");
    folder
        .pqtls("cms sign content --key a.key --cert b.pem --out m")
        .fails(1, "belongs to another key");
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
        .fails(3, "a.pem: ");
    folder.pqtls("key new ML-KEM-512 --out other.key").ok();
    folder
        .pqtls("cms encrypt content --to kem.pub --out e --force")
        .ok();
    folder
        .pqtls("cms decrypt e --key other.key --out x")
        .fails(1, "e was not decrypted");
}

/// Each file is for one recipient: otherwise only the first one could decrypt.
#[test]
fn a_file_has_one_recipient_and_its_chain() {
    let folder = with_keys();
    let root = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root).unwrap();
    let team = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let team = root.issue_ca(CertificateBuilder::ca("Team"), team).unwrap();
    let certificate = |name: &str| {
        let new = format!("key new ML-KEM-512 --out {name}.key --public {name}.pub");
        folder.pqtls(&new).ok();
        let key = folder.read(&format!("{name}.key"));
        let key = DecapsulationKey::from_pkcs8_pem(&key).unwrap();
        let builder = CertificateBuilder::end_entity().common_name(name);
        team.issue(builder, &key).unwrap().to_pem()
    };
    let (alice, bob) = (certificate("alice"), certificate("bob"));
    let (inter, root) = (team.certificate().to_pem(), root.certificate().to_pem());
    let key_of = |name: &str| folder.read(&format!("{name}.pub"));
    for (file, parts) in [
        ("bob.pem", vec![&bob]),
        ("alice.pem", vec![&alice, &inter, &root]),
        (
            "same.pem",
            vec![&alice, &root, &alice, &inter, &key_of("alice")],
        ),
        ("team.pem", vec![&alice, &bob]),
        ("chains.pem", vec![&alice, &inter, &bob, &inter]),
        ("reversed.pem", vec![&root, &inter, &alice]),
        ("key.pem", vec![&alice, &key_of("bob")]),
    ] {
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        folder.write(file, parts.concat());
    }
    for file in ["team.pem", "chains.pem", "reversed.pem", "key.pem"] {
        for command in ["cms encrypt", "encrypt"] {
            folder
                .pqtls(&format!("{command} content --to {file} --out not-there"))
                .fails(3, "by a --to of its own");
            assert!(!folder.path().join("not-there").exists());
        }
    }
    for file in ["alice.pem", "same.pem"] {
        let encrypt = format!("cms encrypt content --to {file} --to bob.pem --out e --force");
        folder.pqtls(&encrypt).ok();
        for key in ["alice.key", "bob.key"] {
            folder
                .pqtls(&format!("cms decrypt e --key {key} --out found --force"))
                .ok();
        }
    }
    // A certificate is issued for one key, too.
    folder.pqtls("ca init --name CA --algorithm ML-DSA-44").ok();
    folder
        .pqtls("ca issue a.example --key team.pem --out x.pem")
        .fails(3, "the certificates of 2 end entities");
}

/// Keys that agree on secrets are recipients beside those of ML-KEM, with certificates and without.
#[test]
fn classical_keys_are_recipients_too() {
    let folder = with_keys();
    for command in [
        "key new ECDSA-P256 --out p256.key --public p256.pub",
        "key new ECDSA-P384 --out p384.key",
        "key new X25519 --out x.key",
        "key encrypt p384.key --passphrase-file kem.pub --out p384.enc.key",
    ] {
        folder.pqtls(command).ok();
    }
    let encrypted = folder
        .pqtls("cms encrypt content --to kem.pub --to p256.pub --to p384.key --to x.key --out e");
    let encrypted = encrypted.ok();
    for part in [
        "for p256.pub, ECDH-P256\n",
        "for p384.key, ECDH-P384\n",
        "for x.key, X25519\n",
        "not safe against quantum computers",
    ] {
        assert!(encrypted.contains(part), "{part:?} is not in {encrypted}");
    }
    for key in [
        "kem.key",
        "p256.key",
        "p384.key",
        "p384.enc.key --passphrase-file kem.pub",
        "x.key",
    ] {
        folder
            .pqtls(&format!("cms decrypt e --key {key} --out found --force"))
            .ok();
        assert!(
            bytes(&folder, "found") == bytes(&folder, "content"),
            "{key}"
        );
    }
    folder.pqtls("key new ECDSA-P256 --out other.key").ok();
    folder
        .pqtls("cms decrypt e --key other.key --out x")
        .fails(1, "e was not decrypted");
    folder
        .pqtls("cms decrypt e --key b.key --out x")
        .fails(3, "Ed25519 keys don't agree on secrets");
    folder
        .pqtls("cms encrypt content --to b.key --out x")
        .fails(3, "Ed25519 keys don't agree on secrets");

    // A certificate says by its key usage what the key is for.
    folder
        .pqtls("cert self-sign --key p256.key --name a.example --out p256.pem")
        .ok();
    folder
        .pqtls("cms encrypt content --to p256.pem --out x")
        .fails(1, "is not keyAgreement");
}

#[test]
fn what_a_message_is_is_shown_without_a_key() {
    let folder = with_keys();
    let keys = "--key a.key --cert a.pem --key b.key --cert b.pem";
    folder
        .pqtls(&format!("cms sign content {keys} --pem --out m"))
        .ok();
    folder
        .pqtls(&format!("cms sign content {keys} --detached --out s"))
        .ok();
    folder
        .pqtls("key new ECDSA-P256 --out p256.key --public p256.pub")
        .ok();
    folder
        .pqtls("cms encrypt content --to kem.pub --to p256.pub --out e")
        .ok();
    for (message, parts) in [
        (
            "m",
            &[
                "m: signedData, version 1; nothing was verified\n",
                "content: data, 300000 bytes\n",
                "has a certificate of CN=a.example\n",
                "    ML-DSA-44 with sha512, 2420 bytes\n",
                "    Ed25519 with sha512, 64 bytes\n",
                "    at 20",
                "    attributes: ",
            ][..],
        ),
        ("s", &["content: data, not in the message\n"]),
        (
            "e",
            &[
                "e: authEnvelopedData, version 0; nothing was verified\n",
                "content: data, 300000 bytes\n",
                "encrypted by aes256-GCM, with a tag of 16 bytes\n",
                "2 recipients\n",
                "by KEM: ML-KEM-512, ",
                "by key agreement: ",
                "    for key identifier ",
            ],
        ),
    ] {
        let shown = folder.pqtls(&format!("cms show {message}"));
        let shown = shown.ok();
        for part in parts {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
    }
    let mut cut = bytes(&folder, "e");
    cut.truncate(200_000);
    folder.write("cut", cut);
    folder
        .pqtls("cms show cut")
        .fails(3, "cut can't be read: the message is cut short");
    folder.pqtls("cms show a.pem").fails(3, "no PEM block");
}

/// The values in a value in DER.
fn parts(der: &[u8]) -> Vec<&[u8]> {
    let header = |der: &[u8]| match der[1] {
        len @ ..0x80 => (2, usize::from(len)),
        count => {
            let len = &der[2..2 + usize::from(count & 0x7f)];
            let number = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
            (2 + len.len(), len.iter().fold(0, number))
        }
    };
    let (start, len) = header(der);
    let mut rest = &der[start..start + len];
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (start, len) = header(rest);
        let (part, after) = rest.split_at(start + len);
        parts.push(part);
        rest = after;
    }
    parts
}

/// A value in DER, with a length of two bytes.
fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let len = (contents.len() as u16).to_be_bytes();
    let len = match contents.len() {
        short @ ..0x80 => vec![short as u8],
        0x80..0x100 => vec![0x81, len[1]],
        _ => vec![0x82, len[0], len[1]],
    };
    [&[tag][..], &len, &contents].concat()
}

/// What was signed as something else than a file is valid, and the report says what it is.
#[test]
fn content_of_another_type_is_no_file() {
    let folder = with_keys();
    folder.write("short", "pay 5 to bob");
    let sign = "cms sign short --key a.key --cert a.pem --no-certs";
    folder.pqtls(&format!("{sign} --out m")).ok();
    let verify = "cms verify m --signer a.pem --out found --force";
    assert!(!folder.pqtls(verify).ok().contains("not a file"));
    let told = |verified: &str| {
        let verified: serde_json::Value = serde_json::from_str(verified).unwrap();
        verified["content_type"].clone()
    };
    assert_eq!(told(folder.pqtls(&format!("{verify} --json")).ok()), "data");
    let key = SigningKey::from_pkcs8_pem(&folder.read("a.key")).unwrap();
    let message = bytes(&folder, "m");
    // id-data becomes id-digestedData.
    let retyped = |der: &[u8]| {
        let mut der = der.to_vec();
        let oid = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
        let found = der.windows(oid.len()).position(|window| window == oid);
        der[found.unwrap() + oid.len() - 1] = 5;
        der
    };
    let info = parts(&message);
    let signed = parts(parts(info[1])[0]);
    let signer = parts(parts(signed[3])[0]);
    let mut attributes = retyped(signer[3]);
    attributes[0] = 0x31;
    let signature = value(4, &[&key.sign(&attributes).unwrap()]);
    attributes[0] = 0xa0;
    let [start @ .., _, algorithm, _] = &*signer else {
        panic!("{signer:?}");
    };
    let signer = [&start.concat()[..], &attributes, algorithm, &signature];
    let signers = value(0x31, &[&value(0x30, &signer)]);
    let content = retyped(signed[2]);
    let signed = value(0x30, &[&[2, 1, 3], signed[1], &content, &signers]);
    folder.write("m", value(0x30, &[info[0], &value(0xa0, &[&signed])]));
    let verified = folder.pqtls(verify);
    let verified = verified.ok();
    assert!(
        verified.contains("the content is not a file, but of the type digestedData\n"),
        "{verified}"
    );
    assert_eq!(
        told(folder.pqtls(&format!("{verify} --json")).ok()),
        "digestedData"
    );
}

/// What `pqtls sign` signs without a context is also signed as the content of a message without attributes: it says the
/// same of the same bytes. Whoever wants to know that a message was signed as one requires attributes.
#[test]
fn a_signature_of_a_file_is_one_of_a_message_unless_attributes_are_required() {
    let folder = with_keys();
    folder.write("short", "pay 5 to bob");
    folder.pqtls("sign --key a.key short --out raw").ok();
    let sign = "cms sign short --key a.key --cert a.pem --no-certs";
    folder.pqtls(&format!("{sign} --out m")).ok();
    let (message, signature) = (bytes(&folder, "m"), bytes(&folder, "raw"));
    let info = parts(&message);
    let signed = parts(parts(info[1])[0]);
    let signer = parts(parts(signed[3])[0]);
    let signature = value(4, &[&signature]);
    let signer = value(
        0x30,
        &[signer[0], signer[1], signer[2], signer[4], &signature],
    );
    let signers = value(0x31, &[&signer]);
    let signed = value(0x30, &[signed[0], signed[1], signed[2], &signers]);
    folder.write("made", value(0x30, &[info[0], &value(0xa0, &[&signed])]));
    let strict = "--signer a.pem --require-attributes";
    folder.pqtls("cms verify made --signer a.pem").ok();
    folder.pqtls(&format!("cms verify m {strict}")).ok();
    let refused = folder.pqtls(&format!("cms verify made {strict}"));
    refused.fails(1, "it has no signed attributes");
}

/// Keys of RSA decrypt messages elsewhere.
#[test]
fn messages_for_keys_of_rsa_are_for_openssl() {
    let folder = Folder::with_ca();
    folder.pqtls("key new RSA-2048 --out rsa.key").ok();
    folder
        .pqtls("cms decrypt ca.pem --key rsa.key --out x")
        .fails(
            3,
            "\"openssl cms -decrypt -inform DER -in FILE -inkey rsa.key\"",
        );
}
