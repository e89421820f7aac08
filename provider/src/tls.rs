//! The rustls names that the code for both rustls 0.23 and 0.24 uses.
//!
//! `algorithms/group.rs`, `algorithms/scheme.rs`, `kx/encapsulation.rs`, `kx/layout.rs`,
//! `kx/ml_kem.rs`, `sign/post_quantum_key.rs` and `verify/ml_dsa.rs` use these names and nothing else
//! of rustls. The workspace member `rustls-next` compiles the same files for rustls 0.24, with a
//! module like this one.

use alloc::sync::Arc;

pub(crate) use rustls::crypto::{SecureRandom, SharedSecret};
pub(crate) use rustls::{Error, NamedGroup, PeerMisbehaved, SignatureScheme};

/// Wraps one of our errors in a rustls error.
pub(crate) fn other(error: impl core::error::Error + Send + Sync + 'static) -> Error {
    rustls::OtherError(Arc::new(error)).into()
}
