//! `pqtls sign`, `verify`, `mu`, `encaps` and `decaps`.

use std::fs;

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65};
use pq_core::slh_dsa::{self, Message, SlhDsaSha2_128f};
use pq_x509::keys::signing::PreHash;
use pq_x509::keys::{EncapsulationKey, SigningKey};

use crate::folder::Folder;

/// With a key of each kind that is quick, and something to sign.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    for algorithm in ALGORITHMS {
        let new = format!("key new {algorithm} --out {algorithm}.key --public {algorithm}.pub");
        folder.pqtls(&new).ok();
    }
    folder.write("message", MESSAGE);
    folder.write("other", "another message");
    folder
}

const ALGORITHMS: [&str; 5] = [
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
    "SLH-DSA-SHA2-128f",
    "SLH-DSA-SHAKE-128f",
];

const MESSAGE: &[u8] = b"a message";

const INVALID: &str = "is no valid signature of";

#[test]
fn what_is_signed_verifies_with_the_same_options_and_with_no_others() {
    let folder = folder();
    let options = [
        "",
        "--context x",
        "--context-hex 00ff",
        "--pre-hash SHA-512",
        "--pre-hash shake256 --context x",
    ];
    for algorithm in ALGORITHMS {
        for made in options {
            let sign = format!("sign --key {algorithm}.key message {made} --out sig --force");
            let signed = folder.pqtls(&sign);
            assert!(
                signed
                    .ok()
                    .starts_with(&format!("sig: signature of message by {algorithm}\n")),
                "{}",
                signed.ok()
            );
            for used in options {
                let verify = format!("verify --key {algorithm}.pub --signature sig message {used}");
                let verified = folder.pqtls(&verify);
                if used == made {
                    let valid = format!("sig: valid signature of message by {algorithm}\n");
                    assert!(verified.ok().starts_with(&valid), "{}", verified.ok());
                } else {
                    verified.fails(1, INVALID);
                }
            }
            let verify = format!("verify --key {algorithm}.pub --signature sig other {made}");
            folder.pqtls(&verify).fails(1, INVALID);
        }
    }
}

#[test]
fn what_does_not_verify_is_told_with_what_it_may_be() {
    let folder = folder();
    folder
        .pqtls("sign --key ML-DSA-65.key message --out sig")
        .ok();
    folder.pqtls("key new --out other.key").ok();
    folder
        .pqtls("verify --key other.key --signature sig message")
        .fails(
            1,
            "by the key in other.key; check that both are the right ones, and ask the signer",
        );
    folder
        .pqtls("verify --key ML-DSA-65.pub --signature sig message --pre-hash SHA-512")
        .fails(1, "that --context and --pre-hash are the signer's");
    let verdict = folder.pqtls("verify --key ML-DSA-65.pub --signature sig other --json");
    assert_eq!(verdict.status(), 1);
    assert!(verdict.stdout().contains("\"valid\": false"));
    assert!(verdict.stderr().contains(INVALID));
    // With another length, it is not a signature.
    folder
        .pqtls("verify --key ML-DSA-87.pub --signature sig message")
        .fails(
            1,
            "sig is no signature of ML-DSA-87: it has 3309 bytes, and not 4627",
        );
    folder
        .pqtls("verify --key ML-DSA-65.pub --signature missing message")
        .fails(3, "can't read missing");
}

#[test]
fn private_keys_and_certificates_verify_too() {
    let folder = Folder::with_ca();
    folder.write("message", MESSAGE);
    folder.pqtls("sign --key www.key message --out sig").ok();
    for key in ["www.key", "www.pem"] {
        folder
            .pqtls(&format!("verify --key {key} --signature sig message"))
            .ok();
    }
    folder
        .pqtls("verify --key ca.pem --signature sig message")
        .fails(1, INVALID);
}

