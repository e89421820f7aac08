//! Algorithms by their numbers in TLS.

#[path = "../../../../provider/src/algorithms/group.rs"]
mod group;
#[path = "../../../../provider/src/algorithms/scheme.rs"]
mod scheme;

pub use group::{Group, UnknownGroup};
pub(crate) use scheme::scheme_of;
