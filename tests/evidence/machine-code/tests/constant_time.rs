//! No branch and no address depends on a secret: valgrind's memcheck runs every
//! operation with poisoned secrets, on every backend whose instructions valgrind
//! knows.

use std::io::ErrorKind;
use std::process::{Command, Output};

use machine_code::{Operation, operations, planted, skip};

/// The backends that valgrind can run. It does not know AVX-512, and hides it from programs.
const BACKENDS: &[&str] = if cfg!(target_arch = "x86_64") {
    &["portable", "AVX2"]
} else {
    &[]
};

#[test]
#[cfg_attr(debug_assertions, ignore = "debug assertions look at secrets")]
fn operations_do_not_leak() {
    for backend in BACKENDS {
        let Some(output) = valgrind(backend, "secrets") else {
            return;
        };
        for (operation, errors) in errors(backend, &operations(), &output) {
            assert_eq!(
                errors,
                0,
                "{backend}: {operation}:\n{}",
                text(&output.stderr)
            );
        }
        assert!(output.status.success());
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "debug assertions look at secrets")]
fn planted_leaks_are_found() {
    for backend in BACKENDS {
        let Some(output) = valgrind(backend, "planted") else {
            return;
        };
        for (operation, errors) in errors(backend, &planted::operations(), &output) {
            assert_ne!(errors, 0, "{backend}: {operation} was not found");
        }
        assert!(!output.status.success());
    }
}

/// Runs a part of the program under valgrind. Returns `None`, with a message, if there is no
/// valgrind; in CI this is a failure.
fn valgrind(backend: &str, part: &str) -> Option<Output> {
    let program = env!("CARGO_BIN_EXE_machine-code");
    let run = Command::new("valgrind")
        .args(["--quiet", "--error-limit=no", program, part])
        .env("PQ_CORE_BACKEND", backend)
        .output();
    match run {
        Ok(output) => Some(output),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip("valgrind is not installed");
            None
        }
        Err(error) => panic!("valgrind: {error}"),
    }
}

/// The number of errors in each operation, from lines such as `BACKEND: OPERATION: ERRORS`.
fn errors(backend: &str, operations: &[Operation], output: &Output) -> Vec<(String, usize)> {
    let stdout = text(&output.stdout);
    let lines = stdout.lines().map(|line| {
        let fields = line.rsplit_once(": ").and_then(|(head, errors)| {
            let (ran_on, operation) = head.split_once(": ")?;
            Some((ran_on, operation, errors.parse().ok()?))
        });
        let (ran_on, operation, errors) = fields.expect("three fields");
        assert_eq!(ran_on, backend);
        (operation.to_owned(), errors)
    });
    let lines: Vec<_> = lines.collect();
    let ran = lines.iter().map(|(operation, _)| operation);
    assert!(
        ran.eq(operations.iter().map(|operation| &operation.name)),
        "not all operations ran to their end:\n{stdout}{}",
        text(&output.stderr)
    );
    lines
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
