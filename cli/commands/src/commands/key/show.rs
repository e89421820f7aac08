//! The command `pqtls key show`: what a key is, how it is encoded and encrypted in its file, and how long it and its
//! signatures or ciphertexts are.

use core::fmt;

use pq_keys::x_wing::XWingPrivateKey;
use serde::Serialize;

use super::encode::Form;
use super::facts::{CLASSICAL, KeyFacts};
use crate::documents::{self, Encoding, Key};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::{Algorithm, PublicKey};
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report};
use crate::words::protection_name;

/// Show what a key file has, except its secret
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A private or a public key, in PEM or DER; "-" is standard input
    file: Source,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key show server.key
  $ pqtls key show root.pub --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let report = match documents::any_key(&arguments.file, &arguments.passphrase)? {
        Key::Private(file) => KeyInFile {
            kind: Kind::Private,
            form: file.form.map(Into::into),
            encoding: file.encoding,
            protection: file.protection.as_ref().map(protection_name),
            ..KeyInFile::of(&file.key.public_half())
        },
        Key::Public(key, encoding) => KeyInFile {
            encoding,
            ..KeyInFile::of(&key)
        },
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct KeyInFile {
    kind: Kind,
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum private keys.
    form: Option<Form>,
    encoding: Encoding,
    /// Only for private keys that are encrypted.
    protection: Option<String>,
    sizes: SizesOfKey,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Private,
    Public,
}

/// Sizes of the key, and of signatures or ciphertexts, in bytes.
#[derive(Debug, Serialize)]
struct SizesOfKey {
    /// Like all of these except the public key, only some kinds of keys have it.
    seed: Option<usize>,
    expanded: Option<usize>,
    public_key: usize,
    signature: Option<usize>,
    ciphertext: Option<usize>,
}

impl KeyInFile {
    /// A public key in PEM.
    fn of(key: &PublicKey) -> Self {
        Self {
            kind: Kind::Public,
            key: KeyFacts::of(key),
            form: None,
            encoding: Encoding::Pem,
            protection: None,
            sizes: SizesOfKey::of(key),
        }
    }
}

impl SizesOfKey {
    fn of(key: &PublicKey) -> Self {
        use pq_keys::Algorithm::{Kem, Signature};

        let public_key = key.as_bytes().len();
        match key.algorithm() {
            Algorithm::PostQuantum(algorithm) => Self {
                seed: Some(algorithm.seed_len()),
                expanded: Some(algorithm.expanded_len()),
                public_key,
                signature: match algorithm {
                    Signature(algorithm) => Some(algorithm.signature_len()),
                    _ => None,
                },
                ciphertext: match algorithm {
                    Kem(algorithm) => Some(algorithm.ciphertext_len()),
                    _ => None,
                },
            },
            Algorithm::XWing => Self {
                seed: Some(XWingPrivateKey::LEN),
                expanded: None,
                public_key,
                signature: None,
                ciphertext: Some(pq_hpke::Kem::XWing.enc_len()),
            },
            Algorithm::Agreement(_) => Self {
                seed: None,
                expanded: None,
                public_key,
                signature: None,
                ciphertext: None,
            },
            Algorithm::Composite(algorithm) => {
                Self::at_most(public_key, algorithm.max_signature_len())
            }
            Algorithm::Classical(algorithm) => {
                Self::at_most(public_key, algorithm.max_signature_len())
            }
        }
    }

    /// The sizes of a key whose private half is neither a seed nor an expanded key.
    fn at_most(public_key: usize, signature: usize) -> Self {
        Self {
            seed: None,
            expanded: None,
            public_key,
            signature: Some(signature),
            ciphertext: None,
        }
    }
}

impl Report for KeyInFile {
    const SCHEMA: &'static str = "key-show/1";
}

impl fmt::Display for KeyInFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Private => "private",
            Kind::Public => "public",
        };
        writeln!(
            f,
            "{kind} key of {}, to {}",
            self.key.algorithm, self.key.use_
        )?;
        match self.key.security_category {
            Some(category) => writeln!(f, "  security     category {category} of 5")?,
            None if self.key.post_quantum => {}
            None => writeln!(f, "  security     {CLASSICAL}")?,
        }
        if let Some(form) = self.form {
            writeln!(f, "  form         {}", form.name())?;
        }
        if let Some(protection) = &self.protection {
            writeln!(f, "  encrypted    {protection}")?;
        }
        let sizes = &self.sizes;
        write!(f, "  bytes        {} of the public key", sizes.public_key)?;
        match (sizes.signature, sizes.ciphertext) {
            (Some(signature), _) => {
                let at_most = match sizes.expanded {
                    Some(_) => "",
                    None => "at most ",
                };
                writeln!(f, ", {at_most}{signature} of a signature")?;
            }
            (_, Some(ciphertext)) => writeln!(f, ", {ciphertext} of a ciphertext")?,
            (None, None) => writeln!(f)?,
        }
        writeln!(f, "  fingerprint  {}", self.key.fingerprint)
    }
}
