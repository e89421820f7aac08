use core::fmt;
use core::time::Duration;

use pq_ca::{
    Constraints, Folder, KeyPlan, ListUrl, NamePattern, NamePatternError, Network, Plan, Policy,
    Role, parse_duration,
};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::place::{Actor, Place};
use crate::arguments::AlgorithmParser;
use crate::commands::key;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::keys::{Algorithm, SigningKey};
use crate::report::{self, CertificateFacts, Report};

/// Make a CA in a new folder
///
/// It has a root, which clients trust, and below it a key that issues, so that the root's key can be kept
/// elsewhere. The names that the CA is for are constraints in its certificate and rules of its policy: clients
/// accept no certificates of this CA for other names. The policy says what else may be issued.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The CA's name, such as "Example CA"
    #[arg(long)]
    name: String,

    /// A domain that the CA is for, with all names below it; once for each [default: all]
    #[arg(long, value_name = "DOMAIN", value_parser = domain)]
    dns: Vec<Domain>,

    /// A network whose addresses the CA is for, such as 192.0.2.0/24; once for each
    #[arg(long, value_name = "NETWORK")]
    ip: Vec<Network>,

    /// The signature algorithm of the CA's keys
    #[arg(
        long,
        value_parser = AlgorithmParser,
        hide_possible_values = true,
        default_value = "ML-DSA-65",
    )]
    algorithm: Algorithm,

    /// The algorithm of the root's key, such as SLH-DSA-SHA2-128s [default: the same]
    #[arg(
        long,
        value_name = "ALGORITHM",
        value_parser = AlgorithmParser,
        hide_possible_values = true,
    )]
    root: Option<Algorithm>,

    /// Issue certificates with the root's key, without a key below it
    #[arg(long, conflicts_with = "validity")]
    no_intermediate: bool,

    /// How long the issuing certificate is valid, such as 5y or 90d [default: 5y, or the root's time if that is
    /// shorter]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// How long the root is valid
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "20y")]
    root_validity: Duration,

    /// The HTTP URL of the revocation list, which certificates will name; once for each
    #[arg(long = "crl-url", value_name = "URL")]
    list_urls: Vec<ListUrl>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca init --name \"Example CA\" --dns example.org --ip 192.0.2.0/24
  $ pqtls ca init --dir old-ca --name \"Small CA\" --root SLH-DSA-SHA2-128f";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    let (folder, plan) = create(arguments, now)?;
    let root = folder.certificate(Role::Root)?;
    let issuing = match folder.issuing_role() {
        Role::Issuing => Some(folder.certificate(Role::Issuing)?),
        Role::Root => None,
    };
    let report = NewCa {
        folder: folder.path().display().to_string(),
        policy: folder.policy_path().display().to_string(),
        root: CertificateFacts::of(&root, now),
        issuing: issuing.map(|certificate| CertificateFacts::of(&certificate, now)),
        domains: plan.constraints.domains,
        networks: plan
            .constraints
            .networks
            .iter()
            .map(ToString::to_string)
            .collect(),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

/// Makes a CA and prints nothing.
pub(in crate::commands) fn run_quietly(arguments: &Arguments) -> Result<(), Failure> {
    create(arguments, UnixTime::now()).map(|_| ())
}

fn create(arguments: &Arguments, now: UnixTime) -> Result<(Folder, Plan<SigningKey>), Failure> {
    let plan = plan(arguments)?;
    let path = arguments.place.path();
    let folder = Folder::create(path, &plan, &arguments.actor.name(), now)?;
    Ok((folder, plan))
}

fn plan(arguments: &Arguments) -> Result<Plan<SigningKey>, Failure> {
    let root_validity = arguments.root_validity;
    let validity = match arguments.validity {
        Some(longer) if longer > root_validity => return Err(Failure::OutlivesRoot),
        Some(validity) => validity,
        None => VALIDITY.min(root_validity),
    };
    let root = KeyPlan {
        key: new_key(arguments.root.unwrap_or(arguments.algorithm))?,
        validity: root_validity,
    };
    let issuing = match arguments.no_intermediate {
        true => None,
        false => Some(KeyPlan {
            key: new_key(arguments.algorithm)?,
            validity,
        }),
    };
    let permits_all = arguments.dns.is_empty() && arguments.ip.is_empty();
    let (patterns, networks) = match permits_all {
        true => (
            everything("."),
            ["0.0.0.0/0", "::/0"].map(everything).concat(),
        ),
        false => (
            arguments
                .dns
                .iter()
                .map(|one| one.pattern.clone())
                .collect(),
            arguments.ip.clone(),
        ),
    };
    Ok(Plan {
        name: arguments.name.clone(),
        root,
        issuing,
        constraints: Constraints {
            domains: arguments.dns.iter().map(|one| one.name.clone()).collect(),
            networks: arguments.ip.clone(),
        },
        policy: Policy::default_text(&patterns, &networks, &arguments.list_urls),
    })
}

/// Reads the text that stands in policies for everything of a kind.
fn everything<T: core::str::FromStr>(text: &str) -> Vec<T> {
    text.parse().into_iter().collect()
}

/// Five years.
const VALIDITY: Duration = Duration::from_secs(5 * 365 * 24 * 60 * 60);

fn new_key(algorithm: Algorithm) -> Result<SigningKey, Failure> {
    if let Algorithm::PostQuantum(kem @ pq_x509::Algorithm::Kem(_)) = algorithm {
        return Err(Failure::Unsupported(kem));
    }
    Ok(key::generate(algorithm)?.try_into()?)
}

/// A domain, with all names below it.
#[derive(Clone, Debug)]
struct Domain {
    name: String,
    pattern: NamePattern,
}

fn domain(text: &str) -> Result<Domain, NamePatternError> {
    let name = text.strip_prefix('.').unwrap_or(text).to_ascii_lowercase();
    let pattern = format!(".{name}").parse()?;
    Ok(Domain { name, pattern })
}

#[derive(Debug, Serialize)]
struct NewCa {
    folder: String,
    policy: String,
    root: CertificateFacts,
    /// None if the root issues.
    issuing: Option<CertificateFacts>,
    domains: Vec<String>,
    networks: Vec<String>,
}

impl Report for NewCa {
    const SCHEMA: &'static str = "ca-init/1";
}

impl fmt::Display for NewCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, policy, .. } = self;
        let key = |facts: &CertificateFacts| {
            let (algorithm, until) = (&facts.key_algorithm, &facts.not_after);
            format!("{}, {algorithm}, until {until}", facts.subject)
        };
        writeln!(f, "{folder}: a new CA")?;
        writeln!(f, "  root      {}", key(&self.root))?;
        if let Some(issuing) = &self.issuing {
            writeln!(f, "  issuing   {}", key(issuing))?;
        }
        let names: Vec<&str> = self
            .domains
            .iter()
            .chain(&self.networks)
            .map(String::as_str)
            .collect();
        match names.is_empty() {
            true => writeln!(f, "  names     all, as none was given with --dns or --ip")?,
            false => writeln!(f, "  names     {}", names.join(", "))?,
        }
        writeln!(f, "  policy    {policy}")?;
        writeln!(f, "What to do next:")?;
        writeln!(f, "  give {folder}/root.pem to all who are to trust the CA")?;
        writeln!(f, "  read {policy}, and change there what may be issued")?;
        if self.issuing.is_some() {
            writeln!(
                f,
                "  move {folder}/root.key to a safe place; issuing certificates doesn't need it"
            )?;
        }
        writeln!(
            f,
            "  issue with \"pqtls ca issue\", or sign requests with \"pqtls ca sign\""
        )
    }
}
