//! No operation allocates, and none takes more stack than its limit, on every backend.

use std::process::Command;

use machine_code::{backends, operations, slow_operations};
use pq_core::arch::chosen;

/// The limit of an operation in bytes, with the space for its result: what the documentation
/// of its key says, or the limit for all operations.
fn limit(operation: &str, backend: &str) -> usize {
    let of_set = |(set, _): &&(&str, _)| operation.starts_with(set);
    let of_this = |(name, _): &&(&str, usize)| operation.ends_with(name);
    let two_attempts = TWO_ATTEMPTS.iter().filter(|_| backend == "AVX-512");
    let mut documented = two_attempts.chain(DOCUMENTED).filter(of_set);
    let documented = documented.find(|(_, operations)| operations.iter().any(|one| of_this(&one)));
    let documented = documented.and_then(|(_, operations)| operations.iter().find(of_this));
    // where the stack begins in its page does not depend on the operation
    documented.map_or(128, |(_, stack)| stack + 4) << 10
}

/// The tables of `DecapsulationKey`, `ml_kem::batch` and `SigningKey`, in KiB.
const DOCUMENTED: &[(&str, &[(&str, usize)])] = &[
    ("ML-KEM-512 ", &of_ml_kem([24, 24, 12, 16], [24, 36, 20])),
    ("ML-KEM-768 ", &of_ml_kem([32, 36, 16, 16], [32, 56, 24])),
    ("ML-KEM-1024 ", &of_ml_kem([44, 48, 24, 20], [40, 84, 28])),
    ("ML-DSA-44 ", &of_ml_dsa([44, 44, 40, 28])),
    ("ML-DSA-65 ", &of_ml_dsa([64, 64, 52, 32])),
    ("ML-DSA-87 ", &of_ml_dsa([100, 100, 64, 40])),
    ("SLH-DSA-SHA2-192", &[(" VerifyingKey::verify", 24)]),
    ("SLH-DSA-SHA2-256", &[(" VerifyingKey::verify", 24)]),
    ("SLH-DSA-", &[(" VerifyingKey::verify", 12)]),
];

/// Signing where two attempts are under way.
const TWO_ATTEMPTS: &[(&str, &[(&str, usize)])] = &[
    ("ML-DSA-44 ", &[(" SigningKey::sign", 56)]),
    ("ML-DSA-65 ", &[(" SigningKey::sign", 72)]),
    ("ML-DSA-87 ", &[(" SigningKey::sign", 92)]),
];

const fn of_ml_kem(stack: [usize; 4], batch: [usize; 3]) -> [(&'static str, usize); 7] {
    [
        (" DecapsulationKey::from_seed", stack[0]),
        (" DecapsulationKey::from_expanded", stack[1]),
        (" EncapsulationKey::encapsulate", stack[2]),
        (" DecapsulationKey::decapsulate", stack[3]),
        (" batch::generate", batch[0]),
        (" batch::encapsulate", batch[1]),
        (" batch::decapsulate", batch[2]),
    ]
}

const fn of_ml_dsa(stack: [usize; 4]) -> [(&'static str, usize); 4] {
    [
        (" SigningKey::from_seed", stack[0]),
        (" SigningKey::from_expanded", stack[1]),
        (" SigningKey::sign", stack[2]),
        (" VerifyingKey::verify", stack[3]),
    ]
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn operations_take_little_memory() {
    let mut too_much = Vec::new();
    for backend in backends() {
        // one backend is enough: they differ only in their kernels, which take little stack
        let slow = Some(slow_operations()).filter(|_| backend == chosen());
        for operation in operations().into_iter().chain(slow.into_iter().flatten()) {
            let (stack, allocations) = memory(backend, &operation.name);
            let line = format!("{backend}: {}: {} KiB", operation.name, stack >> 10);
            println!("{line}");
            if stack > limit(&operation.name, backend) {
                too_much.push(line);
            }
            assert_eq!(allocations, 0, "{backend}: {}", operation.name);
        }
    }
    assert!(too_much.is_empty(), "{too_much:#?}");
}

/// The bytes of stack, and the number of allocations.
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
