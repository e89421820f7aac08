//! Keys of ECDSA, Ed25519 and RSA, in every command that takes a key.

use pq_x509::keys::encoding::pem;
use rustls_pq::classical::ClassicalKey;

use crate::folder::Folder;
use crate::keys::hex;

/// RSA of other lengths takes a while to make, and P-384 differs by its length alone.
const ALGORITHMS: [&str; 3] = ["ECDSA-P256", "Ed25519", "RSA-2048"];

fn key(folder: &Folder, file: &str) -> ClassicalKey {
    ClassicalKey::from_pem(&folder.read(file)).unwrap()
}

#[test]
fn keys_are_made_shown_and_checked() {
    let folder = Folder::new();
    for name in ALGORITHMS {
        let made = folder.pqtls(&format!(
            "key new {} --force --out a.key --public a.pub",
            name.to_uppercase()
        ));
        let expected = format!(
            "a.key: private key of {name} (classical: not safe against quantum computers)\n"
        );
        assert!(made.ok().starts_with(&expected), "{}", made.ok());
        assert_eq!(key(&folder, "a.key").algorithm().name(), name);
        for (file, kind) in [("a.key", "private"), ("a.pub", "public")] {
            let shown = folder.pqtls(&format!("key show {file}"));
            let expected = format!(
                "{kind} key of {name}, to sign\n  \
                 security     classical: not safe against quantum computers\n  \
                 bytes        "
            );
            assert!(shown.ok().starts_with(&expected), "{}", shown.ok());
            // The fingerprint, which is the last line for the new key, too.
            let fingerprint = made.ok().lines().last().unwrap();
            let fingerprint = fingerprint.strip_prefix("fingerprint ").unwrap();
            assert!(shown.ok().contains(fingerprint));
        }
        let checked = folder.pqtls("key check a.key");
        assert_eq!(
            checked.ok(),
            format!("a.key: sound private key of {name}\n")
        );
        assert_eq!(folder.pqtls("key public a.key").ok(), folder.read("a.pub"));
    }
}

#[test]
fn secret_bytes_are_not_shown() {
    let folder = Folder::new();
    folder.pqtls("key new ECDSA-P384 --out a.key").ok();
    let secret = hex(&key(&folder, "a.key").to_raw().unwrap());
    for command in [
        "show a.key --json",
        "check a.key --json",
        "public a.key --format hex",
    ] {
        let shown = folder.pqtls(&format!("key {command}"));
        assert!(!shown.ok().contains(&secret[..16]));
    }
}

#[test]
fn encodings_convert_into_each_other() {
    let folder = Folder::new();
    for name in ALGORITHMS {
        folder
            .pqtls(&format!("key new {name} --force --out a.key"))
            .ok();
        let pem = folder.read("a.key");
        folder
            .pqtls("key convert a.key --format der --force --out a.der")
            .ok();
        assert_eq!(folder.pqtls("key convert a.der").ok(), pem);
        folder
            .pqtls("key convert a.key --form seed")
            .fails(2, "have one form; leave --form out");
        folder
            .pqtls(&format!("key new {name} --form both"))
            .fails(2, "have one form; leave --form out");
        let raw = folder.pqtls("key convert a.key --format base64");
        let read = format!("key convert - --algorithm {name}");
        if name == "RSA-2048" {
            raw.fails(2, "RSA-2048 keys are several numbers and have no raw bytes");
            folder
                .pqtls_reading("00", &read)
                .fails(2, "write them as PEM or DER");
            continue;
        }
        assert_eq!(folder.pqtls_reading(raw.ok(), &read).ok(), pem);
        let raw = key(&folder, "a.key").to_raw().unwrap();
        assert_eq!(folder.pqtls_reading(&*raw, &read).ok(), pem);
        let in_hex = folder.pqtls("key convert a.key --format hex");
        assert_eq!(in_hex.ok(), hex(&raw) + "\n");
        folder.pqtls_reading(&raw[1..], &read).fails(
            3,
            &format!("standard input is not a raw {name} key: it does not have 32 bytes, raw"),
        );
    }
}

