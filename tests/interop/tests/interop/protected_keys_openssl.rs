//! Private keys under passphrases and PKCS#12 files, between this project and OpenSSL.

use interop::openssl::Workdir;
use interop::pki::{NAME, Pki};
use pq_x509::certificate::Certificate;
use pq_x509::keys::protection::{Cipher, EncryptedPrivateKey, KeyDerivation, Prf, Protection};
use pq_x509::keys::{Algorithm, KemAlgorithm, PrivateKey, SignatureAlgorithm, SubjectKey};
use pq_x509::pkcs12::{Pkcs12, Pkcs12Error, Pkcs12Mac};

/// A passphrase with a character beyond the basic plane: PKCS#12 encodes passphrases in two ways.
const PASSPHRASE: &str = "pässword\u{1f511}";

const CHEAP: KeyDerivation = KeyDerivation::Pbkdf2 {
    prf: Prf::HmacSha256,
    iterations: 2048,
};

fn algorithms() -> [Algorithm; 3] {
    [
        SignatureAlgorithm::MlDsa44.into(),
        SignatureAlgorithm::SlhDsaSha2_128f.into(),
        KemAlgorithm::MlKem768.into(),
    ]
}

fn openssl_key(work: &Workdir, algorithm: &str) -> Vec<u8> {
    work.run(&format!(
        "genpkey -algorithm {algorithm} -outform DER -out key.der"
    ));
    work.read("key.der")
}

/// The default form, and each kind of key derivation that OpenSSL has.
#[test]
fn openssl_reads_our_encrypted_keys() {
    let Some(work) = Workdir::new() else { return };
    let pbkdf2 = |prf| KeyDerivation::Pbkdf2 {
        prf,
        iterations: 1000,
    };
    for (derivation, cipher) in [
        (KeyDerivation::default(), Cipher::default()),
        (KeyDerivation::SCRYPT, Cipher::Aes256Cbc),
        (pbkdf2(Prf::HmacSha384), Cipher::Aes192Cbc),
        (pbkdf2(Prf::HmacSha512), Cipher::Aes128Cbc),
    ] {
        let protection = Protection::default()
            .with_key_derivation(derivation)
            .with_cipher(cipher);
        for algorithm in algorithms() {
            let pkcs8 = openssl_key(&work, &algorithm.to_string());
            let key = PrivateKey::from_pkcs8_der(&pkcs8).expect("a key of OpenSSL");
            let pem = key.to_encrypted_pkcs8_pem(PASSPHRASE.as_bytes(), &protection);
            work.write("ours.pem", pem.expect("it has a seed"));
            work.run(&format!(
                "pkey -in ours.pem -passin pass:{PASSPHRASE} -pubout -outform DER -out public.der"
            ));
            assert_eq!(work.read("public.der"), key.spki().as_ref(), "{algorithm}");
            work.run_failing("pkey -in ours.pem -passin pass:other -noout");
        }
        let pkcs8 = openssl_key(&work, "ED25519");
        let ours = EncryptedPrivateKey::encrypt(&pkcs8, PASSPHRASE.as_bytes(), &protection);
        work.write("ours.der", ours.expect("a PKCS#8 key").as_der());
        work.run(&format!(
            "pkcs8 -in ours.der -inform DER -passin pass:{PASSPHRASE} -outform DER -out theirs.der"
        ));
        let theirs = work.read("theirs.der");
        // Depending on its version, the command writes PKCS#8 or its contents.
        assert!(pkcs8.windows(theirs.len()).any(|part| part == theirs));
    }
}

/// Forms that OpenSSL refuses according to the documentation: the test shows when that changes.
#[test]
fn what_openssl_refuses() {
    let Some(work) = Workdir::new() else { return };
    let pkcs8 = openssl_key(&work, "ED25519");
    for (derivation, cipher, reason) in [
        (CHEAP, Cipher::Aes256Gcm, "cipher parameter error"),
        (CHEAP, Cipher::Aes128Gcm, "cipher parameter error"),
        (
            KeyDerivation::STRONG_SCRYPT,
            Cipher::Aes256Cbc,
            "memory limit exceeded",
        ),
    ] {
        let protection = Protection::default()
            .with_key_derivation(derivation)
            .with_cipher(cipher);
        let ours = EncryptedPrivateKey::encrypt(&pkcs8, b"x", &protection);
        work.write("ours.der", ours.expect("a PKCS#8 key").as_der());
        work.run_failing("pkcs8 -in ours.der -inform DER -passin pass:x")
            .assert_contains(reason);
    }
}

#[test]
fn we_read_encrypted_keys_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    let keys = ["ML-DSA-65", "SLH-DSA-SHAKE-128f", "ML-KEM-512", "ED25519"];
    for (algorithm, options) in keys.into_iter().flat_map(|algorithm| {
        [
            "",
            "-v2 aes-128-cbc -v2prf hmacWithSHA384 -iter 5000",
            "-v2 aes-192-cbc -v2prf hmacWithSHA512",
            "-scrypt",
            "-scrypt -scrypt_N 1024 -scrypt_r 4 -scrypt_p 3",
        ]
        .map(|options| (algorithm, options))
    }) {
        let pkcs8 = openssl_key(&work, algorithm);
        work.run(&format!(
            "pkcs8 -topk8 -in key.der -inform DER -passout pass:{PASSPHRASE} {options} -out theirs.pem"
        ));
        let theirs = EncryptedPrivateKey::from_pem(&work.read_text("theirs.pem"))
            .unwrap_or_else(|err| panic!("{algorithm} {options}: {err}"));
        let read = theirs.decrypt(PASSPHRASE.as_bytes());
        assert_eq!(*read.expect("its passphrase"), pkcs8, "{options}");
        assert!(theirs.decrypt(b"other").is_err());
    }
    // RFC 8018's default function, which is only read.
    work.run(
        "pkcs8 -topk8 -in key.der -inform DER -passout pass:x -v2prf hmacWithSHA1 -out sha1.pem",
    );
    let theirs = EncryptedPrivateKey::from_pem(&work.read_text("sha1.pem")).expect("a key");
    assert!(theirs.protection().is_by_sha1());
    let read = theirs.decrypt(b"x").expect("its passphrase");
    assert_eq!(*read, work.read("key.der"));
}

