//! What the server tells the process that has started it, such as systemd: that it is ready, reloads or stops. Nothing is
//! said where nobody listens (NOTIFY_SOCKET).

#[cfg(all(unix, feature = "systemd"))]
use sd_notify::NotifyState;

/// The server serves, or has read its files again.
pub(crate) fn ready() {
    #[cfg(all(unix, feature = "systemd"))]
    say(&[NotifyState::Ready]);
}

/// The server has begun to read its files again, for `Type=notify-reload`.
#[cfg(unix)]
pub(crate) fn reloading() {
    #[cfg(all(unix, feature = "systemd"))]
    match NotifyState::monotonic_usec_now() {
        Ok(now) => say(&[NotifyState::Reloading, now]),
        Err(error) => {
            tracing::warn!(%error, "can't tell who has started this process of the reload")
        }
    }
}

/// The server accepts no more.
pub(crate) fn stopping() {
    #[cfg(all(unix, feature = "systemd"))]
    say(&[NotifyState::Stopping]);
}

#[cfg(all(unix, feature = "systemd"))]
fn say(states: &[NotifyState<'_>]) {
    let abstract_name = std::env::var_os("NOTIFY_SOCKET")
        .and_then(|socket| Some(socket.as_encoded_bytes().strip_prefix(b"@")?.to_owned()));
    let said = match abstract_name {
        // sd_notify takes it for a path.
        Some(name) => say_by_name(&name, states),
        None => sd_notify::notify(states),
    };
    if let Err(error) = said {
        tracing::warn!(%error, "can't tell who has started this process how it is");
    }
}

/// Over a socket that has a name and no file, which only Linux knows.
#[cfg(all(target_os = "linux", feature = "systemd"))]
fn say_by_name(name: &[u8], states: &[NotifyState<'_>]) -> std::io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let lines: String = states.iter().map(|state| format!("{state}\n")).collect();
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    socket.send(lines.as_bytes())?;
    Ok(())
}

#[cfg(all(unix, not(target_os = "linux"), feature = "systemd"))]
fn say_by_name(_: &[u8], _: &[NotifyState<'_>]) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
