//! The options for the key that a certificate is for: a given key, or a new one, whose file is written before the
//! certificate is issued.

use std::path::PathBuf;

use pq_ca::authority::Authority;
use pq_ca::issuing::{Companion, Issuance, IssuanceError, IssuedCertificate};
use pq_ca::ledger::Ledger;
use pq_keys::protection::Protection;
use pq_keys::{Signer, SubjectKey};
use pq_x509::pki_types::UnixTime;
use zeroize::Zeroizing;

use crate::arguments::AlgorithmParser;
use crate::commands::delivery::Delivery;
use crate::documents;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, OutputError, Source, Written};
use crate::keys::{Algorithm, PrivateKey};
use crate::passphrases::PassphraseOptions;

/// The key that a certificate is issued for.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SubjectKeyOptions {
    /// A file with the key: private, public or in a certificate; "-" is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "new_key")]
    pub(super) key: Option<Source>,

    /// Where to write a new private key, which never replaces a file
    #[arg(long, value_name = "FILE")]
    pub(super) new_key: Option<Destination>,

    /// The new key's algorithm
    #[arg(
        long,
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        default_value = "ML-DSA-65",
        requires = "new_key",
        // clap does not ask for a required argument that conflicts with a given one.
        conflicts_with = "key",
    )]
    algorithm: Algorithm,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// No option replaces the file of a key by a new key.
fn new_key_exists(failure: Failure) -> Failure {
    match failure {
        Failure::Output(OutputError::Exists(file)) => Failure::NewKeyExists(file),
        other => other,
    }
}

impl SubjectKeyOptions {
    /// Refuses a new key that could not be written, before anything is done.
    pub(super) fn check(&self, out: &Destination, force: bool, json: bool) -> Result<(), Failure> {
        let Some(to) = &self.new_key else {
            return Ok(());
        };
        Delivery::to(&[to], false, json).map_err(new_key_exists)?;
        let file = files::check(to, false)?;
        if file.is_some() && file == files::check_public(out, force)? {
            return Err(OutputError::Twice(to.to_string()).into());
        }
        Ok(())
    }

    /// Has the CA issue what `ask` asks for with the key, if there is one. A new key is written to its file before, so
    /// that no certificate is without its key. The file goes if a signal ends this process before the ledger may have
    /// the certificate, and if none was issued. A passphrase that the options name encrypts it. Without one, it is not
    /// encrypted: nobody is asked.
    pub(super) fn issue<S: Signer, L: Ledger>(
        &self,
        authority: &Authority<S, L>,
        by: &str,
        ask: impl for<'k> FnOnce(Option<&'k dyn SubjectKey>) -> Result<Issuance<'k>, Failure>,
    ) -> Result<IssuedCertificate, Failure> {
        if let Some(source) = &self.key {
            self.passphrase.check()?;
            let key = documents::any_public_key(source, &self.passphrase)?;
            return Ok(ask(Some(&key))?.carry_out(authority, by, UnixTime::now(), ())?);
        }
        let Some(to) = &self.new_key else {
            return match self.passphrase.is_given() {
                true => Err(Failure::NoKeyToEncrypt),
                false => Ok(ask(None)?.carry_out(authority, by, UnixTime::now(), ())?),
            };
        };
        let passphrase = match self.passphrase.is_given() {
            true => Some(self.passphrase.of_new()?),
            false => None,
        };
        let key = PrivateKey::generate(self.algorithm)?;
        let pem = match &passphrase {
            Some(passphrase) => {
                let protection = Protection::default();
                Zeroizing::new(key.to_encrypted_pkcs8_pem(passphrase, &protection)?)
            }
            None => key.to_pkcs8_pem()?,
        };
        let output = Output {
            to,
            content: pem.as_bytes(),
            access: Access::Private,
            is_binary: false,
        };
        let file = KeyFile(files::write_for_now(&[output], false)?);
        let issuance = ask(Some(&key))?;
        let issued = issuance.carry_out(authority, by, UnixTime::now(), file);
        issued.map_err(|error| match error {
            IssuanceError::NotIssued(_) => error.into(),
            IssuanceError::Unsettled(_) => Failure::KeyKept {
                file: to.to_string(),
                failure: Box::new(error.into()),
            },
        })
    }
}

/// The file of a new key, which a signal leaves only when the ledger may have the certificate.
struct KeyFile(Written);

impl Companion for KeyFile {
    type Kept = Vec<PathBuf>;

    fn keep(self) -> Vec<PathBuf> {
        self.0.keep()
    }

    fn withdraw(made: Vec<PathBuf>) {
        files::remove(made);
    }
}
