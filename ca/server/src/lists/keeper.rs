//! The lists of a CA's keys in a folder of their own.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use pq_ca::authority::AuthorityError;
use pq_ca::ledger::LedgerError;
use pq_keys::files::{Access, FileError, write_over};
use pq_x509::certificate::{Certificate, is_same_name};
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CertificateRevocationList;

use crate::algorithms::algorithms;
use crate::clock::Clock;
use crate::http::{Caching, Document};
use crate::keys::CaKey;

/// The media type of lists in DER (RFC 2585).
const MEDIA_TYPE: &str = "application/pkix-crl";
/// The most bytes of a file with a list.
const MAX_LEN: u64 = 1 << 30;
/// How often a list is made again because another process began a later one.
const TRIES: usize = 4;
/// A list whose time is further ahead than this came from a clock that was wrong.
const AHEAD: Duration = Duration::from_secs(60 * 60);
/// The file whose lock whoever makes lists has.
const TURN: &str = "turn";

/// How lists are kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListSettings {
    /// The folder with the files, one for each key: `issuing.crl`. It is made if it is missing. Processes of one machine that
    /// serve the same CA have the same folder, so that one of them makes each list.
    pub folder: PathBuf,
    /// After how long a list is made anew, by default an hour. It is no longer than half of the list's validity.
    pub every: Duration,
    /// For how long caches may give a list again, at most: by default an hour.
    pub max_age: Duration,
}

impl ListSettings {
    /// The settings by default, with this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        Self {
            folder: folder.into(),
            every: HOUR,
            max_age: HOUR,
        }
    }
}

/// The lists that clients get.
pub(crate) struct Lists {
    settings: ListSettings,
    clock: Clock,
    published: RwLock<BTreeMap<String, Arc<Published>>>,
}

/// A list, and until when it is valid.
pub(crate) struct Published {
    pub(crate) document: Document,
    pub(crate) next_update: Option<UnixTime>,
    this_update: UnixTime,
}

impl Lists {
    pub(crate) fn new(settings: ListSettings, clock: Clock) -> Self {
        Self {
            settings,
            clock,
            published: RwLock::default(),
        }
    }

    /// The list of the key with this name.
    pub(crate) fn published(&self, key: &str) -> Option<Arc<Published>> {
        let published = self.published.read();
        let published = published.unwrap_or_else(PoisonError::into_inner);
        published.get(key).cloned()
    }

    /// Publishes the list of a key that is not at hand, such as the root's, which somebody else puts into the folder.
    pub(crate) fn read(&self, key: &str, issuer: &Certificate) -> Result<(), ListError> {
        if let Some(list) = self.in_file(key, issuer)? {
            self.publish(key, &list);
        }
        Ok(())
    }

    /// Publishes the key's list that is in its file, or a new one if that is due and no other process makes it.
    pub(crate) fn keep(&self, key: &dyn CaKey) -> Result<(), ListError> {
        let name = key.name();
        if let Some(list) = self.in_file(name, key.issuer())? {
            // One that has to be replaced is better than none.
            self.publish(name, &list);
            if !self.is_due(&list, key) {
                return Ok(());
            }
        }
        let Some(_turn) = self.turn()? else {
            return Ok(());
        };
        // Another process had its turn meanwhile.
        if let Some(list) = self.in_file(name, key.issuer())?
            && !self.is_due(&list, key)
        {
            self.publish(name, &list);
            return Ok(());
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match self.make(key) {
                // A process without this folder, as on another machine or by a command, began a later one.
                Err(ListError::Authority(AuthorityError::Ledger(LedgerError::LaterList {
                    ..
                }))) if tries < TRIES => {}
                made => return made,
            }
        }
    }

