//! What Ctrl-C and `kill` do while a CA is made: nothing of it is left, or it is complete.

use core::time::Duration;
use std::thread;

use pq_ca::folder::Interruption;

use crate::failure::Failure;
use crate::files;

/// Stops what is being made when a signal ends this process, as long as what this returns is kept. Where no signals are
/// waited for, what is left is removed by the next `pqtls ca init`.
pub(super) fn stop_on_signals(interruption: &Interruption) -> Result<impl Sized, Failure> {
    let interruption = interruption.clone();
    files::stopped_by_signals(move || interruption.stop()).map_err(Failure::Signals)
}

/// Gives the signal the time to end this process, which would otherwise complain of what the signal did.
pub(super) fn wait_for_the_end() {
    thread::sleep(Duration::from_secs(30));
}
