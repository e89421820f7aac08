//! Files with secrets, which nobody but their owner may read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

/// The first bytes of a file, at most `limit`.
pub(crate) fn read(path: &Path, limit: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let no_file = || io::Error::other("it is no file");
    // To open a pipe is to wait for whoever writes into it.
    if !path.metadata()?.is_file() {
        return Err(no_file());
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    if others_may_read(&metadata) {
        return Err(io::Error::other(
            "others than its owner may read it; chmod 600",
        ));
    }
    // With enough room, it does not grow, and so leaves no copies.
    let len = usize::try_from(metadata.len()).unwrap_or(limit).min(limit);
    let mut bytes = Zeroizing::new(Vec::with_capacity(len + 1));
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn others_may_read(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;

    metadata.permissions().mode() & 0o077 != 0
}

/// On other systems, the folder says who may read what is in it.
#[cfg(not(unix))]
fn others_may_read(_: &Metadata) -> bool {
    false
}
