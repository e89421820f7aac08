//! What bounds the log: how many lines of a kind it gets, and how much of what a client says.

// This room uses no other.

mod limit;
mod said;

pub(crate) use limit::LineLimit;
pub(crate) use said::{reason, start};
