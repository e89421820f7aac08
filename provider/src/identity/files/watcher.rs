use alloc::sync::Arc;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::hash::RandomState;
use std::io;
use std::panic::catch_unwind;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use tracing::{error, info, warn};

use super::content::Traits;
use super::{FilePair, IdentityFiles};
use crate::identity::set::Origin;
use crate::identity::{Identities, Identity, IdentityError, IdentitySet};

pub(super) fn watch(
    files: IdentityFiles,
    every: Duration,
) -> Result<(Arc<Identities>, Watcher), WatchError> {
    // Nobody means zero so: in settings it often stands for never.
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
        is_over: Arc::clone(&is_over),
    };

    let (orders, next_order) = mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name("identity-watcher".into())
        .spawn(move || watch.run(every, &next_order))
        .map_err(WatchError::Thread)?;
    let watcher = Watcher {
        orders: Some(orders),
        is_over,
        thread: Some(thread),
    };
    Ok((identities, watcher))
}

/// Watches files until it is dropped.
///
/// To drop it takes a second at most. A thread that waits longer for a file, such as one on a file
/// server that doesn't answer, is left behind: the log says so, and whatever it is going to read
/// then changes nothing any more. As long as it waits, no file is watched.
#[derive(Debug)]
#[must_use = "the files are watched until this is dropped"]
pub struct Watcher {
    /// Its end stops the thread.
    orders: Option<SyncSender<Reload>>,
    /// Stops it between two files.
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The order to look at once.
struct Reload;

impl Watcher {
    /// Reads the files now, and takes over what has changed without waiting for a
    /// second look: for when the files are known to be complete, such as on SIGHUP.
    ///
    /// It returns at once; the log tells the outcome.
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
        let start = Instant::now();
        while !thread.is_finished() {
            if start.elapsed() > PATIENCE {
                warn!(
                    "the thread that watches certificate files waits for one of them, and is left \
                     behind; see whether their file system answers"
                );
                return;
            }
            thread::sleep(Duration::from_millis(1));
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
/// As with [`IdentityError`], the text has that of the cause in it, and
/// [`source`](core::error::Error::source) is `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The files can't be served in the first place.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Looking at the files so often takes a whole core.
    #[error(
        "looking at the files every {every:?} takes a core for itself; a few seconds do, and a \
         millisecond is the least; to read them just once there is `IdentityFiles::load`"
    )]
    TooOften {
        /// What was asked for.
        every: Duration,
    },
    /// There can't be a thread.
    #[error("no thread to watch the files: {0}")]
    Thread(io::Error),
}

/// What the thread has.
struct Watch {
    identities: Arc<Identities>,
    provider: Arc<CryptoProvider>,
    hasher: RandomState,
    watched: Vec<Watched>,
    /// Of the set that the files have led to.
    origin: Origin,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    fn run(mut self, every: Duration, orders: &mpsc::Receiver<Reload>) {
        let mut pause = every;
        loop {
            let is_complete = match orders.recv_timeout(pause) {
                Ok(Reload) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let start = Instant::now();
            self.look(is_complete);
            pause = every.max(9 * start.elapsed());
        }
    }

    fn look(&mut self, is_complete: bool) {
        let mut unchanged = 0;
        let mut changed = Vec::new();
        for (index, watched) in self.watched.iter_mut().enumerate() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
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
            return;
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
                    "certificate not served, since the one before was removed by the program"
                ),
            }
        }
    }
}

fn set_of(watched: &[Watched], origin: &Origin) -> IdentitySet {
    let set = IdentitySet::from_origin(origin);
    watched.iter().fold(set, |set, watched| {
        set.serving(Arc::clone(&watched.current), watched.files.serves.clone())
    })
}

/// A pair of files, and what was made of it.
struct Watched {
    files: FilePair,
    current: Arc<Identity>,
    state: State,
    /// Those of what was read last.
    traits: Option<[Traits; 2]>,
    /// When files with these traits were read first and last.
    read: [Instant; 2],
}

