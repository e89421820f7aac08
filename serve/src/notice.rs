//! What the server tells the process that has started it, such as systemd: that it is ready, reloads or stops. Nothing is
//! said where nobody listens (NOTIFY_SOCKET).

use std::sync::{Mutex, PoisonError};

#[cfg(all(unix, feature = "systemd"))]
use sd_notify::NotifyState;

/// The server serves.
pub(crate) fn ready() {
    tell(State::Ready);
}

/// The server has begun to read its files again, for `Type=notify-reload`.
#[cfg(unix)]
pub(crate) fn reloading() {
    tell(State::Reloading);
}

/// The server has read its files again.
#[cfg(unix)]
pub(crate) fn reloaded() {
    tell(State::Reloaded);
}

/// The server accepts no more. Whatever it reads from now on, it is not ready again.
pub(crate) fn stopping() {
    tell(State::Stopping);
}

#[derive(Clone, Copy, Debug)]
enum State {
    Ready,
    Reloading,
    Reloaded,
    Stopping,
}

/// What was told before.
static TOLD: Mutex<Told> = Mutex::new(Told { is_stopping: false });

struct Told {
    is_stopping: bool,
}

impl Told {
    /// Whether it is to be told.
    fn next(&mut self, state: State) -> bool {
        match state {
            State::Reloading | State::Reloaded => return !self.is_stopping,
            State::Ready => self.is_stopping = false,
            State::Stopping => self.is_stopping = true,
        }
        true
    }
}

fn tell(state: State) {
    // Until it is told, so that what is told keeps its order.
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.next(state) {
        send(state);
    }
}

#[cfg(all(unix, feature = "systemd"))]
fn send(state: State) {
    match state {
        State::Ready | State::Reloaded => say(&[NotifyState::Ready]),
        State::Stopping => say(&[NotifyState::Stopping]),
        State::Reloading => match NotifyState::monotonic_usec_now() {
            Ok(now) => say(&[NotifyState::Reloading, now]),
            Err(error) => {
                tracing::warn!(%error, "can't tell who has started this process of the reload")
            }
        },
    }
}

#[cfg(not(all(unix, feature = "systemd")))]
fn send(_: State) {}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Files are read while running requests are finished, but a server that stops is ready no more.
    #[test]
    fn a_server_that_stops_tells_of_no_reload() {
        use State::{Ready, Reloaded, Reloading, Stopping};

        let mut told = Told { is_stopping: false };
        for (state, is_told) in [
            (Ready, true),
            (Reloading, true),
            (Reloaded, true),
            (Reloading, true),
            (Stopping, true),
            (Reloaded, false),
            (Reloading, false),
            (Reloaded, false),
            // The next server of the same process.
            (Ready, true),
            (Reloading, true),
        ] {
            assert_eq!(told.next(state), is_told, "{state:?}");
        }
    }
}
