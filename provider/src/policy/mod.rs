//! Policies: what may be negotiated, in one word.
//!
//! It uses [`algorithms`](crate::algorithms).

mod profile;

pub use profile::{Profile, UnknownProfile};