#[test]
fn signatures_are_those_of_the_standards() {
    let folder = folder();
    let key = SigningKey::from_pkcs8_pem(&folder.read("ML-DSA-65.key")).unwrap();
    let key =
        ml_dsa::SigningKey::<MlDsa65>::boxed_from_seed(key.seed().unwrap().try_into().unwrap());
    let sign = |options: &str| {
        let sign = folder.pqtls(&format!(
            "sign --key ML-DSA-65.key message --deterministic {options}"
        ));
        assert_eq!((sign.status(), sign.stderr()), (0, ""));
        sign.stdout_bytes().to_vec()
    };
    let expected = key.sign_deterministic(MESSAGE, b"").unwrap();
    assert_eq!(sign(""), expected.as_bytes());
    let expected = key.sign_deterministic(MESSAGE, b"context").unwrap();
    assert_eq!(sign("--context context"), expected.as_bytes());
    assert_eq!(sign("--context-hex 636F6e74657874"), expected.as_bytes());
    let expected = key.hash_sign(PreHash::Sha3_384, MESSAGE, b"context", &[0; 32]);
    let options = "--pre-hash SHA3-384 --context context";
    assert_eq!(sign(options), expected.unwrap().as_bytes());
    // Without the option, it is different each time.
    let hedged = || {
        folder
            .pqtls("sign --key ML-DSA-65.key message")
            .stdout_bytes()
            .to_vec()
    };
    assert_ne!(hedged(), hedged());

    let name = "SLH-DSA-SHA2-128f";
    let key = SigningKey::from_pkcs8_pem(&folder.read(&format!("{name}.key"))).unwrap();
    let key = slh_dsa::SigningKey::<SlhDsaSha2_128f>::boxed_from_bytes(&key.to_expanded()).unwrap();
    for (options, message) in [
        ("", Message::Pure(MESSAGE)),
        (
            "--pre-hash SHA-256",
            Message::Hashed(PreHash::Sha256, MESSAGE),
        ),
    ] {
        let mut expected = vec![0; 17088];
        key.sign_into(message, b"", None, &|_| (), &mut expected)
            .unwrap();
        let sign =
            format!("sign --key {name}.key message --deterministic {options} --out sig --force");
        folder.pqtls(&sign).ok();
        assert!(folder.bytes("sig") == expected);
    }
}

#[test]
fn signatures_are_bytes_or_text() {
    let folder = folder();
    let sign = "sign --key ML-DSA-44.key message --deterministic";
    let raw = folder.pqtls(sign).stdout_bytes().to_vec();
    assert_eq!(raw.len(), 2420);
    folder.write("raw", &raw);
    for (format, len) in [
        ("hex", 2 * 2420 + 1),
        ("base64", 2420_usize.div_ceil(3) * 4 + 1),
    ] {
        let text = folder.pqtls(&format!("{sign} --format {format}"));
        assert_eq!(text.ok().len(), len);
        folder.write(format, text.ok());
    }
    for file in ["raw", "hex", "base64"] {
        folder
            .pqtls(&format!(
                "verify --key ML-DSA-44.pub --signature {file} message"
            ))
            .ok();
    }
    // The message comes from standard input, and then the signature does.
    folder
        .pqtls_reading(MESSAGE, "verify --key ML-DSA-44.pub --signature raw")
        .ok();
    folder
        .pqtls_reading(&raw, "verify --key ML-DSA-44.pub --signature - message")
        .ok();
    folder
        .pqtls_reading(&raw, "verify --key ML-DSA-44.pub --signature -")
        .fails(3, "standard input can be read once");
    // An empty file can be signed.
    folder.pqtls("sign --key ML-DSA-44.key --out nothing").ok();
    folder.write("empty", "");
    folder
        .pqtls("verify --key ML-DSA-44.pub --signature nothing empty")
        .ok();
}

