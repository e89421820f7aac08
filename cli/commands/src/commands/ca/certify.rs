//! The command `pqtls ca certify`: the CA's root certifies another CA, by its request or by its root's certificate.

use core::time::Duration;

use pq_ca::folder::{Certified, Constraints, Role};
use pq_ca::issuing::IssuedCertificate;
use pq_ca::ledger::{Ledger, LedgerError, SerialNumber};
use pq_ca::policy::parse_duration;
use pq_x509::pki_types::UnixTime;

use super::ca_key::{CaKeyOptions, with_short_names};
use super::issued::CertificateOptions;
use super::place::{Actor, Place};
use crate::commands::delivery::Delivery;
use crate::documents::{self, Requests};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;

/// Certify another CA with the root's key
///
/// FILE is a request, as "pqtls ca init --request" makes it, or the certificate of a root. The policy is for end
/// entities, so it is not asked: look what is in FILE, and whether it is from whom you think. The other CA can issue for
/// all names that this CA's root can. The ledger has the certificate, so that "pqtls ca revoke" revokes it.
///
/// For a new root with the name of this CA's root, this is how clients that trust only the old root accept what is below
/// the new one ("new with old", RFC 4210 section 4.4): servers send it after their chain.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(with_short_names))]
pub(crate) struct Arguments {
    /// The request of a CA, or a root's certificate; "-" is standard input
    #[arg(value_name = "FILE")]
    file: Source,

    /// How long the certificate is valid [default: 5y, or the root's time if that is shorter]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// How many further CAs may be below the one that asks by a request
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    path_length: u8,

    #[command(flatten)]
    certificate: CertificateOptions,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten)]
    actor: Actor,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca certify waiting.request --out waiting.pem";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let options = &arguments.certificate;
    let delivery = Delivery::to(&[&options.output.out], options.output.force, json)?;
    let folder = arguments.place.open()?;
    let (by, now) = (arguments.actor.name(), UnixTime::now());
    // What is no certificate is a request, or told as one.
    let root = documents::first_certificate(&arguments.file).ok();
    let request = match &root {
        Some(_) => None,
        None => {
            let first = Requests::open(&arguments.file)?.next();
            first.map(|one| one.request).transpose()?
        }
    };
    let authority = arguments.ca_key.authority(&folder, Role::Root)?;
    let certificate = match (&root, &request) {
        (Some(root), _) => {
            authority.certify_root(root, arguments.validity, other_verification(), &by, now)?
        }
        (None, request) => {
            let request = request
                .as_ref()
                .expect("a file has a request or is refused");
            let certified = Certified {
                subject: request.subject(),
                key: request,
                path_len: arguments.path_length,
                validity: arguments.validity,
                constraints: &Constraints::default(),
            };
            authority.certify(&certified, &by, now)?
        }
    };
    let number = SerialNumber::from_bytes(certificate.serial_number());
    let number = number.expect("the ledger has it under its number");
    let entry = authority.ledger().entry(&number)?;
    let issued = IssuedCertificate {
        entry: entry.ok_or(LedgerError::Unknown(number))?.issued,
        certificate,
    };
    options.deliver(delivery, &issued, &[], None)
}
