//! Certificates for development: roots, made once, that local clients can be told to trust, and servers'
//! certificates under them.
//!
//! pq-x509 makes roots and certificates, without a CA's policy and ledger: the root's certificate says which
//! names it is for, and nobody revokes or looks up what it issued.
//!
//! It may use the rest of its [room](super), and what that room may use.

mod data_folder;
mod development;
mod instructions;
mod leaf;
mod names;

mod roots;
mod scope;
mod shell;
mod stores;
mod twin;

use core::time::Duration;
use std::path::PathBuf;

use clap::ArgGroup;
use pq_ca::parse_duration;
use pq_x509::AlternativeName;

use self::data_folder::DataFolder;
use self::development::{Development, LeafFacts, RootFacts};
use self::instructions::Instructions;
use self::leaf::Order;
use self::roots::{Root, Roots};
use self::scope::Scope;
use self::shell::command_line;
use self::stores::{Change, change_all};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report;

/// Make a server's certificate for development, and have local clients trust it
///
/// It makes two certificates for the same names, under two roots that are made once: one of ML-DSA-65, and one
/// of ECDSA, since browsers accept no ML-DSA roots yet. The roots are limited to local names, which are or end
/// in localhost, test, local, internal, home.arpa or example, and to private addresses. Whoever steals their
/// keys can impersonate nobody else.
///
/// Certificates of these roots for the same names are replaced by new ones. Other files are left alone
/// unless --force is given. What --install and --uninstall can't do is printed as commands to run, and the
/// exit status is then 3.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("change").args(["install", "uninstall"])))]
pub(crate) struct Arguments {
    /// A DNS name (its first label may be "*") or an IP address; files are named after the first one
    #[arg(
        value_name = "NAME",
        required_unless_present = "change",
        conflicts_with = "uninstall"
    )]
    names: Vec<AlternativeName>,

    /// The folder to write the certificates and keys into [default: the current one]
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,

    /// How long the certificates are valid, at most as long as the roots
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1y")]
    validity: Duration,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Use a second pair of roots, which are not limited to local names
    #[arg(long, conflicts_with = "uninstall")]
    any_name: bool,

    /// Make the system and this user's browsers trust the roots
    #[arg(long)]
    install: bool,

    /// Remove all roots from where --install put them; their files stay
    #[arg(long)]
    uninstall: bool,

    /// Print what --install or --uninstall would change in trust stores, and don't change them
    #[arg(long, requires = "change")]
    dry_run: bool,

    #[command(flatten)]
    data: DataFolder,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls dev localhost 127.0.0.1 ::1
  $ pqtls dev app.test \"*.app.test\" --validity 90d
  $ pqtls dev --install --dry-run";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let development = match arguments.uninstall {
        true => uninstall(arguments)?,
        false => make(arguments)?,
    };
    report::print(&development, json)?;
    Ok(match development.is_something_left_to_do() {
        true => ExitStatus::InputOutput,
        false => ExitStatus::Done,
    })
}

/// Makes what is asked for and does not exist yet: roots, certificates, and trust in the roots.
fn make(arguments: &Arguments) -> Result<Development, Failure> {
    let scope = match arguments.any_name {
        true => Scope::Any,
        false => Scope::Local,
    };
    let names = names::distinct(&arguments.names)?;
    scope.check(&names)?;
    let order = names.first().map(|first| Order {
        first,
        names: &names,
        folder: arguments.out_dir.as_deref(),
        validity: arguments.validity,
        force: arguments.force,
    });
    let data = arguments.data.path()?;
    let roots = match Roots::existing(&data, scope)? {
        Some(roots) => roots,
        None => {
            order.as_ref().map_or(Ok(()), Order::check_all_free)?;
            Roots::make(&data, scope)?
        }
    };
    let leaves = match &order {
        Some(order) => leaf::make(order, &roots)?,
        None => Vec::new(),
    };
    let change = arguments.install.then_some(Change::Install);
    let install = (roots.are_new && !arguments.install).then(|| install_command(arguments));
    let instructions = || Instructions::new(&leaves, &names, &roots.file(), install);
    Ok(Development {
        roots: RootFacts::of(&roots).collect(),
        certificates: leaves.iter().map(LeafFacts::of).collect(),
        instructions: (!leaves.is_empty()).then(instructions),
        change,
        dry_run: arguments.dry_run,
        stores: match change {
            Some(change) => change_all(change, &roots.twins, arguments.dry_run),
            None => Vec::new(),
        },
    })
}

/// The command that makes this machine trust the same roots.
fn install_command(arguments: &Arguments) -> String {
    let mut words = vec!["pqtls", "dev", "--install"];
    if arguments.any_name {
        words.push("--any-name");
    }
    let folder = arguments.data.given();
    if let Some(folder) = &folder {
        words.extend(["--data-dir", folder]);
    }
    command_line(words)
}

fn uninstall(arguments: &Arguments) -> Result<Development, Failure> {
    let data = arguments.data.path()?;
    let mut all = Vec::new();
    for scope in Scope::ALL {
        all.extend(Roots::existing(&data, scope)?);
    }
    let facts = all.iter().flat_map(RootFacts::of).collect();
    let roots: Vec<Root> = all.into_iter().flat_map(|roots| roots.twins).collect();
    Ok(Development {
        roots: facts,
        certificates: Vec::new(),
        instructions: None,
        change: Some(Change::Uninstall),
        dry_run: arguments.dry_run,
        stores: change_all(Change::Uninstall, &roots, arguments.dry_run),
    })
}
