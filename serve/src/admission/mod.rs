//! Who may connect: [`Limits`] of number and time, and a share of the places for each address.

// This room uses `events`.

mod limits;
mod places;
mod requests;

pub use limits::Limits;
pub(crate) use places::{Admission, Handshaking, Shares};
pub(crate) use requests::{RequestPlace, RequestPlaces};