    fn make(&self, key: &dyn CaKey) -> Result<(), ListError> {
        let list = key.list(self.clock.now())?;
        key.check_list(&list)?;
        let path = self.path(key.name());
        write_over(&path, list.der(), Access::OwnerWrites)?;
        // Only now: what is not in the file would be lost with the process.
        self.publish(key.name(), &list);
        tracing::info!(
            key = key.name(),
            number = list.number().map(base16ct::lower::encode_string),
            revoked = list.entries().len(),
            "a revocation list is published"
        );
        Ok(key.confirm_list(&list)?)
    }

    /// Whether a list is to be replaced by a later one.
    fn is_due(&self, list: &CertificateRevocationList, key: &dyn CaKey) -> bool {
        let (now, made) = (self.clock.now().as_secs(), list.this_update().as_secs());
        let every = self.settings.every.min(key.list_validity() / 2);
        let ends = list.next_update().is_none_or(|end| end.as_secs() <= now);
        ends || now >= made.saturating_add(every.as_secs()) || made > now + AHEAD.as_secs()
    }

    /// The list in a key's file. None if there is no file, or it is not a list of this key: then it will be replaced.
    fn in_file(
        &self,
        key: &str,
        issuer: &Certificate,
    ) -> Result<Option<CertificateRevocationList>, ListError> {
        let path = self.path(key);
        let read = File::open(&path).and_then(|file| {
            let mut text = Vec::new();
            file.take(MAX_LEN).read_to_end(&mut text).map(|_| text)
        });
        let text = match read {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ListError::Read(path, error)),
        };
        if let Some(known) = self.published(key)
            && known.document.body() == text.as_slice()
        {
            // It was looked at when it was published.
            return Ok(CertificateRevocationList::from_der(&text).ok());
        }
        let lists = CertificateRevocationList::all_in(&text).unwrap_or_default();
        let own = lists.into_iter().find(|list| of_key(list, issuer));
        if own.is_none() {
            tracing::warn!(
                file = %path.display(),
                "this is no revocation list that the key \"{key}\" signed; it is not served"
            );
        }
        Ok(own)
    }

    fn publish(&self, key: &str, list: &CertificateRevocationList) {
        let (this_update, next_update) = (list.this_update(), list.next_update());
        let before = self.published(key);
        // Nobody gets an older one than before.
        if before.is_some_and(|before| {
            before.this_update > this_update || before.document.body() == list.der().as_ref()
        }) {
            return;
        }
        let most = self.settings.max_age;
        let caching = match next_update {
            Some(end) => Caching::Until { end, most },
            None => Caching::For(most),
        };
        let document = Document::new(list.der().to_vec(), MEDIA_TYPE, Some(this_update), caching);
        let published = Published {
            // Two lists of one second may differ.
            document: document.by_tag_alone(),
            next_update,
            this_update,
        };
        let all = self.published.write();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.insert(key.into(), published.into());
    }

    /// The turn to make lists. None if another process has it.
    fn turn(&self) -> Result<Option<File>, ListError> {
        let folder = &self.settings.folder;
        let failed = |error| ListError::Folder(folder.clone(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        let path = folder.join(TURN);
        let options = File::options().create(true).append(true).open(path);
        let file = options.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.settings.folder.join(format!("{key}.crl"))
    }
}

/// Whether a list is signed by this key under its name.
pub(crate) fn of_key(list: &CertificateRevocationList, issuer: &Certificate) -> bool {
    is_same_name(list.issuer(), issuer.subject())
        && list.verify_signature(issuer, &algorithms()).is_ok()
}

/// Why there is no new list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// The CA made none.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// It can't be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file of a list can't be read.
    #[error("can't read {0}: {1}; see to it that this process may, or name another folder")]
    Read(PathBuf, io::Error),
    /// The folder can't be used.
    #[error(
        "can't use the folder of revocation lists {0}: {1}; name one that this process may write to"
    )]
    Folder(PathBuf, io::Error),
}

impl ListError {
    /// The file or folder that it is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Read(path, _) | Self::Folder(path, _) => Some(path),
            _ => None,
        }
    }
}
