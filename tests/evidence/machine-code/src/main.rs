//! Runs operations under observation: see the usage.

#![forbid(unsafe_code)]

use core::error::Error;
use core::hint::black_box;
use std::env;
use std::process::ExitCode;

use machine_code::review::Review;
use machine_code::{disassembly, operations, planted, slow_operations, stack};
use pq_core::arch::{self, memcheck};

const USAGE: &str = "\
usage: machine-code secrets [PART]    run the operations with PART in their name and say
                                      what valgrind finds, which must run this
       machine-code planted           the same for leaks planted on purpose
       machine-code memory NAME       bytes of stack that the operation takes, and how
                                      often it allocates
       machine-code review OBJDUMP PROGRAM
                                      the jumps and addresses in the kernels of a program
                                      that depend on data, and which kernels are missing,
                                      for symbols as of -C symbol-mangling-version=v0

The environment variable PQ_CORE_BACKEND names the backend.";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["secrets"] => secrets(operations(), ""),
        ["secrets", part] => secrets(operations(), part),
        ["planted"] => {
            // keeps the function in the program
            black_box(planted::call_in_loop as fn(&mut [u32]));
            secrets(planted::operations(), "")
        }
        ["memory", name] => memory(name),
        ["review", objdump, program] => {
            // keeps this function, too
            #[cfg(target_arch = "x86_64")]
            black_box(aes_ctr as fn(&[u8], &mut [u8]));
            review(objdump, program)
        }
        _ => Err(USAGE.into()),
    }
}

/// Prints for each operation how many errors valgrind found in it.
fn secrets(
    operations: Vec<machine_code::Operation>,
    part: &str,
) -> Result<ExitCode, Box<dyn Error>> {
    if !memcheck::is_running() {
        return Err("valgrind must run this".into());
    }
    let mut leaks = 0;
    for operation in operations {
        if operation.name.contains(part) {
            // Only the operation's own errors: the preparation runs operations, too.
            let run = (operation.prepare)();
            let before = memcheck::errors();
            run();
            let errors = memcheck::errors() - before;
            println!("{}: {}: {errors}", arch::chosen(), operation.name);
            leaks += errors;
        }
    }
    Ok(if leaks == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// AES in counter mode, which valgrind cannot run: it is only disassembled.
#[cfg(target_arch = "x86_64")]
fn aes_ctr(key: &[u8], bytes: &mut [u8]) {
    if let Some(aes) = pq_core::aes_ctr::AesCtr::new(key) {
        aes.apply(&[0; 12], 1, bytes);
    }
}

/// Prints the findings of a review, and fails if there are any.
fn review(objdump: &str, program: &str) -> Result<ExitCode, Box<dyn Error>> {
    let review = Review::of(&disassembly::functions(objdump, program.as_ref())?);
    println!(
        "{} kernels with {} conditional jumps, {} functions of public data left out",
        review.kernels, review.jumps, review.public
    );
    for callee in &review.callees {
        println!("with what they call: {callee}");
    }
    for finding in &review.findings {
        println!("{finding}");
    }
    for missing in &review.missing {
        println!("missing: {missing}");
    }
    let passed = review.missing.is_empty() && review.findings.is_empty();
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn memory(name: &str) -> Result<ExitCode, Box<dyn Error>> {
    let operation = operations()
        .into_iter()
        .chain(slow_operations())
        .find(|operation| operation.name == name);
    let operation = operation.ok_or("no operation of this name")?;
    // reads the environment, which allocates
    black_box(arch::chosen());
    let memory = stack::measure((operation.prepare)())?;
    println!("{} {}", memory.stack, memory.allocations);
    Ok(ExitCode::SUCCESS)
}
