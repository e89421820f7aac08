//! The command `pqtls store sign`.

use core::fmt;

use serde::Serialize;

use super::input::{AgreedOptions, InputFacts};
use super::signature;
use crate::commands::custody::{KeyOrVersion, Place};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{self, Access, Output, Source};
use crate::report::Report;

/// Sign a file by a key of a store
///
/// The newest enabled version of the key signs, unless --key names another one. The signature is a text that names the
/// key and the version; with --raw it is the bytes alone, which "pqtls verify" verifies with the version's public key.
///
/// Files have at most 64 MiB, and the key's policy may permit less; for larger ones, sign their µ: see --mu.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key, or one version of it: tenant/purpose/name or tenant/purpose/name#version; at https://, name or name#version
    #[arg(long, value_name = "KEY")]
    key: KeyOrVersion,

    /// What to sign; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    agreed: AgreedOptions,

    /// Write the bytes of the signature, without the name of the version. "pqtls verify" takes those of ML-DSA and SLH-DSA; of other
    /// keys, "pqtls store verify" does, and OpenSSL those of ECDSA and Ed25519
    #[arg(long)]
    raw: bool,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ echo 'Version 1.0' > app.txt
  $ pqtls store sign --key shop/files/app app.txt --out app.sig --kek-file kek
  $ pqtls store public shop/files/app --out app.pub --kek-file kek
  $ pqtls mu --key app.pub app.txt --out app.mu
  $ pqtls store sign --key shop/files/app#1 app.mu --mu --raw --out mu.sig --kek-file kek
  $ pqtls verify --key app.pub --signature mu.sig app.txt";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    if arguments.raw {
        files::check_binary(out)?;
    }
    let agreed = &arguments.agreed;
    let (content, facts) = agreed.read_to_sign(&arguments.file)?;
    let store = arguments.place.custodian()?;
    let key = &arguments.key;
    let (version, signature) = store.sign(key, agreed.input(&content))?;
    let content = match arguments.raw {
        true => signature,
        false => signature::text(&key.name.at(version), &signature).into_bytes(),
    };
    let output = Output {
        to: out,
        content: &content,
        access: Access::Public,
        is_binary: arguments.raw,
    };
    let report = Signature {
        key: key.name.to_string(),
        version: version.get(),
        input: facts,
        raw: arguments.raw,
        file: out.to_string(),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct Signature {
    key: String,
    version: u32,
    #[serde(flatten)]
    input: InputFacts,
    raw: bool,
    file: String,
}

impl Report for Signature {
    const SCHEMA: &'static str = "store-sign/1";
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, input, key) = (&self.file, self.input.name(), &self.key);
        writeln!(f, "{file}: signature of {input} by {key}#{}", self.version)
    }
}
