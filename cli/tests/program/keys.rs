//! `pqtls key`.

use pq_x509::keys::{Algorithm, PrivateKey, SigningKey};

use crate::folder::Folder;

#[test]
fn every_algorithm_has_keys_that_can_be_shown_and_checked() {
    let folder = Folder::new();
    for algorithm in Algorithm::ALL {
        let name = algorithm.name();
        // The other sets of SLH-DSA take long.
        if name.starts_with("SLH") && !name.ends_with("128f") {
            continue;
        }
        folder
            .pqtls(&format!("key new {} --out {name}.key", name.to_lowercase()))
            .ok();
        let key = PrivateKey::from_pkcs8_pem(&folder.read(&format!("{name}.key"))).unwrap();
        assert_eq!(key.algorithm(), *algorithm);
        let shown = folder.pqtls(&format!("key show {name}.key"));
        assert!(shown.ok().starts_with(&format!("private key of {name}")));
        folder.pqtls(&format!("key check {name}.key")).ok();
    }
}

#[test]
fn both_files_have_the_same_fingerprint_and_it_is_that_of_the_key_made() {
    let folder = Folder::new();
    let made = folder.pqtls("key new ML-KEM-512 --out a.key --public a.pub");
    let fingerprint = made
        .ok()
        .lines()
        .last()
        .unwrap()
        .split(' ')
        .next_back()
        .unwrap();
    assert_eq!(fingerprint.len(), "sha256:".len() + 64);
    for file in ["a.key", "a.pub"] {
        assert!(
            folder
                .pqtls(&format!("key show {file}"))
                .ok()
                .contains(fingerprint)
        );
    }
}

#[test]
fn secret_bytes_are_not_shown() {
    let folder = Folder::new();
    folder.pqtls("key new --out a.key").ok();
    let key = SigningKey::from_pkcs8_pem(&folder.read("a.key")).unwrap();
    let secrets = [hex(key.seed().unwrap()), hex(&key.to_expanded()[32..64])];
    for command in ["show a.key", "show a.key --json", "check a.key --json"] {
        let shown = folder.pqtls(&format!("key {command}"));
        for secret in &secrets {
            assert!(!shown.ok().contains(&secret[..16]));
        }
    }
}

#[test]
fn forms_and_encodings_convert_into_each_other() {
    let folder = Folder::new();
    for algorithm in ["ML-DSA-44", "ML-KEM-512"] {
        folder
            .pqtls(&format!("key new {algorithm} --force --out seed.pem"))
            .ok();
        let seed = folder.bytes("seed.pem");
        for (form, shown) in [("expanded", "expanded"), ("both", "seed and expanded")] {
            for to in ["pem", "der"] {
                let to = format!("--form {form} --format {to} --force --out other");
                folder.pqtls(&format!("key convert seed.pem {to}")).ok();
                let outcome = folder.pqtls("key show other");
                assert!(outcome.ok().contains(&format!("form         {shown}\n")));
                let back = folder.pqtls("key convert other --form seed");
                match form {
                    "both" => assert_eq!(back.ok().as_bytes(), seed),
                    _ => back.fails(1, "has no seed"),
                }
            }
        }
        for (form, back) in [("seed", "seed"), ("expanded", "expanded")] {
            let whole = folder.pqtls(&format!("key convert seed.pem --form {back}"));
            for to in ["hex", "base64"] {
                let raw =
                    folder.pqtls(&format!("key convert seed.pem --form {form} --format {to}"));
                let read = format!("key convert - --algorithm {algorithm}");
                assert_eq!(folder.pqtls_reading(raw.ok(), &read).ok(), whole.ok());
            }
        }
        let key = PrivateKey::from_pkcs8_pem(&folder.read("seed.pem")).unwrap();
        let read = format!("key convert - --algorithm {algorithm}");
        let raw = folder.pqtls_reading(key.seed().unwrap(), &read);
        assert_eq!(raw.ok().as_bytes(), seed);
    }
}

#[test]
fn an_slh_dsa_key_is_read_from_its_raw_seed() {
    let folder = Folder::new();
    folder.pqtls("key new SLH-DSA-SHA2-128f --out a.key").ok();
    let raw = folder.pqtls("key convert a.key --format hex");
    // The seed is the whole key except its root, FIPS 205 figure 15.
    let seed = &raw.ok()[..96];
    let read = "key convert - --algorithm SLH-DSA-SHA2-128f";
    let back = folder.pqtls_reading(seed, read);
    assert_eq!(back.ok(), folder.read("a.key"));
    folder
        .pqtls("key convert a.key --form seed")
        .fails(1, "leave --form out");
}

