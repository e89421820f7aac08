//! Where bytes come from and go to: files, standard input and standard output (`-`), with the same
//! manners for every command. What is read has a limit, or is read piece by piece; what is written is
//! there as a whole or not at all, private where it should be, and replaces nothing unless asked to.
//!
//! This room uses nothing.

mod destination;
mod folder;
mod growing;
mod pieces;
mod source;
mod stream;

pub(crate) use destination::{
    Access, Destination, Output, OutputError, check, check_all, check_binary, remove, write,
    write_copies,
};
pub(crate) use folder::make_folder;
pub(crate) use growing::Growing;
pub(crate) use pieces::Pieces;
pub(crate) use source::{InputError, Source};
