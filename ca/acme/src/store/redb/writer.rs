//! The thread that writes, and what it is asked for.

use alloc::sync::Arc;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use ::redb::{Database, Error};

use super::changes::Changes;
use super::file::{Opened, begin, not_opened};
use super::rows::Stop;
use crate::store::StoreError;
use crate::store::failure::StorageError;

/// The most changes in one transaction.
const AT_ONCE: usize = 256;

/// The thread. It ends when this is dropped.
pub(super) struct Writer {
    /// `None` only while it is dropped.
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    opened: Arc<Opened>,
}

/// A change that somebody waits for.
trait Job: Send {
    /// Makes it, in a transaction that may yet come to nothing: then it is made again.
    fn make(&mut self, changes: &Changes<'_>) -> Result<(), Error>;

    /// Tells who waits that the transaction was committed, or why not.
    fn end(self: Box<Self>, committed: Result<(), StorageError>);
}

struct Waiting<T, F> {
    act: F,
    decided: Option<Result<T, StoreError>>,
    reply: SyncSender<Result<T, StoreError>>,
}

impl<T, F> Job for Waiting<T, F>
where
    T: Send,
    F: FnMut(&Changes<'_>) -> Result<T, Stop> + Send,
{
    fn make(&mut self, changes: &Changes<'_>) -> Result<(), Error> {
        self.decided = Some(match (self.act)(changes) {
            Ok(value) => Ok(value),
            Err(Stop::Refused(error)) => Err(error),
            Err(Stop::Failed(error)) => return Err(error),
        });
        Ok(())
    }

    fn end(self: Box<Self>, committed: Result<(), StorageError>) {
        let decided = match (committed, self.decided) {
            (Ok(()), Some(decided)) => decided,
            (Ok(()), None) => return,
            (Err(error), _) => Err(error.into()),
        };
        // Who waits does so until this was sent.
        let _ = self.reply.send(decided);
    }
}

impl Writer {
    pub(super) fn start(opened: &Arc<Opened>) -> Result<Self, StorageError> {
        let (jobs, waiting) = mpsc::channel();
        let of_thread = Arc::clone(opened);
        let thread = thread::Builder::new()
            .name("acme-redb".into())
            .spawn(move || run(&of_thread, &waiting));
        let failed = |error: io::Error| not_opened(opened.path(), &error);
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread.map_err(failed)?),
            opened: Arc::clone(opened),
        })
    }

    /// Makes a change. It is on the disk when this returns. A change that is refused has written nothing.
    pub(super) fn change<T: Send + 'static>(
        &self,
        act: impl FnMut(&Changes<'_>) -> Result<T, Stop> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let job = Box::new(Waiting {
            act,
            decided: None,
            reply,
        });
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        match (sent, answer.recv()) {
            (Some(Ok(())), Ok(decided)) => decided,
            // The thread has ended, as after a panic.
            _ => Err(self.opened.unreadable().into()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // If it has panicked, it writes nothing more.
            let _ = thread.join();
        }
    }
}

/// Makes changes until there is nobody who could ask for one.
fn run(opened: &Opened, waiting: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        jobs.extend(waiting.try_iter().take(AT_ONCE - 1));
        write(opened, jobs);
    }
}

/// Makes changes in one transaction. One that fails is left out, as its part of the file may be damaged, and the others are
/// made without it.
fn write(opened: &Opened, mut jobs: Vec<Box<dyn Job>>) {
    while !jobs.is_empty() {
        match opened.with(|database| Ok(commit(database, &mut jobs))) {
            Ok(Ok(())) => {
                for job in jobs.drain(..) {
                    job.end(Ok(()));
                }
            }
            Ok(Err((Some(failed), error))) => {
                jobs.swap_remove(failed).end(Err(opened.failed(error)));
            }
            Ok(Err((None, error))) => end_all(&mut jobs, &opened.failed(error)),
            Err(error) => end_all(&mut jobs, &error),
        }
    }
}

fn end_all(jobs: &mut Vec<Box<dyn Job>>, error: &StorageError) {
    for job in jobs.drain(..) {
        job.end(Err(error.clone()));
    }
}

/// Makes changes, or none of them: then returns which one failed, if it was one.
fn commit(database: &Database, jobs: &mut [Box<dyn Job>]) -> Result<(), (Option<usize>, Error)> {
    let transaction = begin(database).map_err(|error| (None, error))?;
    for (number, job) in jobs.iter_mut().enumerate() {
        let made = job.make(&Changes(&transaction));
        made.map_err(|error| (Some(number), error))?;
    }
    let committed = transaction.commit();
    committed.map_err(|error| (None, error.into()))
}
