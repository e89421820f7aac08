//! Why options can't be followed.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use pq_x509::certificate::CertificateError;
use pq_x509::keys::SignatureAlgorithm;
use rustls_pq::TrustAnchorId;
use rustls_pq::identity::WatchError;

use crate::configuration::TlsError;
use crate::demonstration::PkiError;
use crate::revocation::RevocationError;
use crate::sockets::ListenAddress;

/// Why options can't be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// Each chain needs its key.
    #[error(
        "{certs} of --cert and {keys} of --key; give one --key for each --cert, in the same order"
    )]
    Pairs {
        /// How many chains there are.
        certs: usize,
        /// How many keys there are.
        keys: usize,
    },
    /// An address can't be listened on.
    #[error(
        "can't listen on {address}{}; choose another address or port with {option}",
        because(source)
    )]
    Listen {
        /// The address.
        address: ListenAddress,
        /// The option that names it.
        option: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// There is nothing to listen on.
    #[error("{0}; name an address with --listen")]
    NoListener(io::Error),
    /// A trust anchor ID is for a chain that isn't served.
    #[error(
        "--trust-anchor {file}={id} is about no --cert; write {file} as in the --cert",
        file = .file.display()
    )]
    TrustAnchor {
        /// The file with the chain.
        file: PathBuf,
        /// The ID.
        id: TrustAnchorId,
    },
    /// A file has no certificates.
    #[error("{} has no certificates that can be used", .file.display())]
    Certificates {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A profile has only one algorithm for certificates.
    #[error(
        "CNSA 2.0 has only {algorithm} signatures, so there can be no {root} root; leave out --root, or \
         choose another --profile"
    )]
    Root {
        /// The root's algorithm.
        root: SignatureAlgorithm,
        /// The one of the profile.
        algorithm: SignatureAlgorithm,
    },
    /// Fresh certificates can't be issued.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// There is no chain.
    #[error("there is no certificate to serve")]
    NothingToServe,
    /// A certificate that is served can't be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Chains or keys can't be used.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// Clients can't be verified.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Revocation lists can't be used.
    #[error(transparent)]
    Revocation(#[from] RevocationError),
}

/// Why an address can't be listened on, if the system's words alone don't say it.
fn because(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => ", where something else listens already",
        io::ErrorKind::AddrNotAvailable => ", which this machine doesn't have",
        _ => "",
    }
}
