//! Who may read a file; and whose one is that takes the place of another: as before, where that is possible.

use std::fs::{File, Metadata, OpenOptions};
use std::io;

/// Who may read a file, and write to it, on Unix. On other systems, the folder's permissions say it for every file in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Access {
    /// Nobody but its owner, from its first byte on.
    Private,
    /// Everybody whom the umask allows.
    Public,
    /// Everybody whom the umask allows may read it, and its owner alone may write to it.
    OwnerWrites,
}

/// Options for a file that is made, and for none that is there: so no link is followed.
#[cfg(unix)]
pub(super) fn new_file(access: Access) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    let mut options = File::options();
    options.write(true).create_new(true).mode(match access {
        Access::Private => 0o600,
        Access::Public => 0o666,
        Access::OwnerWrites => 0o644,
    });
    options
}

/// On other systems, the folder says who may read what is in it.
#[cfg(not(unix))]
pub(super) fn new_file(_: Access) -> OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    options
}

/// Gives a draft the owner, the group and the permissions of the file that it is to replace. A private file stays one
/// for its group if it was for owner and group alone; otherwise it is for its owner.
#[cfg(unix)]
pub(super) fn keep(draft: &File, replaced: &Metadata, access: Access) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let made = draft.metadata()?;
    let (owner, group) = (replaced.uid(), replaced.gid());
    // Only the administrator may give a file away; others may give it to a group of theirs.
    let has_owner = made.uid() == owner || fchown(draft, Some(owner), None).is_ok();
    let has_group = made.gid() == group || fchown(draft, None, Some(group)).is_ok();
    let mut mode = replaced.mode() & 0o777;
    if access == Access::Private {
        let is_for_group = has_owner && has_group && mode & 0o007 == 0;
        mode &= if is_for_group { 0o770 } else { 0o700 };
        // It could be replaced, and so it can be read again.
        mode |= 0o600;
    } else {
        if !has_group {
            mode &= 0o707 | (mode & 0o007) << 3;
        }
        if access == Access::OwnerWrites {
            mode &= 0o755;
        }
    }
    draft.set_permissions(Permissions::from_mode(mode))
}

/// On other systems, the folder says who may read what is in it.
#[cfg(not(unix))]
pub(super) fn keep(_: &File, _: &Metadata, _: Access) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    use super::*;

    #[test]
    fn as_before_and_nothing_private_for_all() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        fs::write(&old, "old").unwrap();
        for (access, before, after) in [
            (Access::Private, 0o600, 0o600),
            (Access::Private, 0o640, 0o640),
            (Access::Private, 0o400, 0o600),
            (Access::Private, 0o666, 0o600),
            (Access::Public, 0o600, 0o600),
            (Access::Public, 0o644, 0o644),
            (Access::Public, 0o666, 0o666),
            (Access::Public, 0o4755, 0o755),
            (Access::OwnerWrites, 0o600, 0o600),
            (Access::OwnerWrites, 0o644, 0o644),
            (Access::OwnerWrites, 0o666, 0o644),
            (Access::OwnerWrites, 0o777, 0o755),
        ] {
            fs::set_permissions(&old, Permissions::from_mode(before)).unwrap();
            let draft = tempfile::tempfile().unwrap();
            keep(&draft, &fs::metadata(&old).unwrap(), access).unwrap();
            assert_eq!(draft.metadata().unwrap().mode() & 0o7777, after);
        }
        // Whoever may not give files away has files of one owner alone.
        if chown(&old, Some(1234), Some(4321)).is_ok() {
            let draft = tempfile::tempfile().unwrap();
            keep(&draft, &fs::metadata(&old).unwrap(), Access::Private).unwrap();
            let made = draft.metadata().unwrap();
            assert_eq!((made.uid(), made.gid()), (1234, 4321));
        }
    }
}
