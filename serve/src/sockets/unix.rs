//! A Unix socket, whose file appears with its permissions, listened on, and is removed at the end.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use rustix::fs::OFlags;
use tokio::net::{UnixListener, UnixStream};

/// A Unix socket that listens.
#[derive(Debug)]
pub(super) struct UnixSocket {
    /// None if its starter has made it. It is dropped first: a name that is there is listened on, and nobody takes it for stale.
    file: Option<SocketFile>,
    pub(super) listener: UnixListener,
}

impl UnixSocket {
    /// Makes the file. One that is there is replaced if it is a socket that nobody listens on.
    pub(super) async fn bind(path: &Path, mode: u32) -> io::Result<Self> {
        // Clients have to be able to name it.
        SocketAddr::from_pathname(path)?;
        let folder = FreshFolder::beside(path)?;
        let draft = folder.0.join("s");
        let listener = bind_to(&folder.0, &draft)?;
        // Nobody else can have put a link there.
        fs::set_permissions(&draft, Permissions::from_mode(mode))?;
        // Whoever takes the name after that has another file.
        let device_and_inode = device_and_inode(&draft)?;
        // A rename would replace what is there.
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                replace_stale(path, &draft).await?;
            }
            linked => linked?,
        }
        Ok(Self {
            file: Some(SocketFile {
                path: path.into(),
                device_and_inode,
            }),
            listener,
        })
    }

    #[cfg(feature = "systemd")]
    pub(super) fn inherited(listener: UnixListener) -> Self {
        Self {
            file: None,
            listener,
        }
    }
}

/// Listens on `draft` in `folder`, whose path may be longer than that of a socket can be.
fn bind_to(folder: &Path, draft: &Path) -> io::Result<UnixListener> {
    if cfg!(target_os = "linux") && SocketAddr::from_pathname(draft).is_err() {
        let folder = File::open(folder)?;
        return UnixListener::bind(format!("/proc/self/fd/{}/s", folder.as_raw_fd()));
    }
    UnixListener::bind(draft)
}

impl fmt::Display for UnixSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "unix:{}", file.path.display()),
            None => f.write_str("an inherited Unix socket"),
        }
    }
}

/// Puts a socket in place of one whose server is gone. Anything else stays, and is an error.
async fn replace_stale(path: &Path, draft: &Path) -> io::Result<()> {
    // Of two that start, one would take the other's socket for the stale one that it has seen.
    let _turn = Turn::take(path)?;
    let seen = device_and_inode(path)?;
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(in_use("there is a file of this name, which is no socket"));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        Ok(_) => return Err(in_use("another process listens there")),
        // It may be full, or somebody else's.
        Err(error) => return Err(error),
    }
    if device_and_inode(path)? != seen {
        return Err(in_use("another process has taken the name"));
    }
    fs::rename(draft, path)
}

fn in_use(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, why.to_owned())
}

/// A folder for this process alone.
struct FreshFolder(PathBuf);

impl FreshFolder {
    fn beside(path: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);

        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            let name = format!(".{:x}{:x}{number:x}", process::id(), time.subsec_micros());
            let folder = path.with_file_name(name);
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(folder)),
            }
        }
    }
}

impl Drop for FreshFolder {
    fn drop(&mut self) {
        // The socket has another name by now, or is not to be.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The turn to replace a socket: a lock on a file beside it, which is removed when this is dropped.
struct Turn {
    path: PathBuf,
    _file: File,
}

impl Turn {
    fn take(socket: &Path) -> io::Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(socket.file_name().unwrap_or_default());
        name.push(".lock");
        let path = socket.with_file_name(name);
        // No link is followed, and nothing else that has the name waits for somebody.
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let file = match made {
            // A process that was killed has left it, or holds it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => OpenOptions::new()
                .read(true)
                .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
                .open(&path)?,
            made => made?,
        };
        file.try_lock()
            .map_err(|_| in_use("another process is about to listen there"))?;
        // Its holder may have removed it meanwhile, and what is locked is no lock for others.
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(in_use("something that is no file has the name of its lock"));
        }
        if device_and_inode(&path).ok() != Some((metadata.dev(), metadata.ino())) {
            return Err(in_use("another process was about to listen there"));
        }
        Ok(Self { path, _file: file })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The file of a socket, which is removed when this is dropped if it is still the same.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    device_and_inode: (u64, u64),
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

    /// As long as a socket has the permissions of any new file, nobody else reaches it.
    #[test]
    fn drafts_are_in_a_folder_for_the_owner_alone() {
        let folder = TempDir::new().unwrap();
        let fresh = FreshFolder::beside(&folder.path().join("socket")).unwrap();
        let mode = fs::metadata(&fresh.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    /// 107 bytes is what Linux takes; the draft's path is longer.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_longest_path_will_do() {
        let folder = TempDir::new().unwrap();
        let longest = 107 - folder.path().as_os_str().len() - "//s".len();
        let folder = folder.path().join("x".repeat(longest));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("s");
        for _ in 0..2 {
            let socket = UnixSocket::bind(&path, 0o600).await.unwrap();
            UnixStream::connect(&path).await.unwrap();
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
            // The next one finds it stale.
            std::mem::forget(socket.file);
        }
        UnixSocket::bind(&folder.join("st"), 0o600)
            .await
            .unwrap_err();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    /// Whoever may make files there must not keep a server from its start, nor lead it elsewhere.
    #[tokio::test]
    async fn what_is_no_lock_is_refused_at_once() {
        let folder = TempDir::new().unwrap();
        let (path, lock) = (
            folder.path().join("socket"),
            folder.path().join(".socket.lock"),
        );
        drop(UnixListener::bind(&path).unwrap());
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        UnixSocket::bind(&path, 0o600).await.unwrap_err();
        fs::remove_file(&lock).unwrap();
        let made = process::Command::new("mkfifo").arg(&lock).status();
        assert!(made.unwrap().success());
        let refused = UnixSocket::bind(&path, 0o600).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        fs::remove_file(&lock).unwrap();
        UnixSocket::bind(&path, 0o600).await.unwrap();
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

    /// Nothing is left beside it but the socket, whose name is never there before it listens.
    #[tokio::test(flavor = "multi_thread", worker_threads = 8)]
    async fn of_many_that_start_one_listens() {
        for is_stale in [false, true] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("socket");
            if is_stale {
                drop(UnixListener::bind(&path).unwrap());
            }
            let mut starters = tokio::task::JoinSet::new();
            for _ in 0..20 {
                let path = path.clone();
                starters.spawn(async move { UnixSocket::bind(&path, 0o600).await });
            }
            let mut bound = starters.join_all().await;
            bound.retain(Result::is_ok);
            assert_eq!(bound.len(), 1, "{is_stale}");
            UnixStream::connect(&path).await.unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            drop(bound);
            assert!(!path.exists());
        }
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