/// Keys of X25519 sign nothing, and everything else is done with them as with others.
#[test]
fn x25519_keys_in_every_command_on_keys() {
    let folder = Folder::new();
    folder.write("pw", "secret");
    folder
        .pqtls("key new X25519 --out x.key --public x.pub")
        .ok();
    let (key, public) = (folder.read("x.key"), folder.read("x.pub"));
    let shown = folder.pqtls("key show x.key");
    let shown = shown.ok();
    assert!(
        shown.starts_with("private key of X25519, to agree\n"),
        "{shown}"
    );
    assert!(shown.contains("classical: not safe against quantum computers"));
    assert!(
        shown.contains("  bytes        32 of the public key\n"),
        "{shown}"
    );
    let shown = folder.pqtls("key show x.pub");
    assert!(shown.ok().starts_with("public key of X25519, to agree\n"));
    folder.pqtls("key check x.key").ok();
    assert_eq!(folder.pqtls("key public x.key").ok(), public);
    for (to, options) in [
        ("der", ""),
        ("hex", "--algorithm X25519"),
        ("base64", "--algorithm x25519"),
    ] {
        folder
            .pqtls(&format!("key convert x.key --format {to} --out x.{to}"))
            .ok();
        let back = folder.pqtls(&format!("key convert x.{to} {options}"));
        assert_eq!(back.ok(), key, "{to}");
    }
    folder.write("f", "00");
    folder
        .pqtls("key convert f --algorithm X25519")
        .fails(3, "f is not a raw X25519 key: it does not have 32 bytes");
    for command in [
        "key encrypt x.key --passphrase-file pw --out x.enc",
        "key export x.key --passphrase-file pw --out x.p12",
    ] {
        folder.pqtls(command).ok();
    }
    let shown = folder.pqtls("show x.p12 --passphrase-file pw");
    assert!(
        shown.ok().contains("private key of X25519"),
        "{}",
        shown.ok()
    );
    for command in ["key decrypt x.enc", "key import x.p12"] {
        let back = folder.pqtls(&format!("{command} --passphrase-file pw"));
        assert_eq!(back.ok(), key, "{command}");
    }
    folder.pqtls("key convert x.key --format jwk").fails(
        1,
        "JSON Web Keys and COSE_Keys of ML-DSA (RFC 9964) alone, and this key is of X25519",
    );
    folder
        .pqtls("key convert x.key --form seed")
        .fails(2, "have one form; leave --form out");
    folder
        .pqtls("cert request --key x.key --name a.example")
        .fails(
            3,
            "this is a key of X25519, which agrees on secrets; a key that signs is needed",
        );
}

/// The bytes before RSAPrivateKey in PKCS#8.
const RSA_HEAD: usize = 26;