/// How long after a file was written it can be written again without any sign of it but its
/// content. FAT counts in two seconds; others in one or in milliseconds.
const TICK: Duration = Duration::from_secs(5);

/// What the last look found. A stamp stands for the content of both files.
enum State {
    /// What is served.
    Loaded(u64),
    /// Something else, for the first time.
    Changed { loaded: u64, seen: u64 },
    /// Something that was refused, and reported.
    Refused { loaded: u64, seen: u64 },
    /// Nothing, which was reported.
    Unreadable { loaded: u64 },
}

/// What a look has led to.
enum Look {
    /// There is a new identity now.
    Changed,
    /// The files are those of the identity.
    Same,
    /// They are not, or not yet.
    Unusable,
}

impl Watched {
    fn load(
        files: FilePair,
        provider: &CryptoProvider,
        hasher: &RandomState,
    ) -> Result<Self, IdentityError> {
        let now = Instant::now();
        let content = files.read()?;
        Ok(Self {
            current: Arc::new(files.first(&content, provider)?),
            state: State::Loaded(content.stamp(hasher)),
            traits: Some(content.traits),
            read: [now; 2],
            files,
        })
    }

    fn look(&mut self, is_complete: bool, provider: &CryptoProvider, hasher: &RandomState) -> Look {
        if !is_complete && self.is_as_read() {
            return match self.state {
                State::Loaded(_) => Look::Same,
                _ => Look::Unusable,
            };
        }
        let loaded = self.state.loaded();
        let now = Instant::now();
        let content = match self.files.read() {
            Ok(content) => content,
            Err(error) => {
                if is_complete || !matches!(self.state, State::Unreadable { .. }) {
                    self.refuse(&error);
                }
                self.state = State::Unreadable { loaded };
                self.traits = None;
                return Look::Unusable;
            }
        };
        if self.traits.replace(content.traits) != Some(content.traits) {
            self.read[0] = now;
        }
        self.read[1] = now;

        let seen = content.stamp(hasher);
        if seen == loaded {
            self.state = State::Loaded(loaded);
            return Look::Same;
        }
        match self.state {
            _ if is_complete => {}
            State::Refused { seen: refused, .. } if seen == refused => return Look::Unusable,
            State::Changed { seen: before, .. } if seen == before => {}
            _ => {
                self.state = State::Changed { loaded, seen };
                return Look::Unusable;
            }
        }

        // A panic would end the thread, and nobody would look at any of the files again.
        let identity = catch_unwind(AssertUnwindSafe(|| self.files.identity(&content, provider)))
            .unwrap_or(Err(IdentityError::Panicked));
        match identity {
            Ok(identity) => {
                self.files.warn_about(&identity, &content);
                self.current = Arc::new(identity);
                self.state = State::Loaded(seen);
                Look::Changed
            }
            Err(error) => {
                self.refuse(&error);
                self.state = State::Refused { loaded, seen };
                Look::Unusable
            }
        }
    }

    /// Whether the files are certainly as they were read last, and that is all there is to know.
    fn is_as_read(&self) -> bool {
        let [first, last] = self.read;
        !matches!(self.state, State::Changed { .. })
            && last - first > TICK
            && self.traits.is_some()
            && self.traits == Traits::look(&self.files.chain, &self.files.key).ok()
    }

    fn refuse(&self, error: &IdentityError) {
        warn!(
            chain = %self.files.chain.display(),
            key = %self.files.key.display(),
            %error,
            "new certificate refused; the one before stays in use"
        );
    }
}

impl State {
    fn loaded(&self) -> u64 {
        match *self {
            Self::Loaded(loaded)
            | Self::Changed { loaded, .. }
            | Self::Refused { loaded, .. }
            | Self::Unreadable { loaded } => loaded,
        }
    }
}
