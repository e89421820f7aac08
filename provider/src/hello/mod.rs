//! The ClientHello: servers read what a client offers, and clients can send a small one.
//!
//! It uses [`algorithms`](crate::algorithms).

mod offer;
mod small_hello;
mod start;
mod trust_anchor;

pub(crate) use offer::MAX_MESSAGE;
pub use offer::{Offer, OfferReader};
pub use small_hello::SmallHello;
pub(crate) use start::Start;
pub use trust_anchor::{InvalidTrustAnchorId, TrustAnchorId};
