use core::fmt;
use core::time::Duration;

use pq_ca::{Role, parse_duration};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::place::Place;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output};
use crate::keys::SigningKey;
use crate::report::{Report, printable, rfc3339, with_unit};

/// Make the next revocation list
///
/// It lists the key's certificates that were revoked and have not expired. Make the next list before this
/// one expires. Clients that check a whole chain need the root's list as well.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Make the root's list, of revoked CAs, instead of the issuing key's
    #[arg(long)]
    root: bool,

    /// How long it is valid, such as 90d [default: what the policy says]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    #[command(flatten)]
    output: OutputOptions,

    /// Write DER instead of PEM, for a list that clients fetch by HTTP
    #[arg(long)]
    der: bool,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca crl --out ca.crl --der
  $ pqtls ca crl --root --validity 90d --out root.crl";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let folder = arguments.place.open()?;
    let role = match arguments.root {
        true => Role::Root,
        false => folder.issuing_role(),
    };
    let authority = folder.authority::<SigningKey>(role)?;
    let list = authority.revocation_list(UnixTime::now(), arguments.validity)?;
    let pem = list.to_pem();
    let output = Output {
        to: out,
        content: match arguments.der {
            true => list.der(),
            false => pem.as_bytes(),
        },
        access: Access::Public,
        is_binary: arguments.der,
    };
    let report = NewList {
        file: out.to_string(),
        issuer: printable(&list.issuer().to_string()),
        number: list.number().map(base16ct::lower::encode_string),
        revoked: list.entries().len() as u64,
        this_update: rfc3339(list.this_update()),
        next_update: list.next_update().map(rfc3339),
    };
    delivery.deliver(&[output], &report)
}

#[derive(Debug, Serialize)]
struct NewList {
    file: String,
    issuer: String,
    /// In hexadecimal.
    number: Option<String>,
    revoked: u64,
    this_update: String,
    next_update: Option<String>,
}

impl Report for NewList {
    const SCHEMA: &'static str = "ca-crl/1";
}

impl fmt::Display for NewList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let certificates = with_unit(self.revoked, "revoked certificate");
        write!(f, "{}: list of {}, {certificates}", self.file, self.issuer)?;
        match &self.next_update {
            Some(next) => writeln!(f, ", valid until {next}"),
            None => writeln!(f),
        }
    }
}
