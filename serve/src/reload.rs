//! Certificates and revocation lists that are read again when SIGHUP arrives.

use std::convert::Infallible;
use std::io;
#[cfg(unix)]
use std::time::Duration;

use rustls_pq::identity::Watcher;
#[cfg(unix)]
use rustls_pq::watching::Reload;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(unix)]
use tokio::time::{sleep, timeout};
#[cfg(unix)]
use tracing::{info, warn};

#[cfg(unix)]
use crate::notice;
use crate::revocation::ListWatcher;

/// How long to wait for what is read again before the server says that it is ready. systemd waits for 90 seconds.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(unix)]
async fn all_over(reloads: &[Reload]) {
    while !reloads.iter().all(Reload::is_over) {
        sleep(Duration::from_millis(10)).await;
    }
}

/// Reads the certificates and the revocation lists again whenever SIGHUP arrives, on Unix, for as long as the
/// future is polled.
///
/// # Errors
///
/// The errors of the operating system.
pub fn reload_on_hangup(
    watcher: Option<Watcher>,
    lists: Option<ListWatcher>,
) -> io::Result<impl Future<Output = Infallible>> {
    #[cfg(unix)]
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            #[cfg(unix)]
            if hangup.recv().await.is_some() {
                notice::reloading();
                let certificates = watcher.as_ref().map(Watcher::reload);
                if certificates.is_none() {
                    info!("SIGHUP: the certificates are not from files");
                }
                let lists = lists.as_ref().map(ListWatcher::reload);
                // The log tells the outcome.
                let reloads: Vec<_> = certificates.into_iter().chain(lists).collect();
                if timeout(PATIENCE, all_over(&reloads)).await.is_err() {
                    warn!(
                        ?PATIENCE,
                        "the files are still being read; check whether the file system answers"
                    );
                }
                notice::reloaded();
                continue;
            }
            // No more signals; the files are still watched.
            let _watching = (&watcher, &lists);
            std::future::pending::<()>().await;
        }
    })
}