#[test]
fn mu_is_computed_without_the_private_key_and_signed_without_the_message() {
    let folder = folder();
    let public = fs::read(folder.path().join("ML-DSA-44.pub")).unwrap();
    let public = core::str::from_utf8(&public).unwrap();
    let public = pq_x509::keys::VerifyingKey::from_spki_pem(public).unwrap();
    let public = ml_dsa::VerifyingKey::<MlDsa44>::from_bytes(public.as_bytes()).unwrap();
    let mu = public.mu(MESSAGE, b"x").unwrap();
    let hex: String = mu.iter().map(|byte| format!("{byte:02x}")).collect();
    let command = "mu --key ML-DSA-44.pub message --context x";
    assert_eq!(folder.pqtls(command).ok(), format!("{hex}\n"));
    folder
        .pqtls(&format!("{command} --format raw --out raw.mu"))
        .ok();
    assert_eq!(folder.bytes("raw.mu"), mu);
    folder.write("hex.mu", hex.to_uppercase());

    for file in ["raw.mu", "hex.mu"] {
        let sign = format!("sign --key ML-DSA-44.key {file} --mu --out sig --force");
        let signed = folder.pqtls(&sign);
        let words = format!("sig: signature of µ in {file} by ML-DSA-44\n");
        assert!(signed.ok().starts_with(&words), "{}", signed.ok());
        folder
            .pqtls("verify --key ML-DSA-44.pub --signature sig message --context x")
            .ok();
        folder
            .pqtls(&format!(
                "verify --key ML-DSA-44.pub --signature sig {file} --mu"
            ))
            .ok();
        folder
            .pqtls("verify --key ML-DSA-44.pub --signature sig message")
            .fails(1, INVALID);
    }
    let other = folder.pqtls("mu --key ML-DSA-44.pub other --out other.mu");
    other.ok();
    folder
        .pqtls("verify --key ML-DSA-44.pub --signature sig other.mu --mu")
        .fails(1, "sig is no valid signature of µ in other.mu");

    folder
        .pqtls("sign --key ML-DSA-44.key message --mu --out sig2")
        .fails(1, "message is no µ: it has 9 bytes, and not 64");
    folder
        .pqtls("sign --key SLH-DSA-SHA2-128f.key raw.mu --mu --out sig2")
        .fails(1, "SLH-DSA-SHA2-128f has no µ");
    folder
        .pqtls("mu --key SLH-DSA-SHA2-128f.pub message")
        .fails(1, "SLH-DSA-SHA2-128f has no µ");
    for agreed in ["--context x", "--context-hex 00", "--pre-hash SHA-512"] {
        folder
            .pqtls(&format!("sign --key ML-DSA-44.key raw.mu --mu {agreed}"))
            .fails(2, "cannot be used with");
    }
}

#[test]
fn a_hash_function_that_is_weaker_than_the_key_signs_nothing() {
    let folder = folder();
    for (algorithm, hash, advice) in [
        ("ML-DSA-44", "SHA-224", "use --pre-hash SHA-512"),
        ("ML-DSA-65", "SHA-256", "use --pre-hash SHA-512"),
        ("ML-DSA-87", "SHA-384", "use --pre-hash SHA-512"),
        ("SLH-DSA-SHA2-128f", "SHA3-224", "use --pre-hash SHA-256"),
        (
            "SLH-DSA-SHAKE-128f",
            "SHA-512/224",
            "use --pre-hash SHAKE128",
        ),
    ] {
        let sign = format!("sign --key {algorithm}.key message --pre-hash {hash} --out sig");
        let refused = folder.pqtls(&sign);
        refused.fails(1, &format!("{hash} is too weak for {algorithm}"));
        refused.fails(1, advice);
    }
    folder
        .pqtls("sign --key ML-DSA-65.key message --pre-hash SHA-384 --out sig")
        .ok();
    folder
        .pqtls("sign --key ML-DSA-65.key message --pre-hash MD5")
        .fails(2, "SHA-512/256");
}

#[test]
fn contexts_have_at_most_255_bytes() {
    let folder = folder();
    let context = "x".repeat(255);
    folder
        .pqtls(&format!(
            "sign --key ML-DSA-44.key message --out sig --context {context}"
        ))
        .ok();
    folder
        .pqtls(&format!(
            "sign --key ML-DSA-44.key message --context {context}x"
        ))
        .fails(2, "at most 255 bytes, not 256");
    folder
        .pqtls("sign --key ML-DSA-44.key message --context-hex 0")
        .fails(2, "two digits each");
}

