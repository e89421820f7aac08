use alloc::sync::Arc;
use core::hash::BuildHasher;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::hash::RandomState;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::{fs, io};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use tracing::{error, info, warn};
use zeroize::Zeroizing;

use super::{Identities, Identity, IdentityError, IdentitySet};

/// PEM files with certificate chains and their private keys, which can be replaced while
/// the program runs.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use pq_x509::{CertificateBuilder, Issuer, SignatureAlgorithm, SigningKey};
/// use rustls_pq::identity::IdentityFiles;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::env::set_current_dir(&directory)?;
/// # let root_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), root_key)?;
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let leaf = root.issue(CertificateBuilder::server().dns_name("localhost"), &key)?;
/// # for name in ["ml-dsa", "ecdsa"] {
/// #     std::fs::write(format!("{name}.pem"), leaf.to_pem())?;
/// #     std::fs::write(format!("{name}.key"), &*key.to_pkcs8_pem()?)?;
/// # }
/// let provider = Arc::new(rustls_pq::provider()?);
/// let files = IdentityFiles::new(provider.clone())
///     .with_default("ml-dsa.pem", "ml-dsa.key")
///     .with_default("ecdsa.pem", "ecdsa.key");
/// let (identities, watcher) = files.watch(Duration::from_secs(10))?;
/// let config = rustls::ServerConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions()?
///     .with_no_client_auth()
///     .with_cert_resolver(identities);
/// // The files are watched for as long as `watcher` is there.
/// # drop((config, watcher));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "files are read by `load()` or `watch()`"]
pub struct IdentityFiles {
    provider: Arc<CryptoProvider>,
    pairs: Vec<FilePair>,
}

#[derive(Clone, Debug)]
struct FilePair {
    chain: PathBuf,
    key: PathBuf,
    serves: Serves,
}

/// Whom an identity is for.
#[derive(Clone, Debug)]
enum Serves {
    /// The names in the certificate.
    ItsNames,
    /// Also those who ask for no name, or for one that isn't there.
    Everybody,
    Name(String),
}

impl IdentityFiles {
    /// No files as yet; keys are going to be loaded by `provider`.
    pub fn new(provider: Arc<CryptoProvider>) -> Self {
        Self {
            provider,
            pairs: Vec::new(),
        }
    }

    /// Adds a chain and its key, for the names in the certificate.
    pub fn with(self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.insert(chain.into(), key.into(), Serves::ItsNames)
    }

    /// Adds a chain and its key, for the names in the certificate and as a default:
    /// see [`IdentitySet::with_default`].
    pub fn with_default(self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.insert(chain.into(), key.into(), Serves::Everybody)
    }

    /// Adds a chain and its key, for one name, whatever the certificate says: see
    /// [`IdentitySet::with_name`].
    pub fn with_name(self, name: &str, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.insert(chain.into(), key.into(), Serves::Name(name.into()))
    }

    /// Reads all files once.
    ///
    /// # Errors
    ///
    /// The first [`IdentityError`] of any pair.
    pub fn load(&self) -> Result<IdentitySet, IdentityError> {
        let mut set = IdentitySet::new();
        for files in &self.pairs {
            let identity = files.first(&files.read()?, &self.provider)?;
            set = files.insert_into(set, identity.into());
        }
        Ok(set)
    }

    /// Reads all files, and keeps looking, `every` so often, whether one has changed.
    ///
    /// A pair that has changed is taken over once two looks in a row find the same
    /// content, so that a chain is not read while it is being written, and if it is a
    /// pair. If it isn't, or a file can't be read, the log says why, once, and the
    /// identity that was there before stays. Other pairs are not affected.
    ///
    /// The files are all there is in the set: what [`Identities::replace`] puts in its place is
    /// served until a pair changes, and then the set is that of the files again.
    ///
    /// A thread does this. It takes the content for the sign of a change and not the time of
    /// modification, so that it doesn't matter how the files are replaced: in place, by
    /// renaming, or by exchanging a symbolic link to their directory.
    ///
    /// # Errors
    ///
    /// Those of [`load`](Self::load); if `every` is less than a millisecond; and if there can't
    /// be a thread.
    pub fn watch(self, every: Duration) -> Result<(Arc<Identities>, Watcher), WatchError> {
        // Nobody means zero so: in settings it often stands for never.
        if every < Duration::from_millis(1) {
            return Err(WatchError::TooOften { every });
        }
        let hasher = RandomState::new();
        let watched = self
            .pairs
            .into_iter()
            .map(|files| Watched::load(files, &self.provider, &hasher))
            .collect::<Result<Vec<_>, _>>()?;
        let identities = Arc::new(Identities::new(set_of(&watched)));
        let watch = Watch {
            identities: Arc::clone(&identities),
            provider: self.provider,
            hasher,
            watched,
        };

        let (orders, next_order) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name("identity-watcher".into())
            .spawn(move || watch.run(every, &next_order))?;
        Ok((
            identities,
            Watcher {
                orders: Some(orders),
                thread: Some(thread),
            },
        ))
    }

    fn insert(mut self, chain: PathBuf, key: PathBuf, serves: Serves) -> Self {
        self.pairs.push(FilePair { chain, key, serves });
        self
    }
}

