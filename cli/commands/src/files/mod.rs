//! Where bytes come from and go to: files, standard input and standard output (`-`), in the same way for every
//! command. Input has a limit, or is read piece by piece. Output is written completely or not at all, is
//! private where it should be, and replaces nothing unless asked to.
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
