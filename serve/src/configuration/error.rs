//! Why TLS can't be configured.

use std::io;
use std::path::PathBuf;

use pq_x509::keys::encoding::pem::PemError;
use rustls::server::VerifierBuilderError;
use rustls_pq::identity::IdentityError;

/// Why TLS cannot be configured like this.
///
/// If the text has the cause's text in it, [`source`](std::error::Error::source) doesn't give the cause
/// again. So a program that prints causes one after another prints nothing twice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file with certificates could not be read.
    #[error("no certificates could be read from {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// The PEM of a file with certificates could not be read.
    #[error(
        "no certificates could be read from {}: {error}; it should be PEM, with a CERTIFICATE \
         block for each",
        .path.display()
    )]
    Pem {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        error: PemError,
    },
    /// The certificates and the key can't be served.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The provider can't be built with these groups, or on this CPU.
    #[error(transparent)]
    Provider(#[from] rustls_pq::Error),
    /// rustls refuses the certificate, the key, or the two together.
    #[error(transparent)]
    Rustls(#[from] rustls::Error),
    /// There is no root to trust for client certificates.
    #[error("client certificates cannot be verified: {0}")]
    ClientVerifier(VerifierBuilderError),
}
