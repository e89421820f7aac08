//! The command `pqtls ca ocsp`: it answers a request (RFC 6960), or makes a response for one certificate that a server
//! can staple. The CA's key signs, or a delegated responder's.

use core::fmt;
use core::time::Duration;

use clap::ArgGroup;
use pq_ca::folder::Role;
use pq_ca::ledger::{Ledger, LedgerError};
use pq_ca::policy::parse_duration;
use pq_keys::encoding::rfc3339;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::IssueError;
use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponse};
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use super::ca_key::CaKeyOptions;
use super::opened::CaFolder;
use super::place::Place;
use super::which::Which;
use super::which_key::WhichKey;
use crate::commands::custody::{KeySource, Location, SignerStore};
use crate::commands::delivery::{Delivery, OutputOptions};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Output, Source};
use crate::passphrases::{PassphraseOptions, only_with};
use crate::report::{Report, hex};

/// Answer an OCSP request, which asks whether certificates were revoked
///
/// The answer comes from the ledger. The CA's key signs it, or a key whose certificate has the profile
/// "ocsp-responder". With --for, a server can staple the response. There is no answer if a key of these was revoked
/// for a compromise, if its certificate is not valid now, or if the clock jumped (see "pqtls ca crl --help"). A response
/// ends with that certificate at the latest.
///
/// Whoever steals a responder's key can sign good responses until its certificate expires, since most clients don't ask
/// whether it was revoked (OCSP No Check): keep its validity short, such as "pqtls ca issue --validity 7d".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(of_one_key))]
#[command(group(ArgGroup::new("what").args(["request", "certificate"]).required(true)))]
pub(crate) struct Arguments {
    /// The request, in DER; "-" is standard input
    request: Option<Source>,

    /// Answer about this certificate of the CA, without a request: its serial number, or a file with it
    #[arg(long = "for", value_name = "CERTIFICATE")]
    certificate: Option<Which>,

    /// Answer for the root, about CAs, instead of the issuing key
    #[arg(long, conflicts_with = "issuer")]
    pub(super) root: bool,

    #[command(flatten)]
    which_key: WhichKey,

    /// How long the response is valid, such as 12h [default: what the policy says]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    validity: Option<Duration>,

    /// The private key of an OCSP responder, to sign instead of the CA's key: a file, or store:NAME for a key in a key store
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<KeySource>,

    /// The responder's certificate
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<Source>,

    #[command(flatten)]
    passphrase: PassphraseOptions,

    #[command(flatten)]
    pub(super) output: OutputOptions,

    #[command(flatten)]
    ca_key: CaKeyOptions,

    #[command(flatten)]
    pub(super) place: Place,

    #[command(flatten, next_help_heading = "Key store, for --key store:NAME")]
    key_store: Location,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert ocsp-request web.pem --out web.ocsp-request
  $ pqtls ca ocsp web.ocsp-request --out web.ocsp
  $ pqtls ca ocsp --for web.pem --validity 12h --out web.staple";

/// One key signs, and has a passphrase: the responder's, or the CA's.
fn of_one_key(option: clap::Arg) -> clap::Arg {
    match option.get_id().as_str() {
        "ca_passphrase_file" | "ca_passphrase_fd" | "ca_passphrase_env" => {
            option.conflicts_with("key")
        }
        _ => only_with("key", option),
    }
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let OutputOptions { out, force } = &arguments.output;
    let delivery = Delivery::to_public(&[out], *force, json)?;
    let (response, signer) = respond(arguments)?;
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
        ends_with_signer: response
            .answers()
            .iter()
            .any(|answer| answer.next_update() == Some(signer.not_after())),
    };
    delivery.deliver(&[output], &report)
}

