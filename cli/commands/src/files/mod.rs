//! Where bytes come from and go to: files, standard input and standard output (`-`), in the same way for every
//! command. Input has a limit, or is read piece by piece. Output is written completely or not at all, also if a signal
//! ends the program, is private where it should be, and replaces nothing unless asked to.
//!
//! It uses the kinds of documents.

mod destination;
mod error;
mod folder;
mod growing;
mod loss;
mod pieces;
mod private;
mod source;
mod special;
mod stream;
mod unfinished;

pub(crate) use destination::{
    Destination, NameToWrite, Output, Written, check, check_all_public, check_binary, check_inputs,
    check_new, check_place, check_public, is_all, is_one_file, remove, write, write_copies,
    write_for_now, write_help, write_if,
};
pub(crate) use error::OutputError;
pub(crate) use folder::{TemporaryFolder, make_folder};
pub(crate) use growing::Growing;
pub(crate) use loss::{keep_ca, keep_inputs, keep_possible_ca, release};
pub(crate) use pieces::Pieces;
pub(crate) use pq_keys::files::Access;
pub(crate) use source::{InputError, Source};
pub(crate) use unfinished::stopped_by_signals;
