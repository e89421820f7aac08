//! How long something takes: the sampler, and what it found until the report reads it.
//!
//! Uses no other room.

pub mod results;
pub(crate) mod sampler;

pub use sampler::{Effort, Passes, Row, measure, try_out};
