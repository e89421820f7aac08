//! The command `pqtls key check`: beside the checks of its standard, it signs or decapsulates once with a private key,
//! and the public half has to agree.

use core::fmt;

use pq_keys::agreement::{AgreementKey, AgreementPublicKey};
use pq_keys::classical::ClassicalKeyError;
use pq_keys::composite::CompositeKeyError;
use pq_keys::{DecapsulationKey, SigningKey, SubjectKey};
use serde::Serialize;
use zeroize::Zeroizing;

use super::facts::KeyFacts;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::{KeyError, PrivateKey};
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report};

/// Check that the parts of a private key belong together and that it works
///
/// Reads the key with the checks of its standard, uses it once and checks the result. With a
/// certificate, checks that it is for this key.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private key in PEM or DER; "-" is standard input
    file: Source,

    /// A certificate, or a chain that begins with it
    #[arg(long = "cert", value_name = "FILE")]
    certificate: Option<Source>,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key check server.key
  $ pqtls cert self-sign --key server.key --name localhost --out self-signed.pem
  $ pqtls key check server.key --cert self-signed.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let key = documents::private_key(&arguments.file, &arguments.passphrase)?.key;
    let unsound = |what: &dyn fmt::Display| Failure::UnsoundKey {
        file: arguments.file.to_string(),
        what: what.to_string(),
    };
    match works(&key) {
        Ok(true) => {}
        Ok(false) => {
            return Err(unsound(
                &"the public half refuses what the private half makes",
            ));
        }
        Err(error) if error.is_lack_of_randomness() => return Err(error.into()),
        Err(error) => return Err(unsound(&error)),
    }
    let certificate = match &arguments.certificate {
        None => None,
        Some(file) => {
            let certificate = documents::first_certificate(file)?;
            if certificate.spki() != key.spki() {
                return Err(Failure::OtherKey {
                    key: arguments.file.to_string(),
                    certificate: file.to_string(),
                    subject: certificate.describe_subject(),
                });
            }
            Some(certificate.describe_subject())
        }
    };
    let report = SoundKey {
        key: KeyFacts::of(&key.public_half()),
        file: arguments.file.to_string(),
        certificate,
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

/// Whether the halves of a key agree on a signature or on a shared secret.
fn works(key: &PrivateKey) -> Result<bool, KeyError> {
    const MESSAGE: &[u8] = b"pqtls key check";
    let key = match key {
        PrivateKey::PostQuantum(key) => key,
        PrivateKey::XWing(key) => {
            let mut ours = Zeroizing::new([0; 32]);
            let mut theirs = Zeroizing::new([0; 32]);
            let ciphertext = key.public_key().encapsulate_into(&mut ours)?;
            key.decapsulate_into(&ciphertext, &mut theirs)?;
            return Ok(ours == theirs);
        }
        PrivateKey::Agreement(key) => {
            let sender = key.public_key().agree_once()?;
            return Ok(key.agree(&sender.public_key)? == sender.secret);
        }
        PrivateKey::Composite(key) => {
            return match key.check() {
                Err(CompositeKeyError::Unsound(_)) => Ok(false),
                checked => Ok(checked.map(|()| true)?),
            };
        }
        PrivateKey::Classical(key) => {
            return match key.check() {
                Err(ClassicalKeyError::Unsound) => Ok(false),
                checked => Ok(checked.map(|()| true)?),
            };
        }
    };
    if let Ok(key) = SigningKey::try_from(key.clone()) {
        key.check()?;
        let signature = key.sign(MESSAGE)?;
        return Ok(key.verifying_key().verify(MESSAGE, &signature).is_ok());
    }
    let key = DecapsulationKey::try_from(key.clone())?;
    let (ciphertext, ours) = key.encapsulation_key().encapsulate()?;
    let theirs = key.decapsulate(&ciphertext)?;
    Ok(ours.as_bytes() == theirs.as_bytes())
}

#[derive(Debug, Serialize)]
struct SoundKey {
    #[serde(flatten)]
    key: KeyFacts,
    file: String,
    /// The subject of the certificate that the key belongs to, if one was given.
    certificate: Option<String>,
}

impl Report for SoundKey {
    const SCHEMA: &'static str = "key-check/1";
}

impl fmt::Display for SoundKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: sound private key of {}",
            self.file, self.key.algorithm
        )?;
        match &self.certificate {
            Some(subject) => writeln!(f, "it is the key in the certificate of {subject}"),
            None => Ok(()),
        }
    }
}
