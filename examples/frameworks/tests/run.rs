//! Runs each program, and looks at what it says.

use std::process::Command;

use frameworks::{Pki, answer, listen};

#[track_caller]
fn assert_says(program: &str, parts: &[&str]) {
    let output = Command::new(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    let said = String::from_utf8(output.stdout).unwrap();
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn axum() {
    assert_says(
        env!("CARGO_BIN_EXE_axum"),
        &["TLS 1.3, key exchange X25519MLKEM768 (post-quantum), "],
    );
}

#[test]
fn axum_layer() {
    assert_says(
        env!("CARGO_BIN_EXE_axum-layer"),
        &[
            "X25519MLKEM768: TLS 1.3, key exchange X25519MLKEM768 (post-quantum), ",
            "x25519: connect with X25519MLKEM768\n",
        ],
    );
}

/// The root of the test is the only one of the machine: both crates read the variable.
#[tokio::test(flavor = "multi_thread")]
async fn system_roots() {
    let pki = Pki::issue();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pki.root.to_pem()).unwrap();
    let (listener, port) = listen();
    let again = listener.try_clone().unwrap();
    let config = pki.server(&["http/1.1"]);
    tokio::spawn(async move {
        answer(listener, config.clone()).await;
        answer(again, config).await;
    });
    let output = Command::new(env!("CARGO_BIN_EXE_system-roots"))
        .arg(format!("https://localhost:{port}/"))
        .env("SSL_CERT_FILE", file.path())
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    for by in ["native roots", "the platform's verifier"] {
        let line = format!("by {by}: TLS 1.3, key exchange X25519MLKEM768 (post-quantum), ");
        assert!(said.contains(&line), "{said}{errors}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn postgres() {
    assert_says(
        env!("CARGO_BIN_EXE_postgres"),
        &["TLS 1.3, key exchange X25519MLKEM768 (post-quantum), "],
    );
}

#[test]
fn acme() {
    assert_says(
        env!("CARGO_BIN_EXE_acme"),
        &["account https://localhost:", "/account/1\norder Pending\n"],
    );
}

#[test]
fn reqwest() {
    assert_says(
        env!("CARGO_BIN_EXE_reqwest"),
        &[
            "the server's certificate: ML-DSA-65 (post-quantum)\n",
            "the server says: TLS 1.3, key exchange X25519MLKEM768 (post-quantum), ",
        ],
    );
}

#[cfg(not(feature = "tonic-tls"))]
#[test]
fn tonic() {
    assert_says(
        env!("CARGO_BIN_EXE_tonic"),
        &[
            "TLS 1.3, key exchange X25519MLKEM768 (post-quantum), ",
            "a call of what the server doesn't have: Unimplemented\n",
        ],
    );
}

#[test]
fn quinn() {
    assert_says(
        env!("CARGO_BIN_EXE_quinn"),
        &["key exchange X25519MLKEM768, server ML-DSA-65 (post-quantum): hello\n"],
    );
}
