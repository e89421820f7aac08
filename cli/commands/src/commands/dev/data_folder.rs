//! Where the roots for development are kept: `--data-dir`, `PQTLS_DEV_DIR` or the user's data folder on this system.
//! Under sudo it refuses the last of these, as the home directory may be another user's.

use std::env;
use std::path::{self, Path, PathBuf};

use crate::failure::Failure;

/// Where the roots are kept.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DataFolder {
    /// The roots' folder [default: the environment variable PQTLS_DEV_DIR, or else pqtls/dev in the user's data]
    #[arg(long = "data-dir", value_name = "DIR", display_order = 800)]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// The folder as the command line names it.
    pub(super) fn given(&self) -> Option<String> {
        let folder = self.data_dir.as_ref()?;
        Some(folder.display().to_string())
    }

    /// The absolute path, since users paste it into files elsewhere.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let given = self.data_dir.clone().or_else(|| variable("PQTLS_DEV_DIR"));
        let folder = match given {
            Some(folder) => folder,
            None if is_by_sudo() => return Err(Failure::BySudo),
            None => data_of_user().ok_or(Failure::NoHome)?.join("pqtls/dev"),
        };
        Ok(path::absolute(&folder).unwrap_or(folder))
    }
}

/// Where programs keep the user's data: on Unix by the XDG Base Directory Specification, which says to ignore
/// relative paths.
pub(super) fn data_of_user() -> Option<PathBuf> {
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return Some(env::home_dir()?.join("Library/Application Support"));
    }
    let stated = variable("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    stated.or_else(|| Some(env::home_dir()?.join(".local/share")))
}

/// Whether the home directory is probably not that of the user who runs this.
fn is_by_sudo() -> bool {
    variable("SUDO_USER").is_some_and(|user| user != Path::new("root"))
}

fn variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
