//! No jump and no address in a kernel depends on data, as far as its instructions tell. For
//! AVX-512, of which valgrind knows nothing, this is what there is; it holds of AVX2 too.
//!
//! `machine-code review` does the same to programs of other architectures.

use std::path::Path;

use machine_code::disassembly::functions;
use machine_code::review::{Review, planted_but_missed};
use machine_code::skip;

/// Kernels are known by the type parameters of what they are compiled to, and all are there.
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
    // Nothing follows what is handed to these in registers, so whoever is new here is to be read:
    // `pq-core/src/arch/README.md` says of each what it does.
    let unread = review.callees.iter();
    let unread: Vec<_> = unread.filter(|name| !name.contains("transpose")).collect();
    assert_eq!(unread, [""; 0]);
}

/// Whatever the names of functions say of their type parameters.
#[test]
#[cfg_attr(debug_assertions, ignore = "of optimised code only")]
fn planted_mistakes_are_found() {
    let program = Path::new(env!("CARGO_BIN_EXE_machine-code"));
    let functions = functions("objdump", program).expect("objdump can read the program");
    assert_eq!(planted_but_missed(&functions), [""; 0]);
}
