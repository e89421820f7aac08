//! The thread that looks again and again, and the handle that ends it.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tracing::{error, warn};

/// What a [`WatchThread`] looks at.
pub trait Watch: Send + 'static {
    /// Looks, and takes over what has changed: at once if `is_complete`, and otherwise if the last look found it as well.
    /// When `goes_on` says no, nobody waits for the rest.
    fn look(&mut self, is_complete: bool, goes_on: &dyn Fn() -> bool);

    /// Does what is due besides, and returns how long it is until the next time.
    fn between_looks(&mut self, goes_on: &dyn Fn() -> bool) -> Duration {
        let _ = goes_on;
        Duration::MAX
    }
}

/// A thread that looks again and again until this is dropped.
///
/// Dropping it takes a second at most. If the thread waits longer, as for a file on a file server that doesn't answer,
/// it is left behind, and the log says so. As long as it waits, nothing is looked at. Once it goes on, it looks
/// again after a minute, or after the usual pause if that is longer.
#[derive(Debug)]
#[must_use = "it looks until this is dropped"]
pub struct WatchThread {
    /// What it watches, for the log.
    what: &'static str,
    /// Dropping it stops the thread.
    orders: Option<SyncSender<Order>>,
    progress: Arc<Progress>,
    /// Nothing comes from it, and it is disconnected when the thread has ended. The mutex lets threads
    /// share a watcher, since a receiver alone can't be shared.
    ended: Mutex<Receiver<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// The order to look at once.
struct Order;

/// How far a thread has come.
#[derive(Debug, Default)]
struct Progress {
    /// How many times it was ordered to look.
    ordered: AtomicU64,
    /// The last of the orders that it has followed.
    followed: AtomicU64,
    /// Stops it between two files.
    is_over: AtomicBool,
}

/// A look that was ordered.
#[derive(Clone, Debug)]
pub struct Reload {
    number: u64,
    progress: Arc<Progress>,
}

impl Reload {
    /// Whether all has been looked at since it was ordered, or the thread has ended.
    pub fn is_over(&self) -> bool {
        self.progress.followed.load(Ordering::SeqCst) >= self.number
    }
}

/// Why a [`WatchThread`] can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The interval is less than a millisecond. Zero is a mistake: in settings it often stands for never.
    #[error(
        "the interval {every:?} for looking at the files is too short; take a few seconds, and at least a millisecond"
    )]
    TooOften {
        /// The interval that was asked for.
        every: Duration,
    },
    /// The thread can't be started.
    #[error("can't start the thread that watches the files: {0}")]
    Thread(io::Error),
}

impl WatchThread {
    /// Checks an interval before anything is read.
    ///
    /// # Errors
    ///
    /// [`StartError::TooOften`].
    pub fn check_interval(every: Duration) -> Result<(), StartError> {
        match every < Duration::from_millis(1) {
            true => Err(StartError::TooOften { every }),
            false => Ok(()),
        }
    }

    /// Starts a thread that looks at this interval; less often if a look takes more than a tenth of it. `what` says for the
    /// log what is watched: "certificate files".
    ///
    /// # Errors
    ///
    /// As [`StartError`] has them.
    pub fn start(
        what: &'static str,
        every: Duration,
        watch: impl Watch,
    ) -> Result<Self, StartError> {
        Self::check_interval(every)?;
        let progress = Arc::<Progress>::default();
        let (orders, next_order) = mpsc::sync_channel(1);
        let (running, ended) = mpsc::channel();
        let end = End {
            progress: progress.clone(),
            _running: running,
        };
        let thread = thread::Builder::new()
            .name("file-watcher".into())
            .spawn(move || {
                let end = end;
                run(watch, every, &next_order, &end.progress);
            })
            .map_err(StartError::Thread)?;
        Ok(Self {
            what,
            orders: Some(orders),
            progress,
            ended: Mutex::new(ended),
            thread: Some(thread),
        })
    }

    /// Has it look at once, and take over changes without waiting for a second look. It returns at once; what it returns
    /// tells when that is done.
    pub fn reload(&self) -> Reload {
        let number = self.progress.ordered.fetch_add(1, Ordering::SeqCst) + 1;
        // If the channel is full, an order has been given already, and not been followed yet.
        if let Some(orders) = &self.orders {
            let _ = orders.try_send(Order);
        }
        Reload {
            number,
            progress: self.progress.clone(),
        }
    }
}

/// Dropped with the thread, however that ends.
struct End {
    progress: Arc<Progress>,
    _running: mpsc::Sender<Infallible>,
}

impl Drop for End {
    fn drop(&mut self) {
        // Nobody has to wait for it.
        self.progress.followed.store(u64::MAX, Ordering::SeqCst);
    }
}

