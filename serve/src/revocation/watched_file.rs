//! One file with revocation lists that is watched. What it had when it could be used last counts until it has something
//! else that can be used, whatever becomes of other files.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pq_x509::revocation::CertificateRevocationList;
use rustls::server::ClientCertVerifierBuilder;
use rustls_pq::watching::{FileTraits, Seen, Tracked};
use tracing::{info, warn};

use super::error::RevocationError;
use super::lists::{check_lists, lists_in, read};

/// A file with revocation lists, and the lists that it had when it could be used last.
pub(super) struct WatchedFile {
    path: PathBuf,
    lists: Vec<Arc<CertificateRevocationList>>,
    tracked: Tracked<FileTraits>,
    /// Why what is in the file now isn't in use.
    refused: Option<RevocationError>,
    /// Whether the last look has told the log so.
    is_told: bool,
}

/// The outcome of a look.
pub(super) enum Look {
    /// There are new lists.
    Changed,
    /// The file has the lists that are in use.
    Same,
    /// The file can't be used, or not yet, or was not read since it can't have changed.
    Unusable,
}

impl WatchedFile {
    /// Reads it for the first time. Lists that `builder` doesn't take are refused.
    pub(super) fn read(
        path: &Path,
        builder: &ClientCertVerifierBuilder,
        hasher: &RandomState,
    ) -> Result<Self, RevocationError> {
        let start = Instant::now();
        let file = read(path)?;
        let stamp = hasher.hash_one(&*file.content);
        let mut tracked = Tracked::read(stamp, file.traits(), start);
        let lists = usable(path, &file.content, builder)?;
        tracked.take(stamp);
        Ok(Self {
            path: path.into(),
            lists,
            tracked,
            refused: None,
            is_told: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Those that are in use.
    pub(super) fn lists(&self) -> impl Iterator<Item = Arc<CertificateRevocationList>> {
        self.lists.iter().cloned()
    }

    /// Reads it, unless it can't have changed. New lists are used at once if `is_complete`, and otherwise if the last look
    /// found them as well.
    pub(super) fn look(
        &mut self,
        is_complete: bool,
        builder: &ClientCertVerifierBuilder,
        hasher: &RandomState,
    ) -> Look {
        let start = Instant::now();
        self.is_told = false;
        let is_as_read = || {
            self.tracked
                .is_as_read(|| FileTraits::look(&self.path).ok())
        };
        if !is_complete && is_as_read() {
            return Look::Unusable;
        }
        let file = match read(&self.path) {
            Ok(file) => file,
            Err(error) => {
                if self.tracked.failed(is_complete) {
                    self.refuse(error);
                }
                return Look::Unusable;
            }
        };
        let stamp = hasher.hash_one(&*file.content);
        match (self.tracked).saw(stamp, file.traits(), start, is_complete) {
            seen @ (Seen::Same | Seen::Restored) => {
                if seen == Seen::Restored {
                    let file = self.path.display();
                    info!(%file, "the file has the revocation lists again that are in use");
                }
                self.refused = None;
                return Look::Same;
            }
            Seen::NotYet => return Look::Unusable,
            Seen::New => {}
        }
        match usable(&self.path, &file.content, builder) {
            Ok(lists) => {
                self.lists = lists;
                self.tracked.take(stamp);
                self.refused = None;
                Look::Changed
            }
            Err(error) => {
                self.tracked.refuse(stamp);
                self.refuse(error);
                Look::Unusable
            }
        }
    }

    fn refuse(&mut self, error: RevocationError) {
        warn!(%error, "new revocation lists refused; those that this file had before stay in use");
        self.refused = Some(error);
        self.is_told = true;
    }

    /// Says once more that what is in the file isn't in use, if that is so and the last look hasn't.
    pub(super) fn remind(&self) {
        if let Some(error) = self.refused.as_ref().filter(|_| !self.is_told) {
            warn!(%error, "those that this file had before are still in use");
        }
    }
}

/// The lists in what was read of a file, if each can be used.
fn usable(
    path: &Path,
    content: &[u8],
    builder: &ClientCertVerifierBuilder,
) -> Result<Vec<Arc<CertificateRevocationList>>, RevocationError> {
    let lists = lists_in(path, content)?;
    check_lists(path, &lists, builder.clone())?;
    Ok(lists.into_iter().map(Arc::new).collect())
}
