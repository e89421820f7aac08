//! Runs each example, and looks at what it says.

use std::process::Command;

use pq_serving::demonstration::Pki;
use pq_serving::{Identity, Limits, Server, Tls};

/// What the program writes to standard output.
#[track_caller]
fn said_by(program: &str) -> String {
    let output = Command::new(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn assert_says(program: &str, parts: &[&str]) {
    let said = said_by(program);
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn mutual_tls() {
    assert_says(
        env!("CARGO_BIN_EXE_mutual-tls"),
        &[
            "without a certificate: localhost:",
            "the server requires a client certificate",
            "with one:\nprotocol ",
            "client certificate    CN=tls-client\n",
        ],
    );
}

#[test]
fn two_certificates() {
    assert_eq!(
        said_by(env!("CARGO_BIN_EXE_two-certificates")),
        "who trusts CN=Classical Root: ECDSA-NISTP256-SHA256\nwho trusts CN=Post-Quantum Root: ML-DSA-65\n"
    );
}

#[test]
fn raw_public_keys() {
    assert_says(
        env!("CARGO_BIN_EXE_raw-public-keys"),
        &[
            "expecting the server's key: TLS 1.3, key exchange X25519MLKEM768 (post-quantum), \
             peer ML-DSA-65 (post-quantum), ",
            "expecting another key: the peer's raw public key is none of those that are accepted here",
        ],
    );
}

#[test]
fn a_ca() {
    assert_says(
        env!("CARGO_BIN_EXE_a-ca"),
        &[
            "issued for www.example.org\n",
            "policy.toml:14: names.dns permits \".example.org\", not \"www.example.com\"",
            "on the list: 1\n",
        ],
    );
}

#[test]
fn verify_chain() {
    assert_says(
        env!("CARGO_BIN_EXE_verify-chain"),
        &[
            "good: CN=Example\nrefused: ",
            "not for example.com but for example.org",
            "refused: the certificate of CN=Example was revoked at ",
        ],
    );
}

#[test]
fn sign_release() {
    assert_says(
        env!("CARGO_BIN_EXE_sign-release"),
        &["a signature of ", "good, by CN=Releases\nrefused: "],
    );
}

#[test]
fn encrypt_file() {
    assert_says(
        env!("CARGO_BIN_EXE_encrypt-file"),
        &[
            "encrypted: 1",
            "decrypted: the same is true\nwith another key: ",
        ],
    );
}

#[test]
fn post_quantum_only() {
    assert_says(
        env!("CARGO_BIN_EXE_post-quantum-only"),
        &[
            "with X25519MLKEM768: X25519MLKEM768\n",
            "with x25519: ",
            "nothing in common",
        ],
    );
}

#[test]
fn sign_token() {
    assert_says(
        env!("CARGO_BIN_EXE_sign-token"),
        &["a token of ", "good: alice\n", "for another audience: "],
    );
}

#[test]
fn sign_for_ssh() {
    assert_says(
        env!("CARGO_BIN_EXE_sign-for-ssh"),
        &["-----BEGIN SSH SIGNATURE-----\n", "good\nanother message: "],
    );
}

#[test]
fn protect_key() {
    assert_says(
        env!("CARGO_BIN_EXE_protect-key"),
        &[
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
            "read: the same is true\nwith another passphrase: ",
        ],
    );
}

#[test]
fn any_key() {
    assert_says(
        env!("CARGO_BIN_EXE_any-key"),
        &[
            "ML-DSA-65: verified a signature of 3309 bytes\n",
            "MLDSA65-ECDSA-P256-SHA512: verified a signature of 33",
            "Ed25519: verified a signature of 64 bytes\n",
            "X-Wing: this is a key of X-Wing, which encapsulates; a key that signs is needed",
        ],
    );
}

/// tests/interop has a server with ECH, and runs the program's functions with it.
#[tokio::test(flavor = "multi_thread")]
async fn encrypted_client_hello() {
    let folder = tempfile::tempdir().unwrap();
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let files = pki.write(folder.path()).unwrap();
    let identity = Identity::try_from(&pki.server).unwrap();
    let tls = Tls::new(identity, &[], None).unwrap();
    let server = Server::bind("127.0.0.1:0", tls, Limits::default());
    let server = server.await.unwrap();
    let run = |list: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_encrypted-client-hello"));
        command
            .arg(server.local_addr().to_string())
            .arg("localhost");
        let output = command.arg(&files.root).args(list).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), errors)
    };
    let (said, errors) = run(None);
    assert!(
        said.starts_with("Grease: TLS 1.3, key exchange X25519MLKEM768"),
        "{said}{errors}"
    );
    let (_, errors) = run(Some("AAA="));
    assert!(errors.contains("NoCompatibleConfig"), "{errors}");
    server.shutdown().await;
}
