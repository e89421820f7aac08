//! Which of a CA's keys a command uses: the one that issues, or another by its name.

use pq_ca::folder::{FolderError, Role};

use super::opened::CaFolder;
use crate::failure::Failure;

/// Names one of the CA's keys.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WhichKey {
    /// Use this key of the CA, such as issuing-2, in place of the one that issues; "pqtls ca show" lists them
    #[arg(long, value_name = "NAME", value_parser = role)]
    issuer: Option<Role>,
}

impl WhichKey {
    /// The key that is named, if one is.
    pub(super) fn named(&self, folder: &CaFolder) -> Result<Option<Role>, Failure> {
        let Some(role) = self.issuer else {
            return Ok(None);
        };
        let is_there = match role {
            Role::Root => true,
            _ => folder
                .issuing_keys()?
                .iter()
                .any(|(known, _)| *known == role),
        };
        match is_there {
            true => Ok(Some(role)),
            false if folder.is_waiting(role)? => {
                Err(FolderError::KeyWaits(role.name().into()).into())
            }
            false => Err(FolderError::UnknownKey(role.name().into()).into()),
        }
    }

    /// The key that is named, or else the one that issues.
    pub(super) fn or_issuing(&self, folder: &CaFolder) -> Result<Role, Failure> {
        match self.named(folder)? {
            Some(role) => Ok(role),
            None => Ok(folder.issuing_role()?),
        }
    }
}

pub(super) fn role(name: &str) -> Result<Role, String> {
    Role::from_name(name).ok_or_else(|| {
        "it is not the name of a CA's key; they are called root, issuing, issuing-2 and so on"
            .into()
    })
}