/// RFC 9909: an identifier of HashSLH-DSA says which hash function.
#[test]
fn a_key_for_hashes_signs_by_its_own_hash_function() {
    let folder = folder();
    folder
        .pqtls("key convert SLH-DSA-SHA2-128f.key --format der --out a.der")
        .ok();
    let mut der = folder.bytes("a.der");
    assert_eq!(der[17], 21);
    der[17] = 36;
    folder.write("hashing.der", der);
    let signed = folder.pqtls("sign --key hashing.der message --out sig");
    assert!(
        signed
            .ok()
            .contains("by HashSLH-DSA-SHA2-128f\n  pre-hash     SHA-256\n")
    );
    folder
        .pqtls("verify --key hashing.der --signature sig message")
        .ok();
    let verify = "verify --key SLH-DSA-SHA2-128f.pub --signature sig message";
    folder.pqtls(&format!("{verify} --pre-hash SHA-256")).ok();
    folder.pqtls(verify).fails(1, INVALID);
    folder
        .pqtls("sign --key hashing.der message --pre-hash SHA-512 --out sig2")
        .fails(
            1,
            "the key is for HashSLH-DSA-SHA2-128f with SHA-256 (RFC 9909)",
        );
}

#[test]
fn keys_of_the_other_kind_are_told() {
    let folder = folder();
    folder
        .pqtls("key new ML-KEM-512 --out kem.key --public kem.pub")
        .ok();
    for command in [
        "sign --key kem.key message",
        "verify --key kem.pub --signature message message",
        "mu --key kem.pub message",
    ] {
        folder
            .pqtls(command)
            .fails(3, "ML-KEM-512, which encapsulates");
    }
    for command in [
        "encaps --key ML-DSA-44.pub --secret s --out c",
        "decaps --key ML-DSA-44.key message",
    ] {
        folder.pqtls(command).fails(3, "ML-DSA-44, which signs");
    }
    folder
        .pqtls("sign --key ML-DSA-44.pub message")
        .fails(3, "has no private key, but a public key");
}

#[test]
fn files_that_exist_stay_unless_forced() {
    let folder = folder();
    folder.write("taken", "kept");
    folder.pqtls("key new ML-KEM-512 --out kem.key").ok();
    for command in [
        "sign --key ML-DSA-44.key message --out taken",
        "mu --key ML-DSA-44.pub message --out taken",
        "encaps --key kem.key --out taken --secret new",
        "encaps --key kem.key --out new --secret taken",
    ] {
        folder.pqtls(command).fails(3, "taken exists");
    }
    folder
        .pqtls("sign --key ML-DSA-44.key message --out taken --force")
        .ok();
    folder
        .pqtls("verify --key ML-DSA-44.key --signature taken message")
        .ok();
    folder
        .pqtls("sign --key ML-DSA-44.key message --json")
        .fails(2, "with --json the report goes to standard output");
}

#[test]
fn every_set_of_ml_kem_gives_both_sides_one_secret() {
    let folder = Folder::new();
    for (algorithm, len) in [
        ("ML-KEM-512", 768),
        ("ML-KEM-768", 1088),
        ("ML-KEM-1024", 1568),
    ] {
        folder
            .pqtls(&format!(
                "key new {algorithm} --force --out a.key --public a.pub"
            ))
            .ok();
        for (format, secret_len) in [("raw", 32), ("hex", 65), ("base64", 45)] {
            let options = format!("--format {format} --force");
            folder
                .pqtls(&format!(
                    "encaps --key a.pub --out ct --secret ours {options}"
                ))
                .ok();
            folder
                .pqtls(&format!("decaps --key a.key ct --out theirs {options}"))
                .ok();
            assert_eq!(folder.bytes("ours"), folder.bytes("theirs"));
            assert_eq!(folder.bytes("ours").len(), secret_len);
            if format == "raw" {
                assert_eq!(folder.bytes("ct").len(), len);
            }
        }
        // As the library has it.
        let key = EncapsulationKey::from_spki_pem(&folder.read("a.pub")).unwrap();
        let (ciphertext, secret) = key.encapsulate().unwrap();
        let decapsulated = folder.pqtls_reading(&ciphertext, "decaps --key a.key -");
        assert_eq!(decapsulated.stdout_bytes(), secret.as_bytes());
        // Implicit rejection: another secret, and no error.
        let mut changed = ciphertext;
        changed[0] ^= 1;
        let decapsulated = folder.pqtls_reading(&changed, "decaps --key a.key -");
        assert_eq!(decapsulated.status(), 0);
        assert_ne!(decapsulated.stdout_bytes(), secret.as_bytes());
        folder
            .pqtls_reading(&changed[1..], "decaps --key a.key -")
            .fails(
                1,
                &format!("standard input is no ciphertext of {algorithm}"),
            );
    }
}

