//! The client of a door: keys that are behind a network, as signers.
//!
//! A [`RemoteStore`] asks a server of Vault's Transit API over a [`Transport`], of which [`TlsTransport`] is the one over TCP
//! and TLS. All of it blocks, no longer than the transport's time limit.

// This room uses `name`, `policy`, `private_file` and `versioned`.

mod client;
mod error;
mod http;
mod messages;
mod signer;
mod tls;
mod token;
mod transport;

pub use self::client::{RemoteKey, RemoteSignature, RemoteStore, RemoteVersion};
pub use self::error::{RemoteError, TransportError};
pub use self::signer::RemoteSigner;
pub use self::tls::{TlsTransport, TlsTransportOptions};
pub use self::token::RemoteToken;
pub use self::transport::{Transport, TransportRequest, TransportResponse};
