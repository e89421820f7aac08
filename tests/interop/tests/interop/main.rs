//! Files, messages and handshakes between this project and OpenSSL, rustls over AWS-LC, quinn, and Go.
//!
//! One program, so that it is linked once, and OpenSSL is built while tests run that don't need it.

extern crate alloc;

mod certificates_openssl;
mod cms_openssl;
mod custody;
mod ech;
mod hpke_peers;
mod keys_openssl;
mod names_matrix;
mod operations_openssl;
mod pqtls_openssl;
mod protected_keys_openssl;
mod quic_quinn;
mod refused_certificates;
mod refused_key_shares;
mod refused_key_usage;
mod refused_private_keys;
mod revocation_openssl;
mod roots;
mod slh_dsa;
mod tls_aws_lc_rs;
mod tls_openssl;
mod two_certificates;
