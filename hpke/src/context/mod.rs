//! HPKE in its base mode (RFC 9180): a context of who sends and one of who receives, which count messages
//! by themselves.
//!
//! It uses [`recipient`](crate::recipient), [`suite`](crate::suite) and [`x_wing`](crate::x_wing).

mod contexts;
mod error;
mod keyed;

pub use contexts::{Receiver, Sender};
pub use error::HpkeError;
pub(crate) use keyed::MAX_INFO_LEN;
