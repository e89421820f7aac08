//! The client of a door: keys that are behind a network, as signers.
//!
//! A [`RemoteStore`] asks a server of Vault's Transit API over a [`Transport`], of which [`TlsTransport`] is the one over TCP
//! and TLS. All of it blocks, no longer than the transport's time limit.
//!
//! A [`TransitKek`] has such a server, which is Vault or OpenBao then, wrap the key of a store.

// This room uses `encoding`, `name`, `policy`, `sealing` and `versioned`.

mod address;
mod client;
mod error;
mod http;
mod kek;
mod messages;
mod mount;
mod signer;
mod tls;
mod token;
mod transport;

pub use self::address::{EngineAddress, InvalidAddress, TransitAddress};
pub use self::client::{RemoteKey, RemoteSignature, RemoteStore, RemoteVersion};
pub use self::error::{RemoteError, TransportError};
pub use self::kek::TransitKek;
pub use self::signer::RemoteSigner;
pub use self::tls::{TlsTransport, TlsTransportOptions};
pub use self::token::{RemoteToken, TokenSourceError};
pub use self::transport::{Transport, TransportRequest, TransportResponse};
