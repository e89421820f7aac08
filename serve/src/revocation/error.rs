//! Why revocation lists can't be used.

use std::io;
use std::path::PathBuf;

use pq_x509::revocation::RevocationListError;
use rustls::CertRevocationListError;
use rustls::server::VerifierBuilderError;
use rustls_pq::watching::{ReadError, StartError};

/// Why peers can't be checked by revocation lists.
///
/// If the text has the cause's text in it, [`source`](std::error::Error::source) doesn't give the cause
/// again. So a program that prints causes one after another prints nothing twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevocationError {
    /// A file with revocation lists could not be read.
    #[error("the revocation lists in {} can't be read: {error}", .path.display())]
    ListFile {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// A path leads to a directory, a pipe, a device or the like, or to a file that is larger than any list.
    #[error("{} isn't read for revocation lists: {error}", .path.display())]
    ListFileKind {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        error: ReadError,
    },
    /// There is no revocation list in a file, or one that is malformed.
    #[error(
        "{} has no revocation lists that can be used: {error}; it should be PEM, with an X509 CRL \
         block for each, or the DER of one",
        .path.display()
    )]
    List {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        error: RevocationListError,
    },
    /// A CA that is to have lists is below no root.
    #[error(
        "{subject} is no CA that a client CA has certified, directly or through others that were given with it, or \
         there are more than 64 of them; give the certificates of the CAs between it and the client CA, too"
    )]
    ListIssuer {
        /// The CA.
        subject: String,
    },
    /// No revocation list is valid yet.
    #[error(
        "no revocation list in {files} is valid yet; check the clocks here and of the CA, or get its current list"
    )]
    NoListYet {
        /// The files.
        files: String,
    },
    /// rustls doesn't take a revocation list.
    #[error(
        "a revocation list in {files} is of a kind that rustls doesn't take ({error:?}); have the CA \
         make a complete list of version 2"
    )]
    ListsRefused {
        /// The files that the lists are in.
        files: String,
        /// What rustls says.
        error: CertRevocationListError,
    },
    /// The files can't be watched.
    #[error(transparent)]
    Watch(#[from] StartError),
    /// The provider can't be built.
    #[error(transparent)]
    Provider(#[from] rustls_pq::Error),
    /// There is no root to trust.
    #[error("client certificates cannot be verified: {0}")]
    Verifier(VerifierBuilderError),
}
