use core::fmt;
use core::time::Duration;

use clap::ArgGroup;
use pq_ca::{Role, parse_duration};
use pq_x509::pki_types::UnixTime;
use pq_x509::{CertStatus, OcspRequest, OcspResponse};
use serde::Serialize;

use super::place::Place;
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::keys::SigningKey;
use crate::passphrases::PassphraseOptions;
use crate::report::{Report, hex, rfc3339};

/// Answer an OCSP request, which asks whether certificates were revoked
///
/// The answer comes from the ledger. The CA's key signs it, or a key whose certificate has the profile
/// "ocsp-responder". With --for, a server can staple the response.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("what").args(["request", "certificate"]).required(true)))]
pub(crate) struct Arguments {
    /// The request, in DER; "-" is standard input
    request: Option<Source>,

    /// Answer about this certificate of the CA, without a request
    #[arg(long = "for", value_name = "FILE")]
    certificate: Option<Source>,

    /// Answer for the root, about CAs, instead of the issuing key
    #[arg(long)]
    root: bool,

    /// How long the response is valid, such as 12h [default: what the policy says]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// The private key of an OCSP responder, to sign instead of the CA's key
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<Source>,

    /// The responder's certificate
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<Source>,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert ocsp-request web.pem --out web.ocsp-request
  $ pqtls ca ocsp web.ocsp-request --out web.ocsp
  $ pqtls ca ocsp --for web.pem --validity 12h --out web.staple";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to(&[out], *force, json)?;
    let response = respond(arguments)?;
    let output = Output {
        to: out,
        content: response.der(),
        access: Access::Public,
        is_binary: true,
    };
    let report = NewResponse {
        file: out.to_string(),
        bytes: response.der().len() as u64,
        answers: response.answers().iter().map(Answer::of).collect(),
    };
    delivery.deliver(&[output], &report)
}

fn respond(arguments: &Arguments) -> Result<OcspResponse, Failure> {
    let now = UnixTime::now();
    let folder = arguments.place.open()?;
    let role = match arguments.root {
        true => Role::Root,
        false => folder.issuing_role(),
    };
    let request = match (&arguments.request, &arguments.certificate) {
        (Some(file), _) => documents::ocsp_request(file)?,
        (None, certificate) => {
            let file = certificate.as_ref().expect("clap asks for one of them");
            let certificate = documents::first_certificate(file)?;
            let issuer = folder.certificate(role)?;
            OcspRequest::builder()
                .certificate(&certificate, &issuer)
                .build()?
        }
    };
    let response = match (&arguments.key, &arguments.cert) {
        (Some(key), Some(certificate)) => {
            let key = documents::signing_key(key, &arguments.passphrase)?;
            let certificate = documents::first_certificate(certificate)?;
            let responder = folder.responder(role, certificate, key)?;
            let responder = match arguments.validity {
                Some(validity) => responder.with_validity(validity),
                None => responder,
            };
            responder.respond(request.der(), now)
        }
        _ => {
            let authority = folder.authority::<SigningKey>(role)?;
            authority.respond(request.der(), now, arguments.validity)
        }
    };
    response.map_err(Failure::Unanswered)
}

#[derive(Debug, Serialize)]
struct NewResponse {
    file: String,
    /// How long the response is.
    bytes: u64,
    answers: Vec<Answer>,
}

#[derive(Debug, Serialize)]
struct Answer {
    /// In hexadecimal.
    serial_number: String,
    /// `good`, `revoked` or `unknown`.
    status: &'static str,
    /// When it was revoked.
    revoked_at: Option<String>,
    reason: Option<&'static str>,
    this_update: String,
    next_update: Option<String>,
}

impl Answer {
    fn of(answer: &pq_x509::SingleResponse) -> Self {
        let (status, revoked_at, reason) = match answer.status() {
            CertStatus::Good => ("good", None, None),
            CertStatus::Unknown => ("unknown", None, None),
            CertStatus::Revoked { date, reason } => {
                let reason = pq_ca::reason_name(reason);
                ("revoked", Some(rfc3339(date)), Some(reason))
            }
        };
        Self {
            serial_number: hex(answer.certificate().serial_number()),
            status,
            revoked_at,
            reason,
            this_update: rfc3339(answer.this_update()),
            next_update: answer.next_update().map(rfc3339),
        }
    }
}

impl Report for NewResponse {
    const SCHEMA: &'static str = "ca-ocsp/1";
}

impl fmt::Display for NewResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: OCSP response of {} bytes", self.file, self.bytes)?;
        for answer in &self.answers {
            write!(f, "  {} is {}", answer.serial_number, answer.status)?;
            if let (Some(at), Some(reason)) = (&answer.revoked_at, answer.reason) {
                write!(f, " since {at} ({reason})")?;
            }
            match &answer.next_update {
                Some(next) => writeln!(f, ", valid until {next}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
