//! The tools of the interoperability tests.
//!
//! The tests in `tests/` check this project against OpenSSL's command-line program
//! and against rustls with aws-lc-rs. This library has their tools:
//!
//! * [`openssl`] finds or builds an OpenSSL of at least 3.5 and runs it;
//! * [`go`] builds programs in Go;
//! * [`process`] keeps child processes bounded;
//! * [`pki`] issues certificates, and [`endpoint`] configures rustls with them;
//! * [`tcp`] is rustls on real sockets;
//! * [`wire`] rewrites key shares between the ends, [`proxy`] does so on a socket;
//! * [`found`] reads what reviewers found.
//!
//! Two environment variables matter:
//!
//! * `OPENSSL` names the OpenSSL program to use; without it, one of at least 3.5 on
//!   `PATH` is taken, or one is built from source, once, into the target folder;
//! * `CI`: a test that lacks something from outside (perl, make or a C compiler, the
//!   vectors beside the checkout) says so and is skipped, but fails where this is set.
#![forbid(unsafe_code)]

extern crate alloc;

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;

pub mod endpoint;
pub mod found;
pub mod go;
pub mod openssl;
pub mod pki;
pub mod process;
pub mod proxy;
pub mod tcp;
pub mod wire;

pub use testing::skipped::skip;

/// Writes to the terminal directly: the test harness shows what tests
/// print only when they fail.
fn tell(what: &str) {
    // Without a terminal there is nobody to tell.
    let _ = writeln!(io::stderr(), "interop: {what}");
}

/// Cargo's target folder, found from the running test program.
///
/// # Panics
/// If the program does not lie in one.
pub fn target_folder() -> PathBuf {
    // Files that cargo leaves there. It writes the first one, for backup programs, only if it made the folder itself.
    let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
    let program = env::current_exe().expect("a program knows where it is");
    program
        .ancestors()
        .find(|folder| marks.iter().any(|mark| folder.join(mark).exists()))
        .unwrap_or_else(|| {
            panic!(
                "{} is not in a target folder of cargo; name an OpenSSL program in the \
                 environment variable OPENSSL instead",
                program.display()
            )
        })
        .to_path_buf()
}
