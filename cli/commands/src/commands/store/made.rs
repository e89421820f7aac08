//! What a key that is made or imported gets: its policy. And the report on it.

use core::fmt;

use pq_keystore::KeyId;
use pq_keystore::policy::{MAX_POLICY_FILE_LEN, Policy};
use serde::Serialize;

use super::arguments::Grant;
use super::texts;
use crate::failure::{Failure, StoreFailure};
use crate::files::Source;
use crate::keys::Algorithm;
use crate::shell::with_repeated;

/// The policy of a new key.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PolicyOptions {
    /// The key's policy, in TOML; without it, nothing is granted but what --grant says
    #[arg(long, value_name = "FILE")]
    policy: Option<Source>,

    /// Grant verbs or roles of this key, such as ci=sign or "*=public"; can be given several times
    #[arg(long = "grant", value_name = "NAME=VERBS")]
    grants: Vec<Grant>,

    /// Let private keys be exported, which can't be changed later
    #[arg(long)]
    pub(super) exportable: bool,
}

impl PolicyOptions {
    /// Whether an option says more than a door is told.
    pub(super) fn is_given(&self) -> bool {
        self.policy.is_some() || !self.grants.is_empty()
    }

    pub(super) fn policy(&self) -> Result<Policy, Failure> {
        let mut policy = match &self.policy {
            Some(file) => policy_in(file)?,
            None => Policy::default(),
        };
        for grant in &self.grants {
            policy.grants = grant.add_to(policy.grants);
        }
        policy.exportable |= self.exportable;
        Ok(policy)
    }
}

/// Reads a policy file.
pub(super) fn policy_in(file: &Source) -> Result<Policy, Failure> {
    let policy = Policy::from_toml(&texts::read(file, MAX_POLICY_FILE_LEN)?);
    Ok(policy.map_err(|error| StoreFailure::PolicyFile {
        file: file.to_string(),
        error,
    })?)
}

/// A key that is new in the store.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    pub(super) key: String,
    pub(super) version: u32,
    pub(super) algorithm: &'static str,
    /// Whether somebody may use it, beside whom the store's grants permit it; unknown behind a door.
    pub(super) granted: Option<bool>,
}

impl Made {
    pub(super) fn of(id: &KeyId, algorithm: Algorithm, policy: &Policy) -> Self {
        let grants = &policy.grants;
        Self {
            key: id.name().to_string(),
            version: id.version().get(),
            algorithm: algorithm.name(),
            granted: Some(grants.principals().len() > 0 || grants.anyone().iter().next().is_some()),
        }
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, version, .. } = self;
        writeln!(f, "{key}#{version}: private key of {}", self.algorithm)?;
        match self.granted {
            Some(true) | None => Ok(()),
            Some(false) => writeln!(
                f,
                "its policy lets nobody use it yet: see {}",
                with_repeated("\"pqtls store policy set\"")
            ),
        }
    }
}
