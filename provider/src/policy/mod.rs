//! Policies: named sets of what may be negotiated.
//!
//! It uses [`algorithms`](crate::algorithms).

mod profile;

pub use profile::{Profile, UnknownProfile};
