//! Watches all pairs of files, until a `Watcher` is dropped. Its thread also asks the source of OCSP responses.

use alloc::sync::Arc;
use core::time::Duration;
use std::hash::RandomState;
use std::io;
use std::time::Instant;

use rustls::crypto::CryptoProvider;
use tracing::{debug, info};

use super::IdentityFiles;
use super::watched::{Look, Watched};
use crate::identity::set::Origin;
use crate::identity::stapled::OcspSource;
use crate::identity::{Identities, IdentityError, IdentitySet};
use crate::watching::{Reload, StartError, Watch, WatchThread};

pub(super) fn watch(
    files: IdentityFiles,
    every: Duration,
) -> Result<(Arc<Identities>, Watcher), WatchError> {
    WatchThread::check_interval(every)?;
    let hasher = RandomState::new();
    let pairs = files.pairs.into_iter();
    let watched = pairs
        .map(|pair| Watched::load(pair, &files.provider, &hasher))
        .collect::<Result<Vec<_>, _>>()?;
    let origin = Origin::default();
    let identities = Arc::new(Identities::new(set_of(&watched, &origin)));
    let pairs = Pairs {
        identities: Arc::clone(&identities),
        provider: files.provider,
        hasher,
        watched,
        origin,
        ocsp_source: files.ocsp_source,
    };
    let what = "certificate files and their OCSP responses";
    let watcher = Watcher(WatchThread::start(what, every, pairs)?);
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
pub struct Watcher(WatchThread);

impl Watcher {
    /// Reads the files now, and takes over changes without waiting for a second look.
    ///
    /// Call it when the files are known to be complete, for example on SIGHUP. It returns at once; what it returns tells
    /// when all files were read, and the log tells the outcome.
    pub fn reload(&self) -> Reload {
        self.0.reload()
    }
}

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

impl From<StartError> for WatchError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::TooOften { every } => Self::TooOften { every },
            StartError::Thread(error) => Self::Thread(error),
        }
    }
}

/// What the thread has.
struct Pairs {
    identities: Arc<Identities>,
    provider: Arc<CryptoProvider>,
    hasher: RandomState,
    watched: Vec<Watched>,
    /// The origin of the set that was made from the files.
    origin: Origin,
    ocsp_source: Option<Arc<dyn OcspSource>>,
}

impl Watch for Pairs {
    fn look(&mut self, is_complete: bool, goes_on: &dyn Fn() -> bool) {
        let start = Instant::now();
        let read = self.look_at_all(is_complete, goes_on);
        debug!(
            pairs = self.watched.len(),
            read,
            seconds = start.elapsed().as_secs_f64(),
            "looked at the certificate files"
        );
    }

    /// Asks the source for the responses that are due.
    fn between_looks(&mut self, goes_on: &dyn Fn() -> bool) -> Duration {
        let Some(source) = &self.ocsp_source else {
            return Duration::MAX;
        };
        self.identities.refresh_while(&**source, goes_on)
    }
}

impl Pairs {
    /// Looks at all files, and returns how many pairs it has read.
    fn look_at_all(&mut self, is_complete: bool, goes_on: &dyn Fn() -> bool) -> usize {
        let mut read = 0;
        let mut unchanged = 0;
        let mut changed = Vec::new();
        for (index, watched) in self.watched.iter_mut().enumerate() {
            if !goes_on() {
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
        if changed.is_empty() || !goes_on() {
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

fn set_of(watched: &[Watched], origin: &Origin) -> IdentitySet {
    let set = IdentitySet::from_origin(origin);
    watched.iter().fold(set, |set, watched| {
        set.serving(Arc::clone(&watched.current), watched.files.serves.clone())
    })
}
