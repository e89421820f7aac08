//! How long something takes: the sampler, and its results for the report.
//!
//! Uses no other room.

pub mod results;
pub(crate) mod sampler;

pub use sampler::{Effort, Passes, Row, measure, try_out};
