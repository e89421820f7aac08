//! The command `pqtls ca show`: the CA's own keys and policy, or one certificate with its history in the ledger, which
//! can be written to a file again.

use core::fmt;

use pq_ca::folder::{FolderError, Role};
use pq_ca::issuing::IssuedCertificate;
use pq_ca::ledger::{Entry, Ledger, LedgerError, SerialNumber};
use pq_ca::policy::Policy;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::entry::{EntryFacts, RevocationFacts};
use super::issued::CertificateOptions;
use super::opened::CaFolder;
use super::place::Place;
use super::which::Which;
use crate::commands::delivery::Delivery;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, CertificateFacts, Report, printable, with_unit};

/// Show the CA, or a certificate that it issued
///
/// Of a certificate, this shows who ordered it and, if it is revoked or on hold now, who did that. Holds that have
/// ended, and who ended them, are in the ledger's journal, and not shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(|argument| match argument.get_id().as_str() {
    "out" | "force" | "leaf_only" => argument.requires("pem"),
    _ => argument,
}))]
pub(crate) struct Arguments {
    /// The certificate: its serial number, or a file with it; "-" is standard input
    #[arg(value_name = "CERTIFICATE")]
    which: Option<Which>,

    /// Write the certificate as "pqtls ca issue" does
    #[arg(long, requires = "which")]
    pem: bool,

    #[command(flatten)]
    pub(super) certificate: CertificateOptions,

    #[command(flatten)]
    pub(super) place: Place,
}

