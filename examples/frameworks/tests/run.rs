//! Runs each program, and looks at what it says.

use std::process::Command;

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