impl Drop for WatchThread {
    fn drop(&mut self) {
        self.progress.is_over.store(true, Ordering::Relaxed);
        drop(self.orders.take());
        let Some(thread) = self.thread.take() else {
            return;
        };
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
            warn!(
                "the thread that watches {} still waits for what it asked for, and is left behind; check whether the file \
                 system, or whatever else it asks, answers",
                self.what
            );
            return;
        }
        if thread.join().is_err() {
            error!("the thread that watched {} has panicked", self.what);
        }
    }
}

/// How long to wait for the end of the thread.
const PATIENCE: Duration = Duration::from_millis(900);

fn run(mut watch: impl Watch, every: Duration, orders: &Receiver<Order>, progress: &Progress) {
    let goes_on = || !progress.is_over.load(Ordering::Relaxed);
    let mut pause = every;
    let mut last = Instant::now();
    loop {
        let until_next = watch.between_looks(&goes_on);
        let until_look = pause.saturating_sub(last.elapsed());
        let is_complete = match orders.recv_timeout(until_look.min(until_next)) {
            Ok(Order) => true,
            Err(RecvTimeoutError::Timeout) if last.elapsed() < pause => continue,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let ordered = progress.ordered.load(Ordering::SeqCst);
        let start = Instant::now();
        watch.look(is_complete, &goes_on);
        if is_complete {
            progress.followed.store(ordered, Ordering::SeqCst);
        }
        pause = pause_after(start.elapsed(), every);
        last = Instant::now();
    }
}

/// How long to wait after a look, so that looking takes a tenth of the time at most. If a look waited
/// for a file server, it took no CPU time, but this can't be told from one that did. So the pause is
/// limited.
fn pause_after(took: Duration, every: Duration) -> Duration {
    every.max((9 * took).min(LONGEST_PAUSE))
}

const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn pauses() {
        let [tenth, second, minute] = [100, 1_000, 60_000].map(Duration::from_millis);
        assert_eq!(pause_after(Duration::ZERO, second), second);
        assert_eq!(pause_after(tenth, second), second);
        assert_eq!(pause_after(second, second), 9 * second);
        // A file server was gone for an hour.
        assert_eq!(pause_after(60 * minute, second), minute);
        assert_eq!(pause_after(60 * minute, 5 * minute), 5 * minute);
    }

    #[test]
    fn an_interval_of_nothing_is_refused() {
        struct Never;
        impl Watch for Never {
            fn look(&mut self, _: bool, _: &dyn Fn() -> bool) {
                unreachable!();
            }
        }
        for every in [Duration::ZERO, Duration::from_micros(999)] {
            let refused = WatchThread::start("nothing", every, Never).unwrap_err();
            assert!(matches!(refused, StartError::TooOften { .. }));
        }
    }

    /// Says that it looks, and looks until it is told that it has seen enough.
    struct Slow {
        begins: mpsc::Sender<()>,
        enough: Receiver<()>,
    }

    impl Watch for Slow {
        fn look(&mut self, is_complete: bool, _: &dyn Fn() -> bool) {
            assert!(is_complete);
            self.begins.send(()).unwrap();
            self.enough.recv().unwrap();
        }
    }

    fn slow() -> (WatchThread, Receiver<()>, mpsc::Sender<()>) {
        let (begins, begun) = mpsc::channel();
        let (enough, seen) = mpsc::channel();
        let watch = Slow {
            begins,
            enough: seen,
        };
        let thread = WatchThread::start("something", LONG, watch).unwrap();
        (thread, begun, enough)
    }

    /// A look that has begun before the order may have passed what the order is about.
    #[test]
    fn an_order_is_followed_by_a_look_that_begins_after_it() {
        let (thread, begun, enough) = slow();
        let first = thread.reload();
        begun.recv().unwrap();
        let [second, third] = [thread.reload(), thread.reload()];
        assert!(!first.is_over());
        enough.send(()).unwrap();
        begun.recv().unwrap();
        assert!(first.is_over());
        assert!(!second.is_over() && !third.is_over());
        enough.send(()).unwrap();
        drop(thread);
        assert!(second.is_over() && third.is_over());
        // It was one look for both.
        assert!(begun.recv().is_err());
    }

    /// A thread that has panicked keeps nobody waiting.
    #[test]
    fn an_order_to_a_thread_that_is_gone_is_over() {
        let (thread, begun, enough) = slow();
        let reload = thread.reload();
        begun.recv().unwrap();
        drop(enough);
        let ended = thread.ended.lock().unwrap().recv();
        assert!(ended.is_err());
        assert!(reload.is_over());
        assert!(thread.reload().is_over());
    }
}