#[test]
fn openssl_reads_our_pkcs12() {
    let Some(work) = Workdir::new() else { return };
    let identity = Pki::new(SignatureAlgorithm::MlDsa44).server(SignatureAlgorithm::MlDsa65);
    let pkcs8 = identity.key.to_pkcs8_der().expect("it has a seed");
    let store = Pkcs12::new().with_key(&pkcs8, Some("gr\u{fc}n \u{1f511}"), &identity.chain);
    let store = store.expect("a key");
    let prfs = [Prf::HmacSha256, Prf::HmacSha384, Prf::HmacSha512];
    let iterations = 1000;
    let pbmac1 = prfs.map(|prf| Pkcs12Mac::Pbmac1 { prf, iterations });
    let classic = prfs.map(|prf| Pkcs12Mac::Classic { prf, iterations });
    let by_default = [Pkcs12Mac::default(), Pkcs12Mac::CLASSIC];
    for mac in pbmac1.into_iter().chain(classic).chain(by_default) {
        let der = store.to_der(PASSPHRASE, &Protection::default(), mac);
        work.write("ours.p12", der.expect("it can be written"));
        let read = |options: &str| {
            work.run(&format!(
                "pkcs12 -in ours.p12 -passin pass:{PASSPHRASE} {options}"
            ))
        };
        // OpenSSL writes the name above the block, and not in UTF-8.
        let text = |name| String::from_utf8_lossy(&work.read(name)).into_owned();
        read("-nocerts -noenc -out key.pem");
        let key = PrivateKey::from_pkcs8_pem(&text("key.pem")).expect("the key");
        assert_eq!(key.spki(), identity.key.spki(), "{mac:?}");
        read("-nokeys -clcerts -out leaf.pem");
        let leaf = Certificate::chain_from_pem(&text("leaf.pem"));
        assert_eq!(leaf.expect("the leaf"), identity.chain[..1], "{mac:?}");
        read("-nokeys -cacerts -out ca.pem");
        let ca = Certificate::chain_from_pem(&text("ca.pem"));
        assert_eq!(ca.expect("its CA"), identity.chain[1..], "{mac:?}");
        work.run_failing("pkcs12 -in ours.p12 -passin pass:other -noenc")
            .assert_contains("Mac verify error");
    }
}

#[test]
fn we_read_pkcs12_of_openssl() {
    let Some(work) = Workdir::new() else { return };
    let identity = Pki::new(SignatureAlgorithm::MlDsa44).server(SignatureAlgorithm::MlDsa65);
    identity.write_to(&work, "web");
    for options in [
        "",
        "-pbmac1_pbkdf2",
        "-pbmac1_pbkdf2 -pbmac1_pbkdf2_md SHA512 -macalg SHA384 -iter 3000",
        "-macalg SHA512 -keypbe AES-128-CBC -certpbe AES-192-CBC",
        "-keypbe NONE -certpbe NONE",
    ] {
        work.run(&format!(
            "pkcs12 -export -inkey web.key -in web.pem -certfile web.chain -name {NAME} {options} \
             -passout pass:{PASSPHRASE} -out theirs.p12"
        ));
        let theirs = work.read("theirs.p12");
        let store =
            Pkcs12::from_der(&theirs, PASSPHRASE).unwrap_or_else(|err| panic!("{options}: {err}"));
        let [entry] = store.keys() else {
            panic!("{options}: {store:?}");
        };
        let key = entry.private_key().expect("a key of ML-DSA");
        assert_eq!(key.spki(), identity.key.spki());
        assert_eq!(entry.name(), Some(NAME));
        assert_eq!(store.certificate_of(entry), Some(&identity.chain[0]));
        let certificates = store.certificates().iter();
        assert!(certificates.map(|c| c.certificate()).eq(&identity.chain));
        let refused = Pkcs12::from_der(&theirs, "other").unwrap_err();
        assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
    }
    // An empty passphrase, and forms on which nobody should rely.
    let export = "pkcs12 -export -inkey web.key -in web.pem -out theirs.p12";
    work.run(&format!("{export} -passout pass:"));
    assert!(Pkcs12::from_der(&work.read("theirs.p12"), "").is_ok());
    work.run(&format!("{export} -passout pass:x -nomac"));
    let refused = Pkcs12::from_der(&work.read("theirs.p12"), "x").unwrap_err();
    assert_eq!(refused, Pkcs12Error::NoMac);
    work.run(&format!("{export} -passout pass:x -macalg SHA1"));
    let theirs = work.read("theirs.p12");
    assert!(Pkcs12::from_der(&theirs, "x").unwrap().has_mac_by_sha1());
    let refused = Pkcs12::from_der(&theirs, "other").unwrap_err();
    assert_eq!(refused, Pkcs12Error::WrongPassphraseOrChanged);
    work.run(&format!("{export} -passout pass:x -macalg MD5"));
    let refused = Pkcs12::from_der(&work.read("theirs.p12"), "x").unwrap_err();
    assert!(matches!(refused, Pkcs12Error::UnsupportedMac(_)));
}
