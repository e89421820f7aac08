//! The command `pqtls store import`.

use core::fmt;

use serde::Serialize;

use super::made::{Made, PolicyOptions};
use crate::commands::custody::{KeyLabel, Place};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, Report};

/// Put a private key from a file into a store
///
/// The file stays as it is: whoever can read it has the key. Remove it, and its copies, once the key is in the store.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What the key is to be called: tenant/purpose/name
    #[arg(long, value_name = "KEY")]
    key: KeyLabel,

    /// A private key in PEM or DER, encrypted or not; "-" is standard input
    file: Source,

    /// Make it the newest version of a key of the same algorithm, whose policy stays
    #[arg(long, conflicts_with_all = ["policy", "grants", "exportable"])]
    new_version: bool,

    /// Put it into the token, which doesn't give it out, and keep nothing of it here: give --pkcs11-module and --token. Later
    /// versions are made there. Tokens take ML-DSA and ML-KEM with their seeds, and ECDSA
    #[arg(long, conflicts_with = "exportable")]
    in_token: bool,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls key new ML-DSA-44 --out old.key
  $ pqtls store import --key shop/files/older old.key --grant operator=user --kek-file kek
  $ pqtls key new ML-DSA-44 --out newer.key
  $ pqtls store import --key shop/files/older newer.key --new-version --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    arguments.place.location.place_here()?;
    let key = documents::private_key(&arguments.file, &arguments.passphrase)?.key;
    let policy = arguments.policy.policy()?;
    let (opened, name) = arguments.place.open_for(&arguments.key)?;
    let (store, who) = (&opened.store, &opened.principal);
    let token = match arguments.in_token {
        true => Some(arguments.place.access.kek.token.needed()?.0),
        false => None,
    };
    let id = match (arguments.new_version, &token) {
        (true, None) => store.import_version(who, name, &key),
        (true, Some(token)) => store.import_version_in(who, name, &key, token),
        (false, None) => store.import_key(who, name, &key, &policy),
        (false, Some(token)) => store.import_key_in(who, name, &key, &policy, token),
    };
    let mut made = Made::of(&id?, key.algorithm(), &policy);
    if arguments.new_version {
        made.granted = Some(true);
    }
    let report = Imported {
        made,
        file: arguments.file.to_string(),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Imported {
    #[serde(flatten)]
    made: Made,
    file: String,
}

impl Report for Imported {
    const SCHEMA: &'static str = "store-import/1";
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.made.fmt(f)?;
        writeln!(f, "{} still has the key", self.file)
    }
}