#[test]
fn keys_for_hashes_are_told_apart() {
    let folder = Folder::new();
    folder
        .pqtls("key new SLH-DSA-SHA2-128f --der --out a.der")
        .ok();
    let mut der = folder.bytes("a.der");
    // The last arcs of id-slh-dsa-sha2-128f and id-hash-slh-dsa-sha2-128f-with-sha256 (RFC 9909).
    let arc = der.iter().position(|byte| *byte == 21).unwrap();
    der[arc] = 36;
    folder.write("hash.der", &der);
    let shown = folder.pqtls("key show hash.der");
    assert!(
        shown
            .ok()
            .starts_with("private key of HashSLH-DSA-SHA2-128f, to sign\n")
    );
    folder.pqtls("key check hash.der").ok();
    let back = folder.pqtls("key convert hash.der --format der");
    assert_eq!(back.stdout_bytes(), der);
}

#[test]
fn public_keys_are_written_in_every_encoding() {
    let folder = Folder::with_ca();
    folder
        .pqtls("key new ML-DSA-44 --out a.key --public a.pub")
        .ok();
    let pem = folder.read("a.pub");
    assert_eq!(folder.pqtls("key public a.key").ok(), pem);
    folder
        .pqtls("key public a.key --format der --out a.der")
        .ok();
    assert_eq!(folder.pqtls("key public a.der").ok(), pem);
    let key = SigningKey::from_pkcs8_pem(&folder.read("a.key")).unwrap();
    let raw = key.verifying_key().as_bytes();
    assert_eq!(
        folder
            .pqtls("key public a.key --format hex")
            .ok()
            .trim_end(),
        hex(raw)
    );
    let of_certificate = folder.pqtls("key public www.pem");
    assert_eq!(of_certificate.ok(), folder.pqtls("key public www.key").ok());
}

#[test]
fn a_key_is_held_against_a_certificate() {
    let folder = Folder::with_ca();
    let own = folder.pqtls("key check www.key --cert www.pem");
    assert!(own.ok().contains("www.example.org"));
    folder.pqtls("key new --out other.key").ok();
    folder.pqtls("key check other.key --cert www.pem").fails(
        1,
        "other.key is not the one in the certificate of www.example.org in www.pem",
    );
}

#[test]
fn keys_whose_parts_dont_belong_together_are_refused() {
    let folder = Folder::new();
    folder
        .pqtls("key new ML-DSA-44 --form both --der --out a.key")
        .ok();
    let mut der = folder.bytes("a.key");
    // The last byte is in the expanded key.
    *der.last_mut().unwrap() ^= 1;
    folder.write("a.key", &der);
    folder
        .pqtls("key check a.key")
        .fails(1, "does not expand to the expanded key");

    folder
        .pqtls("key new SLH-DSA-SHA2-128f --der --out b.key")
        .ok();
    let mut der = folder.bytes("b.key");
    // The last byte is in the root of the tree, which is not checked when the key is read.
    *der.last_mut().unwrap() ^= 1;
    folder.write("b.key", &der);
    folder.pqtls("key show b.key").ok();
    folder
        .pqtls("key check b.key")
        .fails(1, "don't use this key");
}

#[test]
fn names_of_algorithms_are_suggested() {
    let folder = Folder::new();
    for (name, meant) in [
        ("ML-DSA-56", "ML-DSA-65"),
        ("dilithium5", "ML-DSA-87"),
        ("prime256v1", "ECDSA-P256"),
    ] {
        let refused = folder.pqtls(&format!("key new {name}"));
        refused.fails(2, &format!("a similar value exists: '{meant}'"));
    }
}

#[test]
fn files_of_the_wrong_kind_are_named() {
    let folder = Folder::with_ca();
    folder.pqtls("key new ML-KEM-768 --out kem.key").ok();
    folder.pqtls("key new --out a.key --public a.pub").ok();
    folder
        .pqtls("key check www.pem")
        .fails(3, "www.pem has no private key, but a certificate");
    folder
        .pqtls("key check a.pub")
        .fails(3, "a.pub has no private key, but a public key");
    folder
        .pqtls("key show www.pem")
        .fails(3, "see \"pqtls cert show\"");
    folder
        .pqtls("cert show a.key")
        .fails(3, "a.key has no certificate, but a private key");
    folder
        .pqtls("cert request --key a.key --name a.example --out a.csr")
        .ok();
    folder
        .pqtls("cert show a.csr")
        .fails(3, "but a certificate request; have a CA sign it");
    folder
        .pqtls("cert request --key kem.key --name a.example")
        .fails(
            3,
            "kem.key: this is a key of ML-KEM-768, which encapsulates",
        );
    let wrong_label = folder.read("a.pub").replace("PUBLIC", "PRIVATE");
    folder.write("wrong.key", wrong_label);
    folder
        .pqtls("key show wrong.key")
        .fails(3, "wrong.key: the key is not valid DER");
    let other = "-----BEGIN DSA PRIVATE KEY-----\nAAAA\n-----END DSA PRIVATE KEY-----\n";
    folder.write("dsa.key", other);
    folder
        .pqtls("key show dsa.key")
        .fails(3, "but a block \"DSA PRIVATE KEY\"");
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    folder.write("locked.key", encrypted);
    folder
        .pqtls("key check locked.key")
        .fails(3, "the encrypted private key is not valid DER");
}

