//! The policy file: its values with their positions, and its errors.
//!
//! This room uses nothing else of this crate.

mod error;
mod setting;
mod source;

pub use error::PolicyError;
pub(crate) use setting::{
    List, Number, Setting, from_string, optional_table, read_from_strings, table,
};
pub(crate) use source::{Line, Source};
