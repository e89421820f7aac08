//! Options that commands of this group share: the CA's folder (`--dir` or `PQTLS_CA`) for all of them, and who acts
//! (`--by`) for those that the ledger records. The command lines that reports advise get the folder's option, too.

use core::fmt;
use std::env;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use pq_ca::folder::Folder;
use serde::Serialize;

use super::opened::{self, CaFolder};
use crate::failure::Failure;
use crate::files::OutputError;
use crate::report::{self, Report};
use crate::shell::{command_line, quoted, with_options_of_ca, with_repeated};

/// Where the CA is.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Place {
    /// The CA's folder [default: the environment variable PQTLS_CA, or else ca]
    #[arg(long, value_name = "DIR", display_order = 800)]
    dir: Option<PathBuf>,
}

/// Where the CA is unless a command line says it.
pub(in crate::commands) fn folder_by_default() -> PathBuf {
    let named = env::var_os("PQTLS_CA").filter(|folder| !folder.is_empty());
    named.map_or_else(|| "ca".into(), PathBuf::from)
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        self.dir.clone().unwrap_or_else(folder_by_default)
    }

    /// What an advised command line needs, so that it is about this CA: the environment variable is there then, too.
    pub(super) fn options(&self) -> String {
        match &self.dir {
            Some(folder) => format!(" {}", command_line(["--dir", &folder.to_string_lossy()])),
            None => String::new(),
        }
    }

    /// Prints a report, whose command lines are for this CA.
    pub(super) fn print<R: Report>(&self, report: R, json: bool) -> Result<(), OutputError> {
        report::print(&self.about(report), json)
    }

    /// A report whose command lines are for this CA.
    pub(super) fn about<R: Report>(&self, report: R) -> OfThisCa<R> {
        let options = self.options();
        OfThisCa { report, options }
    }

    /// Says so if this command has to wait for another process first.
    pub(super) fn warn_if_in_use(&self) {
        let path = self.path();
        if Folder::is_in_use(&path) {
            report::warn(format_args!(
                "another process makes or changes the keys of the CA in {}; this one waits for it",
                path.display()
            ));
        }
    }

    pub(super) fn open(&self) -> Result<CaFolder, Failure> {
        let folder = opened::open(self.path())?;
        for key in folder.keys_for_others()? {
            let key = key.display();
            report::warn(format_args!(
                "{key} can be read by other users, who can act as the CA; allow nobody else to (chmod go-rwx {})",
                quoted(&key.to_string())
            ));
        }
        Ok(folder)
    }
}

/// A report whose command lines get options.
#[derive(Serialize)]
pub(super) struct OfThisCa<R> {
    #[serde(flatten)]
    report: R,
    #[serde(skip)]
    options: String,
}

impl<R: Report> Report for OfThisCa<R> {
    const SCHEMA: &'static str = R::SCHEMA;
}

impl<R: fmt::Display> fmt::Display for OfThisCa<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = with_options_of_ca(&self.report.to_string(), &self.options);
        f.write_str(&with_repeated(&text))
    }
}

/// Who does something to a CA.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Actor {
    /// Who does this, as the ledger will say [default: the user's name]
    #[arg(
        long,
        value_name = "WHO",
        display_order = 801,
        value_parser = NonEmptyStringValueParser::new()
    )]
    by: Option<String>,
}

impl Actor {
    /// The words of a command line with the same option.
    pub(super) fn words(&self) -> Vec<&str> {
        match &self.by {
            Some(by) => vec!["--by", by],
            None => Vec::new(),
        }
    }

    pub(super) fn name(&self) -> String {
        let user = || {
            let names = ["USER", "LOGNAME"].into_iter().flat_map(env::var);
            names.into_iter().find(|name| !name.is_empty())
        };
        self.by
            .clone()
            .or_else(user)
            .or_else(user_by_the_system)
            .unwrap_or_else(|| "unknown".into())
    }
}

/// The name of this process's user in the system's list of users, or else the user's number.
#[cfg(unix)]
fn user_by_the_system() -> Option<String> {
    let number = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    // name:password:number:...
    let mut users = users.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)? == number && !name.is_empty()).then(|| name.to_owned())
    });
    Some(name.unwrap_or_else(|| format!("user number {number}")))
}

#[cfg(not(unix))]
fn user_by_the_system() -> Option<String> {
    env::var("USERNAME").ok().filter(|name| !name.is_empty())
}
