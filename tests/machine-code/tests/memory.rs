//! No operation allocates, and none takes more stack than it may, on every backend.

use std::process::Command;

use machine_code::{backends, operations, slow_operations};
use pq_core::arch::chosen;

/// What an operation may take, in bytes, with the place for its result.
fn limit(operation: &str) -> usize {
    if operation.starts_with("SLH-DSA") && operation.contains("verify") {
        64 << 10
    } else {
        128 << 10
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn operations_take_little_memory() {
    let mut too_much = Vec::new();
    for backend in backends() {
        // one backend will do: they differ in their kernels, which take little
        let slow = Some(slow_operations()).filter(|_| backend == chosen());
        for operation in operations().into_iter().chain(slow.into_iter().flatten()) {
            let (stack, allocations) = memory(backend, &operation.name);
            let line = format!("{backend}: {}: {} KiB", operation.name, stack >> 10);
            println!("{line}");
            if stack > limit(&operation.name) {
                too_much.push(line);
            }
            assert_eq!(allocations, 0, "{backend}: {}", operation.name);
        }
    }
    assert!(too_much.is_empty(), "{too_much:#?}");
}

/// Bytes of stack, and how often memory was allocated.
fn memory(backend: &str, operation: &str) -> (usize, u64) {
    let output = Command::new(env!("CARGO_BIN_EXE_machine-code"))
        .args(["memory", operation])
        .env("PQ_CORE_BACKEND", backend)
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{backend}: {operation}: {output:?}"
    );
    let output = String::from_utf8(output.stdout).expect("two numbers");
    let (stack, allocations) = output.trim_end().split_once(' ').expect("two numbers");
    let number = |text: &str| text.parse().expect("a number");
    (number(stack) as usize, number(allocations))
}
