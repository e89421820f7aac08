//! Algorithms by their names in TLS.

#[path = "../../../provider/src/algorithms/group.rs"]
mod group;

pub use group::{Group, UnknownGroup};
