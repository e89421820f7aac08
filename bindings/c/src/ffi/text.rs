//! Sentences that explain errors, and the version.

use core::ffi::{c_char, c_int};

use crate::error;

/// A sentence that explains the result of a function. It is never null and lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn pqtls_error_string(error: c_int) -> *const c_char {
    error::text(error).as_ptr()
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn pqtls_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
