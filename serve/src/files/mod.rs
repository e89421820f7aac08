// This room uses no other.

//! Files that are there completely or not at all.

mod whole_file;

pub(crate) use whole_file::{Access, write_whole};
