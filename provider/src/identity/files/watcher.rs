//! The thread that watches all pairs of files, and `Watcher`, the handle that ends it. It also asks the source of OCSP
//! responses.

use alloc::sync::Arc;
use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::hash::RandomState;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use tracing::{debug, error, info, warn};

use super::IdentityFiles;
use super::watched::{Look, Watched};
use crate::identity::set::Origin;
use crate::identity::stapled::OcspSource;
use crate::identity::{Identities, IdentityError, IdentitySet};

pub(super) fn watch(
    files: IdentityFiles,
    every: Duration,
) -> Result<(Arc<Identities>, Watcher), WatchError> {
    // Zero is a mistake: in settings it often stands for never.
    if every < Duration::from_millis(1) {
        return Err(WatchError::TooOften { every });
    }
    let hasher = RandomState::new();
    let pairs = files.pairs.into_iter();
    let watched = pairs
        .map(|pair| Watched::load(pair, &files.provider, &hasher))
        .collect::<Result<Vec<_>, _>>()?;
    let origin = Origin::default();
    let identities = Arc::new(Identities::new(set_of(&watched, &origin)));
    let is_over = Arc::new(AtomicBool::new(false));
    let watch = Watch {
        identities: Arc::clone(&identities),
        provider: files.provider,
        hasher,
        watched,
        origin,
        ocsp_source: files.ocsp_source,
        is_over: Arc::clone(&is_over),
    };

    let (orders, next_order) = mpsc::sync_channel(1);
    let (running, ended) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("identity-watcher".into())
        .spawn(move || {
            // Dropped with the thread, however that ends.
            let _running = running;
            watch.run(every, &next_order);
        })
        .map_err(WatchError::Thread)?;
    let watcher = Watcher {
        orders: Some(orders),
        is_over,
        ended: Mutex::new(ended),
        thread: Some(thread),
    };
    Ok((identities, watcher))
}

/// Watches files until it is dropped.
///
/// Dropping it takes a second at most. If its thread waits longer, for a file, such as one on a file
/// server that doesn't answer, or for the source of OCSP responses, the thread is left behind: the log
/// says so, and whatever it reads later has no effect. As long as the thread waits, no file is watched.
/// Once it goes on, it looks at all files again after a minute, or after the usual pause if that is
/// longer.
#[derive(Debug)]
#[must_use = "the files are watched until this is dropped"]
pub struct Watcher {
    /// Dropping it stops the thread.
    orders: Option<SyncSender<Reload>>,
    /// Stops it between two files.
    is_over: Arc<AtomicBool>,
    /// Nothing comes from it, and it is disconnected when the thread has ended. The mutex lets threads
    /// share a watcher, since a receiver alone can't be shared.
    ended: Mutex<Receiver<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// The order to look at once.
struct Reload;

impl Watcher {
    /// Reads the files now, and takes over changes without waiting for a second look.
    ///
    /// Call it when the files are known to be complete, for example on SIGHUP. It returns at once; the
    /// log tells the outcome.
    pub fn reload(&self) {
        // If the channel is full, the order has been given already.
        if let Some(orders) = &self.orders {
            let _ = orders.try_send(Reload);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.orders.take());
        let Some(thread) = self.thread.take() else {
            return;
        };
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
            warn!(
                "the thread that watches certificate files still waits for one of them, or for the source \
                 of OCSP responses, and is left behind; check whether the file system or the source answers"
            );
            return;
        }
        if thread.join().is_err() {
            error!("the thread that watched certificate files has panicked");
        }
    }
}

/// How long to wait for the end of the thread.
const PATIENCE: Duration = Duration::from_millis(900);

/// Why files can't be watched.
///
/// As with [`IdentityError`], the text contains that of the cause, and
/// [`source`](core::error::Error::source) is `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The files can't be served in the first place.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The interval is less than a millisecond.
    #[error(
        "the interval {every:?} for looking at the files is too short; take a few seconds, and at least \
         a millisecond; to read them just once, call `IdentityFiles::load`"
    )]
    TooOften {
        /// The interval that was asked for.
        every: Duration,
    },
    /// The thread can't be started.
    #[error("can't start the thread that watches the files: {0}")]
    Thread(io::Error),
}

