//! A server until a signal stops it, as programs run one.

use std::convert::Infallible;
use std::io;
use std::pin::pin;

use tracing::{info, warn};

use super::server::Server;
use crate::drain::StopSignals;
use crate::notice;

impl Server {
    /// Serves until a signal arrives, and then shuts down; a second signal ends the wait for running requests.
    /// `reloading` is polled meanwhile. The log tells both, and systemd is told where it has started the process.
    ///
    /// Returns whether the server stopped by itself, and not by a second signal.
    ///
    /// # Errors
    ///
    /// The errors of the operating system, if it can't wait for signals.
    pub async fn run(
        self,
        mut stop: StopSignals,
        reloading: impl Future<Output = Infallible>,
    ) -> io::Result<bool> {
        notice::ready();
        let mut reloading = pin!(reloading);
        tokio::select! {
            stopped = stop.next() => stopped?,
            never = reloading.as_mut() => match never {},
        }
        notice::stopping();
        info!(
            "stopping; running requests have {:?} to finish, or until a second signal comes",
            self.grace()
        );
        tokio::select! {
            // Who is still accepted meets the files of today.
            never = reloading.as_mut() => match never {},
            drained = self.shutdown() => {
                if drained.cut_off > 0 {
                    warn!(connections = drained.cut_off, "cut off what was still running");
                }
                info!("stopped");
                Ok(true)
            }
            again = stop.next() => {
                again?;
                warn!("stopped without waiting any longer");
                Ok(false)
            }
        }
    }
}
