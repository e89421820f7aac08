//! ACME's objects, such as accounts: where they are, and what the operator asks of the server that has them open.

use core::convert::Infallible;
use core::str::FromStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pq_acme::store::{PostgresStore, RedbStore, StorageError};

use crate::commands::servers::DatabaseAddress;
use crate::failure::{AcmeFailure, DatabaseFailure};
use crate::files::Source;

/// The objects of a CA, in its folder.
const OBJECTS: &str = "acme.redb";

/// A place of ACME's objects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) enum ObjectsPlace {
    /// A file, for one process at a time.
    File(PathBuf),
    /// A database, for several.
    Postgres(DatabaseAddress),
}

/// Objects that are open.
pub(super) enum Objects {
    File(RedbStore),
    Postgres(PostgresStore),
}

/// Why objects are not open.
#[derive(Debug, thiserror::Error)]
pub(super) enum ObjectsError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Database(#[from] DatabaseFailure),
}

impl ObjectsPlace {
    /// Where a CA with this folder has them, unless a command line says it.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self::File(folder.join(OBJECTS))
    }

    /// The file, if it is one.
    pub(in crate::commands) fn file(&self) -> Option<Source> {
        self.path().map(|path| Source::File(path.into()))
    }

    /// The path of the file, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Postgres(_) => None,
        }
    }

    /// Opens them. A file that is missing is made. It may block.
    pub(super) fn open(&self) -> Result<Objects, ObjectsError> {
        Ok(match self {
            Self::File(path) => Objects::File(RedbStore::open(path)?),
            Self::Postgres(address) => Objects::Postgres(PostgresStore::open(address.options()?)?),
        })
    }
}

impl FromStr for ObjectsPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let database = DatabaseAddress::in_text(text).map(Self::Postgres);
        Ok(database.unwrap_or_else(|| Self::File(text.into())))
    }
}

/// The identifier of an account, which is the last part of its URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AccountId(String);

impl AccountId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccountId {
    type Err = NoAccountId;

    fn from_str(text: &str) -> Result<Self, NoAccountId> {
        let id = text.rsplit('/').next().unwrap_or_default();
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        match (1..=64).contains(&id.len()) && id.bytes().all(is_of_it) {
            true => Ok(Self(id.into())),
            false => Err(NoAccountId),
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "write an account's identifier, as \"pqtls ca accounts\" and \"pqtls ca show\" say it, or its URL"
)]
pub(super) struct NoAccountId;

/// Accounts that are to be ended by the server that has the file of objects open, which no other process can change then. Each
/// is a file in a folder beside it. The server takes it away when it is done.
#[derive(Clone, Debug)]
pub(super) struct Wishes(PathBuf);

/// What the server says of a wish, beside taking it away.
const UNKNOWN: &str = "unknown";

impl Wishes {
    /// Those beside this file of objects.
    pub(super) fn beside(objects: &Path) -> Self {
        let mut folder = objects.as_os_str().to_owned();
        folder.push(".ending");
        Self(folder.into())
    }

    /// Makes the folder, whose owner has to be the server.
    pub(super) fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.0)
    }

    /// Wishes that an account be ended.
    pub(super) fn add(&self, account: &AccountId) -> io::Result<()> {
        File::create(self.0.join(&account.0))?.sync_all()
    }

    /// Whether the server did what was wished.
    pub(super) fn outcome(&self, account: &AccountId) -> Option<Result<(), AcmeFailure>> {
        if self.0.join(&account.0).exists() {
            return None;
        }
        let is_unknown = fs::remove_file(self.unknown(account)).is_ok();
        Some(match is_unknown {
            true => Err(AcmeFailure::NoAccount(account.0.clone())),
            false => Ok(()),
        })
    }

    /// All that is wished.
    pub(super) fn all(&self) -> io::Result<Vec<AccountId>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            // Answers have another form.
            all.extend(name.to_str().and_then(|name| name.parse().ok()));
        }
        Ok(all)
    }

    /// Says that it is done, or that there is no such account.
    pub(super) fn answer(&self, account: &AccountId, is_known: bool) -> io::Result<()> {
        let wish = self.0.join(&account.0);
        match is_known {
            true => fs::remove_file(wish),
            false => fs::rename(wish, self.unknown(account)),
        }
    }

    fn unknown(&self, account: &AccountId) -> PathBuf {
        self.0.join(format!("{}.{UNKNOWN}", account.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_named_by_identifiers_or_urls() {
        for text in ["ab-_9", "https://ca.example/acme/account/ab-_9"] {
            assert_eq!(text.parse::<AccountId>().unwrap().as_str(), "ab-_9");
        }
        for text in ["", "a.b", "..", "https://ca.example/acme/account/", "a b"] {
            assert_eq!(text.parse::<AccountId>(), Err(NoAccountId));
        }
    }

    #[test]
    fn wishes_are_answered() {
        let folder = tempfile::tempdir().unwrap();
        let wishes = Wishes::beside(&folder.path().join("acme.redb"));
        assert!(wishes.all().is_err());
        wishes.prepare().unwrap();
        let [one, other] = ["one", "other"].map(|id| id.parse::<AccountId>().unwrap());
        for account in [&one, &other] {
            wishes.add(account).unwrap();
            assert!(wishes.outcome(account).is_none());
        }
        assert_eq!(wishes.all().unwrap().len(), 2);
        wishes.answer(&one, true).unwrap();
        wishes.answer(&other, false).unwrap();
        assert!(wishes.all().unwrap().is_empty());
        assert!(wishes.outcome(&one).unwrap().is_ok());
        assert!(wishes.outcome(&other).unwrap().is_err());
    }
}
