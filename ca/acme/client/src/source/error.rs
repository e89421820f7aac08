//! Why a source can't begin.

use std::io;
use std::path::PathBuf;

use pq_serving::client::{NotATarget, TrustError};

use crate::account::AccountError;

/// Why a source of certificates can't begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The directory's URL is of no use.
    #[error("{url:?} is of no use as the URL of an ACME server's directory: {why}")]
    Url {
        /// The URL.
        url: String,
        /// Why.
        why: NotATarget,
    },
    /// There are no names.
    #[error("a certificate has to be for a DNS name or an IP address: name one")]
    NoNames,
    /// There are no algorithms.
    #[error("a certificate is for a key of some algorithm: name one")]
    NoAlgorithms,
    /// A name is none.
    #[error("{name:?} is no name for a certificate: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
    /// The file with the roots can't be used.
    #[error("the roots to trust: {0}")]
    Roots(TrustError),
    /// There is no file with the system's roots.
    #[error(
        "no roots are known by which the ACME server could be trusted: this system has no file of them in the usual places; name \
         some"
    )]
    NoRoots,
    /// TLS can't be used.
    #[error("TLS can't be used: {0}")]
    Tls(#[from] rustls::Error),
    /// The CPU can't do what TLS needs.
    #[error("TLS can't be used: {0}")]
    Provider(#[from] rustls_pq::Error),
    /// The folder can't be made or written to.
    #[error("the folder {} for certificates can't be written to: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// The account's key can't be read or made.
    #[error("{0}")]
    Account(#[from] AccountError),
    /// The work ended before it was done.
    #[error("reading the folder was broken off: {0}")]
    BrokenOff(String),
}
