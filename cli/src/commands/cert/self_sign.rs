use core::fmt;

use pq_x509::pki_types::UnixTime;
use pq_x509::{
    Certificate, CertificateBuilder, EndEntity, IssueError, Issuer, SigningKey, Validity,
};
use serde::Serialize;

use super::names::{Names, TakesNames};
use super::purpose::Purpose;
use crate::arguments::Subject;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::report::{CertificateFacts, Report};

/// Make a certificate that its own key signs
///
/// A root of a CA with --ca; without it, a certificate for one server or client, which its peers have
/// to know beforehand.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The private key, one that signs; "-" is standard input
    key: Source,

    #[command(flatten)]
    names: Names,

    /// How many days it is valid [default: 90; with --ca 3650]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    days: Option<u32>,

    /// Make a root of a CA, which is named by --subject
    #[arg(long, requires = "subject", conflicts_with_all = ["names", "purposes"])]
    ca: bool,

    /// What it is for; once for each
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
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert self-sign root.key --ca --subject \"Example Root\" --out root.pem
  $ pqtls cert self-sign server.key --name www.example.org --days 30 --out server.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let is_server = !arguments.ca && arguments.purposes.contains(&Purpose::Server);
    if is_server && arguments.names.names.is_empty() {
        return Err(Failure::NamelessServer);
    }
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let key = documents::signing_key(&arguments.key)?;
    let certificate = match arguments.ca {
        true => root(&arguments.names, arguments.days, &key)?,
        false => end_entity(arguments, &key)?,
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

fn root(names: &Names, days: Option<u32>, key: &SigningKey) -> Result<Certificate, IssueError> {
    let builder = CertificateBuilder::ca("");
    let builder = match &names.subject {
        Some(Subject::CommonName(name)) => builder.common_name(name),
        Some(Subject::Full(name)) => builder.subject(name.clone()),
        None => builder,
    };
    let root = Issuer::self_signed(with_days(builder, days), key)?;
    Ok(root.certificate().clone())
}

fn end_entity(arguments: &Arguments, key: &SigningKey) -> Result<Certificate, IssueError> {
    let builder = CertificateBuilder::end_entity().with_names(&arguments.names);
    let builder = arguments
        .purposes
        .iter()
        .fold(builder, |builder, purpose| match purpose {
            Purpose::Server => builder.server_auth(),
            Purpose::Client => builder.client_auth(),
        });
    let names = &arguments.names;
    // Whoever issues has a name (RFC 5280 section 4.1.2.4).
    let subject = names.subject.clone().unwrap_or_else(|| {
        let first = names
            .names
            .first()
            .map_or_else(String::new, ToString::to_string);
        Subject::CommonName(first.chars().take(MAX_COMMON_NAME).collect())
    });
    self_signed(with_days(builder, arguments.days), &subject, key)
}

/// In characters (RFC 5280, ub-common-name).
const MAX_COMMON_NAME: usize = 64;

/// A self-signed certificate of an end entity: what a root of the same name and key would issue.
fn self_signed(
    builder: CertificateBuilder<EndEntity>,
    subject: &Subject,
    key: &SigningKey,
) -> Result<Certificate, IssueError> {
    let names = Names {
        names: Vec::new(),
        subject: Some(subject.clone()),
    };
    let issuer = Issuer::new(root(&names, None, key)?, key)?;
    issuer.issue(builder.with_subject(subject), key)
}

fn with_days<K>(builder: CertificateBuilder<K>, days: Option<u32>) -> CertificateBuilder<K> {
    match days {
        Some(days) => builder.validity(Validity::days(days)),
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
