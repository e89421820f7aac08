//! The options for revocation lists in files, by which clients are checked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use rustls::RootCertStore;
use rustls::server::danger::ClientCertVerifier;
use rustls_pq::Builder;
use rustls_pq::verify::EnforceKeyUsage;

use super::error::OptionError;
use super::files::certificates_in;
use crate::configuration::client_verifier;
use crate::revocation::{ListWatcher, RevocableClients, RevocationFiles};

/// Revocation lists in files. The program has an option `--client-ca`, which they require.
#[derive(Clone, Debug, Args)]
pub struct RevocationOptions {
    /// File with revocation lists for client certificates, PEM with any number of lists or DER with
    /// one; can be repeated
    ///
    /// A client is refused if its certificate, or that of a CA above it, is on a list. It is also refused if
    /// the lists can't tell: for each CA of its chain, the root included, there has to be a list whose time
    /// (nextUpdate) isn't over. The files have to be regular ones of at most 256 MiB. They are read again when they change. An older list in place of
    /// a newer one readmits nobody until the next start: for a CA below --client-ca, from the moment on when one of
    /// its clients has connected, or from the start if --crl-issuers has the CA.
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_ca",
        help_heading = "Client certificates"
    )]
    pub crl: Vec<PathBuf>,

    /// PEM file with certificates of CAs below --client-ca that have lists in --crl: an older list in place of a newer
    /// one is noticed from the start, and not only once a client of the CA has connected
    #[arg(
        long,
        value_name = "FILE",
        requires = "crl",
        help_heading = "Client certificates"
    )]
    pub crl_issuers: Option<PathBuf>,

    /// Check the clients' own certificates against --crl, and not those of the CAs above them
    ///
    /// Then lists of the CAs that issue to clients are enough, but a CA that was revoked is not noticed.
    #[arg(long, requires = "crl", help_heading = "Client certificates")]
    crl_leaf_only: bool,
}

impl RevocationOptions {
    /// The verifier of client certificates under these roots, and the watcher of its revocation lists, if there are
    /// any; it looks at the interval `every` whether the files have changed.
    ///
    /// # Errors
    ///
    /// [`OptionError`] if a file can't be used, there are no roots, or the provider can't be built.
    pub fn verify_clients(
        &self,
        builder: Builder,
        roots: RootCertStore,
        every: Duration,
    ) -> Result<(Arc<dyn ClientCertVerifier>, Option<ListWatcher>), OptionError> {
        if self.crl.is_empty() {
            return Ok((client_verifier(builder, roots)?, None));
        }
        let files = RevocationFiles {
            files: self.crl.clone(),
            leaf_only: self.crl_leaf_only,
        };
        let issuers = match &self.crl_issuers {
            Some(file) => certificates_in(file)?,
            None => Vec::new(),
        };
        let (clients, lists) = RevocableClients::watch(builder, roots, files, &issuers, every)?;
        Ok((Arc::new(EnforceKeyUsage::new(clients)), Some(lists)))
    }
}
