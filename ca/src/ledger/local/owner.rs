//! Whose files a CA uses: those that nobody else can have written.

use std::fs::Metadata;

/// Who uses what a file has, which decides whose the file has to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reader {
    /// Anybody may read the file, and relies on the CA's owner.
    Anybody,
    /// Who uses the CA's keys, or writes for it, has to own its files, unless they are the system's administrator's.
    /// Others could be led to a folder of somebody else, whose policy is then in force, or whose links lead to their
    /// own keys.
    Owner,
}

/// Why a file is not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// Other users may write to it.
    Writable,
    /// It belongs to somebody else.
    OtherOwner,
}

/// Who owns a CA's folder: what is in it has to belong to the same user, or to the system's administrator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    #[cfg(unix)]
    user: u32,
}

#[cfg(unix)]
impl Owner {
    /// The owner of a folder.
    pub(crate) fn of(folder: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;

        Self { user: folder.uid() }
    }

    /// Whether the folder is this user's, or the system's administrator's.
    pub(crate) fn is_of_this_user(self) -> bool {
        is_of_this_user(self.user)
    }

    /// Checks a file in the folder.
    pub(crate) fn check(self, metadata: &Metadata, reader: Reader) -> Result<(), Fault> {
        use std::os::unix::fs::MetadataExt;

        check_writable(metadata)?;
        match is_trusted(metadata.uid(), user(), self.user, reader) {
            true => Ok(()),
            false => Err(Fault::OtherOwner),
        }
    }
}

/// On other systems, the permissions of the folder say who may write there.
#[cfg(not(unix))]
impl Owner {
    pub(crate) fn of(_: &Metadata) -> Self {
        Self {}
    }

    pub(crate) fn check(self, _: &Metadata, _: Reader) -> Result<(), Fault> {
        Ok(())
    }
}

/// Checks that only the owner of a file or folder can change it.
#[cfg(unix)]
pub(crate) fn check_writable(metadata: &Metadata) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt;

    match metadata.permissions().mode() & 0o022 {
        0 => Ok(()),
        _ => Err(Fault::Writable),
    }
}

#[cfg(not(unix))]
pub(crate) fn check_writable(_: &Metadata) -> Result<(), Fault> {
    Ok(())
}

/// The user of this process.
#[cfg(unix)]
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether what has this owner is this user's, or the system's administrator's.
#[cfg(unix)]
pub(crate) fn is_of_this_user(owner: u32) -> bool {
    is_trusted(owner, user(), owner, Reader::Owner)
}

/// Whether what belongs to `owner` may be used by `user`, in a folder of `folder`.
#[cfg(unix)]
fn is_trusted(owner: u32, user: u32, folder: u32, reader: Reader) -> bool {
    const ADMINISTRATOR: u32 = 0;
    owner == ADMINISTRATOR
        || owner == user
        || match reader {
            Reader::Anybody => owner == folder,
            Reader::Owner => false,
        }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_for_nobody() {
        const ALICE: u32 = 1000;
        const RESPONDER: u32 = 1001;
        const EVE: u32 = 1002;
        for (owner, user, folder, anybody, keys) in [
            (ALICE, ALICE, ALICE, true, true),
            (0, ALICE, ALICE, true, true),
            // the administrator, whom links could lead to other users' keys
            (ALICE, 0, ALICE, true, false),
            (0, 0, 0, true, true),
            // who answers for the CA reads its certificates, and has a key of its own
            (ALICE, RESPONDER, ALICE, true, false),
            (EVE, ALICE, ALICE, false, false),
            (EVE, 0, ALICE, false, false),
            // a folder that was made to deceive
            (EVE, ALICE, EVE, true, false),
        ] {
            let trusted = |reader| is_trusted(owner, user, folder, reader);
            let who = (owner, user, folder);
            assert_eq!(trusted(Reader::Anybody), anybody, "{who:?}");
            assert_eq!(trusted(Reader::Owner), keys, "{who:?}");
        }
    }
}
