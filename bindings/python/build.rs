//! On macOS, the linker has to be told that the interpreter provides what an extension module lacks. maturin does that,
//! and this does it for `cargo build`.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
