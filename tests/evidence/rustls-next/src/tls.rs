//! The counterpart of the provider's module of this name.

pub(crate) use rustls::Error;
pub(crate) use rustls::crypto::kx::{NamedGroup, SharedSecret};
pub(crate) use rustls::crypto::{SecureRandom, SignatureScheme};
pub(crate) use rustls::error::PeerMisbehaved;

/// An error of ours in one of rustls's.
pub(crate) fn other(error: impl core::error::Error + Send + Sync + 'static) -> Error {
    rustls::error::OtherError::new(error).into()
}
