//! The commands `pqtls store policy show` and `pqtls store policy set`.

use core::fmt;

use serde::Serialize;

use super::made::policy_in;
use super::texts;
use crate::commands::custody::{KeyLabel, Place};
use crate::commands::delivery::OutputOptions;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report};

/// Show and set what a key may be used for, and by whom
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Show(Show),
    Set(Set),
}

pub(crate) fn run(command: Command, json: bool) -> Result<ExitStatus, Failure> {
    match command {
        Command::Show(arguments) => arguments.run(json),
        Command::Set(arguments) => arguments.run(json),
    }
}

/// Write the policy of a key, in TOML
#[derive(Debug, clap::Args)]
#[command(after_help = SHOW)]
pub(crate) struct Show {
    /// The key: tenant/purpose/name
    key: KeyLabel,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const SHOW: &str = "\
Examples:
  $ pqtls store policy show shop/files/app --kek-file kek
  $ pqtls store policy show shop/files/app --out app.toml --kek-file kek";

impl Show {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        let make = || {
            let (opened, name) = self.place.open_for(&self.key)?;
            let details = opened.store.show(&opened.principal, name)?;
            Ok(details.policy.to_toml())
        };
        texts::write(&self.output, json, make, |file| Policy {
            key: self.key.to_string(),
            file,
        })
    }
}

/// Set the policy of a key from TOML
///
/// The file is the whole policy: what it doesn't say is as by default, and whom it doesn't name has no right by it.
/// Whether a key is exportable never changes.
#[derive(Debug, clap::Args)]
#[command(after_help = SET)]
pub(crate) struct Set {
    /// The key: tenant/purpose/name
    key: KeyLabel,

    /// The policy, in TOML; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    #[command(flatten)]
    place: Place,
}

const SET: &str = "\
Examples:
  $ printf 'rotate-after = \"90d\"\\n[grants]\\noperator = [\"user\"]\\nci = [\"sign\"]\\n' > policy.toml
  $ pqtls store policy set shop/files/app policy.toml --kek-file kek";

impl Set {
    fn run(&self, json: bool) -> Result<ExitStatus, Failure> {
        self.place.location.place_here()?;
        let policy = policy_in(&self.file)?;
        let (opened, name) = self.place.open_for(&self.key)?;
        opened.store.set_policy(&opened.principal, name, &policy)?;
        let report = PolicySet(Policy {
            key: self.key.to_string(),
            file: self.file.to_string(),
        });
        report::print(&report, json)?;
        Ok(ExitStatus::Done)
    }
}

#[derive(Debug, Serialize)]
struct Policy {
    key: String,
    file: String,
}

impl Report for Policy {
    const SCHEMA: &'static str = "store-policy-show/1";
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: policy of {}", self.file, self.key)
    }
}

#[derive(Debug, Serialize)]
struct PolicySet(Policy);

impl Report for PolicySet {
    const SCHEMA: &'static str = "store-policy-set/1";
}

impl fmt::Display for PolicySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: its policy is that of {}", self.0.key, self.0.file)
    }
}
