//! What a server shows of itself: a certificate chain and its key. rustls-pq's `identity` has everything about several
//! of them.

// This room uses no other.

mod identity;

pub use identity::Identity;
