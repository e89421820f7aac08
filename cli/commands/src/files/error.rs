//! Why nothing was written, and what to do.

use std::io;
use std::path::Path;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    #[error("{0} exists; choose another name, or replace it with --force")]
    Exists(String),
    #[error("{0} exists, and stays as it is; choose another name, or move it away first")]
    Taken(String),
    #[error(
        "{0} is a pipe, a device or a link in a folder where other users can make some, and may be theirs; choose \
         a folder that only you can write to"
    )]
    OfOthers(String),
    #[error("{0} is a folder; name a file in it")]
    Directory(String),
    #[error("{0} is the name of a folder, by how it ends; name a file")]
    NamesFolder(String),
    #[error(
        "{0} is a link to a file that isn't there; make what it leads to available, or remove the link"
    )]
    LeadsNowhere(String),
    #[error(
        "{file} has {what}, which would be lost; choose another name, or move that file away first"
    )]
    Loses { file: String, what: &'static str },
    #[error(
        "{file} is {what}, and would be lost; choose another name, or move that file away first"
    )]
    Irreplaceable { file: String, what: &'static str },
    #[error(
        "{0} is what this command reads, and would be lost: the result would take its place; choose another name for the result"
    )]
    OverInput(String),
    #[error(
        "{0} is a file of the CA itself, such as of its ledger, or has the name of one: it would be lost, or be taken for what \
         it is not; choose another name"
    )]
    OfCa(String),
    #[error(
        "{link} is a link in a CA's folder that can't be followed ({error}), and may lead to {file}; mend the link, or remove \
         it"
    )]
    MayBeOfCa {
        file: String,
        link: String,
        error: io::Error,
    },
    #[error("{0} can't be two files at once; give them different names")]
    Twice(String),
    #[error("can't write {file}: {error}; {}", advice(.error))]
    Write { file: String, error: io::Error },
    #[error("can't write to standard output: {error}; {}", advice(.error))]
    StandardOutput { error: io::Error },
    #[error("bytes are not for a terminal; write them to a file or a pipe, or ask for text")]
    BinaryOnTerminal,
}

impl OutputError {
    pub(crate) fn at(path: &Path, error: io::Error) -> Self {
        Self::Write {
            file: path.display().to_string(),
            error,
        }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "make its folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        io::ErrorKind::BrokenPipe => "what reads it has ended; write it to a file",
        io::ErrorKind::StorageFull => "make room, or write it elsewhere",
        _ => "write it elsewhere",
    }
}
