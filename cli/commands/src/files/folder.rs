//! Folders that only their owner can enter: a folder that appears under its name when it is filled, and a temporary
//! one that is removed.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use pq_keys::files::{FileError, PREFIX, folder_of, rename_over, sync_folder};
use tempfile::Builder;

use super::error::OutputError;
use super::unfinished::{Undo, Unfinished};

/// Makes a folder that is only for its owner, and the folders above it. `fill` writes into it, and then it
/// appears under its name, on the disk, too. If the name exists by then, another process made that folder, which stays. Returns
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
    draft.prefix(PREFIX).disable_cleanup(true);
    only_for_their_owner(&mut folders, &mut draft);
    folders.create(above).map_err(cant)?;
    let (draft, unfinished) = Unfinished::begin(|| {
        let draft = draft.tempdir_in(above)?.keep();
        Ok((draft.clone(), Undo::RemoveFolder(draft)))
    })
    .map_err(cant)?;
    fill(&draft)?;
    sync_folder(&draft).map_err(cant)?;
    // Under its name it is complete, and nobody removes it.
    match unfinished.proceed(|| rename_over(&draft, path).map(|()| Undo::Nothing)) {
        Ok(()) => {}
        Err(FileError::Write { .. }) if path.is_dir() => return Ok(false),
        Err(error) => return Err(cant(error.into())),
    }
    // No signal waits for the disk.
    sync_folder(folder_of(path)).map_err(cant)?;
    Ok(true)
}

/// A folder with a random name that is only for its owner. It is removed when this is dropped, and if a signal ends the
/// process.
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    _unfinished: Unfinished,
}

impl TemporaryFolder {
    pub(crate) fn new(above: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(prefix).disable_cleanup(true);
        only_for_their_owner(&mut DirBuilder::new(), &mut builder);
        let (path, unfinished) = Unfinished::begin(|| {
            let path = builder.tempdir_in(above)?.keep();
            Ok((path.clone(), Undo::RemoveFolder(path)))
        })?;
        Ok(Self {
            path,
            _unfinished: unfinished,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
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

#[cfg(test)]
mod tests {
    use pq_keys::files::steps;

    use super::super::unfinished::would_go;
    use super::*;

    #[test]
    fn a_signal_removes_the_folder_while_it_is_filled() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("data");
        let look = |draft: &Path| {
            assert!(would_go(draft));
            Ok::<_, OutputError>(())
        };
        assert!(make_folder(&path, look).unwrap());
        assert!(!would_go(&path));
        let fail = |_: &Path| Err(OutputError::BinaryOnTerminal);
        make_folder(&above.path().join("other"), fail).unwrap_err();
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_folder_and_what_is_in_it_are_on_the_disk() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("data");
        steps::take();
        assert!(make_folder::<OutputError>(&path, |_| Ok(())).unwrap());
        let steps = steps::take();
        assert_eq!(steps.len(), 3);
        assert_eq!(
            (steps[0].0, steps[0].1.parent()),
            ("sync", Some(above.path()))
        );
        let then = [("rename", path), ("sync", above.path().to_owned())];
        assert_eq!(steps[1..], then);
    }
}
