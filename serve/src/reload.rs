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

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    use rustls_pq::watching::{Watch, WatchThread};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A look takes until something comes, or can't come any more.
    struct Waits(Receiver<()>);

    impl Watch for Waits {
        fn look(&mut self, _: bool, _: &dyn Fn() -> bool) {
            let _ = self.0.recv();
        }
    }

    #[tokio::test]
    async fn all_is_over_when_the_last_is() {
        timeout(LONG, all_over(&[])).await.unwrap();
        let (go_on, slow) = channel();
        let watches = [channel().1, slow, channel().1];
        let watches =
            watches.map(|receiver| WatchThread::start("tests", LONG, Waits(receiver)).unwrap());
        let reloads = watches.each_ref().map(WatchThread::reload);
        let start = Instant::now();
        while !(reloads[0].is_over() && reloads[2].is_over()) {
            assert!(start.elapsed() < LONG);
            sleep(Duration::from_millis(1)).await;
        }
        let early = timeout(Duration::from_millis(50), all_over(&reloads)).await;
        assert!(early.is_err());
        drop(go_on);
        timeout(LONG, all_over(&reloads)).await.unwrap();
    }
}
