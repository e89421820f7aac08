//! A thread that has a database's connections, and runs what callers ask for.

use alloc::rc::Rc;
use core::pin::Pin;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::{LocalSet, spawn_local};

/// What a caller waits for. It makes a future on the thread, which then stays there.
type Job<W> = Box<dyn FnOnce(Rc<W>) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A thread with an asynchronous executor, and what belongs to it, `W`. Its methods can be called from anywhere, but they
/// block: from within an asynchronous executor, call them where blocking is allowed. It ends when this is dropped.
pub struct Thread<W: 'static> {
    /// `None` only while it is dropped.
    jobs: Option<UnboundedSender<Job<W>>>,
    thread: Option<JoinHandle<()>>,
}

/// The thread can't be started, or has ended, as after a panic.
#[derive(Debug, thiserror::Error)]
#[error("its thread {0}")]
pub struct Ended(String);

impl Ended {
    fn already() -> Self {
        Self("has ended".into())
    }
}

impl<W> Thread<W> {
    /// Starts it, and waits until `open` has made what belongs to it, or has failed.
    ///
    /// # Errors
    ///
    /// [`Ended`] if it can't be started; within, the error of `open`.
    pub fn start<E: Send + 'static>(
        name: &str,
        open: impl AsyncFnOnce() -> Result<Rc<W>, E> + Send + 'static,
    ) -> Result<Result<Self, E>, Ended> {
        let (jobs, waiting) = tokio::sync::mpsc::unbounded_channel();
        let (opened, is_open) = mpsc::sync_channel(1);
        let not_started = |error: std::io::Error| Ended(format!("can't be started: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(not_started)?;
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(move || run(runtime, open, waiting, &opened))
            .map_err(not_started)?;
        let started = Self {
            jobs: Some(jobs),
            thread: Some(thread),
        };
        let is_open = is_open.recv().map_err(|_| Ended::already())?;
        Ok(is_open.map(|()| started))
    }

    /// Runs a job on the thread, and waits for its result.
    ///
    /// # Errors
    ///
    /// [`Ended`].
    pub fn call<T, J>(&self, job: J) -> Result<T, Ended>
    where
        T: Send + 'static,
        J: AsyncFnOnce(&W) -> T + Send + 'static,
    {
        let (reply, answer) = mpsc::sync_channel(1);
        let job: Job<W> = Box::new(move |with| {
            Box::pin(async move {
                // The caller waits below, so there is somebody to take it.
                let _ = reply.send(job(&with).await);
            })
        });
        let jobs = self.jobs.as_ref().ok_or_else(Ended::already)?;
        jobs.send(job).map_err(|_| Ended::already())?;
        answer.recv().map_err(|_| Ended::already())
    }
}

/// Runs jobs until there is nobody who could send one.
fn run<W, E>(
    runtime: Runtime,
    open: impl AsyncFnOnce() -> Result<Rc<W>, E>,
    mut jobs: UnboundedReceiver<Job<W>>,
    opened: &mpsc::SyncSender<Result<(), E>>,
) {
    LocalSet::new().block_on(&runtime, async {
        let (with, is_open) = match open().await {
            Ok(with) => (Some(with), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // If nobody waits for it any more, nobody sends a job either.
        if opened.send(is_open).is_err() {
            return;
        }
        while let (Some(with), Some(job)) = (&with, jobs.recv().await) {
            spawn_local(job(with.clone()));
        }
    });
    // A name may be looked up yet, on a thread that can't be stopped.
    runtime.shutdown_background();
}

impl<W> Drop for Thread<W> {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // If it has panicked, its connections are closed as well.
            let _ = thread.join();
        }
    }
}
