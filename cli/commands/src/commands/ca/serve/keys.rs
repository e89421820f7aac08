//! The CA's keys for as long as the server runs: opened once, so that nobody is asked for a passphrase again.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use std::fs;
use std::time::SystemTime;

use pq_ca::folder::Role;
use pq_ca::ledger::Generation;
use pq_ca_server::{CaKey, PublishedCa};
use pq_keys::SignatureAlgorithm;
use zeroize::Zeroizing;

use super::super::ca_key::CaKeyOptions;
use super::super::opened::CaFolder;
use crate::commands::custody::AnySigner;
use crate::failure::Failure;
use crate::keys::Algorithm;
use crate::report;

/// A CA's folder, and those of its keys that were opened.
pub(super) struct Keys {
    options: CaKeyOptions,
    folder: CaFolder,
    opened: BTreeMap<String, Opened>,
}

/// What the published CA depends on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Stamp {
    policy: Vec<u8>,
    generations: Vec<Generation>,
    /// When each file of a key was written.
    keys: Vec<Option<SystemTime>>,
}

/// A key, and the text of its file.
struct Opened {
    text: Zeroizing<Vec<u8>>,
    signer: Arc<AnySigner>,
}

impl Keys {
    pub(super) fn new(options: CaKeyOptions, folder: CaFolder) -> Self {
        Self {
            options,
            folder,
            opened: BTreeMap::new(),
        }
    }

    /// The CA as its files are now.
    pub(super) fn published(&mut self) -> Result<PublishedCa, Failure> {
        let issues = self.folder.issuing_role()?;
        let issuing = self.folder.issuing_keys()?;
        let first = self.key(issues)?;
        let root = self.folder.certificate(Role::Root)?;
        let mut ca = PublishedCa::new(root, self.folder.chain()?, first);
        for (role, certificate) in issuing.into_iter().filter(|(role, _)| *role != issues) {
            ca.issuing.push((role.name().into(), certificate));
            // The list and the answers of a key that is kept elsewhere come from there.
            if self.folder.key_path(role).exists() {
                match self.key(role) {
                    Ok(key) => ca.keys.push(key),
                    Err(failure) => report::warn(format_args!(
                        "the key \"{}\" can't be used, so there are no lists and no OCSP responses of it here: {failure}",
                        role.name()
                    )),
                }
            }
        }
        Ok(ca.at_urls_of(&self.folder.policy()?))
    }

    fn key(&mut self, role: Role) -> Result<Arc<dyn CaKey>, Failure> {
        let (options, opened) = (&self.options, &mut self.opened);
        let name = role.name().into_owned();
        let authority = self.folder.authority_with(role, |path, text| {
            if let Some(known) = opened.get(&name).filter(|known| *known.text == text) {
                return Ok(known.signer.clone());
            }
            let signer = Arc::new(options.signer(path, text)?);
            let text = Zeroizing::new(text.to_vec());
            let known = Opened {
                text,
                signer: signer.clone(),
            };
            opened.insert(name, known);
            Ok::<_, Failure>(signer)
        })?;
        Ok(Arc::new(authority))
    }

    /// What the published CA depends on.
    pub(super) fn stamp(&self) -> Result<Stamp, Failure> {
        let policy = fs::read(self.folder.policy_path()).unwrap_or_default();
        let generations: Vec<Generation> = self.folder.generations()?;
        let there = generations.iter().filter_map(|one| {
            let role = Role::from_name(&one.name)?;
            Some(
                fs::metadata(self.folder.key_path(role))
                    .ok()?
                    .modified()
                    .ok(),
            )
        });
        Ok(Stamp {
            policy,
            keys: there.collect(),
            generations,
        })
    }

    /// The algorithm of a server's key whose certificate the CA signs: one that clients of the CA verify.
    pub(super) fn algorithm_for_tls(&self) -> Option<Algorithm> {
        let own = self.opened.values().next()?.signer.algorithm();
        Some(match own {
            Algorithm::Classical(_) => own,
            _ => Algorithm::PostQuantum(pq_keys::Algorithm::Signature(SignatureAlgorithm::MlDsa65)),
        })
    }
}
