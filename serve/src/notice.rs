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
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "can't tell who has started this process how it is");
    }
}
