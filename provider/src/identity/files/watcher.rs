use alloc::sync::Arc;
use core::convert::Infallible;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::hash::RandomState;
use std::io;
use std::panic::catch_unwind;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use tracing::{debug, error, info, warn};

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
    let (running, ended) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("identity-watcher".into())
        .spawn(move || {
            // Goes with the thread, however that ends.
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
/// To drop it takes a second at most. A thread that waits longer for a file, such as one on a file
/// server that doesn't answer, is left behind: the log says so, and whatever it is going to read
/// then changes nothing any more. As long as it waits, no file is watched; a minute after it has
/// gone on, or after the usual pause if that is longer, it looks at all of them again.
#[derive(Debug)]
#[must_use = "the files are watched until this is dropped"]
pub struct Watcher {
    /// Its end stops the thread.
    orders: Option<SyncSender<Reload>>,
    /// Stops it between two files.
    is_over: Arc<AtomicBool>,
    /// Nothing comes, and it is disconnected when the thread is over. A receiver alone can't be
    /// shared between threads, and a watcher can.
    ended: Mutex<Receiver<Infallible>>,
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
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
            warn!(
                "the thread that watches certificate files waits for one of them, and is left \
                 behind; see whether their file system answers"
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
/// As with [`IdentityError`], the text has that of the cause in it, and
/// [`source`](core::error::Error::source) is `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The files can't be served in the first place.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Nobody means to look at the files so often.
    #[error(
        "looking at the files every {every:?} is of no use; a few seconds do, and a millisecond is \
         the least; to read them just once there is `IdentityFiles::load`"
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
    fn run(mut self, every: Duration, orders: &Receiver<Reload>) {
        let mut pause = every;
        loop {
            let is_complete = match orders.recv_timeout(pause) {
                Ok(Reload) => true,
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
        }
    }

    /// Looks at all files, and says how many pairs it has read for that.
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
                    "certificate not served, since the one before was removed by the program"
                ),
            }
        }
        read
    }
}

/// How long to wait after a look, so that looking takes a tenth of the time at most. A look that has
/// waited for a file server took no time of a core, and can't be told from one that did, so the
/// pause has an end.
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

/// A pair of files, and what was made of it.
struct Watched {
    files: FilePair,
    current: Arc<Identity>,
    state: State,
    /// Those of what was read last.
    traits: Option<[Traits; 2]>,
    /// When files with these traits had been read first, and when they were read last.
    read: [Instant; 2],
    /// The mode of the file with the key that the log has warned of last.
    exposed_by: Option<u32>,
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
        let last = Instant::now();
        let content = files.read()?;
        let first = Instant::now();
        Ok(Self {
            current: Arc::new(files.first(&content, provider)?),
            state: State::Loaded(content.stamp(hasher)),
            traits: Some(content.traits),
            read: [first, last],
            exposed_by: content.exposed_by,
            files,
        })
    }

    /// Reads the files, and takes over what has changed: with `is_complete` at once, and else if it
    /// has been there before.
    fn look(&mut self, is_complete: bool, provider: &CryptoProvider, hasher: &RandomState) -> Look {
        let loaded = self.state.loaded();
        let start = Instant::now();
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
            // Not `start`: the file may have been written while it was waited for.
            self.read[0] = Instant::now();
        }
        self.read[1] = start;

        let seen = content.stamp(hasher);
        if seen == loaded {
            self.state = State::Loaded(loaded);
            if content.exposed_by != self.exposed_by {
                self.files.warn_about_mode(&content);
                self.exposed_by = content.exposed_by;
            }
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
                self.exposed_by = content.exposed_by;
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
            && last.saturating_duration_since(first) > TICK
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

#[cfg(test)]
mod tests {
    use std::fs;

    use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
    use tempfile::TempDir;

    use super::*;
    use crate::Builder;

    /// A pair in files, as the watcher has it.
    struct Setup {
        directory: TempDir,
        provider: CryptoProvider,
        hasher: RandomState,
        watched: Watched,
    }

    impl Setup {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let [chain, key] = ["chain.pem", "key.pem"].map(|name| directory.path().join(name));
            let signing_key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
            fs::write(&key, signing_key.to_pkcs8_pem().unwrap().as_bytes()).unwrap();
            fs::write(&chain, new_chain(&signing_key)).unwrap();

            let provider = Builder::new(rustls::crypto::ring::default_provider());
            let provider = provider.build().unwrap();
            let hasher = RandomState::new();
            let files = FilePair::new(chain, key);
            Self {
                watched: Watched::load(files, &provider, &hasher).unwrap(),
                directory,
                provider,
                hasher,
            }
        }

        /// Another certificate of the same key and length.
        fn renew(&self) {
            let signing_key = SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[1; 32]).unwrap();
            let chain = &self.watched.files.chain;
            let before = fs::metadata(chain).unwrap().len();
            fs::write(chain, new_chain(&signing_key)).unwrap();
            assert_eq!(fs::metadata(chain).unwrap().len(), before);
        }

        /// Has the files as they are now look as they were read.
        fn forget_changes(&mut self) {
            let FilePair { chain, key, .. } = &self.watched.files;
            self.watched.traits = Some(Traits::look(chain, key).unwrap());
        }

        fn read_for(&mut self, long: Duration) {
            let [first, last] = &mut self.watched.read;
            *last = *first + long;
        }

        fn look(&mut self) -> Look {
            self.watched.look(false, &self.provider, &self.hasher)
        }
    }

    fn new_chain(key: &SigningKey) -> String {
        let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key).unwrap();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        root.issue(leaf, key).unwrap().to_pem()
    }

    /// So that many files cost no core: what is certain to be as it was read isn't read.
    #[test]
    fn what_is_as_it_was_is_not_read() {
        let mut setup = Setup::new();
        setup.read_for(2 * TICK);
        assert!(setup.watched.is_as_read());

        // Nothing but reading them tells that these are others.
        setup.renew();
        setup.forget_changes();
        assert!(setup.watched.is_as_read());
        // And they are read for as long as they may have been written in one tick of a clock.
        setup.read_for(TICK);
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        assert!(matches!(setup.watched.state, State::Changed { .. }));
        // What may not be complete yet is read again.
        setup.read_for(2 * TICK);
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Changed));
    }

    #[test]
    fn what_changes_after_all_is_read() {
        let mut setup = Setup::new();
        setup.read_for(2 * TICK);
        let before = setup.watched.read;
        setup.renew();
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        // From then on, so many seconds are counted anew.
        let [first, last] = setup.watched.read;
        assert!(first > before[0] && last <= first);
        assert!(matches!(setup.look(), Look::Changed));

        setup.read_for(2 * TICK);
        fs::remove_file(&setup.watched.files.key).unwrap();
        assert!(!setup.watched.is_as_read());
        assert!(matches!(setup.look(), Look::Unusable));
        assert!(matches!(setup.watched.state, State::Unreadable { .. }));
        assert!(!setup.watched.is_as_read());
        assert!(setup.directory.path().exists());
    }

    /// What was written while a file was waited for is as new as the end of the wait.
    #[test]
    fn reading_begins_to_count_at_its_end() {
        let setup = Setup::new();
        let [first, last] = setup.watched.read;
        // To load it took a while.
        assert!(first > last);
        assert!(!setup.watched.is_as_read());
    }

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