#[test]
fn two_keys_in_a_file_are_refused() {
    let folder = Folder::new();
    folder.pqtls("key new --out a.key --public a.pub").ok();
    let twice = folder.read("a.key").repeat(2);
    folder.write("two.key", twice);
    for command in [
        "check two.key",
        "show two.key",
        "public two.key",
        "convert two.key",
    ] {
        folder
            .pqtls(&format!("key {command}"))
            .fails(3, "two.key has to have one private key");
    }
    folder.write("pair.key", folder.read("a.key") + &folder.read("a.pub"));
    folder.pqtls("key check pair.key").ok();
    folder.pqtls("key show pair.key").fails(
        3,
        "pair.key has to have one private key or public key, and has 2",
    );
}

#[test]
fn damaged_files_give_one_clear_error() {
    let folder = Folder::new();
    folder.pqtls("key new --out a.key --public a.pub").ok();
    folder
        .pqtls("key convert a.key --format der --out a.der")
        .ok();
    let (pem, der) = (folder.read("a.key"), folder.bytes("a.der"));
    for (content, words) in [
        (&b""[..], "bad is empty"),
        (
            &pem.as_bytes()[..60],
            "bad: the PEM block \"PRIVATE KEY\" in line 1 does not end",
        ),
        (&der[..20], "bad is cut short: it has 20 of the"),
        (b"hello", "bad is neither PEM nor the DER"),
        (&[0xff; 100], "bad is neither PEM nor the DER"),
        (
            pem.replace("MDQ", "MD!").as_bytes(),
            "bad: the PEM block \"PRIVATE KEY\" in line 1 has something else in it than base64",
        ),
    ] {
        folder.write("bad", content);
        folder.pqtls("key show bad").fails(3, words);
        folder.pqtls("key check bad").fails(3, words);
    }
    // Every other truncation, too, is an error and no more.
    for len in 1..der.len() {
        folder.write("bad", &der[..len]);
        assert_eq!(folder.pqtls("key show bad").status(), 3);
    }
    folder.write("raw", "00112233");
    folder.pqtls("key convert raw --algorithm ML-DSA-65").fails(
        3,
        "neither the 32 bytes of a seed nor the 4032 of an expanded key",
    );
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// As `ca issue --key` and `encrypt --to` take it: of a chain, the first certificate.
#[test]
fn the_key_of_a_chain_is_that_of_its_first_certificate() {
    let folder = Folder::with_ca();
    let chain = folder.read("www.pem") + &folder.read("ca.pem");
    folder.write("chain.pem", chain);
    folder.pqtls("key public www.pem --out one").ok();
    folder.pqtls("key public chain.pem --out first").ok();
    assert_eq!(folder.read("one"), folder.read("first"));
    folder.pqtls("sign ca.pem --key www.key --out s").ok();
    folder
        .pqtls("verify ca.pem --key chain.pem --signature s")
        .ok();
    let two = folder.read("www.pem") + &folder.read("first");
    folder.write("both", two);
    folder.pqtls("key public both").ok();
}

/// There is no way from an expanded key to a JSON Web Key, so that no option is named.
#[test]
fn expanded_keys_are_no_json_web_keys() {
    let folder = Folder::with_ca();
    folder
        .pqtls("key convert www.key --form expanded --out e.key")
        .ok();
    folder
        .pqtls("key convert e.key --format jwk --out e.jwk")
        .fails(
            1,
            "e.key has no seed, of which JSON Web Keys and COSE_Keys consist",
        );
}

/// A key without a name is chosen without --name.
#[test]
fn a_key_without_a_name_is_not_asked_for_by_one() {
    let folder = Folder::with_ca();
    folder.write("pw", "passphrase\n");
    folder
        .pqtls("key export www.key --certs www.pem --passphrase-file pw --out w.p12")
        .ok();
    folder
        .pqtls("key import w.p12 --passphrase-file pw --name foo --out k")
        .fails(
            2,
            "w.p12 has no key called \"foo\"; its keys have no names: leave --name out",
        );
}
