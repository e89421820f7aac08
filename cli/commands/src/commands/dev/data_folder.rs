use std::env;
use std::path::{self, Path, PathBuf};

use crate::failure::Failure;

/// Where the roots are kept.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DataFolder {
    /// Where the roots are [default: what PQTLS_DEV_DIR says, or else pqtls/dev among the user's data]
    #[arg(long = "data-dir", value_name = "DIR", display_order = 800)]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// As the command line has it.
    pub(super) fn given(&self) -> Option<String> {
        let folder = self.data_dir.as_ref()?;
        Some(folder.display().to_string())
    }

    /// The whole path, as it is to be pasted into files that are elsewhere.
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

/// Where programs keep what belongs to the user: on Unix by the XDG Base Directory Specification,
/// whose relative paths are to be ignored.
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

/// Whether the home directory is another user's than of who asks for this, most likely.
fn is_by_sudo() -> bool {
    variable("SUDO_USER").is_some_and(|user| user != Path::new("root"))
}

fn variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
