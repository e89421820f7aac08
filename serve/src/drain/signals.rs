//! The signals that ask a program to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C and, on Unix, SIGTERM.
#[derive(Debug)]
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl StopSignals {
    /// Catches the signals from now on, where the system has such a thing.
    ///
    /// # Errors
    ///
    /// The errors of the operating system.
    pub fn catch() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    ///
    /// # Errors
    ///
    /// The errors of the operating system.
    pub async fn next(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await?;
        Ok(())
    }
}
