//! The command `pqtls ca init`: it plans a CA's keys, names and policy from the options, and makes its folder whole or
//! not at all.

use core::fmt;
use core::net::IpAddr;
use core::time::Duration;
use std::path::Path;

use pq_ca::folder::{
    Constraints, Folder, FolderError, Interruption, KeyPlan, LedgerPlace, Plan, Role,
    SubordinatePlan,
};
use pq_ca::policy::{ListUrl, NamePattern, Network, Policy, parse_duration};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::below::{Above, NewRequest};
use super::ca_key::{Keeping, Kept, KeyStoreOptions, NewCaKey, NewKeys};
use super::opened::{AnyLedger, CaFolder, InDatabase};
use super::place::{Actor, Place};
use super::signals::{stop_on_signals, wait_for_the_end};
use crate::arguments::AlgorithmParser;
use crate::commands::delivery::Delivery;
use crate::commands::servers::DatabaseAddress;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::keys::Algorithm;
use crate::passphrases::PassphraseOptions;
use crate::report::{self, CertificateFacts, Report};
use crate::shell::quoted;

/// Make a CA in a new folder
///
/// It has a root, which clients trust, and below it a key that issues, so that the root's key can be kept
/// elsewhere. The names that the CA is for are constraints in its certificate and rules of its policy: clients
/// accept no certificates of this CA for other DNS names and addresses, nor e-mail addresses and URIs at other hosts,
/// unless it gets --only-hosts. The policy says what else may be issued: keys of ML-DSA, and of the CA's own algorithm if that is
/// classical; and no name of a single label, unless --dns names one, such as localhost.
///
/// A passphrase encrypts both keys; then commands that use one of them ask for it, or take it by their own options.
/// Without one, whoever can read the files of the keys can act as the CA.
///
/// With --key-store, the keys are made in a key store (see "pqtls store") and never lie in a file: root.key and issuing.key say
/// which version of which key it is, and commands open the store with the options by which "pqtls store" does. A key that has the
/// name already gets its next version, if nobody else may use or export it: each version has one certificate.
///
/// With --under, the root of a CA that is at hand certifies the new CA's key; if that was interrupted, the same command
/// completes it. With --request, another CA does: the request asks for the names as constraints, and the new CA waits for its
/// certificate, which "pqtls ca install" installs. That is also the way from a CA of other software, such as OpenSSL's, whose
/// key is not taken over. When the issuing key is to be followed by a new one, "pqtls ca rollover" does that.
///
/// With --ledger, the record of what the CA issued and revoked is in a PostgreSQL database, in a schema of its own, and copies of
/// the folder on several machines share it: ledger.toml in the folder says where it is. The address, and where the password comes
/// from, are as for "pqtls store" (docs/keys.md); the schema is pq_ca unless the address names one (?schema=NAME). Back up the
/// database, too. "pqtls ca move" moves the ledger of a CA that has it in its folder.
///
/// Back up the whole folder, while nothing changes it: root.pem, root.key, issuing.pem, issuing.key, policy.toml, and in
/// ledger/ the journal and its head; the index can be left out, since it is made again. After "pqtls ca rollover", which
/// adds issuing-2.pem, issuing-2.key and so on, make a new backup: older ones lack the key that issues. While a request
/// waits for its certificate, its file, such as issuing.csr, belongs to the backup, too. An older backup lacks what was
/// issued and revoked since. After going back to one, record again what was issued since ("pqtls ca adopt"), and revoke
/// what was revoked since, before the next revocation list is made. Give that a number above those of all lists that
/// clients may have ("pqtls ca crl --number", and the same with --root): otherwise clients may refuse it, as a list
/// that contradicts the one they have.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(of_new_keys))]
#[command(group(clap::ArgGroup::new("hosts").args(["dns", "ip"]).multiple(true)))]
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

    /// Leave e-mail addresses and URIs, such as SPIFFE IDs, to the policy alone: if they are constrained, rustls's
    /// clients and servers accept none of them
    #[arg(long, requires = "hosts")]
    only_hosts: bool,

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
        conflicts_with_all = ["under", "request"],
        value_name = "ALGORITHM",
        value_parser = AlgorithmParser,
        hide_possible_values = true,
    )]
    root: Option<Algorithm>,

    /// Issue certificates with the root's key, without a key below it; --algorithm and --root-validity are for that key
    #[arg(long, conflicts_with_all = ["validity", "root", "under", "request"])]
    no_intermediate: bool,

    /// How long the issuing certificate is valid, such as 5y or 90d [default: 5y, or the root's time if that is
    /// shorter]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// How long the root is valid
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_duration,
        default_value = "20y",
        conflicts_with_all = ["under", "request"],
    )]
    root_validity: Duration,

    /// The HTTP URL of the revocation list, which certificates will name; once for each
    #[arg(long = "crl-url", value_name = "URL")]
    list_urls: Vec<ListUrl>,

    /// Have the CA's ledger in this PostgreSQL database, which begins with postgres:// [default: in the folder]
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["under", "request"])]
    ledger: Option<DatabaseAddress>,

    #[command(flatten)]
    pub(super) above: Above,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    /// Leave the keys in the clear without asking
    #[arg(
        long,
        conflicts_with_all = ["passphrase_file", "passphrase_fd", "passphrase_env"],
    )]
    no_passphrase: bool,

    #[command(flatten)]
    key_store: KeyStoreOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca init --name \"Example CA\" --dns example.org --ip 192.0.2.0/24
  $ pqtls ca init --dir local-ca --name \"Local CA\" --dns localhost --ip 127.0.0.1 --ip ::1
  $ pqtls ca init --dir old-ca --name \"Small CA\" --root SLH-DSA-SHA2-128f
  $ echo 'correct horse battery staple' > ca-secret.txt
  $ pqtls ca init --dir safe-ca --name \"Safe CA\" --passphrase-file ca-secret.txt
  $ pqtls ca crl --dir safe-ca --ca-passphrase-file ca-secret.txt --out safe.crl
  $ pqtls ca init --dir team-ca --name \"Team CA\" --dns team.example.org --under ca
  $ (umask 077; head -c 32 /dev/urandom > ca-kek)
  $ pqtls store init --store ca-keys.redb --kek-file ca-kek
  $ pqtls ca init --dir kept-ca --name \"Kept CA\" --key-store ca-keys.redb --kek-file ca-kek
  $ pqtls ca crl --dir kept-ca --kek-file ca-kek --out kept.crl
  $ pqtls ca init --dir waiting-ca --name \"Waiting CA\" --request waiting.request";

