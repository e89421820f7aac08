//! Private keys under passphrases.

use pq_x509::pkcs12::Pkcs12;

use crate::folder::Folder;

/// A folder with unencrypted keys, and with keys encrypted under the passphrase in `pw`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("pw", "pässword one\r\nand what is not of it\n");
    folder.write("other", "another");
    for (name, algorithm) in [
        ("dsa", "ML-DSA-44"),
        ("kem", "ML-KEM-512"),
        ("ec", "ECDSA-P256"),
        ("ed", "Ed25519"),
    ] {
        let new = format!("key new {algorithm} --out {name}.key --public {name}.pub");
        folder.pqtls(&new).ok();
        let encrypt = format!("key encrypt {name}.key --out {name}.enc --passphrase-file pw");
        folder.pqtls(&encrypt).ok();
    }
    folder
}

#[test]
fn every_command_that_reads_a_key_reads_encrypted_ones() {
    let folder = folder();
    folder.write("m", "message");
    for name in ["dsa", "kem", "ec", "ed"] {
        let enc = folder.read(&format!("{name}.enc"));
        assert!(enc.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        let public = folder.pqtls(&format!("key public {name}.enc --passphrase-file pw"));
        assert_eq!(public.ok(), folder.read(&format!("{name}.pub")));
        let shown = folder.pqtls(&format!("key show {name}.enc --passphrase-file pw"));
        let how = "encrypted    AES-256-CBC, PBKDF2 with HMAC-SHA-256 and 600000 iterations\n";
        assert!(shown.ok().contains(how));
        folder
            .pqtls(&format!("key check {name}.enc --passphrase-file pw"))
            .ok();
        let decrypted = folder.pqtls(&format!("key decrypt {name}.enc --passphrase-file pw"));
        assert_eq!(decrypted.ok(), folder.read(&format!("{name}.key")));
    }
    for commands in [
        "key convert dsa.enc --format hex --form seed",
        "sign --key dsa.enc m --out m.sig",
        "verify --key dsa.enc --signature m.sig m",
        "mu --key dsa.enc m --out m.mu",
        "encaps --key kem.enc --out ct --secret s",
        "decaps --key kem.enc ct --out s2",
        "cert request --key ec.enc --name a.example --out a.csr",
        "cert self-sign --key dsa.enc --name a.example --out a.pem",
        "ca init --name CA --algorithm ML-DSA-44 --dns a.example",
        "ca issue a.example --key dsa.enc",
    ] {
        let of = match commands.starts_with("ca init") {
            true => "",
            false => " --passphrase-file pw",
        };
        folder.pqtls(&format!("{commands}{of}")).ok();
    }
}

#[test]
fn where_passphrases_come_from() {
    let folder = folder();
    let public = folder.read("dsa.pub");
    let check = |line: &str| assert_eq!(folder.shell(line).ok(), public, "{line}");
    check("pqtls key public dsa.enc --passphrase-fd 3 3<pw");
    check("pqtls key public dsa.enc --passphrase-file - <pw");
    check("head -c 13 pw | pqtls key public dsa.enc --passphrase-fd 0");
    check("PW='pässword one' pqtls key public dsa.enc --passphrase-env PW");
    // A key that is not encrypted needs no passphrase.
    check("pqtls key public dsa.key --passphrase-file missing");

    folder.pqtls("key public dsa.enc").fails(
        2,
        "dsa.enc is encrypted: give its passphrase with --passphrase-file FILE",
    );
    folder
        .pqtls("key encrypt dsa.enc --passphrase-file pw")
        .fails(2, "give its passphrase with --old-passphrase-file FILE");
    folder
        .pqtls("key encrypt dsa.key")
        .fails(2, "encrypting a key takes a passphrase");
    folder
        .pqtls("key new --encrypt")
        .fails(2, "encrypting a key takes a passphrase");
    folder
        .pqtls("key new --encrypt --form seed")
        .fails(2, "encrypting a key takes a passphrase");
    folder
        .pqtls("key public dsa.enc --passphrase-env PQTLS_NO_SUCH_VARIABLE")
        .fails(2, "no environment variable \"PQTLS_NO_SUCH_VARIABLE\"");
    folder
        .pqtls("key public dsa.enc --passphrase-file missing")
        .fails(3, "the passphrase: can't read missing");
    folder
        .pqtls("key public dsa.enc --passphrase-fd 99")
        .fails(3, "the passphrase: can't read /dev/fd/99");
    folder
        .pqtls("key public dsa.enc --passphrase-file pw --passphrase-fd 3")
        .fails(2, "cannot be used with");
    folder.write("empty", "\npassword");
    folder
        .pqtls("key encrypt dsa.key --passphrase-file empty")
        .fails(2, "an empty passphrase protects nothing");
    folder
        .pqtls("key public - --passphrase-file -")
        .fails(3, "standard input");
}

#[test]
fn another_passphrase_and_another_cipher() {
    let folder = folder();
    for (cipher, kdf, how) in [
        (
            "aes-128-gcm",
            "pbkdf2",
            "AES-128-GCM, PBKDF2 with HMAC-SHA-256",
        ),
        (
            "aes-256-cbc",
            "scrypt",
            "AES-256-CBC, scrypt with N = 2^14, r = 8 and p = 5",
        ),
        (
            "aes-256-gcm",
            "strong-scrypt",
            "AES-256-GCM, scrypt with N = 2^17, r = 8 and p = 1",
        ),
    ] {
        let from = "key encrypt dsa.enc --old-passphrase-file pw --passphrase-file other";
        let line = format!("{from} --cipher {cipher} --kdf {kdf} --out n.enc --force --der");
        assert!(folder.pqtls(&line).ok().contains(how), "{line}");
        let decrypted = folder.pqtls("key decrypt n.enc --passphrase-file other");
        assert_eq!(decrypted.ok(), folder.read("dsa.key"));
    }
    // A key without its seed.
    folder
        .pqtls("key convert dsa.key --form expanded --out x.key")
        .ok();
    folder
        .pqtls("key encrypt x.key --passphrase-file pw --out x.enc")
        .ok();
    let decrypted = folder.pqtls("key decrypt x.enc --passphrase-file pw");
    assert_eq!(decrypted.ok(), folder.read("x.key"));

    folder
        .pqtls("key new ML-KEM-512 --encrypt --passphrase-file pw --out new.enc")
        .ok();
    folder.pqtls("key check new.enc --passphrase-file pw").ok();
}

/// The seed alone, unless another form is asked for.
#[test]
fn forms_under_a_passphrase() {
    let folder = folder();
    for (option, shown) in [
        ("", "seed"),
        ("--form seed", "seed"),
        ("--form expanded", "expanded"),
        ("--form both", "seed and expanded"),
    ] {
        let to = format!("{option} --passphrase-file pw --force --out");
        for (line, file) in [
            (
                format!("key new ML-DSA-44 --encrypt {to} form.enc"),
                "form.enc",
            ),
            (format!("key encrypt dsa.key {to} form.enc"), "form.enc"),
            (
                format!("key encrypt kem.key --cipher aes-256-gcm {to} form.enc"),
                "form.enc",
            ),
            (format!("key export dsa.key {to} form.p12"), "form.p12"),
        ] {
            let said = folder.pqtls(&line).ok().to_owned();
            assert!(said.contains(&format!("({shown})")), "{line}: {said}");
            if file == "form.p12" {
                let store = Pkcs12::from_der(&folder.bytes(file), "pässword one").unwrap();
                folder.write("form.enc", store.keys()[0].pkcs8_der());
            }
            let found = folder.pqtls("key show form.enc --passphrase-file pw");
            assert!(
                found.ok().contains(&format!("form         {shown}\n")),
                "{line}"
            );
        }
    }
    for command in [
        "key encrypt ed.key",
        "key export ec.key",
        "key new Ed25519 --encrypt",
    ] {
        folder
            .pqtls(&format!("{command} --form seed --passphrase-file pw"))
            .fails(2, "have one form; leave --form out");
    }
    let no_seed = "key encrypt x.key --form seed --passphrase-file pw";
    folder
        .pqtls("key convert dsa.key --form expanded --out x.key")
        .ok();
    folder.pqtls(no_seed).fails(1, "has no seed");
}

/// RFC 8018's default function, as BouncyCastle leaves it: it is read, and said to be out of date.
#[test]
fn pbkdf2_by_sha1_is_read_with_a_warning() {
    let folder = folder();
    folder.write("sha1.key", BY_SHA1);
    folder.write("secret", "secret");
    let warning = "pqtls: warning: sha1.key is encrypted by PBKDF2 with HMAC-SHA-1, which is out of date; encrypt it anew \
                   with \"pqtls key encrypt\"\n";
    for command in [
        "key check sha1.key",
        "cert self-sign --key sha1.key --name a.example",
    ] {
        let read = folder.pqtls(&format!("{command} --passphrase-file secret"));
        assert_eq!((read.status(), read.stderr()), (0, warning), "{command}");
    }
    let shown = folder.pqtls("key show sha1.key --passphrase-file secret");
    assert!(
        shown
            .stdout()
            .contains("PBKDF2 with HMAC-SHA-1 and 1024 iterations")
    );
    folder
        .pqtls("key show sha1.key --passphrase-file pw")
        .fails(1, "wrong passphrase, or the file was changed");
    let anew = folder.pqtls(
        "key encrypt sha1.key --old-passphrase-file secret --passphrase-file pw --out new.key",
    );
    assert_eq!((anew.status(), anew.stderr()), (0, warning));
    let again = folder.pqtls("key check new.key --passphrase-file pw");
    assert_eq!((again.status(), again.stderr()), (0, ""));
}

/// A key of Ed25519 as `openssl pkcs8 -topk8 -v2prf hmacWithSHA1 -iter 1024` writes it: the function is left out, since it
/// is the default.
const BY_SHA1: &str = include_str!("pbkdf2-by-sha1.pem");

#[test]
fn what_is_refused() {
    let folder = folder();
    for name in ["dsa", "kem", "ec", "ed"] {
        folder
            .pqtls(&format!("key check {name}.enc --passphrase-file other"))
            .fails(1, "wrong passphrase, or the file was changed");
    }
    folder
        .pqtls("key encrypt ed.key --passphrase-file pw --der --out ed.der")
        .ok();
    // 2^24 iterations take one byte more, so the lengths of everything around them grow.
    let mut der = folder.bytes("ed.der");
    let iterations = [2, 3, 0x09, 0x27, 0xc0];
    let mut places = der.windows(iterations.len());
    let at = places.position(|bytes| bytes == iterations).unwrap();
    der.splice(at + 2..at + 5, [1, 0, 0, 0]);
    for length in [2, 4, 17, 19, 32, at + 1] {
        der[length] += 1;
    }
    folder.write("costly.der", &der);
    folder
        .pqtls("key check costly.der --passphrase-file pw")
        .fails(
            1,
            "a number of iterations of 16777216 before its passphrase can be tried",
        );
}

#[test]
fn keys_go_out_as_pkcs12_and_come_back() {
    let folder = folder();
    for (name, mac) in [("dsa", "pbmac1"), ("ed", "classic"), ("ec", "pbmac1")] {
        folder
            .pqtls(&format!(
                "cert self-sign --key {name}.key --name {name}.example --out {name}.pem"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "key export {name}.enc --old-passphrase-file pw --certs {name}.pem --name {name} \
                 --mac {mac} --passphrase-file other --out {name}.p12"
            ))
            .ok();
        folder
            .pqtls(&format!(
                "key import {name}.p12 --passphrase-file other --out back.key --certs back.pem \
                 --force"
            ))
            .ok();
        assert_eq!(folder.read("back.key"), folder.read(&format!("{name}.key")));
        assert_eq!(folder.read("back.pem"), folder.read(&format!("{name}.pem")));
    }
    let chain = folder.pqtls("cert import dsa.p12 --passphrase-file other --out again.pem");
    assert_eq!(chain.ok(), "again.pem:\n  CN=dsa.example\n");
    assert_eq!(folder.read("again.pem"), folder.read("dsa.pem"));
    // A MAC by SHA-1, as OpenSSL makes it if it is told so
    folder.write(
        "sha1.p12",
        include_str!("../../../x509/tests/x509/mac-by-sha1.p12.pem"),
    );
    folder.write("secret", "secret");
    for command in [
        "key import sha1.p12 --passphrase-file secret --out sha1.key",
        "cert import sha1.p12 --passphrase-file secret --out sha1.pem",
    ] {
        let imported = folder.pqtls(command);
        let warning = "pqtls: warning: the MAC of sha1.p12 is by SHA-1, which is out of date; have the file made again \
                       with one by SHA-256\n";
        assert_eq!((imported.status(), imported.stderr()), (0, warning));
    }
    folder.pqtls("key check sha1.key --cert sha1.pem").ok();
    // A key alone.
    folder
        .pqtls("key export kem.key --passphrase-file pw --out kem.p12")
        .ok();
    folder
        .pqtls("cert import kem.p12 --passphrase-file pw")
        .fails(
            2,
            "kem.p12 has no certificates; take out a private key with",
        );
    folder
        .pqtls("key import kem.p12 --passphrase-file pw --out alone.key --certs alone.pem")
        .fails(2, "kem.p12 has no certificate of the key, so that alone.pem would be empty; leave --certs out");
    let alone = folder.pqtls("key import kem.p12 --passphrase-file pw");
    assert_eq!(alone.ok(), folder.read("kem.key"));

    folder
        .pqtls("key import dsa.p12 --passphrase-file pw")
        .fails(1, "dsa.p12: wrong passphrase, or the file was changed");
    folder
        .pqtls("key import dsa.p12")
        .fails(2, "dsa.p12 is encrypted: give its passphrase");
    folder
        .pqtls("key import dsa.p12 --passphrase-file other --name nobody")
        .fails(2, "choose it with --name: the file has \"dsa\"");
    folder
        .pqtls("key export dsa.key --certs ed.pem --passphrase-file pw")
        .fails(1, "the key of dsa.key is not the one in the certificate of");
    folder
        .pqtls("key show dsa.p12 --passphrase-file other")
        .fails(
            3,
            "a PKCS#12 file; take out what you need with \"pqtls key import\"",
        );
    folder
        .pqtls("key import dsa.key --passphrase-file other")
        .fails(3, "dsa.key has no PKCS#12 file, but a private key");
    folder.write("latin1", b"p\xe4ssword");
    folder
        .pqtls("key export dsa.key --passphrase-file latin1 --out latin1.p12")
        .fails(2, "this one is not in UTF-8");
}
