//! A Unix socket, whose file is made with its permissions and removed at the end.

use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// A Unix socket that listens.
#[derive(Debug)]
pub(super) struct UnixSocket {
    pub(super) listener: UnixListener,
    /// None if its starter has made it.
    file: Option<SocketFile>,
}

impl UnixSocket {
    /// Makes the file. One that is there is replaced if it is a socket that nobody listens on.
    pub(super) async fn bind(path: &Path, mode: u32) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                remove_stale(path).await?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        let file = SocketFile::of(path)?;
        // Before that, the umask decides, which usually leaves it to the same user to connect.
        fs::set_permissions(path, Permissions::from_mode(mode))?;
        Ok(Self {
            listener,
            file: Some(file),
        })
    }

    #[cfg(feature = "systemd")]
    pub(super) fn inherited(listener: UnixListener) -> Self {
        Self {
            listener,
            file: None,
        }
    }
}

impl fmt::Display for UnixSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "unix:{}", file.path.display()),
            None => f.write_str("an inherited Unix socket"),
        }
    }
}

/// Removes the file of a socket whose server is gone. Anything else stays, and is an error.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let in_use = |why: &str| io::Error::new(io::ErrorKind::AddrInUse, why.to_owned());
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(in_use("there is a file of this name, which is no socket"));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Ok(_) => Err(in_use("another process listens there")),
        // It may be full, or somebody else's.
        Err(error) => Err(error),
    }
}

/// The file of a socket, which is removed when this is dropped if it is still the same.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    device_and_inode: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.into(),
            device_and_inode: device_and_inode(path)?,
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if device_and_inode(&self.path).is_ok_and(|now| now == self.device_and_inode) {
            // Whoever starts next removes it otherwise.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn device_and_inode(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn a_socket_has_its_mode_and_goes_with_its_server() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("socket");
        for mode in [0o600, 0o660] {
            let socket = UnixSocket::bind(&path, mode).await.unwrap();
            let metadata = fs::symlink_metadata(&path).unwrap();
            assert_eq!(metadata.permissions().mode() & 0o777, mode);
            drop(socket);
            assert!(!path.exists());
        }
    }

    /// That of a server that was killed is replaced; one that is served is not.
    #[tokio::test]
    async fn only_a_stale_socket_is_replaced() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let socket = UnixSocket::bind(&path, 0o600).await.unwrap();
        let refused = UnixSocket::bind(&path, 0o600).await.unwrap_err();
        assert_eq!(refused.to_string(), "another process listens there");
        // The refused one has removed nothing.
        UnixStream::connect(&path).await.unwrap();

        // What has replaced the file since isn't removed.
        fs::remove_file(&path).unwrap();
        let newer = UnixListener::bind(&path).unwrap();
        drop(socket);
        assert!(path.exists());
        drop(newer);
    }

    #[tokio::test]
    async fn a_file_is_no_stale_socket() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "precious").unwrap();
        let refused = UnixSocket::bind(&path, 0o600).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        // Nor is a link to a stale socket.
        let stale = folder.path().join("stale");
        drop(UnixListener::bind(&stale).unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&stale, &link).unwrap();
        UnixSocket::bind(&link, 0o600).await.unwrap_err();
        assert!(stale.exists());
    }
}
