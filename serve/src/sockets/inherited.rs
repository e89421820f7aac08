//! Sockets that the process was given by its starter: LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES, as systemd sets them.

use std::io;

use super::kind::Kind;

#[cfg(all(unix, feature = "systemd"))]
pub(super) fn take(name: Option<&str>) -> io::Result<Vec<Kind>> {
    use super::unix::UnixSocket;

    let mut given = GIVEN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let given = given.get_or_insert_with(Given::from_environment);
    let mut listeners = Vec::new();
    for index in 0..given.sockets.len() {
        if name.is_some_and(|name| given.names.get(index).map(String::as_str) != Some(name)) {
            continue;
        }
        let kind = match given.sockets.take_tcp_listener(index) {
            Ok(Some(tcp)) => {
                check_listens(&tcp)?;
                tcp.set_nonblocking(true)?;
                Kind::Tcp(tokio::net::TcpListener::from_std(tcp)?)
            }
            // Another address has it.
            Ok(None) => continue,
            Err(_) => match given.sockets.take_unix_listener(index)? {
                Some(unix) => {
                    check_listens(&unix)?;
                    unix.set_nonblocking(true)?;
                    let unix = tokio::net::UnixListener::from_std(unix)?;
                    Kind::Unix(UnixSocket::inherited(unix))
                }
                None => continue,
            },
        };
        given.taken.insert(index);
        listeners.push(kind);
    }
    match listeners.is_empty() {
        true => Err(none_inherited()),
        false => Ok(listeners),
    }
}

/// A unit with Accept=yes gives each process a connection, on which nobody can be accepted.
#[cfg(all(unix, feature = "systemd"))]
fn check_listens(socket: impl std::os::fd::AsFd) -> io::Result<()> {
    // Apple's systems don't tell, and have no systemd.
    #[cfg(not(target_vendor = "apple"))]
    if !rustix::net::sockopt::socket_acceptconn(socket)? {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "an inherited socket doesn't listen; in a socket unit, set Accept=no",
        ));
    }
    #[cfg(target_vendor = "apple")]
    let _ = socket;
    Ok(())
}

/// Logs which sockets nobody has asked for, if any were.
#[cfg(all(unix, feature = "systemd", feature = "command-line"))]
pub(super) fn warn_of_rest() {
    let given = GIVEN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some(given) = &*given else {
        return;
    };
    for index in (0..given.sockets.len()).filter(|index| !given.taken.contains(index)) {
        let name = given.names.get(index).map_or("", String::as_str);
        tracing::warn!(name, "nobody listens on an inherited socket of this name");
    }
}

#[cfg(not(all(unix, feature = "systemd")))]
pub(super) fn take(_: Option<&str>) -> io::Result<Vec<Kind>> {
    Err(none_inherited())
}

fn none_inherited() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        "no such socket was inherited (LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES)",
    )
}

/// What the process was given; each socket can be taken once.
#[cfg(all(unix, feature = "systemd"))]
static GIVEN: std::sync::Mutex<Option<Given>> = std::sync::Mutex::new(None);

#[cfg(all(unix, feature = "systemd"))]
struct Given {
    sockets: listenfd::ListenFd,
    names: Vec<String>,
    taken: std::collections::HashSet<usize>,
}

#[cfg(all(unix, feature = "systemd"))]
impl Given {
    fn from_environment() -> Self {
        // listenfd takes sockets without LISTEN_PID, too, as other starters give them; systemd always sets it.
        let is_for_this_process =
            std::env::var("LISTEN_PID").is_ok_and(|pid| pid.parse() == Ok(std::process::id()));
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        Self {
            sockets: match is_for_this_process {
                true => listenfd::ListenFd::from_env(),
                false => listenfd::ListenFd::empty(),
            },
            names: names.split(':').map(str::to_owned).collect(),
            taken: std::collections::HashSet::new(),
        }
    }
}
