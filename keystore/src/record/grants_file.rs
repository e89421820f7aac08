//! The grants of a store as a file: a table for each scope.

use alloc::collections::BTreeMap;
use core::fmt::Write;

use super::store::{Scope, StoreGrants, UnknownScope};
use crate::policy::grants_file::{self, InvalidGrants, Table};
use crate::policy::{InvalidPrincipal, UnknownVerb, Verbs};

/// The most bytes of a file of a store's grants.
pub const MAX_GRANTS_FILE_LEN: usize = 256 * 1024;

/// Why a text is no file of a store's grants.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGrantsFile {
    /// It is too long.
    #[error("a file of grants has at most {MAX_GRANTS_FILE_LEN} bytes")]
    TooLong,
    /// It is not TOML, or has something else in it.
    #[error("{0}")]
    Toml(String),
    /// A table is of no scope.
    #[error("{0}")]
    Scope(UnknownScope),
    /// A table grants a verb or role that there is not.
    #[error("{0}")]
    Verb(UnknownVerb),
    /// A table grants something to a name that nobody can have.
    #[error("{0}")]
    Principal(InvalidPrincipal),
}

impl From<InvalidGrants> for InvalidGrantsFile {
    fn from(error: InvalidGrants) -> Self {
        match error {
            InvalidGrants::Verb(error) => Self::Verb(error),
            InvalidGrants::Principal(error) => Self::Principal(error),
        }
    }
}

impl StoreGrants {
    /// Reads the form of files: for each scope a table with verbs or roles of each principal, where `*` is everybody.
    ///
    /// ```
    /// use pq_keystore::StoreGrants;
    ///
    /// let file = "[\"*\"]\noperator = [\"administrator\"]\n[\"shop/*\"]\nwatcher = [\"list\", \"show\"]\n";
    /// let grants = StoreGrants::from_toml(file)?;
    /// assert_eq!(grants.scopes().len(), 2);
    /// assert_eq!(StoreGrants::from_toml(&grants.to_toml())?, grants);
    /// # Ok::<_, pq_keystore::InvalidGrantsFile>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An [`InvalidGrantsFile`] that says what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, InvalidGrantsFile> {
        if text.len() > MAX_GRANTS_FILE_LEN {
            return Err(InvalidGrantsFile::TooLong);
        }
        let file: BTreeMap<String, Table> = toml::from_str(text)
            .map_err(|error| InvalidGrantsFile::Toml(error.message().trim_end().into()))?;
        let mut all = Self::new();
        for (scope, table) in &file {
            let scope: Scope = scope.parse().map_err(InvalidGrantsFile::Scope)?;
            let grants = grants_file::read(table, Verbs::all());
            all.insert(scope, grants?);
        }
        Ok(all)
    }

    /// The grants as a file, with verbs instead of roles.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (scope, grants) in self.scopes() {
            // Writing to a string doesn't fail.
            let _ = writeln!(text, "[{:?}]", scope.to_string());
            grants_file::write(&mut text, grants);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_of_grants_is_refused() {
        for (text, words) in [
            ("[\"shop\"]\na = [\"sign\"]\n", "a scope is"),
            ("[\"*\"]\na = [\"fly\"]\n", "fly"),
            ("[\"*\"]\n\"\" = [\"sign\"]\n", "name"),
            ("a = 1\n", "invalid type"),
        ] {
            let error = StoreGrants::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let long = "#".repeat(MAX_GRANTS_FILE_LEN + 1);
        assert_eq!(
            StoreGrants::from_toml(&long),
            Err(InvalidGrantsFile::TooLong)
        );
    }
}
