//! HPKE in its base mode (RFC 9180): the contexts of a sender and of a receiver, which count messages
//! themselves.
//!
//! It uses [`recipient`](crate::recipient) and [`suite`](crate::suite).

mod contexts;
mod error;
mod keyed;

pub use contexts::{Receiver, Sender};
pub use error::HpkeError;
pub(crate) use keyed::MAX_INFO_LEN;
