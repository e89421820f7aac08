//! What may be negotiated, in one word.
//!
//! It may use [`algorithms`](crate::algorithms).

mod profile;

pub use profile::{Profile, UnknownProfile};
