//! The command `pqtls store new`.

use core::fmt;

use serde::Serialize;

use super::made::{Made, PolicyOptions};
use crate::arguments::{AlgorithmParser, list_of_store_algorithms};
use crate::commands::custody::{Custodian, DoorKeys, KeyLabel, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{DoorFailure, Failure};
use crate::keys::Algorithm;
use crate::report::{self, Report};

/// Make a key in a store
///
/// Its private key never leaves the store, unless it is exportable. Keys are called tenant/purpose/name, and their versions
/// tenant/purpose/name#1 and so on.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What the key is to be called: tenant/purpose/name; at https://, name
    key: KeyLabel,

    #[arg(
        long,
        value_name = "NAME",
        default_value = "ML-DSA-65",
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        help = format!(
            "One of {}; for the TLS key of a server that clients without ML-DSA are to reach, such as curl with OpenSSL before \
             3.5: ECDSA-P256",
            list_of_store_algorithms()
        ),
    )]
    algorithm: Algorithm,

    /// Make it in the token, which its private keys never leave: give --pkcs11-module and --token
    #[arg(long, conflicts_with = "exportable")]
    in_token: bool,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store new shop/files/app --grant operator=user --kek-file kek
  $ pqtls store new shop/mail/box --algorithm ML-KEM-768 --grant operator=user --kek-file kek
  $ pqtls store new shop/tests/spare --exportable --grant operator=export --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let policy = arguments.policy.policy()?;
    let algorithm = arguments.algorithm;
    let opened = match arguments.place.custodian()? {
        Custodian::Here(opened) => opened,
        Custodian::Door(door) => {
            report::print(&NewKey(at_door(arguments, &door)?), json)?;
            return Ok(ExitStatus::Done);
        }
    };
    let (who, key) = (&opened.principal, arguments.key.in_store()?);
    let id = match arguments.in_token {
        true => {
            let (token, _) = arguments.place.access.kek.token.needed()?;
            let store = &opened.store;
            store.create_key_in(who, key, algorithm, &policy, &token)?
        }
        false => opened.store.create_key(who, key, algorithm, &policy)?,
    };
    report::print(&NewKey(Made::of(&id, algorithm, &policy)), json)?;
    Ok(ExitStatus::Done)
}

/// Makes a key behind a door, which gives it its policy.
fn at_door(arguments: &Arguments, door: &DoorKeys) -> Result<Made, Failure> {
    if arguments.in_token {
        return Err(door.address().needs_store());
    }
    let address = door.address().to_string();
    if arguments.policy.is_given() {
        return Err(DoorFailure::PolicyOfServer(address).into());
    }
    let (key, algorithm) = (&arguments.key, arguments.algorithm);
    let version = door.create(key, algorithm, arguments.policy.exportable)?;
    let exists = || DoorFailure::Exists {
        door: address,
        key: key.to_string(),
    };
    Ok(Made {
        key: key.to_string(),
        version: version.ok_or_else(exists)?.get(),
        algorithm: algorithm.name(),
        granted: None,
    })
}

#[derive(Debug, Serialize)]
struct NewKey(Made);

impl Report for NewKey {
    const SCHEMA: &'static str = "store-new/1";
}

impl fmt::Display for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
