//! The command `pqtls cert verify`: it sets up pq-x509's validation of chains with roots, names, revocation lists and
//! OCSP responses, and reports the path or why there is none.

use core::fmt;

use pq_keys::encoding::rfc3339;
use pq_keys::{Algorithm, PublicKey, SubjectKey};
use pq_x509::certificate::{AlternativeName, Certificate, EmailAddress, SpiffeId, Uri};
use pq_x509::ocsp::{OcspRequest, OcspResponse};
use pq_x509::pki_types::{ServerName, UnixTime};
use pq_x509::revocation::RevocationPolicy;
use pq_x509::validation::{ChainValidator, ValidatedChain, ValidationError};
use serde::Serialize;

use super::purpose::Purpose;
use crate::arguments::{alternative_name, time};
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::keys::other_verification;
use crate::report::{self, Report, Revocation, fingerprint};
use crate::words::{key_name, of_validation_error};

/// Verify that a chain leads to a trusted root
///
/// Checks names, times, purposes, key usages and, with --crl or --ocsp alone, revocation, as clients and servers
/// of rustls-pq do, and says why a chain is refused, or that rustls's own verifiers refuse one that is valid.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The certificate, and the CAs between it and the root; "-" is standard input
    chain: Source,

    /// Certificates of the roots to trust; once for each file
    #[arg(long, required = true, value_name = "FILE")]
    roots: Vec<Source>,

    /// The DNS name, IP address, e-mail address or URI that the certificate has to be for; with a SPIFFE
    /// ID, the roots have to be those of its trust domain
    #[arg(long, value_parser = expected_name)]
    name: Option<ExpectedName>,

    /// What the certificate has to be for
    #[arg(
        long,
        value_enum,
        default_value = "server",
        hide_possible_values = true,
        value_name = "server|client"
    )]
    purpose: Purpose,

    /// Verify for this time, such as 2027-01-31 or 2027-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<UnixTime>,

    /// Revocation lists of all CAs of the chain; once for each file
    #[arg(long, value_name = "FILE")]
    crl: Vec<Source>,

    /// An OCSP response about a certificate of the chain; once for each file. Without --crl, one about the
    /// first certificate is enough
    #[arg(long, value_name = "FILE")]
    ocsp: Vec<Source>,

    /// The OCSP request that the responses have to be made for; this is checked by its nonce, if it has one
    #[arg(long, value_name = "FILE", requires = "ocsp")]
    ocsp_request: Option<Source>,
}

/// What is valid by RFC 5280 and refused by webpki.
const NOT_FOR_RUSTLS: &str = "rustls's own verifiers refuse this chain, although RFC 5280 permits it: they process no critical \
                              certificate policies, no dates before 1970, no path lengths above 255, and compare names byte \
                              by byte";

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert verify chain.pem --roots ca-root.pem --name www.example.org
  $ pqtls cert verify chain.pem --roots ca-root.pem --crl none.crl
  $ pqtls cert verify chain.pem --roots ca-root.pem --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let chain = documents::certificates(&arguments.chain)?;
    let responses = arguments.ocsp.iter().map(documents::ocsp_response);
    let responses = responses.collect::<Result<Vec<_>, _>>()?;
    let request = arguments.ocsp_request.as_ref();
    let request = request.map(documents::ocsp_request).transpose()?;
    let mut validator = validator(arguments, &responses)?;
    if let Some(nonce) = request.as_ref().and_then(OcspRequest::nonce) {
        validator = validator.with_ocsp_nonce(nonce.clone());
    }
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let mut report = Verdict {
        valid: false,
        purpose: arguments.purpose,
        name: arguments.name.as_ref().map(ExpectedName::to_string),
        at: rfc3339(at),
        revocation: Revocation::by(!arguments.crl.is_empty(), !responses.is_empty()),
        path: Vec::new(),
        notes: Vec::new(),
        reason: None,
    };
    match validate(&validator, arguments, &chain, at) {
        Ok(valid) => {
            report.valid = true;
            report.path = valid.certificates().iter().map(OnPath::of).collect();
            let purpose = arguments.purpose.into();
            if !validator.is_valid_for_rustls(&valid, purpose, at) {
                report.notes.push(NOT_FOR_RUSTLS.into());
            }
            report::print(&report, json)?;
            Ok(ExitStatus::Done)
        }
        Err(error) => {
            if json {
                report.reason = Some(of_validation_error(&error));
                report::print(&report, json)?;
            }
            Err(Failure::Chain(error.into()))
        }
    }
}

