//! The configuration of rustls for a server: provider, certificates, tickets and the verifier of client certificates.

// This room uses `identities` and `provider`.

mod clients;
mod error;
mod tls;

pub use clients::{client_verifier, roots_from_pem_file};
pub use error::TlsError;
pub use tls::Tls;
