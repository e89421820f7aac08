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
mod stores;
mod twin;

use core::time::Duration;
use std::path::{Path, PathBuf};

use clap::ArgGroup;
use pq_ca::policy::parse_duration;
use pq_x509::certificate::AlternativeName;

use self::data_folder::DataFolder;
use self::development::{Development, LeafFacts, RootFacts};
use self::instructions::Instructions;
use self::leaf::Order;
use self::roots::{Root, Roots};
use self::scope::Scope;
use self::stores::{Change, install_all, uninstall_all};
use crate::arguments::alternative_name;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{OutputError, Source};
use crate::keys::other_verification;
use crate::report;
use crate::shell::command_line;

/// Make a server's certificate for development, and have local clients trust it
///
/// It makes two certificates for the same names, under two roots that are made once: one of ML-DSA-65, and one
/// of ECDSA, since browsers accept no ML-DSA roots yet. The roots are limited to local names, which are or end
/// in localhost, test, local, internal, home.arpa or example, and to private addresses, and to certificates
/// without a subject, since some clients take hosts' names from there. Whoever steals their keys can
/// impersonate nobody else.
///
/// Firefox, Go and rustls's own verifiers never take hosts' names from subjects, and refuse all certificates
/// below a limit of subjects. "roots-for-browsers.pem", beside "roots.pem", has the same roots without that limit:
/// give it to these clients alone. --install puts it into browsers' databases.
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
        value_parser = alternative_name,
        required_unless_present = "change",
        conflicts_with = "uninstall"
    )]
    names: Vec<AlternativeName>,

    /// The folder to write the certificates and keys into [default: the current one]
    #[arg(
        long,
        value_name = "DIR",
        requires = "names",
        conflicts_with = "uninstall"
    )]
    out_dir: Option<PathBuf>,

    /// How long the certificates are valid, at most as long as the roots
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_duration,
        default_value = "1y",
        requires = "names",
        conflicts_with = "uninstall"
    )]
    validity: Duration,

    /// Replace files that exist
    #[arg(long, requires = "names", conflicts_with = "uninstall")]
    force: bool,

    /// Use a second pair of roots, which are not limited to local names
    #[arg(long, conflicts_with = "uninstall")]
    any_name: bool,

    /// Make the system and this user's browsers trust the roots
    #[arg(long)]
    install: bool,

    /// Remove all roots of this program from where --install puts them, whatever folder they are or were kept in; the
    /// folder's files stay
    #[arg(long)]
    uninstall: bool,

    /// Print what --install or --uninstall would make and change, and leave all files and trust stores alone
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
    let existing = Roots::existing(&data, scope)?;
    match (&existing, &order) {
        (Some(roots), _) => roots.check_limits()?,
        (None, Some(order)) => order.check_all_free()?,
        (None, None) => {}
    }
    if arguments.dry_run {
        return Ok(plan(&data, scope, existing, order.as_ref()));
    }
    let roots = match existing {
        Some(roots) => {
            roots.complete()?;
            roots
        }
        None => Roots::make(&data, scope)?,
    };
    let leaves = match &order {
        Some(order) => {
            leaf::make(order, &roots).map_err(|failure| of_other_names(failure, order, &roots))?
        }
        None => Vec::new(),
    };
    let change = arguments.install.then_some(Change::Install);
    let install = (roots.are_new && !arguments.install).then(|| install_command(arguments));
    let files = [roots.file(), roots.file_for_browsers()];
    let instructions = || Instructions::new(&leaves, &names, files, install);
    Ok(Development {
        roots: RootFacts::of(&roots).collect(),
        certificates: leaves.iter().map(LeafFacts::of).collect(),
        instructions: (!leaves.is_empty()).then(instructions),
        change,
        dry_run: false,
        to_be_made: Vec::new(),
        stores: match change {
            Some(_) => install_all(&roots.twins, false),
            None => Vec::new(),
        },
    })
}

/// Says so if the files that are in the way are of the same roots, and only for other names.
fn of_other_names(failure: Failure, order: &Order<'_>, roots: &Roots) -> Failure {
    let Failure::Output(OutputError::Exists(_)) = failure else {
        return failure;
    };
    for file in order.planned() {
        let Ok(certificate) = documents::first_certificate(&Source::File(file.clone())) else {
            continue;
        };
        let is_by = |root: &Root| {
            let signed = certificate.verify_signature(&root.certificate, other_verification());
            signed.is_ok()
        };
        let names: Vec<_> = certificate.alternative_names().collect();
        let is_for_these =
            names.len() == order.names.len() && order.names.iter().all(|name| names.contains(name));
        if roots.twins.iter().any(is_by) && !is_for_these {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            return Failure::OtherNames {
                file: file.display().to_string(),
                names: names.join(", "),
            };
        }
    }
    failure
}

/// What --install would make and change.
fn plan(data: &Path, scope: Scope, roots: Option<Roots>, order: Option<&Order<'_>>) -> Development {
    let new_roots = roots.is_none().then(|| Roots::planned(data, scope));
    let leaves = order.map(Order::planned);
    let to_be_made = new_roots
        .into_iter()
        .flatten()
        .chain(leaves.into_iter().flatten());
    Development {
        roots: roots.iter().flat_map(RootFacts::of).collect(),
        certificates: Vec::new(),
        instructions: None,
        change: Some(Change::Install),
        dry_run: true,
        to_be_made: to_be_made.map(|file| file.display().to_string()).collect(),
        stores: match roots {
            Some(roots) => install_all(&roots.twins, true),
            None => stores::all_without_roots(),
        },
    }
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

/// Looks into the stores, and not into the data folder: whoever has lost that or uses another one must get rid of the
/// roots, too.
fn uninstall(arguments: &Arguments) -> Result<Development, Failure> {
    let data = arguments.data.path()?;
    // Roots that can't be read, or may be others', are only left out of the report.
    let existing = Scope::ALL.map(|scope| Roots::existing(&data, scope).ok().flatten());
    let all: Vec<Roots> = existing.into_iter().flatten().collect();
    let facts = all.iter().flat_map(RootFacts::of).collect();
    let roots: Vec<Root> = all.into_iter().flat_map(|roots| roots.twins).collect();
    Ok(Development {
        roots: facts,
        certificates: Vec::new(),
        instructions: None,
        change: Some(Change::Uninstall),
        dry_run: arguments.dry_run,
        to_be_made: Vec::new(),
        stores: uninstall_all(&roots, arguments.dry_run),
    })
}