impl Arguments {
    /// The certificate's serial number, if it is named by that.
    pub(super) fn number(&self) -> Option<SerialNumber> {
        self.which.as_ref()?.number()
    }
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca show
  $ pqtls ca show web.pem
  $ pqtls ca show web.pem --pem --out web-again.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let folder = arguments.place.open()?;
    let Some(which) = &arguments.which else {
        return show_ca(&folder, json);
    };
    let (ledger, misfit) = match folder.ledger() {
        Ok(ledger) => (ledger, None),
        // What the root issued is there to be looked at, and to be taken for a file that doesn't fit.
        Err(misfit @ (FolderError::OtherIssuing { .. } | FolderError::SeveralFirst { .. })) => {
            (folder.ledger_of_root()?, Some(misfit))
        }
        Err(error) => return Err(error.into()),
    };
    let number = which.serial_number(&folder, &ledger)?;
    let unknown = || LedgerError::Unknown(number);
    let der = ledger.certificate(&number)?.ok_or_else(unknown)?;
    let certificate = Certificate::from_der(&der).map_err(pq_x509::issuing::IssueError::from)?;
    let entry = ledger.entry(&number)?.ok_or_else(unknown)?;
    if let Some(misfit) = misfit
        && entry.issued.issuer != Role::Root.name()
    {
        return Err(misfit.into());
    }
    if arguments.pem {
        let options = &arguments.certificate;
        let delivery = Delivery::to_public(&[&options.output.out], options.output.force, json)?;
        let chain = match Role::from_name(&entry.issued.issuer) {
            Some(role) => folder.chain_of(role)?,
            None => Vec::new(),
        };
        let issued = IssuedCertificate {
            entry: entry.issued,
            certificate,
        };
        return options.deliver(delivery, &issued, &chain, None);
    }
    let now = UnixTime::now();
    let report = OfCa {
        certificate: CertificateFacts::of(&certificate, now),
        entry: EntryFacts::of(&entry, now),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

fn show_ca(folder: &CaFolder, json: bool) -> Result<ExitStatus, Failure> {
    let issuing = folder.issuing_role()?;
    let ledger = folder.ledger()?;
    let generations = folder.generations()?;
    let stage_of = |role: Role| {
        let one = generations.iter().find(|one| one.name == role.name());
        one.map(|one| one.stage.name())
    };
    let mut roles = vec![issuing];
    if issuing != Role::Root {
        let others = folder
            .issuing_keys()?
            .into_iter()
            .rev()
            .map(|(role, _)| role);
        roles.extend(others.filter(|role| *role != issuing));
        roles.push(Role::Root);
    }
    let keys = roles
        .into_iter()
        .map(|role| KeyOfCa::read(folder, &ledger, role, stage_of(role)))
        .collect::<Result<_, _>>()?;
    let waiting = folder.waiting()?.into_iter();
    let waiting = waiting.map(|(role, request)| {
        let file = folder.key_path(role);
        WaitingKey {
            name: role.name().into(),
            subject: printable(&request.parsed().info.subject.to_string()),
            file: file.display().to_string(),
            request: file.with_extension("csr").display().to_string(),
        }
    });
    let policy = folder.policy()?;
    let report = Ca {
        folder: folder.path().display().to_string(),
        keys,
        waiting: waiting.collect(),
        ledger: folder.ledger_address()?,
        policy: PolicyFacts::of(folder, &policy),
    };
    report::print(&report, json)?;
    Ok(ExitStatus::Done)
}

#[derive(Debug, Serialize)]
struct Ca {
    folder: String,
    /// The issuing key first.
    keys: Vec<KeyOfCa>,
    /// Those that another CA was asked to certify.
    waiting: Vec<WaitingKey>,
    /// The address of the database, if the ledger is in one.
    ledger: Option<String>,
    policy: PolicyFacts,
}

#[derive(Debug, Serialize)]
struct WaitingKey {
    /// The key's name in the ledger, once its certificate is installed.
    name: String,
    /// The name that it asks for.
    subject: String,
    /// The file of the private key.
    file: String,
    /// The file of the request.
    request: String,
}

#[derive(Debug, Serialize)]
struct KeyOfCa {
    /// The key's name in the ledger.
    name: String,
    /// What the key is used for, of an issuing key that the ledger knows.
    stage: Option<&'static str>,
    /// The file of the private key.
    file: String,
    /// Whether this file exists; a root's key is often kept elsewhere.
    is_there: bool,
    certificate: CertificateFacts,
    /// Its revocation or hold, if this ledger has one.
    revocation: Option<RevocationFacts>,
}

impl KeyOfCa {
    fn read(
        folder: &CaFolder,
        ledger: &impl Ledger,
        role: Role,
        stage: Option<&'static str>,
    ) -> Result<Self, Failure> {
        let file = folder.key_path(role);
        let certificate = folder.certificate(role)?;
        let entry = match SerialNumber::of(&certificate) {
            Ok(number) => ledger.entry(&number)?,
            // No certificate in a ledger can have this number.
            Err(_) => None,
        };
        Ok(Self {
            name: role.name().into(),
            stage,
            file: file.display().to_string(),
            is_there: file.exists(),
            certificate: CertificateFacts::of(&certificate, UnixTime::now()),
            revocation: entry
                .as_ref()
                .and_then(Entry::revocation)
                .map(RevocationFacts::of),
        })
    }
}

#[derive(Debug, Serialize)]
struct PolicyFacts {
    file: String,
    /// How long revocation lists are valid, in seconds.
    list_validity: u64,
    list_urls: Vec<String>,
}

impl PolicyFacts {
    fn of(folder: &CaFolder, policy: &Policy) -> Self {
        let urls = policy.revocation_list_urls().iter();
        Self {
            file: folder.policy_path().display().to_string(),
            list_validity: policy.revocation_list_validity().as_secs(),
            list_urls: urls.map(ToString::to_string).collect(),
        }
    }
}

impl Report for Ca {
    const SCHEMA: &'static str = "ca-show/1";
}

impl fmt::Display for Ca {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in &self.keys {
            write!(f, "{}", key.certificate)?;
            if let Some(stage) = key.stage {
                writeln!(f, "  as issuer     {}, {stage}", key.name)?;
            }
            if let Some(constraints) = key.certificate.extension("nameConstraints") {
                writeln!(f, "  for names     {constraints}")?;
            }
            if let Some(revocation) = &key.revocation {
                writeln!(f, "  revoked       {revocation}; it issues nothing")?;
            }
            let note = if key.is_there { "" } else { " (not there)" };
            writeln!(f, "  key file      {}{note}\n", key.file)?;
        }
        for key in &self.waiting {
            writeln!(f, "{}: waits for its certificate", key.subject)?;
            writeln!(f, "  as issuer     {}, once it is installed", key.name)?;
            writeln!(f, "  request       {}", key.request)?;
            writeln!(f, "  key file      {}\n", key.file)?;
        }
        match &self.ledger {
            Some(address) => writeln!(f, "ledger {address}\n")?,
            None => writeln!(f, "ledger {}/ledger\n", self.folder)?,
        }
        let PolicyFacts {
            file,
            list_validity,
            list_urls,
        } = &self.policy;
        writeln!(f, "policy {file}")?;
        let hours = with_unit(list_validity / (60 * 60), "hour");
        let lists = match list_validity / (24 * 60 * 60) {
            0 | 1 => hours,
            days => with_unit(days, "day"),
        };
        writeln!(f, "  lists valid   for {lists}")?;
        match list_urls.is_empty() {
            true => writeln!(f, "  lists are at  no URL"),
            false => writeln!(f, "  lists are at  {}", list_urls.join(", ")),
        }
    }
}

#[derive(Debug, Serialize)]
struct OfCa {
    certificate: CertificateFacts,
    entry: EntryFacts,
}

impl Report for OfCa {
    const SCHEMA: &'static str = "ca-show-certificate/1";
}

impl fmt::Display for OfCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.certificate, self.entry.history())
    }
}