#[test]
fn older_documents_are_read() {
    let folder = Folder::new();
    folder.pqtls("key new RSA-2048 --out rsa.key").ok();
    let pkcs8 = key(&folder, "rsa.key").to_pkcs8_der();
    let rsa_private_key = &pkcs8[RSA_HEAD..];
    folder.write("old.der", rsa_private_key);
    folder.write("old.key", pem::encode("RSA PRIVATE KEY", rsa_private_key));

    folder.pqtls("key new ECDSA-P256 --out ec.key").ok();
    let pkcs8 = key(&folder, "ec.key").to_pkcs8_der();
    // The curve's name, which PKCS#8 has in front, stands in ECPrivateKey behind the scalar.
    let (version_and_scalar, public_key) = (&pkcs8[31..68], &pkcs8[68..]);
    let curve = [0xa0, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
    let ec_private_key = [&[0x30, 0x77][..], version_and_scalar, &curve, public_key].concat();
    folder.write("ec.der", &ec_private_key);
    let parameters = pem::encode("EC PARAMETERS", &curve[2..]);
    let block = pem::encode("EC PRIVATE KEY", &ec_private_key);
    folder.write("ec-old.key", parameters + &block);

    for (old, new) in [
        ("old.der", "rsa.key"),
        ("old.key", "rsa.key"),
        ("ec.der", "ec.key"),
        ("ec-old.key", "ec.key"),
    ] {
        let converted = folder.pqtls(&format!("key convert {old}"));
        assert_eq!(converted.ok(), folder.read(new), "{old}");
    }
    let encrypted = block.replacen(
        '\n',
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
        1,
    );
    folder.write("locked.key", encrypted);
    folder
        .pqtls("key check locked.key")
        .fails(3, "is encrypted in OpenSSL's format from before PKCS#8");
}

#[test]
fn keys_whose_parts_dont_belong_together_are_refused() {
    let folder = Folder::new();
    folder.pqtls("key new RSA-2048 --der --out rsa.der").ok();
    let mut der = folder.bytes("rsa.der");
    // In the last number, the inverse of one prime modulo the other.
    *der.last_mut().unwrap() ^= 1;
    folder.write("rsa.der", &der);
    folder.pqtls("key show rsa.der").ok();
    folder.pqtls("key check rsa.der").fails(
        1,
        "rsa.der: the public half refuses what the private half makes; don't use this key",
    );

    folder.pqtls("key new ECDSA-P256 --der --out ec.der").ok();
    let mut der = folder.bytes("ec.der");
    *der.last_mut().unwrap() ^= 1;
    folder.write("ec.der", &der);
    folder
        .pqtls("key show ec.der")
        .fails(1, "ec.der: malformed ECDSA-P256 key");
}

#[test]
fn keys_that_are_not_supported_are_named() {
    let folder = Folder::new();
    // Keys of P-521 and of Ed448, as far as they are read.
    for (spki, name) in [
        (
            "3016301006072a8648ce3d020106052b8104002303020004",
            "secp521r1",
        ),
        ("300a300506032b6571030100", "Ed448"),
    ] {
        let der = base16ct::lower::decode_vec(spki).unwrap();
        folder.write("a.pub", &der);
        folder
            .pqtls("key show a.pub")
            .fails(3, &format!("a.pub: keys of {name} are not supported here"));
    }
}

#[test]
fn certificates_and_requests_are_made_shown_and_verified() {
    let folder = Folder::with_ca();
    for name in ALGORITHMS {
        folder
            .pqtls(&format!("key new {name} --force --out a.key"))
            .ok();
        folder
            .pqtls("cert self-sign --key a.key --ca --subject Root --force --out root.pem")
            .ok();
        folder
            .pqtls("cert self-sign --key a.key --name a.example --force --out a.pem")
            .ok();
        folder.pqtls("key check a.key --cert a.pem").ok();
        folder
            .pqtls("key check a.key --cert www.pem")
            .fails(1, "is not the one in the certificate");
        let shown = folder.pqtls("cert show root.pem");
        let signature = match name {
            "ECDSA-P256" => "ecdsa-with-SHA256",
            "RSA-2048" => "sha256WithRSAEncryption",
            other => other,
        };
        let expected = format!("  key           {name}\n  signature     {signature}\n");
        assert!(shown.ok().contains(&expected), "{}", shown.ok());
        folder
            .pqtls("cert request --key a.key --name a.example --force --out a.csr")
            .ok();
    }
}

/// With a CA whose root and policy are classical, too.
fn folder_with_ca() -> Folder {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --root ECDSA-P384 --algorithm ML-DSA-44")
        .ok();
    folder
}

#[test]
fn a_ca_issues_for_the_keys_that_its_policy_permits() {
    let folder = folder_with_ca();
    folder
        .pqtls("ca issue a.example.org --algorithm ECDSA-P256 --new-key a.key --out a.pem")
        .fails(4, "keys.algorithms permits \"ML-DSA-44\"");
    let policy = folder.read("ca/policy.toml");
    let permitted = "\"ML-DSA-44\", \"ECDSA-P256\", \"Ed25519\", \"RSA\"]\nrsa-min-bits = 2048 #";
    folder.write(
        "ca/policy.toml",
        policy.replacen("\"ML-DSA-44\",", permitted, 1),
    );
    folder.pqtls("ca crl --root --out root.crl").ok();
    for name in ALGORITHMS {
        folder
            .pqtls(&format!(
                "ca issue a.example.org --algorithm {name} --new-key {name}.key --out {name}.pem"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "cert request --key {name}.key --name b.example.org --out {name}.csr"
            ))
            .ok();
        folder
            .pqtls(&format!("ca sign {name}.csr --out signed-{name}.pem"))
            .ok();
        folder
            .pqtls(&format!("ca renew {name}.pem --out renewed-{name}.pem"))
            .ok();
        folder.pqtls("ca crl --force --out ca.crl").ok();
        for file in ["", "signed-", "renewed-"] {
            let verified = folder.pqtls(&format!(
                "cert verify {file}{name}.pem --roots ca/root.pem --crl ca.crl --crl root.crl"
            ));
            let path: Vec<&str> = verified.ok().lines().skip(1).collect();
            for (line, algorithm) in path.iter().zip([name, "ML-DSA-44", "ECDSA-P384"]) {
                assert!(line.contains(&format!(", {algorithm}, until ")), "{line}");
            }
            // After the path comes whether revocation was checked.
            assert_eq!(path.len(), 4);
        }
    }
    let listed = folder.pqtls("ca list --json");
    assert!(listed.ok().contains("\"ECDSA-P256\""), "{}", listed.ok());

    // A change in a request is noticed.
    let der = folder.pqtls("cert request --key ECDSA-P256.key --name b.example.org --der");
    let mut der = der.stdout_bytes().to_vec();
    let at = der.windows(9).position(|part| part == b"b.example");
    der[at.unwrap()] = b'c';
    folder.write("changed.csr", &der);
    folder
        .pqtls("ca sign changed.csr")
        .fails(1, "changed.csr: no proof of possession");
}

#[test]
fn all_of_a_ca_can_be_classical() {
    let folder = Folder::new();
    folder
        .pqtls("ca init --name Example --dns example.org --algorithm Ed25519 --root RSA-2048")
        .ok();
    folder
        .pqtls("ca issue a.example.org --new-key a.key --leaf-only --out a.pem")
        .ok();
    folder
        .pqtls("cert bundle ca/issuing.pem a.pem ca/root.pem --root --out chain.pem")
        .ok();
    let shown = folder.pqtls("cert show chain.pem");
    assert!(shown.ok().ends_with("3 certificates, a chain in order\n"));

    // Its keys may be in older documents, as other programs wrote them.
    let root = key(&folder, "ca/root.key").to_pkcs8_der();
    folder.write(
        "ca/root.key",
        pem::encode("RSA PRIVATE KEY", &root[RSA_HEAD..]),
    );
    folder.pqtls("ca crl --root").ok();
    folder.write("ca/root.key", pem::encode("PRIVATE KEY", b"0"));
    folder
        .pqtls("ca crl --root")
        .fails(3, "ca/root.key: the key is not valid DER");
}

/// Commands on raw bytes take only post-quantum keys, and say so.
#[test]
fn raw_operations_take_post_quantum_keys() {
    let folder = Folder::new();
    folder
        .pqtls("key new Ed25519 --out a.key --public a.pub")
        .ok();
    folder.write("message", "message");
    for command in [
        "sign --key a.key message",
        "verify --key a.pub --signature message message",
        "mu --key a.pub message",
        "encaps --key a.pub --secret secret",
        "decaps --key a.key message",
    ] {
        folder.pqtls(command).fails(
            3,
            "a classical key, of Ed25519, but this command is for post-quantum keys",
        );
    }
}
