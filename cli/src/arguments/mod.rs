//! Values on the command line that are not mere files and numbers: algorithms, times, subjects and
//! names.
//!
//! This room uses nothing.

mod algorithm;
mod name;
mod time;

pub(crate) use algorithm::{AlgorithmParser, list_of_algorithms};
pub(crate) use name::{AlternativeName, Subject};
pub(crate) use time::time;
