//! The tasks of an HTTP/2 connection, one for each of its requests.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use hyper::rt::Executor;
use tokio::task::JoinSet;
use tracing::{Instrument, error};

/// The requests of an HTTP/2 connection. Dropping this drops them.
#[derive(Debug, Default)]
pub(super) struct Streams(Arc<Mutex<JoinSet<()>>>);

/// Runs requests. The futures of hyper that run them have it too, so that it doesn't keep them.
#[derive(Clone, Debug)]
pub(super) struct Spawner(Weak<Mutex<JoinSet<()>>>);

impl Streams {
    pub(super) fn spawner(&self) -> Spawner {
        Spawner(Arc::downgrade(&self.0))
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        report_panics(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<S: Future<Output = ()> + Send + 'static> Executor<S> for Spawner {
    fn execute(&self, stream: S) {
        // There is none any more if the connection is over.
        if let Some(running) = self.0.upgrade() {
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            report_panics(&mut running);
            running.spawn(stream.in_current_span());
        }
    }
}

fn report_panics(running: &mut JoinSet<()>) {
    while let Some(ended) = running.try_join_next() {
        if let Err(error) = ended {
            error!(%error, "serving a request failed");
        }
    }
}
