//! The command `pqtls cert self-sign`: the root of a CA, or a certificate of one server or client, which is issued as
//! a root of the same name and key would issue it.

use core::fmt;
use core::time::Duration;

use pq_ca::policy::parse_duration;
use pq_x509::certificate::{Certificate, Validity};
use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::names::{Names, TakesNames, TakesSubject};
use super::purpose::Purpose;
use crate::arguments::Subject;
use crate::commands::custody::{AnySigner, KeySource, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::passphrases::PassphraseOptions;
use crate::report::{CertificateFacts, Report};

/// Make a certificate that its own key signs
///
/// With --ca, it is the root of a CA. Without --ca, it is for one server or client, and its peers have to know
/// it beforehand.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The private key, of a signature algorithm; "-" is standard input
    #[arg(long, value_name = "FILE")]
    key: KeySource,

    #[command(flatten)]
    names: Names,

    /// How long it is valid, such as 90d or 12h [default: 90d; with --ca 10y]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// Make the root of a CA, whose name is in --subject
    #[arg(long, requires = "subject", conflicts_with_all = ["names", "purposes"])]
    ca: bool,

    /// What the certificate is for; once for each
    #[arg(
        long = "purpose",
        value_enum,
        value_name = "PURPOSE",
        default_value = "server",
        hide_possible_values = true,
        value_name = "server|client"
    )]
    purposes: Vec<Purpose>,

    #[command(flatten)]
    output: OutputOptions,

    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: SignerStore,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert self-sign --key root.key --ca --subject \"Example Root\" --out root.pem
  $ pqtls cert self-sign --key server.key --name www.example.org --validity 30d --out server.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let is_server = !arguments.ca && arguments.purposes.contains(&Purpose::Server);
    if is_server && arguments.names.names.is_empty() {
        return Err(Failure::NamelessServer);
    }
    if arguments.names.is_empty() {
        return Err(Failure::Nameless);
    }
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let key = arguments
        .key_store
        .signer(&arguments.key, &arguments.passphrase)?;
    let certificate = match &arguments.names.subject {
        Some(subject) if arguments.ca => root(subject, arguments.validity, &key)?,
        _ => end_entity(arguments, &key)?,
    };
    let pem = certificate.to_pem();
    let output = Output {
        to: out,
        content: match arguments.der {
            true => certificate.der(),
            false => pem.as_bytes(),
        },
        access: Access::Public,
        is_binary: arguments.der,
    };
    let report = CertificateMade {
        file: out.to_string(),
        certificate: CertificateFacts::of(&certificate, UnixTime::now()),
    };
    delivery.deliver(&[output], &report)
}

fn root(
    subject: &Subject,
    validity: Option<Duration>,
    key: &AnySigner,
) -> Result<Certificate, IssueError> {
    let builder = CertificateBuilder::ca("").with_subject(subject);
    let root = Issuer::self_signed(with_validity(builder, validity), key)?;
    Ok(root.certificate().clone())
}

/// Issues the certificate as a root with the same name and key would.
fn end_entity(arguments: &Arguments, key: &AnySigner) -> Result<Certificate, Failure> {
    let subject = subject(&arguments.names).ok_or(Failure::OnlyLongNames)?;
    let mut builder = CertificateBuilder::end_entity()
        .with_names(&arguments.names)
        .with_subject(&subject);
    for purpose in &arguments.purposes {
        builder = match purpose {
            Purpose::Server => builder.server_auth(),
            Purpose::Client => builder.client_auth(),
        };
    }
    let issuer = Issuer::new(root(&subject, None, key)?, key)?;
    Ok(issuer.issue(with_validity(builder, arguments.validity), key)?)
}

/// The subject, or else the first name that can be one: every issuer has a name (RFC 5280 section 4.1.2.4). A name that
/// is cut off would be somebody else's.
fn subject(names: &Names) -> Option<Subject> {
    let mut all = names.names.iter().map(ToString::to_string);
    let first = all.find(|name| name.chars().count() <= MAX_COMMON_NAME);
    names
        .subject
        .clone()
        .or_else(|| first.map(Subject::CommonName))
}

/// In characters (RFC 5280, ub-common-name).
const MAX_COMMON_NAME: usize = 64;

fn with_validity<K>(
    builder: CertificateBuilder<K>,
    validity: Option<Duration>,
) -> CertificateBuilder<K> {
    match validity {
        Some(validity) => builder.validity(Validity::lasting(validity)),
        None => builder,
    }
}

#[derive(Debug, Serialize)]
struct CertificateMade {
    file: String,
    certificate: CertificateFacts,
}

impl Report for CertificateMade {
    const SCHEMA: &'static str = "cert-self-sign/1";
}

impl fmt::Display for CertificateMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.certificate)
    }
}
