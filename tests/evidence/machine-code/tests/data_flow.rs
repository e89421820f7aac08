//! No jump and no address in a kernel depends on data, as far as its instructions tell. This is the only check of
//! AVX-512, which valgrind does not know; it covers AVX2 too.
//!
//! `machine-code review` does the same to programs of other architectures.

use std::path::Path;

use machine_code::disassembly::functions;
use machine_code::review::{Review, planted_but_missed};
use machine_code::skip;

/// Kernels are recognised by the type parameters in their functions' names, and none is missing.
#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn kernels_do_not_look_at_data() {
    let program = Path::new(env!("CARGO_BIN_EXE_machine-code"));
    let functions = functions("objdump", program).expect("objdump can read the program");
    let review = Review::of(&functions);
    if review.kernels == 0 {
        skip("no kernels: build with RUSTFLAGS='-C symbol-mangling-version=v0'");
        return;
    }
    assert_eq!(review.missing, [""; 0]);
    assert_eq!(review.findings, [""; 0]);
    // The analysis does not follow values in registers into these functions. Read each new one:
    // `pq-core/src/arch/README.md` says what each does.
    let unread = review.callees.iter();
    let unread: Vec<_> = unread.filter(|name| !name.contains("transpose")).collect();
    assert_eq!(unread, [""; 0]);
}

/// Also if the names of functions do not contain their type parameters.
#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn planted_mistakes_are_found() {
    let program = Path::new(env!("CARGO_BIN_EXE_machine-code"));
    let functions = functions("objdump", program).expect("objdump can read the program");
    assert_eq!(planted_but_missed(&functions), [""; 0]);
}