/// The options for passphrases stand under a heading that says whose they are.
fn of_new_keys(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "passphrase_file" | "passphrase_fd" | "passphrase_env" | "no_passphrase" => {
            argument.help_heading("Passphrase of the CA's keys [default: a terminal is asked]")
        }
        _ => argument,
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    arguments.above.check_passphrase(true)?;
    arguments.above.check_validity(arguments.validity)?;
    check_free(arguments)?;
    // Before a key is made
    let ledger = arguments.ledger.as_ref().map(InDatabase::open_or_make);
    let ledger = ledger.transpose()?.map(InDatabase::place);
    let passphrase = match arguments.no_passphrase || arguments.key_store.is_given() {
        true => None,
        false => arguments.passphrase.of_new_or_none("the CA's keys")?,
    };
    let access = &arguments.above.ca_key.access;
    let keys = NewKeys::by(
        &arguments.key_store,
        access,
        passphrase.as_ref(),
        Vec::new(),
    )?;
    let interruption = Interruption::default();
    let _stopped_by_signals = stop_on_signals(&interruption)?;
    if arguments.above.under.is_some() || arguments.above.request.is_some() {
        return below(arguments, &keys, now, &interruption, json);
    }
    let (folder, plan) = create(arguments, &keys, ledger, now, &interruption)?;
    let root = folder.certificate(Role::Root)?;
    let issuing = match folder.issuing_role()? {
        Role::Root => None,
        role => Some(folder.certificate(role)?),
    };
    let report = NewCa {
        folder: folder.path().display().to_string(),
        ledger: folder.ledger_address()?,
        policy: folder.policy_path().display().to_string(),
        keeping: match &plan.issuing {
            Some(issuing) => plan.root.key.keeping.clone().and(&issuing.key.keeping),
            None => plan.root.key.keeping.clone(),
        },
        root: CertificateFacts::of(&root, now),
        issuing: issuing.map(|certificate| CertificateFacts::of(&certificate, now)),
        is_below: false,
        domains: plan.constraints.domains,
        networks: plan
            .constraints
            .networks
            .iter()
            .map(ToString::to_string)
            .collect(),
    };
    arguments.place.print(report, json)?;
    for draft in Folder::drafts_left_beside(folder.path()) {
        report::warn(format_args!(
            "{} is named as the draft of a CA and was left alone, since it is not only that; look what is in it, and remove \
             it or give it another name",
            draft.display()
        ));
    }
    Ok(ExitStatus::Done)
}

/// Whether a CA can be made there: also where one was begun below the CA above.
fn check_free(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.place.path();
    match arguments.above.under {
        Some(_) => Folder::check_free_below(&path)?,
        None => Folder::check_free(&path)?,
    }
    Ok(())
}

