//! Files with secrets, which nobody but their owner may read: how they are read.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// The first bytes of a file, at most `limit`. What others than its owner may read is refused, on Unix: it is no secret.
///
/// # Errors
///
/// If it can't be read, or others may read it.
pub fn read_private(path: &Path, limit: usize) -> io::Result<Zeroizing<Vec<u8>>> {
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

/// The text of a private file, such as a password, of 1 to `max` bytes. One end of line after it is no part of it. `what` it is,
/// the error says.
///
/// # Errors
///
/// As [`read_private()`], and if it is no text of UTF-8 or its length is another.
pub fn read_private_line(path: &Path, what: &str, max: usize) -> io::Result<Zeroizing<String>> {
    let bytes = read_private(path, max.saturating_add(3))?;
    let text = core::str::from_utf8(&bytes).map_err(|_| io::Error::other("it is no text"))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    match (1..=max).contains(&text.len()) {
        true => Ok(Zeroizing::new(text.into())),
        false => Err(io::Error::other(format!("{what} has 1 to {max} bytes"))),
    }
}

/// The file of a credential of systemd (`LoadCredential=`) in the folder that `$CREDENTIALS_DIRECTORY` names.
///
/// # Errors
///
/// Why there is none: no folder, or a name that is none of a file.
pub fn credential_file(folder: Option<OsString>, name: &str) -> Result<PathBuf, &'static str> {
    let folder = folder
        .ok_or("$CREDENTIALS_DIRECTORY is not set; run it as a service with LoadCredential=")?;
    let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    match is_name {
        true => Ok(PathBuf::from(folder).join(name)),
        false => Err("the name of a credential is that of a file"),
    }
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
