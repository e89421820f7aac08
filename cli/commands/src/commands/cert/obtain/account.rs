//! The key of an account: in a file of its own, made when it is needed first.

use core::cell::Cell;
use std::path::{Path, PathBuf};

use pq_acme::problem::Problem;
use zeroize::Zeroizing;

use crate::documents;
use crate::failure::{AcmeFailure, Failure};
use crate::files::{self, Access, Destination, Output, Source};
use crate::keys::{Algorithm, Narrow, PrivateKey, SigningKey};
use crate::passphrases::PassphraseOptions;
use crate::report;

/// An account's key.
pub(super) struct Account {
    key: SigningKey,
    file: PathBuf,
    /// What is to be written, if the key is new.
    new: Option<Zeroizing<String>>,
    is_written: Cell<bool>,
}

/// The kinds of keys, by their names here and in JOSE, the best first: all CAs that don't know ML-DSA know the second.
const KINDS: [(&str, &str); 7] = [
    ("ML-DSA-65", "ML-DSA-65"),
    ("ECDSA-P256", "ES256"),
    ("ECDSA-P384", "ES384"),
    ("Ed25519", "EdDSA"),
    ("ML-DSA-87", "ML-DSA-87"),
    ("ML-DSA-44", "ML-DSA-44"),
    ("RSA-2048", "RS256"),
];

impl Account {
    /// The key of a file, or a new one.
    pub(super) fn open(file: &Path) -> Result<Self, Failure> {
        if file.exists() {
            let source = Source::File(file.into());
            return Ok(Self {
                key: documents::signing_key(&source, &PassphraseOptions::default())?,
                file: file.into(),
                new: None,
                is_written: Cell::new(true),
            });
        }
        Self::make(file.into(), KINDS[0].0, false)
    }

    fn make(file: PathBuf, kind: &str, is_written: bool) -> Result<Self, Failure> {
        let algorithm = Algorithm::named(kind);
        let algorithm = algorithm.ok_or_else(|| AcmeFailure::NoAccountKey(kind.into()))?;
        let key = PrivateKey::generate(algorithm)?;
        Ok(Self {
            new: Some(key.to_pkcs8_pem()?),
            key: SigningKey::narrow(key)?,
            file,
            is_written: Cell::new(is_written),
        })
    }

    /// Writes a new key to its file, before the server hears of it: an account whose key is lost is of no use.
    pub(super) fn write(&self) -> Result<(), Failure> {
        if self.is_written.get() {
            return Ok(());
        }
        self.write_over(false)
    }

    fn write_over(&self, force: bool) -> Result<(), Failure> {
        if let Some(pem) = &self.new {
            let to = Destination::File(self.file.clone());
            let output = Output {
                to: &to,
                content: pem.as_bytes(),
                access: Access::Private,
                is_binary: false,
            };
            files::write(&[output], force)?;
        }
        self.is_written.set(true);
        Ok(())
    }

    pub(super) fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Whether the key was there before.
    pub(super) fn is_old(&self) -> bool {
        self.new.is_none()
    }

    /// The same with a key of another kind, of those that the server takes, in place of the first, which has no account.
    pub(super) fn of_another_kind(
        self,
        problem: &Problem,
        tried: &[String],
    ) -> Result<Self, Failure> {
        let taken = &problem.algorithms;
        let is_taken = |name: &str| match taken.is_empty() {
            // It doesn't say; all know this one.
            true => name == "ES256",
            false => taken.iter().any(|one| one == name),
        };
        let mut kinds = KINDS.iter();
        let kind = kinds.find(|(_, name)| is_taken(name) && !tried.iter().any(|one| one == name));
        let Some((kind, _)) = kind else {
            let told: Vec<&str> = taken.iter().map(AsRef::as_ref).collect();
            return match told.is_empty() {
                true => Err(AcmeFailure::NoAccountKey(problem.to_string()).into()),
                false => Err(AcmeFailure::NoAccountKey(told.join(", ")).into()),
            };
        };
        report::say(format_args!(
            "the CA takes no account with a key of {}; the account's key is of {kind}",
            tried.last().map_or("this kind", String::as_str)
        ));
        let other = Self::make(self.file, kind, self.is_written.get())?;
        if other.is_written.get() {
            // The first one has no account.
            other.write_over(true)?;
        }
        Ok(other)
    }
}
