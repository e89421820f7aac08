//! The options for the key that a certificate is for: a given key, or a new one, whose file is written before the
//! certificate is issued.

use pq_x509::{Protection, SubjectKey};

use crate::arguments::AlgorithmParser;
use crate::commands::delivery::Delivery;
use crate::commands::key;
use crate::documents;
use crate::failure::Failure;
use crate::files::{self, Access, Destination, Output, OutputError, Source};
use crate::keys::Algorithm;
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

impl SubjectKeyOptions {
    /// Refuses a new key that could not be written, before anything is done.
    pub(super) fn check(&self, out: &Destination, force: bool, json: bool) -> Result<(), Failure> {
        let Some(to) = &self.new_key else {
            return Ok(());
        };
        Delivery::to(&[to], false, json)?;
        let file = files::check(to, false)?;
        if file.is_some() && file == files::check(out, force)? {
            return Err(OutputError::Twice(to.to_string()).into());
        }
        Ok(())
    }

    /// Calls `make` with the key, if there is one, to have a certificate signed, and then `record` with that. A new
    /// key is written to its file before, so that no certificate is without its key. The file is removed if `make`
    /// fails, if a signal ends this process before `record`, and if that fails and has certainly recorded nothing. A
    /// passphrase that the options name encrypts it. Without one, it is not encrypted: nobody is asked.
    pub(super) fn with_key<M, T>(
        &self,
        make: impl FnOnce(Option<&dyn SubjectKey>) -> Result<M, Failure>,
        record: impl FnOnce(M) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(source) = &self.key {
            self.passphrase.check()?;
            let key = documents::public_key_to_certify(source, &self.passphrase)?;
            return record(make(Some(&key))?);
        }
        let Some(to) = &self.new_key else {
            return match self.passphrase.is_given() {
                true => Err(Failure::NoKeyToEncrypt),
                false => record(make(None)?),
            };
        };
        let passphrase = match self.passphrase.is_given() {
            true => Some(self.passphrase.of_new()?),
            false => None,
        };
        let key = key::generate(self.algorithm)?;
        let pem = match &passphrase {
            Some(passphrase) => key::encrypted_pem(&key, passphrase, &Protection::default())?,
            None => key.to_pkcs8_pem()?,
        };
        let output = Output {
            to,
            content: pem.as_bytes(),
            access: Access::Private,
            is_binary: false,
        };
        let written = files::write_for_now(&[output], false)?;
        let certificate = make(Some(&key))?;
        // From here on the ledger may have the certificate, so a signal leaves the key.
        let made = written.keep();
        record(certificate).map_err(|failure| match &failure {
            Failure::Authority(error) if !error.changed_nothing() => Failure::KeyKept {
                file: to.to_string(),
                failure: failure.into(),
            },
            _ => {
                files::remove(made);
                failure
            }
        })
    }
}
