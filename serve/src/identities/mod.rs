// This room uses no other.

//! What a server shows of itself: a certificate chain and its key. rustls-pq's `identity` has everything about several
//! of them.

mod identity;

pub use identity::Identity;
