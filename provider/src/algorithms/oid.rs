//! The object identifiers of the classical algorithms that certificates name, and how an algorithm without a name here
//! is shown.

use core::fmt::{Display, Formatter, Result};

use pq_x509::x509_cert::spki::ObjectIdentifier as Oid;

pub(crate) const EC_PUBLIC_KEY: Oid = Oid::new_unwrap("1.2.840.10045.2.1");
pub(crate) const ED25519: Oid = Oid::new_unwrap("1.3.101.112");
pub(super) const ED448: Oid = Oid::new_unwrap("1.3.101.113");
pub(crate) const RSA: Oid = Oid::new_unwrap("1.2.840.113549.1.1.1");
pub(super) const RSA_PSS: Oid = Oid::new_unwrap("1.2.840.113549.1.1.10");
pub(super) const RSA_SHA1: Oid = Oid::new_unwrap("1.2.840.113549.1.1.5");
pub(super) const RSA_SHA256: Oid = Oid::new_unwrap("1.2.840.113549.1.1.11");
pub(super) const RSA_SHA384: Oid = Oid::new_unwrap("1.2.840.113549.1.1.12");
pub(super) const RSA_SHA512: Oid = Oid::new_unwrap("1.2.840.113549.1.1.13");
pub(super) const ECDSA_SHA1: Oid = Oid::new_unwrap("1.2.840.10045.4.1");
pub(super) const ECDSA_SHA256: Oid = Oid::new_unwrap("1.2.840.10045.4.3.2");
pub(super) const ECDSA_SHA384: Oid = Oid::new_unwrap("1.2.840.10045.4.3.3");
pub(super) const ECDSA_SHA512: Oid = Oid::new_unwrap("1.2.840.10045.4.3.4");
pub(super) const SHA256: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.1");
pub(super) const SHA384: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.2");
pub(super) const SHA512: Oid = Oid::new_unwrap("2.16.840.1.101.3.4.2.3");

/// The arc of FIPS 204 and FIPS 205: 2.16.840.1.101.3.4.3.
const SIGNATURES: [u8; 8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03];

/// Writes what an algorithm without a name here is. It can be SLH-DSA or HashSLH-DSA (RFC 9909), if this crate is
/// compiled without them.
pub(super) fn fmt_unnamed(oid: Oid, f: &mut Formatter<'_>) -> Result {
    match oid.as_bytes().strip_prefix(&SIGNATURES) {
        Some([20..=31 | 35..=46]) if !cfg!(feature = "slh-dsa") => write!(
            f,
            "SLH-DSA ({oid}; this program is compiled without rustls-pq's feature slh-dsa)"
        ),
        _ => oid.fmt(f),
    }
}
