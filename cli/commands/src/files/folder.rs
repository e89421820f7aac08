use std::fs::{self, DirBuilder};
use std::path::Path;

use tempfile::Builder;

use super::destination::OutputError;

/// Makes a folder that is only for its owner, and the folders above it. `fill` writes into it, and then it
/// appears under its name. If the name exists by then, another process made that folder, which stays. Returns
/// whether the folder is the one that was made here.
pub(crate) fn make_folder<E: From<OutputError>>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<bool, E> {
    let cant = |error| E::from(OutputError::at(path, error));
    let above = path.parent().unwrap_or(path);
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    let mut draft = Builder::new();
    draft.prefix(".pqtls-");
    only_for_their_owner(&mut folders, &mut draft);
    folders.create(above).map_err(cant)?;
    let draft = draft.tempdir_in(above).map_err(cant)?;
    fill(draft.path())?;
    match fs::rename(draft.path(), path) {
        Ok(()) => {
            // It is no longer there to be removed.
            let _ = draft.keep();
            Ok(true)
        }
        Err(_) if path.is_dir() => Ok(false),
        Err(error) => Err(cant(error)),
    }
}

#[cfg(unix)]
fn only_for_their_owner(folders: &mut DirBuilder, draft: &mut Builder<'_, '_>) {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    const MODE: u32 = 0o700;
    folders.mode(MODE);
    draft.permissions(fs::Permissions::from_mode(MODE));
}

/// On other systems, the folder of the user's data says who may enter.
#[cfg(not(unix))]
fn only_for_their_owner(_: &mut DirBuilder, _: &mut Builder<'_, '_>) {}
