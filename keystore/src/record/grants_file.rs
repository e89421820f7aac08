//! The grants of a store as a file.

use alloc::collections::BTreeMap;
use core::fmt::Write as _;

use super::store::{Scope, StoreGrants, UnknownScope};
use crate::policy::{InvalidPrincipal, Principal, UnknownVerb, Verbs};

/// The most bytes of a file of grants.
pub const MAX_GRANTS_FILE_LEN: usize = 256 * 1024;

/// Why a text is no file of grants.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidGrantsFile {
    /// It is too long.
    #[error("a file of grants has at most {MAX_GRANTS_FILE_LEN} bytes")]
    TooLong,
    /// It is no TOML, or no table of principals for each scope.
    #[error("{0}")]
    Toml(String),
    /// A table is for no scope.
    #[error("{0}")]
    Scope(UnknownScope),
    /// A grant names something else than a verb or a role.
    #[error("{0}")]
    Verb(UnknownVerb),
    /// A grant is for no principal.
    #[error("{0}")]
    Principal(InvalidPrincipal),
}

impl StoreGrants {
    /// Reads grants from TOML: a table for each scope, with the verbs or roles of each principal, of whom `*` is
    /// everybody.
    ///
    /// ```
    /// use pq_keystore::StoreGrants;
    ///
    /// let grants = StoreGrants::from_toml(r#"
    ///     ["*"]
    ///     admin = ["administrator"]
    ///
    ///     ["shop/tokens/*"]
    ///     ci = ["sign", "show"]
    ///     "*" = ["verify"]
    /// "#)?;
    /// assert_eq!(StoreGrants::from_toml(&grants.to_toml())?, grants);
    /// # Ok::<_, pq_keystore::InvalidGrantsFile>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An [`InvalidGrantsFile`] that says what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, InvalidGrantsFile> {
        type File = BTreeMap<String, BTreeMap<String, Vec<String>>>;
        if text.len() > MAX_GRANTS_FILE_LEN {
            return Err(InvalidGrantsFile::TooLong);
        }
        let file: File = toml::from_str(text)
            .map_err(|error| InvalidGrantsFile::Toml(error.message().trim_end().into()))?;
        let mut grants = Self::new();
        for (scope, principals) in &file {
            let scope: Scope = scope.parse().map_err(InvalidGrantsFile::Scope)?;
            for (name, names) in principals {
                let mut verbs = Verbs::NONE;
                for name in names {
                    let named: Verbs = name.parse().map_err(InvalidGrantsFile::Verb)?;
                    verbs = verbs | named;
                }
                grants = match name.as_str() {
                    "*" => grants.grant_anyone(&scope, verbs),
                    name => {
                        let principal = Principal::new(name);
                        let principal = principal.map_err(InvalidGrantsFile::Principal)?;
                        grants.grant(&scope, &principal, verbs)
                    }
                };
            }
        }
        Ok(grants)
    }

    /// The grants as a file, with verbs instead of roles.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (scope, grants) in self.scopes() {
            let anyone = Some(("*", grants.anyone())).filter(|(_, verbs)| *verbs != Verbs::NONE);
            let named = grants.principals();
            let named = named.map(|(principal, verbs)| (principal.as_str(), verbs));
            // Visible ASCII is quoted alike in Rust and TOML. Writing to a string doesn't fail.
            let _ = writeln!(text, "[{:?}]", scope.to_string());
            for (name, verbs) in anyone.into_iter().chain(named) {
                let verbs = verbs.iter().map(|verb| format!("{:?}", verb.name()));
                let verbs: Vec<_> = verbs.collect();
                let _ = writeln!(text, "{name:?} = [{}]", verbs.join(", "));
            }
        }
        text
    }
}
