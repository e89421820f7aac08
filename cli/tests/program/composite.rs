//! Composite keys, in every command that takes a key.

use rustls_pq::composite::CompositeKey;

use crate::folder::Folder;

/// RSA takes a while to make, and the others differ by their numbers alone.
const ALGORITHMS: [&str; 3] = [
    "MLDSA65-ECDSA-P256-SHA512",
    "MLDSA44-Ed25519-SHA512",
    "MLDSA44-RSA2048-PSS-SHA256",
];

#[test]
fn keys_are_made_shown_and_checked() {
    let folder = Folder::new();
    for name in ALGORITHMS {
        let made = folder.pqtls(&format!(
            "key new {} --force --out a.key --public a.pub",
            name.to_lowercase()
        ));
        let expected = format!(
            "a.key: private key of {name} (composite, by draft-ietf-lamps-pq-composite-sigs-19)\n"
        );
        assert!(made.ok().starts_with(&expected), "{}", made.ok());
        let key = CompositeKey::from_pkcs8_pem(&folder.read("a.key")).unwrap();
        assert_eq!(key.algorithm().name(), name);
        for (file, kind) in [("a.key", "private"), ("a.pub", "public")] {
            let shown = folder.pqtls(&format!("key show {file}"));
            let category = if name.contains("44") { 2 } else { 3 };
            let expected = format!(
                "{kind} key of {name}, to sign\n  security     category {category} of 5\n  bytes        {} of \
                 the public key, at most {} of a signature\n",
                key.public_key().as_bytes().len(),
                key.algorithm().max_signature_len(),
            );
            assert!(shown.ok().starts_with(&expected), "{}", shown.ok());
        }
        assert_eq!(
            folder.pqtls("key check a.key").ok(),
            format!("a.key: sound private key of {name}\n")
        );
        assert_eq!(folder.pqtls("key public a.key").ok(), folder.read("a.pub"));
        folder
            .pqtls("key convert a.key --format der --force --out a.der")
            .ok();
        assert_eq!(folder.pqtls("key convert a.der").ok(), folder.read("a.key"));
        for (command, words) in [
            (
                "key convert a.key --format hex",
                "have no raw bytes here; write them as PEM or DER",
            ),
            (
                "key convert a.key --form seed",
                "have one form; leave --form out",
            ),
        ] {
            folder.pqtls(command).fails(2, words);
        }
        folder
            .pqtls(&format!("key convert a.key --algorithm {name}"))
            .fails(2, "have no raw bytes here");
        // No draft has composite signatures of bare bytes.
        folder
            .pqtls("sign --key a.key a.pub")
            .fails(3, "this command is for keys of one algorithm");
    }
}

#[test]
fn secret_bytes_are_not_shown() {
    let folder = Folder::new();
    folder
        .pqtls("key new MLDSA44-Ed25519-SHA512 --out a.key")
        .ok();
    let key = CompositeKey::from_pkcs8_pem(&folder.read("a.key")).unwrap();
    let secret = crate::keys::hex(&key.to_bytes());
    for command in [
        "show a.key --json",
        "check a.key --json",
        "public a.key --format hex",
    ] {
        let shown = folder.pqtls(&format!("key {command}"));
        assert!(!shown.ok().contains(&secret[..16]));
        assert!(!shown.ok().contains(&secret[64..80]));
    }
}

#[test]
fn damaged_and_unsupported_keys_are_refused() {
    let folder = Folder::new();
    folder
        .pqtls("key new MLDSA44-ECDSA-P256-SHA256 --out a.der --der --public a.pub")
        .ok();
    let der = folder.bytes("a.der");
    folder.write("short.der", &der[..der.len() - 1]);
    folder.pqtls("key show short.der").fails(3, "is cut short");
    // The curve's name.
    let mut other = der.clone();
    *other.last_mut().unwrap() ^= 1;
    folder.write("other.der", &other);
    folder
        .pqtls("key show other.der")
        .fails(3, "the classical half of the MLDSA44-ECDSA-P256-SHA256 key");
    // MLDSA87-ECDSA-P521-SHA512.
    let mut unsupported = der;
    let at = unsupported
        .windows(3)
        .position(|bytes| bytes == [7, 6, 40])
        .unwrap();
    unsupported[at + 2] = 54;
    folder.write("unsupported.der", &unsupported);
    folder.pqtls("key show unsupported.der").fails(
        3,
        "no support for keys of MLDSA87-ECDSA-P521-SHA512, since ECDSA on P-521 is missing here",
    );
}

#[test]
fn certificates_and_requests_are_made_and_shown() {
    let folder = Folder::new();
    let name = ALGORITHMS[0];
    folder.pqtls(&format!("key new {name} --out a.key")).ok();
    folder
        .pqtls("cert self-sign --key a.key --name a.example --out self.pem")
        .ok();
    let shown = folder.pqtls("cert show self.pem");
    assert!(shown.ok().contains(name), "{}", shown.ok());
    folder.pqtls("cert lint self.pem").ok();
    folder
        .pqtls("cert request --key a.key --name a.example --out a.csr")
        .ok();
    folder.pqtls("cert lint a.csr").ok();
}

#[test]
fn a_ca_issues_what_its_policy_permits() {
    let folder = Folder::new();
    let name = ALGORITHMS[0];
    folder
        .pqtls(&format!(
            "ca init --name Example --dns .example.org --algorithm {name}"
        ))
        .ok();
    folder.pqtls(&format!("key new {name} --out a.key")).ok();
    folder
        .pqtls("cert request --key a.key --name a.example.org --out a.csr")
        .ok();
    let sign = "ca sign a.csr --out a.pem";
    folder.pqtls(sign).fails(
        4,
        &format!("not \"{name}\"; make a key of another algorithm"),
    );
    let policy = folder.read("ca/policy.toml");
    let permitted = policy.replace("\nalgorithms = [", &format!("\nalgorithms = [\"{name}\", "));
    assert_ne!(permitted, policy);
    folder.write("ca/policy.toml", &permitted);
    folder.pqtls(sign).ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --name a.example.org")
        .ok();
    folder
        .pqtls("cert verify a.pem --roots ca/root.pem --name b.example.org")
        .fails(1, "b.example.org");
    // In the signature of the leaf, which comes first.
    let pem = folder.read("a.pem");
    let at = pem.find("-----END").unwrap() - 200;
    let mut changed = pem.into_bytes();
    changed[at] = match changed[at] {
        b'A' => b'B',
        _ => b'A',
    };
    folder.write("changed.pem", &changed);
    folder
        .pqtls("cert verify changed.pem --roots ca/root.pem --name a.example.org")
        .fails(1, "signature");
    folder.pqtls("ca crl").ok();
}
