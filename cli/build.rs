//! How the program is linked.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=no-unwinding.ld");
    // Cargo tells neither the profile's name nor that it aborts, but its folder does:
    // `target/dist/build/pqtls-…/out`.
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    let is = |name, value: &str| env::var(name).is_ok_and(|found| found == value);
    // The start files that come with musl refer to the unwind tables.
    let is_linkable = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // A program that aborts on panic doesn't read the unwind tables, which take half a megabyte. A panic's
    // message and its location do not come from them.
    if profile != Some("dist".as_ref()) || !is_linkable {
        return;
    }
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = Path::new(&folder).join("no-unwinding.ld");
    println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
    println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
}
