use std::env;
use std::path::PathBuf;

use pq_ca::Folder;

use crate::failure::Failure;

/// Where the CA is.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Place {
    /// The CA's folder [default: the environment variable PQTLS_CA, or else ca]
    #[arg(long, value_name = "DIR", display_order = 800)]
    dir: Option<PathBuf>,
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        let from_environment = || env::var_os("PQTLS_CA").filter(|folder| !folder.is_empty());
        self.dir
            .clone()
            .or_else(|| from_environment().map(PathBuf::from))
            .unwrap_or_else(|| "ca".into())
    }

    pub(super) fn open(&self) -> Result<Folder, Failure> {
        Ok(Folder::open(self.path())?)
    }
}

/// Who does something to a CA.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Actor {
    /// Who does this, as the ledger will say [default: the user's name]
    #[arg(long, value_name = "WHO", display_order = 801)]
    by: Option<String>,
}

impl Actor {
    pub(super) fn name(&self) -> String {
        let user = || {
            let names = ["USER", "LOGNAME"].into_iter().flat_map(env::var);
            names.into_iter().find(|name| !name.is_empty())
        };
        self.by
            .clone()
            .or_else(user)
            .unwrap_or_else(|| "unknown".into())
    }
}