/// Watches files until it is dropped.
#[derive(Debug)]
#[must_use = "the files are watched until this is dropped"]
pub struct Watcher {
    /// Its end stops the thread.
    orders: Option<SyncSender<Reload>>,
    thread: Option<JoinHandle<()>>,
}

/// The order to look at once.
struct Reload;

impl Watcher {
    /// Looks at the files now, and takes over what has changed without waiting for a
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
        drop(self.orders.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            error!("the thread that watched certificate files has panicked");
        }
    }
}

/// Why files can't be watched.
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
    Thread(#[from] io::Error),
}

/// What the thread has.
struct Watch {
    identities: Arc<Identities>,
    provider: Arc<CryptoProvider>,
    hasher: RandomState,
    watched: Vec<Watched>,
}

impl Watch {
    fn run(mut self, every: Duration, orders: &mpsc::Receiver<Reload>) {
        loop {
            let is_complete = match orders.recv_timeout(every) {
                Ok(Reload) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut has_changed = false;
            for watched in &mut self.watched {
                has_changed |= watched.look(is_complete, &self.provider, &self.hasher);
            }
            if has_changed {
                self.identities.replace(set_of(&self.watched));
            }
        }
    }
}

/// A pair of files, and what is served from it.
struct Watched {
    files: FilePair,
    current: Arc<Identity>,
    state: State,
}

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

impl Watched {
    fn load(
        files: FilePair,
        provider: &CryptoProvider,
        hasher: &RandomState,
    ) -> Result<Self, IdentityError> {
        let content = files.read()?;
        Ok(Self {
            current: Arc::new(files.first(&content, provider)?),
            state: State::Loaded(content.stamp(hasher)),
            files,
        })
    }

    /// Whether there is a new identity now.
    fn look(&mut self, is_complete: bool, provider: &CryptoProvider, hasher: &RandomState) -> bool {
        let loaded = self.state.loaded();
        let content = match self.files.read() {
            Ok(content) => content,
            Err(error) => {
                if is_complete || !matches!(self.state, State::Unreadable { .. }) {
                    self.refuse(&error);
                }
                self.state = State::Unreadable { loaded };
                return false;
            }
        };

        let seen = content.stamp(hasher);
        if seen == loaded {
            self.state = State::Loaded(loaded);
            if is_complete {
                info!(chain = %self.files.chain.display(), "certificate unchanged");
            }
            return false;
        }
        match self.state {
            _ if is_complete => {}
            State::Refused { seen: refused, .. } if seen == refused => return false,
            State::Changed { seen: before, .. } if seen == before => {}
            _ => {
                self.state = State::Changed { loaded, seen };
                return false;
            }
        }

        // A panic would end the thread, and nobody would look at any of the files again.
        let identity = catch_unwind(AssertUnwindSafe(|| content.identity(provider)))
            .unwrap_or(Err(IdentityError::Panicked));
        match identity {
            Ok(identity) => {
                info!(
                    chain = %self.files.chain.display(),
                    names = ?identity.dns_names(),
                    key = %identity.key_algorithm(),
                    "certificate replaced"
                );
                self.files.warn_of_expiry(&identity);
                self.current = Arc::new(identity);
                self.state = State::Loaded(seen);
                true
            }
            Err(error) => {
                self.refuse(&error);
                self.state = State::Refused { loaded, seen };
                false
            }
        }
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

fn set_of(watched: &[Watched]) -> IdentitySet {
    watched.iter().fold(IdentitySet::new(), |set, watched| {
        watched.files.insert_into(set, Arc::clone(&watched.current))
    })
}

impl FilePair {
    fn read(&self) -> Result<Content, IdentityError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|source| IdentityError::File {
                path: path.into(),
                error: source,
            })
        };
        Ok(Content {
            chain: read(&self.chain)?,
            key: Zeroizing::new(read(&self.key)?),
        })
    }

    /// The identity that is loaded first, when errors go to the caller and say which files they are
    /// about.
    fn first(
        &self,
        content: &Content,
        provider: &CryptoProvider,
    ) -> Result<Identity, IdentityError> {
        let identity = content
            .identity(provider)
            .map_err(|source| IdentityError::InFiles {
                chain: self.chain.clone(),
                key: self.key.clone(),
                error: source.into(),
            })?;
        self.warn_of_expiry(&identity);
        Ok(identity)
    }

    /// It is served nevertheless: peers have clocks of their own, and the one here may be wrong.
    fn warn_of_expiry(&self, identity: &Identity) {
        if identity.not_after() < UnixTime::now() {
            warn!(
                chain = %self.chain.display(),
                "a certificate of the chain has expired, and peers refuse it; get a new one, \
                 unless the clock here is wrong"
            );
        }
    }

    fn insert_into(&self, set: IdentitySet, identity: Arc<Identity>) -> IdentitySet {
        match &self.serves {
            Serves::ItsNames => set.with(identity),
            Serves::Everybody => set.with_default(identity),
            Serves::Name(name) => set.with_name(name, identity),
        }
    }
}

/// The content of a pair of files.
struct Content {
    chain: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
}

impl Content {
    fn identity(&self, provider: &CryptoProvider) -> Result<Identity, IdentityError> {
        Identity::from_pem(&self.chain, &self.key, provider)
    }

    /// The hash is keyed, and says nothing about the private key.
    fn stamp(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one((&self.chain, &*self.key))
    }
}