#[test]
fn secrets_are_written_where_they_are_to_be_and_nowhere_else() {
    let folder = Folder::new();
    folder.pqtls("key new ML-KEM-512 --out a.key").ok();
    let ciphertext = folder.pqtls("encaps --key a.key --secret secret");
    assert_eq!(
        (ciphertext.status(), ciphertext.stdout_bytes().len()),
        (0, 768)
    );
    folder.write("ct", ciphertext.stdout_bytes());
    let secret = folder.bytes("secret");
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    for report in ["--out again", "--out again --force --json"] {
        let report = folder.pqtls(&format!("decaps --key a.key ct {report}"));
        assert!(!report.ok().contains(&hex[..16]));
    }
    assert_eq!(
        folder.pqtls("decaps --key a.key ct --format hex").ok(),
        format!("{hex}\n")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for file in ["secret", "again"] {
            let metadata = fs::metadata(folder.path().join(file)).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
        }
    }
    folder
        .pqtls("encaps --key a.key --secret -")
        .fails(3, "standard output can't be two files at once");
    folder
        .pqtls("encaps --key a.key")
        .fails(2, "--secret <FILE>");
}

/// By `script`, which every Debian has.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_text_only() {
    let folder = folder();
    let on_terminal = |command: &str| {
        let line = format!("TERM=xterm script -qec '{command}' /dev/null");
        folder.shell(&line).stdout().to_owned()
    };
    // What can't be written is refused before anything is read.
    let refused = on_terminal("pqtls sign --key ML-DSA-44.key missing");
    assert!(
        refused.contains("bytes are not for a terminal"),
        "{refused}"
    );
    let signature = on_terminal("pqtls sign --key ML-DSA-44.key message --format hex");
    assert!(signature.trim_end().len() == 2 * 2420, "{signature}");
}

/// SLH-DSA reads its message twice to sign it.
#[test]
fn only_slh_dsa_needs_a_message_in_memory_and_says_so() {
    let folder = folder();
    let large = fs::File::create(folder.path().join("large")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let name = "SLH-DSA-SHAKE-128f";
    let sign = format!("sign --key {name}.key large --out sig");
    let refused = folder.pqtls(&sign);
    assert_eq!(refused.status(), 2);
    let complaint = refused.stderr();
    assert!(
        complaint.starts_with("pqtls: large has more than 64 MiB"),
        "{complaint}"
    );
    assert!(complaint.contains("--pre-hash SHAKE128"), "{complaint}");
    folder.pqtls(&format!("{sign} --pre-hash SHAKE128")).ok();
    folder
        .pqtls(&format!(
            "verify --key {name}.pub --signature sig large --pre-hash SHAKE128"
        ))
        .ok();
}

/// Its signature would be one of a CMS message's content, which the attributes are for, whatever their types are.
#[test]
fn signed_attributes_of_messages_are_not_signed_as_files() {
    let folder = folder();
    // SET { SEQUENCE { 2.999.1, SET {} } }
    let attributes = [0x31, 9, 0x30, 7, 6, 3, 0x88, 0x37, 1, 0x31, 0];
    folder.write("attributes", attributes);
    folder.write("text", "1. Introduction");
    for algorithm in ["ML-DSA-65", "SLH-DSA-SHA2-128f"] {
        let sign = |rest: &str| folder.pqtls(&format!("sign --key {algorithm}.key {rest} --force"));
        sign("attributes --out attributes.sig").fails(1, "sign it by \"pqtls cms sign\"");
        assert!(!folder.path().join("attributes.sig").exists());
        for allowed in [
            "attributes --context x --out x.sig",
            "attributes --pre-hash SHA-512 --out x.sig",
            "text --out x.sig",
        ] {
            sign(allowed).ok();
        }
    }
    let mu = "mu --key ML-DSA-65.pub attributes --out x.mu";
    folder
        .pqtls(mu)
        .fails(1, "signed attributes of a CMS message");
    folder.pqtls(&format!("{mu} --context x")).ok();
}
