//! The outcome of a handshake: what protects the connection, or why it failed.
//!
//! It uses [`identity`](crate::identity), [`hello`](crate::hello), [`sign`](crate::sign),
//! [`verify`](crate::verify) and [`algorithms`](crate::algorithms).

mod alert;
mod negotiated;
mod refusal;
mod remembered;
mod server_handshake;

pub use negotiated::Negotiated;
#[cfg(feature = "hpke")]
pub(crate) use refusal::Cause;
pub use refusal::Refusal;
pub use server_handshake::ServerHandshake;
