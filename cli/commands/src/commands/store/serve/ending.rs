//! The end of the server, which comes even if a request never ends, such as one that waits for a token.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;
use std::process;
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::runtime::Runtime;

/// How long requests may still run whose clients are cut off.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// How long counts are written and the store is closed.
const CLOSING: Duration = Duration::from_secs(3);

/// How long the process may take to end once it was told to.
const LEAVING: Duration = Duration::from_secs(3);

/// How many requests a line of the log names.
const MAX_NAMED: usize = 8;

/// The requests that are being answered.
#[derive(Clone, Default)]
pub(super) struct Running(Arc<Mutex<Requests>>);

#[derive(Default)]
struct Requests {
    /// How many there were.
    begun: u64,
    named: BTreeMap<u64, String>,
}

/// A request, until it is answered.
pub(super) struct Answering {
    all: Running,
    number: u64,
}

impl Running {
    pub(super) fn begin(&self, name: String) -> Answering {
        let mut requests = self.requests();
        requests.begun += 1;
        let number = requests.begun;
        requests.named.insert(number, name);
        Answering {
            all: self.clone(),
            number,
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.all.requests().named.remove(&self.number);
    }
}

/// Waits a while for the requests that still run, and then for `close`. Returns whether all of it ended: if not, threads of it
/// still run, the log says of what, and the process ends without them soon.
pub(super) fn end(
    runtime: Runtime,
    running: &Running,
    close: impl FnOnce() + Send + 'static,
) -> bool {
    runtime.shutdown_timeout(LAST_REQUESTS);
    let (closed, is_closed) = mpsc::channel();
    // The store may wait for what hangs, too.
    let closing = thread::Builder::new()
        .name("closing".into())
        .spawn(move || {
            close();
            // If nobody waits any more, that was said.
            let _ = closed.send(());
        });
    let has_closed = closing.is_ok() && is_closed.recv_timeout(CLOSING).is_ok();
    let left: Vec<String> = {
        let requests = running.requests();
        requests.named.values().cloned().collect()
    };
    if !left.is_empty() {
        let named = left.iter().take(MAX_NAMED).map(String::as_str);
        let named = named.collect::<Vec<_>>().join(", ");
        tracing::error!(count = left.len(), named, "ended while requests still ran");
    }
    if !has_closed {
        tracing::error!(
            "ended without closing the store: what was counted last may not be in its log"
        );
    }
    has_closed && left.is_empty()
}

/// Ends the process also if what C libraries do then waits for a thread that never ends.
pub(super) fn leave_for_certain() {
    // Without a thread more, all is as it would have been.
    let _ = thread::Builder::new().spawn(|| {
        thread::sleep(LEAVING);
        process::abort();
    });
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    /// A server whose only request lasts until the sender is dropped.
    fn with_request(runtime: &Runtime, running: &Running) -> mpsc::Sender<()> {
        let (until, ends) = mpsc::channel();
        let answering = running.begin("POST /v1/transit/sign/a".into());
        runtime.spawn_blocking(move || {
            let _answering = answering;
            ends.recv()
        });
        until
    }

    #[test]
    fn it_ends_while_a_request_hangs() {
        let (runtime, running) = (Runtime::new().unwrap(), Running::default());
        let until = with_request(&runtime, &running);
        let is_flushed = Arc::new(AtomicBool::new(false));
        let begun = Instant::now();
        let has_ended = end(runtime, &running, {
            let is_flushed = is_flushed.clone();
            move || is_flushed.store(true, Ordering::SeqCst)
        });
        assert!(!has_ended);
        assert!(is_flushed.load(Ordering::SeqCst));
        assert!(begun.elapsed() < LAST_REQUESTS + CLOSING);
        drop(until);
    }

    #[test]
    fn it_ends_while_the_store_hangs() {
        let (until, ends) = mpsc::channel::<()>();
        let closing = move || assert!(ends.recv().is_err());
        assert!(!end(Runtime::new().unwrap(), &Running::default(), closing));
        drop(until);
    }

    #[test]
    fn it_waits_for_requests_that_end() {
        let (runtime, running) = (Runtime::new().unwrap(), Running::default());
        let until = with_request(&runtime, &running);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(500));
            drop(until);
        });
        assert!(end(runtime, &running, || ()));
    }
}
