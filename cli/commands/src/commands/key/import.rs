//! The command `pqtls key import`: it takes one key out of a PKCS#12 file with its certificates. If there are several
//! keys, `--name` has to say which.

use core::fmt;

use pq_keys::any::Readable;
use pq_x509::certificate::Certificate;
use pq_x509::pkcs12::{Pkcs12, Pkcs12Key};
use serde::Serialize;

use super::encode::{self, Encoding, Form};
use super::export::certificates;
use super::facts::KeyFacts;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::commands::pkcs12;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, Output, Source};
use crate::keys::{KeyError, PrivateKey};
use crate::passphrases::PassphraseOptions;
use crate::report::Report;

/// Write the private key in a PKCS#12 file, and its certificates, as PEM
///
/// The key is then not encrypted: see "pqtls key encrypt". There is a warning if the MAC of the file is by SHA-1, and
/// ciphers of that time are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A PKCS#12 file; "-" is standard input
    file: Source,

    /// The name of the key, if FILE has several
    #[arg(long)]
    name: Option<String>,

    /// Where to write the certificates, the key's first
    #[arg(long = "certs", value_name = "FILE")]
    certificates: Option<Destination>,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key import me.p12 --passphrase-file pw.txt --out me.key --certs me.chain.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let destinations: Vec<&Destination> =
        [out].into_iter().chain(&arguments.certificates).collect();
    let delivery = Delivery::to(&destinations, *force, json)?;
    let store = pkcs12::opened(&arguments.file, &arguments.passphrase)?;
    let entry = entry(&store, arguments)?;
    let key = PrivateKey::from_der(entry.pkcs8_der()).map_err(KeyError::from)?;
    let (private, form) = encode::private_key(&key, None, Encoding::Pem)?;
    let chain = chain_of(&store, entry);
    if let (Some(to), []) = (&arguments.certificates, &*chain) {
        return Err(Failure::NoCertificatesOfKey {
            file: arguments.file.to_string(),
            to: to.to_string(),
        });
    }
    let pem = Certificate::chain_to_pem(&chain);
    let mut outputs = vec![Output {
        to: out,
        content: &private,
        access: Access::Private,
        is_binary: false,
    }];
    outputs.extend(arguments.certificates.iter().map(|to| Output {
        to,
        content: pem.as_bytes(),
        access: Access::Public,
        is_binary: false,
    }));
    let report = KeyImported {
        key: KeyFacts::of(&key.public_half()),
        form,
        name: entry.name().map(str::to_owned),
        certificates: chain.len(),
        file: out.to_string(),
        certificates_file: arguments.certificates.as_ref().map(Destination::to_string),
    };
    delivery.deliver(&outputs, &report)
}

/// The key that is asked for.
fn entry<'s>(store: &'s Pkcs12, arguments: &Arguments) -> Result<&'s Pkcs12Key, Failure> {
    let name = arguments.name.as_deref();
    let is_wanted = |key: &&Pkcs12Key| name.is_none() || key.name() == name;
    let found: Vec<&Pkcs12Key> = store.keys().iter().filter(is_wanted).collect();
    match *found {
        [entry] => Ok(entry),
        [] if store.keys().is_empty() => Err(Failure::NoKey(arguments.file.to_string())),
        _ => {
            let names = store.keys().iter().flat_map(Pkcs12Key::name);
            let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
            let (file, names) = (arguments.file.to_string(), names.join(", "));
            Err(match (name, found.len()) {
                (Some(name), 0) => Failure::NoKeyOfName {
                    file,
                    name: name.into(),
                    names,
                },
                (_, found) => Failure::WhichKey { file, found, names },
            })
        }
    }
}

/// The key's certificate, and then those that belong to no key, which are CAs.
fn chain_of(store: &Pkcs12, entry: &Pkcs12Key) -> Vec<Certificate> {
    let own = store.certificate_of(entry);
    let others = store.certificates().iter();
    let others = others.filter(|other| other.local_key_id().is_none());
    own.into_iter()
        .chain(others.map(|other| other.certificate()))
        .cloned()
        .collect()
}

#[derive(Debug, Serialize)]
struct KeyImported {
    #[serde(flatten)]
    key: KeyFacts,
    /// Only for post-quantum keys.
    form: Option<Form>,
    name: Option<String>,
    certificates: usize,
    file: String,
    certificates_file: Option<String>,
}

impl Report for KeyImported {
    const SCHEMA: &'static str = "key-import/1";
}

impl fmt::Display for KeyImported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.file, self.key.in_form(self.form))?;
        if let Some(file) = &self.certificates_file {
            writeln!(f, "{file}: {}", certificates(self.certificates))?;
        }
        if self.certificates > 0 && self.certificates_file.is_none() {
            let left = certificates(self.certificates);
            writeln!(f, "not written: {left}; --certs FILE writes them, too")?;
        }
        writeln!(f, "fingerprint {}", self.key.fingerprint)
    }
}