fn validator(arguments: &Arguments, responses: &[OcspResponse]) -> Result<ChainValidator, Failure> {
    let mut roots = Vec::new();
    for file in &arguments.roots {
        roots.extend(documents::certificates(file)?);
    }
    let own_root = roots
        .iter()
        .find(|root| !root.is_ca() && root.is_self_signed(other_verification()))
        .map(Certificate::describe_subject);
    let validator = ChainValidator::new(roots)
        .map_err(|error| match (error, own_root) {
            (ValidationError::RootNotACa(root), Some(own)) if root == own => Failure::OwnRoot(own),
            (error, _) => Failure::Trust(error.into()),
        })?
        .with_algorithms(other_verification())
        .with_ocsp_responses(responses.to_vec());
    if arguments.crl.is_empty() {
        // Responses about CAs are rare.
        let policy = RevocationPolicy::without_lists().end_entity_only();
        return Ok(match responses.is_empty() {
            true => validator,
            false => validator.with_revocation(policy),
        });
    }
    let mut lists = Vec::new();
    for file in &arguments.crl {
        lists.extend(documents::revocation_lists(file)?);
    }
    let policy = RevocationPolicy::new(lists).map_err(|error| Failure::Trust(error.into()))?;
    Ok(validator.with_revocation(policy))
}

fn validate(
    validator: &ChainValidator,
    arguments: &Arguments,
    chain: &[Certificate],
    at: UnixTime,
) -> Result<ValidatedChain, ValidationError> {
    let purpose = arguments.purpose.into();
    let valid = match &arguments.name {
        None => validator.validate(chain, purpose, None, at)?,
        Some(ExpectedName::Server(name)) => validator.validate(chain, purpose, Some(name), at)?,
        Some(ExpectedName::Email(address)) => {
            validator.validate_email(chain, address.as_str(), purpose, at)?
        }
        Some(ExpectedName::Uri(uri)) => validator.validate_uri(chain, uri.as_str(), purpose, at)?,
        Some(ExpectedName::Spiffe(id)) => validator.validate_spiffe(chain, id, purpose, at)?,
    };
    // Servers and clients authenticate by signing.
    let key = chain.first().map(Certificate::public_key);
    match key.and_then(Result::ok).as_ref().map(PublicKey::algorithm) {
        Some(Algorithm::Kem(algorithm)) => Err(ValidationError::CannotSign(algorithm)),
        _ => Ok(valid),
    }
}

/// A name that the certificate has to be for.
#[derive(Clone, Debug)]
enum ExpectedName {
    Server(ServerName<'static>),
    Email(EmailAddress),
    Uri(Uri),
    Spiffe(SpiffeId),
}

impl fmt::Display for ExpectedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(name) => f.write_str(&name.to_str()),
            Self::Email(address) => address.fmt(f),
            Self::Uri(uri) => uri.fmt(f),
            Self::Spiffe(id) => id.fmt(f),
        }
    }
}

fn expected_name(text: &str) -> Result<ExpectedName, String> {
    match alternative_name(text)? {
        AlternativeName::Uri(uri) if uri.starts_with("spiffe:") => {
            let id: Result<SpiffeId, _> = uri.parse();
            id.map(ExpectedName::Spiffe)
                .map_err(|error| error.to_string())
        }
        AlternativeName::Uri(uri) => {
            let uri: Result<Uri, _> = uri.parse();
            uri.map(ExpectedName::Uri)
                .map_err(|error| error.to_string())
        }
        AlternativeName::Email(address) => {
            let address: Result<EmailAddress, _> = address.parse();
            address
                .map(ExpectedName::Email)
                .map_err(|error| error.to_string())
        }
        AlternativeName::Dns(_) | AlternativeName::Ip(_) => {
            let name = ServerName::try_from(text.to_owned());
            name.map(ExpectedName::Server).map_err(|_| {
                "write a DNS name such as www.example.org, an IP address, an e-mail address or a URI"
                    .into()
            })
        }
    }
}

#[derive(Debug, Serialize)]
struct Verdict {
    valid: bool,
    purpose: Purpose,
    name: Option<String>,
    at: String,
    revocation: Revocation,
    /// From the certificate to the root; empty, if there is no valid one.
    path: Vec<OnPath>,
    /// What the reader should know of a chain that is valid.
    notes: Vec<String>,
    /// Why the chain was refused.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct OnPath {
    subject: String,
    key_algorithm: String,
    not_after: String,
    fingerprint: String,
}

impl OnPath {
    fn of(certificate: &Certificate) -> Self {
        Self {
            subject: certificate.describe_subject(),
            key_algorithm: key_name(&certificate.spki()),
            not_after: rfc3339(certificate.not_after()),
            fingerprint: fingerprint(certificate.der()),
        }
    }
}

impl Report for Verdict {
    const SCHEMA: &'static str = "cert-verify/1";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purpose = match self.purpose {
            Purpose::Server => "server",
            Purpose::Client => "client",
        };
        match &self.name {
            Some(name) => writeln!(f, "valid for the {purpose} {name} at {}", self.at)?,
            None => writeln!(f, "valid for a {purpose} at {}", self.at)?,
        }
        for certificate in &self.path {
            writeln!(
                f,
                "  {}, {}, until {}",
                certificate.subject, certificate.key_algorithm, certificate.not_after
            )?;
        }
        let advice = "give --crl or --ocsp";
        writeln!(f, "{}", self.revocation.line(advice))?;
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}