/// Makes a CA below another one.
fn below(
    arguments: &Arguments,
    keys: &NewKeys<'_>,
    now: UnixTime,
    interruption: &Interruption,
    json: bool,
) -> Result<ExitStatus, Failure> {
    let path = arguments.place.path();
    // Before a key is made
    let parent = arguments.above.under.as_ref();
    let parent = parent
        .map(|folder| arguments.above.parent(folder))
        .transpose()?;
    if let Some(to) = &arguments.above.request {
        Delivery::to(&[to], false, json)?;
    }
    let (constraints, policy) = names(arguments);
    let key = match begun_in_store(arguments, &path)? {
        Some(key) => key,
        None => keys.make(Role::Issuing, arguments.algorithm)?,
    };
    let plan = SubordinatePlan {
        name: arguments.name.clone(),
        key,
        validity: arguments.validity,
        constraints,
        policy,
    };
    if let Some(to) = &arguments.above.request {
        let request = Folder::create_pending(&path, &plan, interruption)?;
        let new = NewRequest::of(&request, &path, Role::Issuing, plan.key.keeping);
        return new.deliver(to, &request, &arguments.place, json);
    }
    let Some(parent) = parent else {
        return Ok(ExitStatus::Done);
    };
    arguments.place.warn_if_in_use();
    let folder = parent.create(path, &plan, &arguments.actor.name(), now, interruption)?;
    let report = NewCa {
        folder: folder.path().display().to_string(),
        ledger: None,
        policy: folder.policy_path().display().to_string(),
        // Which may be one that was begun before
        keeping: match Kept::in_file(&folder.key_path(Role::Issuing))? {
            Kept::InStore(reference) => Keeping::in_store(&reference),
            _ => plan.key.keeping,
        },
        root: CertificateFacts::of(&folder.certificate(Role::Root)?, now),
        issuing: Some(CertificateFacts::of(
            &folder.certificate(Role::Issuing)?,
            now,
        )),
        is_below: true,
        networks: plan
            .constraints
            .networks
            .iter()
            .map(ToString::to_string)
            .collect(),
        domains: plan.constraints.domains,
    };
    arguments.place.print(report, json)?;
    Ok(ExitStatus::Done)
}

/// The key in a store of a CA that was begun there, which this command completes, if it is as the options say. Otherwise
/// nobody would need a new version of a key.
fn begun_in_store(arguments: &Arguments, path: &Path) -> Result<Option<NewCaKey>, Failure> {
    match Folder::open(path) {
        Err(FolderError::Pending(_) | FolderError::NotCompleted(_)) => {}
        _ => return Ok(None),
    }
    let (options, access) = (&arguments.key_store, &arguments.above.ca_key.access);
    let key = Folder::open_pending(path)?.key_path(Role::Issuing);
    match Kept::in_file(&key)? {
        Kept::InStore(reference)
            if options.would_make(&reference, (Role::Issuing, arguments.algorithm), access)? =>
        {
            NewCaKey::known(&reference, access).map(Some)
        }
        Kept::Elsewhere => Err(FolderError::Missing(key).into()),
        Kept::Clear | Kept::Encrypted if !options.is_given() => Ok(None),
        Kept::InStore(_) | Kept::Clear | Kept::Encrypted => {
            Err(FolderError::OtherPending(path.into()).into())
        }
    }
}

/// Makes a CA and prints nothing.
pub(in crate::commands) fn run_quietly(arguments: &Arguments) -> Result<(), Failure> {
    let interruption = Interruption::default();
    create(
        arguments,
        &NewKeys::Files(None),
        None,
        UnixTime::now(),
        &interruption,
    )
    .map(|_| ())
}

fn create(
    arguments: &Arguments,
    keys: &NewKeys<'_>,
    ledger: Option<LedgerPlace<AnyLedger>>,
    now: UnixTime,
    interruption: &Interruption,
) -> Result<(CaFolder, Plan<NewCaKey>), Failure> {
    let plan = plan(arguments, keys)?;
    let path = arguments.place.path();
    let by = arguments.actor.name();
    let made = match ledger {
        Some(ledger) => Folder::create_with_ledger(path, &plan, ledger, &by, now, interruption),
        None => Folder::create_unless_stopped(path, &plan, &by, now, interruption)
            .map(Folder::with_any_ledger),
    };
    if made.is_err() && interruption.is_stopped() {
        // What failed is that the draft was removed.
        wait_for_the_end();
    }
    let made = made.inspect_err(|_| {
        plan.root.key.keeping.warn_of_unused();
        if let Some(issuing) = &plan.issuing {
            issuing.key.keeping.warn_of_unused();
        }
    });
    Ok((made?, plan))
}

/// The most characters of the name of a CA with a root of its own, which has " Root" in addition.
const MAX_NAME: usize = 64 - " Root".len();

