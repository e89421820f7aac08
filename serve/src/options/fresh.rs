//! The options for a server without certificates, which issues its own.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use pq_x509::keys::SignatureAlgorithm;
use rustls::pki_types::ServerName;
use rustls_pq::Profile;

use super::error::OptionError;
use crate::demonstration::{Client, Pki, algorithm_of};

/// What to issue if there are no chains in files. The program also has [`CertificateOptions`](super::CertificateOptions),
/// with which these options conflict.
#[derive(Clone, Debug, Args)]
pub struct FreshOptions {
    /// Algorithm of the fresh root, such as slh-dsa-shake-128s; if the server's key has another
    /// algorithm, there is an intermediate CA between them [default: the same]
    #[arg(
        long,
        value_name = "ALGORITHM",
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    pub root: Option<SignatureAlgorithm>,

    /// Directory for the fresh certificates, if no --cert is given
    #[arg(
        long,
        value_name = "DIRECTORY",
        default_value = "pki",
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    pub pki_dir: PathBuf,

    /// One more DNS name or address for the fresh certificate; can be repeated
    #[arg(
        long = "name",
        value_name = "NAME",
        value_parser = server_name,
        conflicts_with = "cert",
        help_heading = "Certificates"
    )]
    pub names: Vec<ServerName<'static>>,
}

/// Fresh certificates.
#[derive(Debug)]
pub struct Fresh {
    /// The certificates.
    pub pki: Pki,
    /// The algorithm of the root's key.
    pub root: SignatureAlgorithm,
    /// The algorithm of all other keys.
    pub algorithm: SignatureAlgorithm,
}

impl FreshOptions {
    /// Issues certificates for a server that listens on this address, with keys as the profile wants them.
    ///
    /// # Errors
    ///
    /// [`OptionError`] if the profile excludes the root's algorithm, or a certificate can't be issued.
    pub fn issue(
        &self,
        profile: Profile,
        listens_on: IpAddr,
        client: Client,
    ) -> Result<Fresh, OptionError> {
        let algorithm = algorithm_of(profile);
        let root = self.root.unwrap_or(algorithm);
        if profile == Profile::Cnsa2 && root != algorithm {
            return Err(OptionError::Root { root, algorithm });
        }
        let names = self.all_names(listens_on);
        Ok(Fresh {
            pki: Pki::issue_under(root, algorithm, &names, client)?,
            root,
            algorithm,
        })
    }

    /// The names for the fresh certificate: this machine's, the address that it listens on,
    /// and those asked for.
    fn all_names(&self, listens_on: IpAddr) -> Vec<ServerName<'static>> {
        let mut names: Vec<_> = ["localhost", "127.0.0.1", "::1"]
            .iter()
            .filter_map(|name| ServerName::try_from(*name).ok())
            .collect();
        if !listens_on.is_unspecified() {
            names.push(ServerName::IpAddress(listens_on.into()));
        }
        names.extend(self.names.iter().cloned());
        let mut seen = Vec::new();
        names.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name.clone());
            is_new
        });
        names
    }
}

fn server_name(text: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(text.to_owned())
        .map_err(|_| format!("{text:?} is neither a DNS name nor an IP address"))
}
