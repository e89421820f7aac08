//! Every public operation of pq-core, ready to be run under observation: under
//! valgrind, on a stack that is measured, or in a disassembly.
//!
//! The program `machine-code` runs the operations, and the tests run the program. The results mean
//! something only for optimised code without debug assertions, so the tests are
//! ignored in other builds:
//!
//! ```text
//! cargo test --release -p machine-code
//! ```

#![forbid(unsafe_code)]

extern crate alloc;

pub mod dependence;
pub mod disassembly;
mod ml_dsa;
mod ml_kem;
pub mod planted;
pub mod review;
mod slh_dsa;
pub mod stack;

use core::hint::black_box;

use pq_core::arch::{Backend, memcheck};
use pq_core::on_each_backend;

/// A public operation on one parameter set.
pub struct Operation {
    /// As in `ML-KEM-768 decapsulate`.
    pub name: String,
    /// Makes the inputs and poisons the secret ones.
    pub prepare: Prepare,
}

/// Returns a closure that runs an operation on its inputs.
pub type Prepare = fn() -> Run;

/// Runs an operation.
///
/// Panics if valgrind finds that the output does not depend on a secret: then valgrind lost track of the secret
/// on the way, and would not see a leak from there on.
pub type Run = Box<dyn Fn() + Send>;

/// The names of the backends that this machine has.
pub fn backends() -> Vec<&'static str> {
    let mut names = Vec::new();
    on_each_backend!(b => names.push(name(b)));
    names
}

fn name<B: Backend>(_: B) -> &'static str {
    B::NAME
}

/// All operations of all parameter sets, except those that take seconds.
pub fn operations() -> Vec<Operation> {
    let schemes = [
        ml_kem::operations(),
        ml_dsa::operations(),
        slh_dsa::operations(),
    ];
    schemes.into_iter().flatten().collect()
}

/// The operations that take seconds.
pub fn slow_operations() -> Vec<Operation> {
    slh_dsa::slow_operations()
}

/// The operations of a parameter set, named after their functions.
fn of_set<const N: usize>(set: &str, operations: [(&str, Prepare); N]) -> [Operation; N] {
    operations.map(|(operation, prepare)| Operation {
        name: format!("{set} {operation}"),
        prepare,
    })
}

pub use testing::skipped::skip;

/// `N` secret bytes.
fn secret<const N: usize>() -> [u8; N] {
    let mut secret = [7; N];
    memcheck::poison(&mut secret);
    black_box(secret)
}

/// A copy that is public.
fn public(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    memcheck::declassify(&mut bytes[..]);
    bytes
}

/// Panics if any of the bytes does not depend on a secret, as far as valgrind knows.
#[inline(never)]
fn expect_secret(bytes: &[u8]) {
    if memcheck::is_running() {
        assert_eq!(memcheck::secret_bytes(bytes), bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use super::skip;

    /// In another process: the skipped test has to pass there, and its message has to be on standard error.
    #[test]
    fn skipped_tests_say_so() {
        const CHILD: &str = "MACHINE_CODE_SKIPS";
        if env::var_os(CHILD).is_some() {
            skip("there is nothing to test");
            return;
        }
        let run = Command::new(env::current_exe().unwrap())
            .args(["--exact", "tests::skipped_tests_say_so"])
            .env(CHILD, "1")
            .env_remove("CI")
            .output()
            .unwrap();
        assert!(run.status.success());
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(
            said.contains("SKIPPED tests::skipped_tests_say_so: there is nothing to test"),
            "{said}"
        );
    }
}
