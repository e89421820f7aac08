//! EST, which a CA's server has beside the rest: who its users are.

use alloc::sync::Arc;
use std::path::PathBuf;

use pq_ca_server::est::{EstDoor, EstUsers, client_certificates};
use pq_ca_server::{Clock, Doors};
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use tokio::task::JoinHandle;

use super::kept_file::KeptFile;
use super::never;
use crate::failure::Failure;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "EST")]
pub(super) struct EstOptions {
    /// Serve EST at /.well-known/est: devices get what the table [est] of the CA's policy says, and renew it with their certificates
    #[arg(long)]
    est: bool,

    /// TOML file with the users that may ask for certificates, and hashes of their passwords; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "est")]
    est_users: Option<PathBuf>,
}

/// EST, before there is a server.
pub(super) struct OpenedEst {
    users: Option<KeptFile<EstUsers>>,
}

impl EstOptions {
    /// Reads the users, if there is to be EST. It may block.
    pub(super) fn open(&self) -> Result<Option<OpenedEst>, Failure> {
        if !self.est {
            return Ok(None);
        }
        let users = self.est_users.as_deref().map(|path| {
            KeptFile::read(path, "the file of EST's users", |text| {
                EstUsers::parse(text).map_err(|error| error.to_string())
            })
        });
        Ok(Some(OpenedEst {
            users: users.transpose()?,
        }))
    }

    /// What asks clients for certificates in TLS, if anybody needs that.
    pub(super) fn client_certificates(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Option<Arc<dyn ClientCertVerifier>> {
        self.est.then(|| client_certificates(provider.clone()))
    }
}

impl OpenedEst {
    /// Mounts it at the doors, which are at this URL. Returns the URL for clients, and what keeps it.
    pub(super) fn mount(
        self,
        doors: &Doors,
        url: &str,
    ) -> Result<(String, Option<JoinHandle<()>>), Failure> {
        let door = Arc::new(EstDoor::new(doors.clone(), Clock::default()));
        let keeping = match self.users {
            None => None,
            Some(users) => {
                door.replace_users(users.parsed()?);
                let door = door.clone();
                let replace = move |users| door.replace_users(users);
                Some(tokio::spawn(never(users.keep(replace))))
            }
        };
        doors.mount(EstDoor::PATH, door);
        Ok((format!("{url}{}", EstDoor::PATH), keeping))
    }
}
