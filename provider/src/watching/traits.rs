//! What the system says of a file without reading it.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::SystemTime;

/// What the system says of a file without reading it. If this has changed, so has the file; if not, the
/// file hasn't either, unless it was written twice within one tick of the file system's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileTraits {
    len: u64,
    modified: Option<SystemTime>,
    /// The file's device and inode, and the time of its last change of any kind (ctime), which programs
    /// can't set.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

impl FileTraits {
    /// Those of a file.
    ///
    /// # Errors
    ///
    /// What the system says if it can't tell.
    pub fn look(path: &Path) -> io::Result<Self> {
        Ok(Self::of(&path.metadata()?))
    }

    /// Those of a file that need not be there; `None` if the system doesn't say.
    pub fn look_for(path: &Path) -> Option<Option<Self>> {
        match Self::look(path) {
            Ok(traits) => Some(Some(traits)),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
            Err(_) => None,
        }
    }

    /// Those of a file that is open, as it was when it was asked.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;

        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: (
                metadata.dev(),
                metadata.ino(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ),
        }
    }
}
