//! The command `pqtls store rotate`.

use core::fmt;

use pq_keystore::{Rotated, RotationEnded, Version};
use serde::Serialize;

use crate::commands::custody::{KeyLabel, Opened, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure, of_store_error};
use crate::report::{self, Report};

/// Make a new version of a key, which signs from now on
///
/// It is made where the version before it was, in the store or in a token, unless --to-token or --to-store moves the key.
/// The versions before it still verify and decapsulate, until they are disabled, or the policy's min-version is above them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The key: tenant/purpose/name; at https://, name
    #[arg(required_unless_present = "due")]
    key: Option<KeyLabel>,

    /// Rotate all keys whose newest version is older than their policy's rotate-after
    #[arg(long, conflicts_with = "key")]
    due: bool,

    /// Make this version in the token, and those after it, too: give --pkcs11-module and --token
    #[arg(long, requires = "key", conflicts_with = "to_store")]
    to_token: bool,

    /// Make this version in the store, and those after it, too
    #[arg(long, requires = "key")]
    to_store: bool,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store rotate shop/files/app --kek-file kek
  $ pqtls store rotate --due --kek-file kek";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let (rotated, ended) = match &arguments.key {
        Some(key) => {
            let version = match arguments.to_token || arguments.to_store {
                true => moved(arguments, key)?,
                false => arguments.place.custodian()?.rotate(key)?,
            };
            let line = (key.to_string(), Ok(version.get()));
            report::print(&Rotation::of(&[line]), json)?;
            return Ok(ExitStatus::Done);
        }
        None => {
            let Opened { store, principal } = &arguments.place.open()?;
            match store.rotate_due(principal) {
                Ok(rotated) => {
                    if rotated.is_empty() {
                        // Otherwise it is not known that none is due.
                        store.check_time()?;
                    }
                    (rotated, None)
                }
                Err(RotationEnded { rotated, error, .. }) if rotated.is_empty() => {
                    return Err((*error).into());
                }
                Err(RotationEnded { rotated, error, .. }) => (rotated, Some(*error)),
            }
        }
    };
    let count = rotated.len();
    let lines: Vec<_> = rotated
        .iter()
        .map(|Rotated { key, result, .. }| {
            let result = result.as_ref().map(|id| id.version().get());
            (key.to_string(), result.map_err(of_store_error))
        })
        .collect();
    report::print(&Rotation::of(&lines), json)?;
    if let Some(error) = ended {
        return Err(error.into());
    }
    let failed = rotated.into_iter();
    let mut failed: Vec<_> = failed
        .filter_map(|Rotated { key, result, .. }| Some((key, result.err()?)))
        .collect();
    match failed.len() {
        0 => Ok(ExitStatus::Done),
        number => {
            let (key, error) = failed.swap_remove(0);
            Err(StoreFailure::NotRotated {
                failed: number,
                count,
                key,
                error,
            }
            .into())
        }
    }
}

/// Makes a version in the token, or in the store.
fn moved(arguments: &Arguments, key: &KeyLabel) -> Result<Version, Failure> {
    let Opened { store, principal } = &arguments.place.open()?;
    let token = match arguments.to_token {
        true => Some(arguments.place.access.kek.token.needed()?.0),
        false => None,
    };
    let id = store.rotate_to(principal, key.in_store()?, token.as_ref())?;
    Ok(id.version())
}

#[derive(Debug, Serialize)]
struct Rotation {
    rotated: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    /// The new version.
    version: Option<u32>,
    /// Why there is none.
    error: Option<String>,
}

impl Rotation {
    fn of(keys: &[(String, Result<u32, String>)]) -> Self {
        let line = |(key, result): &(String, Result<u32, String>)| Line {
            key: key.clone(),
            version: result.as_ref().ok().copied(),
            error: result.as_ref().err().cloned(),
        };
        Self {
            rotated: keys.iter().map(line).collect(),
        }
    }
}

impl Report for Rotation {
    const SCHEMA: &'static str = "store-rotate/1";
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rotated.is_empty() {
            return writeln!(f, "no key is due");
        }
        for Line { key, version, .. } in &self.rotated {
            match version {
                Some(version) => writeln!(f, "{key}#{version} signs from now on")?,
                None => writeln!(f, "{key}: not rotated")?,
            }
        }
        Ok(())
    }
}
