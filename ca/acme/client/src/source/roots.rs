//! The roots of the system.

use std::path::Path;

/// Where systems have their roots in one file.
const SYSTEM_ROOTS: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The file with the roots of this system, if it is in one of the usual places.
pub fn system_roots() -> Option<&'static Path> {
    SYSTEM_ROOTS
        .iter()
        .map(Path::new)
        .find(|path| path.exists())
}
