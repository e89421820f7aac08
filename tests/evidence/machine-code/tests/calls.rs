//! Kernels are compiled as one piece. A closure or an iterator that the compiler did not
//! inline is compiled without the instructions of the backend, and is called once for
//! every element.

use std::path::Path;
use std::process::Command;

use machine_code::disassembly::{Function, copies, functions};
use machine_code::skip;

/// For each backend and for the instructions for SHA-256: its name, the start of the name of its `run`, and the least
/// number of kernels with loops. A kernel can be compiled to several functions of
/// one name.
const ENTRIES: &[(&str, &str, usize)] = if cfg!(target_arch = "x86_64") {
    &[
        (
            "AVX2",
            "<pq_core::arch::avx2::Avx2 as pq_core::arch::backend::Backend>::run",
            10,
        ),
        (
            "AVX-512",
            "<pq_core::arch::avx512::Avx512 as pq_core::arch::backend::Backend>::run",
            10,
        ),
        (
            "SHA-NI",
            "<pq_core::arch::sha_ni::ShaNi as pq_core::arch::backend::Sha256Instructions>::run",
            4,
        ),
    ]
} else {
    &[
        (
            "NEON",
            "<pq_core::arch::neon::Neon as pq_core::arch::backend::Backend>::run",
            10,
        ),
        (
            "NEON with SHA-3",
            "<pq_core::arch::neon::NeonSha3 as pq_core::arch::backend::Backend>::run",
            10,
        ),
        (
            "NEON's SHA-256",
            "<pq_core::arch::neon_sha2::NeonSha2 as pq_core::arch::backend::Sha256Instructions>::run",
            4,
        ),
    ]
};

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn kernels_call_nothing_in_loops() {
    let Some(functions) = disassembled() else {
        return;
    };
    let mut found = Vec::new();
    for (backend, entry, least) in ENTRIES {
        let kernels = functions
            .iter()
            .filter(|function| function.name.contains(entry));
        let kernels: Vec<&Function> = kernels.collect();
        let loops = kernels
            .iter()
            .filter(|kernel| (0..kernel.instructions.len()).any(|i| kernel.comes_round(i)));
        assert!(
            loops.count() >= *least,
            "{backend}: these are not the kernels"
        );
        for kernel in kernels {
            for (instruction, callee) in kernel.calls_in_loops() {
                // copying has no better way
                if !copies(callee) {
                    found.push(format!(
                        "{:#x} calls {callee} in a loop of {}",
                        instruction.address, kernel.name
                    ));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn planted_call_is_found() {
    let Some(functions) = disassembled() else {
        return;
    };
    let planted = functions
        .iter()
        .find(|function| function.name.ends_with("planted::call_in_loop"))
        .expect("the planted function");
    let (_, callee) = planted.calls_in_loops().next().expect("the planted call");
    assert!(callee.contains("step"), "{callee}");
}

/// The functions of the program. Returns `None`, with a message, if there is no objdump; in
/// CI this is a failure.
fn disassembled() -> Option<Vec<Function>> {
    if Command::new("objdump").arg("--version").output().is_err() {
        skip("objdump is not installed");
        return None;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_machine-code"));
    Some(functions("objdump", program).expect("a program that objdump can read"))
}