/// The response, and the certificate of the key that signed it.
fn respond(arguments: &Arguments) -> Result<(OcspResponse, Certificate), Failure> {
    let now = UnixTime::now();
    let folder = arguments.place.open()?;
    let named = match arguments.root {
        true => Some(Role::Root),
        false => arguments.which_key.named(&folder)?,
    };
    let role = match (named, &arguments.request, &arguments.certificate) {
        (Some(role), _, _) => role,
        (None, Some(file), _) => asked(&folder, &documents::ocsp_request(file)?)?,
        (None, None, certificate) => signer_of(certificate.as_ref(), &folder)?,
    };
    let request = match (&arguments.request, &arguments.certificate) {
        (Some(file), _) => documents::ocsp_request(file)?,
        (None, certificate) => {
            let which = certificate.as_ref().expect("clap asks for one of them");
            let certificate = known_certificate(which, &folder, role)?;
            let issuer = folder.certificate(role)?;
            OcspRequest::builder()
                .certificate(&certificate, &issuer)
                .build()?
        }
    };
    let (response, signer) = match (&arguments.key, &arguments.cert) {
        (Some(key), Some(certificate)) => {
            let access = arguments.ca_key.access.clone();
            let store = SignerStore::at(arguments.key_store.clone(), access);
            let key = store.signer(key, &arguments.passphrase)?;
            let certificate = documents::first_certificate(certificate)?;
            let responder = folder.responder(role, certificate.clone(), key)?;
            let responder = match arguments.validity {
                Some(validity) => responder.with_validity(validity),
                None => responder,
            };
            (responder.respond(request.der(), now), certificate)
        }
        _ => {
            let authority = arguments.ca_key.authority(&folder, role)?;
            let response = authority.respond(request.der(), now, arguments.validity);
            (response, authority.issuer().certificate().clone())
        }
    };
    Ok((response.map_err(Failure::Unanswered)?, signer))
}

/// The issuing key whose certificates a request is about, or the one that issues.
fn asked(folder: &CaFolder, request: &OcspRequest) -> Result<Role, Failure> {
    let certificates = request.certificates();
    let keys = folder.issuing_keys()?;
    let asked = keys
        .iter()
        .find(|(_, issuer)| certificates.iter().any(|one| one.is_by(issuer)));
    match asked {
        Some((role, _)) => Ok(*role),
        None => Ok(folder.issuing_role()?),
    }
}

/// The issuing key that signed a certificate, or the one that issues.
fn signer_of(which: Option<&Which>, folder: &CaFolder) -> Result<Role, Failure> {
    let ledger = folder.ledger()?;
    if let Some(which) = which {
        let entry = ledger.entry(&which.serial_number(folder, &ledger)?)?;
        let role = entry.and_then(|entry| Role::from_name(&entry.issued.issuer));
        if let Some(role) = role.filter(|role| *role != Role::Root) {
            return Ok(role);
        }
    }
    Ok(folder.issuing_role()?)
}

/// A certificate that the ledger has. Of one that it lacks, the response would be that it is unknown, in the place of a
/// good one that a server staples.
fn known_certificate(which: &Which, folder: &CaFolder, role: Role) -> Result<Certificate, Failure> {
    let ledger = folder.ledger()?;
    let number = which.serial_number(folder, &ledger)?;
    let unknown = || LedgerError::Unknown(number);
    let entry = ledger.entry(&number)?.ok_or_else(unknown)?;
    if entry.issued.issuer != role.name() {
        let which = which.to_string();
        return Err(match Role::from_name(&entry.issued.issuer) {
            Some(Role::Root) => Failure::OfTheRoot(which),
            _ if role == Role::Root => Failure::NotOfTheRoot(which),
            _ => Failure::OfAnotherKey {
                which,
                key: entry.issued.issuer,
            },
        });
    }
    let der = ledger.certificate(&number)?.ok_or_else(unknown)?;
    Ok(Certificate::from_der(&der).map_err(IssueError::from)?)
}

#[derive(Debug, Serialize)]
struct NewResponse {
    file: String,
    /// How long the response is.
    bytes: u64,
    answers: Vec<Answer>,
    /// Whether it ends with the certificate of the key that signed it, and would last longer without that.
    ends_with_signer: bool,
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
    fn of(answer: &pq_x509::ocsp::SingleResponse) -> Self {
        let (status, revoked_at, reason) = match answer.status() {
            CertStatus::Good => ("good", None, None),
            CertStatus::Unknown => ("unknown", None, None),
            CertStatus::Revoked { date, reason } => {
                let reason = pq_ca::authority::reason_name(reason);
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
        if self.ends_with_signer {
            writeln!(
                f,
                "  It ends then because the certificate of the key that signed it does; have a new one issued before."
            )?;
        }
        Ok(())
    }
}
