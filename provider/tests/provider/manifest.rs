//! What the documentation tells users to put into their Cargo.toml.

/// The rustls version and features that we use, without its default provider, and our own version.
#[test]
fn first_steps() {
    let workspace = include_str!("../../../Cargo.toml");
    let rustls = workspace
        .lines()
        .find(|line| line.starts_with("rustls = "))
        .expect("the workspace depends on rustls");
    assert!(rustls.contains("default-features = false"));
    let version = concat!(
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR")
    );
    let ours = format!("rustls-pq = \"{version}\"");
    for text in [
        include_str!("../../README.md"),
        include_str!("../../../docs/tls.md"),
        include_str!("../../src/lib.rs"),
    ] {
        assert!(text.contains(rustls), "{rustls}");
        assert!(text.contains(&ours), "{ours}");
    }
}
