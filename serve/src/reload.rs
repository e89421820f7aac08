//! Certificates and revocation lists that are read again when SIGHUP arrives.

use std::convert::Infallible;
use std::io;

use rustls_pq::identity::Watcher;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(unix)]
use tracing::info;

#[cfg(unix)]
use crate::notice;
use crate::revocation::ListWatcher;

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
                if let Some(lists) = &lists {
                    lists.reload();
                }
                match &watcher {
                    Some(watcher) => watcher.reload(),
                    None => info!("SIGHUP: the certificates are not from files"),
                }
                // The orders are given; the log tells the outcome.
                notice::ready();
                continue;
            }
            // No more signals; the files are still watched.
            let _watching = (&watcher, &lists);
            std::future::pending::<()>().await;
        }
    })
}
