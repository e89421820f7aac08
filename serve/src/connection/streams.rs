//! The tasks of an HTTP/2 connection, one for each of its requests.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::rt::Executor;
use tokio::task::JoinSet;
use tracing::{Instrument, error};

/// Runs the requests of an HTTP/2 connection, and drops them with the connection: hyper has the only one.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(Arc<Mutex<JoinSet<()>>>);

impl<S: Future<Output = ()> + Send + 'static> Executor<S> for Streams {
    fn execute(&self, stream: S) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(ended) = running.try_join_next() {
            if let Err(error) = ended {
                error!(%error, "serving a request failed");
            }
        }
        running.spawn(stream.in_current_span());
    }
}