fn plan(arguments: &Arguments, keys: &NewKeys<'_>) -> Result<Plan<NewCaKey>, Failure> {
    let len = arguments.name.chars().count();
    if !arguments.no_intermediate && len > MAX_NAME {
        let most = MAX_NAME;
        return Err(Failure::LongNameOfCa { len, most });
    }
    let root_validity = arguments.root_validity;
    let validity = match arguments.validity {
        Some(longer) if longer > root_validity => return Err(Failure::OutlivesRoot),
        Some(validity) => validity,
        None => VALIDITY.min(root_validity),
    };
    let root = KeyPlan {
        key: keys.make(Role::Root, arguments.root.unwrap_or(arguments.algorithm))?,
        validity: root_validity,
    };
    let issuing = match arguments.no_intermediate {
        true => None,
        false => Some(KeyPlan {
            key: keys
                .make(Role::Issuing, arguments.algorithm)
                .inspect_err(|_| root.key.keeping.warn_of_unused())?,
            validity,
        }),
    };
    let (constraints, policy) = names(arguments);
    Ok(Plan {
        name: arguments.name.clone(),
        root,
        issuing,
        constraints,
        policy,
    })
}

/// The names that the CA is for, as constraints and as a policy.
fn names(arguments: &Arguments) -> (Constraints, String) {
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
    let constraints = Constraints {
        domains: arguments.dns.iter().map(|one| one.name.clone()).collect(),
        networks: arguments.ip.clone(),
        only_hosts: arguments.only_hosts,
    };
    let policy = Policy::default_text(&patterns, &networks, &arguments.list_urls);
    (constraints, permitting_what_is_asked(policy, arguments))
}

/// A policy by default that also permits what the options say: a name of a single label, such as localhost, and keys of the
/// CA's own algorithm, than which its certificates are no stronger.
fn permitting_what_is_asked(mut policy: String, arguments: &Arguments) -> String {
    if arguments
        .dns
        .iter()
        .any(|domain| !domain.name.contains('.'))
    {
        policy = policy.replacen("\n#single-label = false\n", "\nsingle-label = true\n", 1);
    }
    if let Algorithm::Classical(own) = arguments.algorithm {
        let own = match own.name() {
            name if name.starts_with("RSA") => "RSA",
            name => name,
        };
        let last = "\"ML-DSA-87\"]\n";
        let with_own = format!("\"ML-DSA-87\", \"{own}\"]\n");
        policy = policy.replacen(last, &with_own, 1);
    }
    policy
}

/// Reads the text that stands in policies for everything of a kind.
fn everything<T: core::str::FromStr>(text: &str) -> Vec<T> {
    text.parse().into_iter().collect()
}

/// Five years.
const VALIDITY: Duration = Duration::from_secs(5 * 365 * 24 * 60 * 60);

/// A domain, with all names below it.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub(super) name: String,
    pattern: NamePattern,
}

pub(super) fn domain(text: &str) -> Result<Domain, String> {
    let name = text.strip_prefix('.').unwrap_or(text).to_ascii_lowercase();
    let pattern = format!(".{name}").parse();
    match pattern {
        Ok(pattern) if !name.is_empty() => Ok(Domain { name, pattern }),
        _ if name.parse::<IpAddr>().is_ok() => Err(
            "it is an address; --ip takes addresses and networks".into(),
        ),
        _ => Err(
            "it is not a domain; write one such as \"example.org\", which stands for itself and all names below it, in \
             other scripts as \"xn--...\"; without --dns and --ip, the CA is for all names"
                .into(),
        ),
    }
}

#[derive(Debug, Serialize)]
struct NewCa {
    folder: String,
    /// The address of the database, if the ledger is in one.
    ledger: Option<String>,
    policy: String,
    #[serde(flatten)]
    keeping: Keeping,
    root: CertificateFacts,
    /// None if the root issues.
    issuing: Option<CertificateFacts>,
    domains: Vec<String>,
    networks: Vec<String>,
    /// Whether another CA certified it.
    #[serde(skip)]
    is_below: bool,
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
        writeln!(f, "  keys      {}", self.keeping.in_words("them"))?;
        if let Some(ledger) = &self.ledger {
            writeln!(f, "  ledger    {ledger}")?;
        }
        writeln!(f, "  policy    {policy}")?;
        writeln!(f, "What to do next:")?;
        if !self.is_below {
            writeln!(f, "  give {folder}/root.pem to all who are to trust the CA")?;
        }
        writeln!(f, "  read {policy}, and change there what may be issued")?;
        if self.keeping.is_in_the_clear() {
            let key = match self.issuing {
                Some(_) => "issuing.key",
                None => "root.key",
            };
            writeln!(
                f,
                "  encrypt the keys: \"pqtls key encrypt {0} --out {0} --force\", for each",
                quoted(&format!("{folder}/{key}"))
            )?;
        }
        if self.issuing.is_some() && !self.is_below && self.keeping.key_store.is_none() {
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
