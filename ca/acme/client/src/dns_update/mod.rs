//! Changes of zones by DNS UPDATE (RFC 2136), signed by a key that the name server shares (TSIG, RFC 8945), over TCP.

mod error;
mod key;
mod message;
mod server;

pub use self::error::DnsUpdateError;
pub use self::key::{InvalidTsigKey, TsigKey};
pub use self::server::DnsUpdate;
