//! Why challenges are not shown.

use core::net::SocketAddr;
use std::io;
use std::path::PathBuf;

use pq_acme::objects::ChallengeKind;
use pq_keys::files::FileError;

use crate::dns_update::DnsUpdateError;

/// Why challenges are not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShowingError {
    /// There can be no server at the address.
    #[error("challenges of the kind {kind} can't be answered at {address}: {error}")]
    Listen {
        /// The kind of challenges.
        kind: ChallengeKind,
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        error: io::Error,
    },
    /// No certificate can be made or shown.
    #[error("TLS can't be used: {0}")]
    Tls(String),
    /// A folder can't be made.
    #[error("the folder {} can't be made: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// A file can't be written.
    #[error("{0}")]
    File(FileError),
    /// The program that changes DNS failed.
    #[error("\"{} {what}\" failed: {why}", .program.display())]
    Hook {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        what: String,
        /// Why.
        why: String,
    },
    /// The name server does not have a record as it should.
    #[error("the name server {server} does not change {name}: {error}")]
    Update {
        /// The server.
        server: SocketAddr,
        /// The record's name.
        name: String,
        /// Why.
        error: DnsUpdateError,
    },
    /// The work ended before it was done.
    #[error("showing a challenge was broken off: {0}")]
    BrokenOff(String),
}