/// What the thread has.
struct Watch {
    identities: Arc<Identities>,
    provider: Arc<CryptoProvider>,
    hasher: RandomState,
    watched: Vec<Watched>,
    /// The origin of the set that was made from the files.
    origin: Origin,
    ocsp_source: Option<Arc<dyn OcspSource>>,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    fn run(mut self, every: Duration, orders: &Receiver<Reload>) {
        let mut pause = every;
        let mut last = Instant::now();
        loop {
            let until_refresh = self.refresh_ocsp_responses();
            let until_look = pause.saturating_sub(last.elapsed());
            let is_complete = match orders.recv_timeout(until_look.min(until_refresh)) {
                Ok(Reload) => true,
                Err(RecvTimeoutError::Timeout) if last.elapsed() < pause => continue,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let start = Instant::now();
            let read = self.look(is_complete);
            let took = start.elapsed();
            debug!(
                pairs = self.watched.len(),
                read,
                seconds = took.as_secs_f64(),
                "looked at the certificate files"
            );
            pause = pause_after(took, every);
            last = Instant::now();
        }
    }

    /// Asks the source for the responses that are due, and returns how long it is until the next time.
    fn refresh_ocsp_responses(&self) -> Duration {
        let Some(source) = &self.ocsp_source else {
            return Duration::MAX;
        };
        let goes_on = || !self.is_over.load(Ordering::Relaxed);
        self.identities.refresh_while(&**source, goes_on)
    }

    /// Looks at all files, and returns how many pairs it has read.
    fn look(&mut self, is_complete: bool) -> usize {
        let mut read = 0;
        let mut unchanged = 0;
        let mut changed = Vec::new();
        for (index, watched) in self.watched.iter_mut().enumerate() {
            if self.is_over.load(Ordering::Relaxed) {
                return read;
            }
            if !is_complete && watched.is_as_read() {
                continue;
            }
            read += 1;
            let before = Arc::clone(&watched.current);
            match watched.look(is_complete, &self.provider, &self.hasher) {
                Look::Changed => changed.push((before, index)),
                Look::Same => unchanged += 1,
                Look::Unusable => {}
            }
        }
        if is_complete && unchanged > 0 {
            info!(certificates = unchanged, "certificates unchanged");
        }
        if changed.is_empty() || self.is_over.load(Ordering::Relaxed) {
            return read;
        }

        self.identities.update(|set| {
            if !set.is_from(&self.origin) {
                return set_of(&self.watched, &self.origin);
            }
            (changed.iter()).fold(set, |set, (before, index)| {
                set.with_replaced(before, Arc::clone(&self.watched[*index].current))
            })
        });
        let set = self.identities.current();
        for (_, index) in changed {
            let Watched { files, current, .. } = &self.watched[index];
            let chain = files.chain.display();
            match set.contains(current) {
                true => info!(
                    %chain,
                    names = ?current.dns_names(),
                    key = %current.key_algorithm(),
                    "certificate replaced"
                ),
                false => info!(
                    %chain,
                    "certificate not served, because the program has removed the one before"
                ),
            }
        }
        read
    }
}

/// How long to wait after a look, so that looking takes a tenth of the time at most. If a look waited
/// for a file server, it took no CPU time, but this can't be told from one that did. So the pause is
/// limited.
fn pause_after(took: Duration, every: Duration) -> Duration {
    every.max((9 * took).min(LONGEST_PAUSE))
}

const LONGEST_PAUSE: Duration = Duration::from_secs(60);

fn set_of(watched: &[Watched], origin: &Origin) -> IdentitySet {
    let set = IdentitySet::from_origin(origin);
    watched.iter().fold(set, |set, watched| {
        set.serving(Arc::clone(&watched.current), watched.files.serves.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
