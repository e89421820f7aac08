//! Which files only their owner may read.

use std::fs::Metadata;

/// Whether only its owner may read a file.
#[cfg(unix)]
pub(super) fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.mode() & 0o077 == 0
}

/// On other systems each file may be such a one.
#[cfg(not(unix))]
pub(super) fn is_private(_: &Metadata) -> bool {
    true
}
