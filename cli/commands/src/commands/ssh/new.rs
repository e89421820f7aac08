//! The command `pqtls ssh new`: a key pair of ML-DSA-44 and Ed25519 as OpenSSH writes it, in two files.

use core::fmt;

use pq_ssh::{Passphrase, PrivateKey};
use serde::Serialize;

use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, NameToWrite, Output};
use crate::passphrases::NewPassphraseOptions;
use crate::report::Report;

/// Make an SSH key pair
///
/// Only the file's owner can read the private key. The public key is one line in a second file, whose name
/// has ".pub" added.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to write the private key
    #[arg(long, short, value_name = "FILE", default_value = "id_mldsa44_ed25519")]
    out: NameToWrite,

    /// A comment after the public key, such as whose it is
    #[arg(long, value_name = "TEXT", default_value = "")]
    comment: String,

    /// Encrypt the private key under a passphrase, as an option that names one does by itself
    #[arg(long)]
    encrypt: bool,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    passphrase: NewPassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ssh new --comment alice@example.org --out id_alice
  $ echo 'correct horse battery staple' > ssh.txt
  $ pqtls ssh new --encrypt --passphrase-file ssh.txt --out id_bob";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let private = arguments.out.destination();
    let mut public = arguments.out.path().to_owned();
    public.as_mut_os_string().push(".pub");
    let public = Destination::File(public);
    let delivery = Delivery::to(&[&private, &public], arguments.force, json)?;
    let key = PrivateKey::generate().and_then(|key| key.with_comment(&arguments.comment))?;
    let passphrase = arguments.passphrase.of_new_if(arguments.encrypt)?;
    let text = match passphrase {
        Some(passphrase) => key.to_openssh(Some(&Passphrase::new(&passphrase))),
        None => key.to_openssh(None),
    }?;
    let line = key.public_key().to_line() + "\n";
    let output = |to, content, access| Output {
        to,
        content,
        access,
        is_binary: false,
    };
    let outputs = [
        output(&private, text.as_bytes(), Access::Private),
        output(&public, line.as_bytes(), Access::Public),
    ];
    let report = NewSshKey {
        algorithm: key.public_key().name().as_str(),
        fingerprint: key.public_key().fingerprint(),
        file: private.to_string(),
        public_file: public.to_string(),
    };
    delivery.deliver(&outputs, &report)
}

/// A key pair that was made.
#[derive(Debug, Serialize)]
struct NewSshKey {
    algorithm: &'static str,
    fingerprint: String,
    file: String,
    public_file: String,
}

impl Report for NewSshKey {
    const SCHEMA: &'static str = "ssh-new/1";
}

impl fmt::Display for NewSshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: private key of {}", self.file, self.algorithm)?;
        writeln!(f, "{}: its public key", self.public_file)?;
        writeln!(f, "fingerprint {}", self.fingerprint)
    }
}
