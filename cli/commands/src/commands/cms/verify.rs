//! The command `pqtls cms verify`: it verifies all signatures of a message, against roots or against given signers'
//! certificates, and writes the content only if all are valid.

use core::fmt;
use std::io;

use pq_cms::{
    SignatureRefusal, VerificationError, VerificationTime, Verified, VerifiedSigner, Verifier,
    decode_if_pem,
};
use pq_keys::SubjectKey;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::RevocationPolicy;
use pq_x509::validation::{ChainValidator, ValidationError};
use serde::Serialize;

use super::write_unusual_type;
use crate::arguments::time;
use crate::commands::delivery::Delivery;
use crate::commands::watched::Watched;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::{Access, Destination, Growing, Source};
use crate::keys::other_verification;
use crate::report::{self, Report, Revocation, fingerprint, with_unit};
use crate::words::{key_name, oid_name};

/// Verify a signed message
///
/// Every signature of the message has to be valid. Trust either roots, to which the signers' chains have to
/// lead, or the signers' own certificates: then nothing but the signatures is checked, neither times nor revocation. The
/// content is written only after it was verified. Who signed more than
/// once is listed once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
// Each option for chains conflicts with "signers", too: clap does not ask for a required argument that conflicts with a
// given one.
#[command(group(clap::ArgGroup::new("trust").args(["roots", "signers"]).required(true)))]
pub(crate) struct Arguments {
    /// The message, in PEM or DER, or with --signature what was signed; "-" is standard input
    #[arg(default_value = "-")]
    file: Source,

    /// The signature, if it is detached, in PEM or DER; "-" is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    signature: Option<Source>,

    /// Certificates of the roots to trust; once for each file
    #[arg(long, value_name = "FILE")]
    roots: Vec<Source>,

    /// Certificates of the signers to trust; their validity and purpose are not checked; once for each file
    #[arg(long = "signer", value_name = "FILE")]
    signers: Vec<Source>,

    /// Certificates of signers and of CAs that the message lacks; once for each file
    #[arg(
        long = "certs",
        value_name = "FILE",
        requires = "roots",
        conflicts_with = "signers"
    )]
    certificates: Vec<Source>,

    /// Revocation lists of all CAs of the chains; once for each file
    #[arg(
        long,
        value_name = "FILE",
        requires = "roots",
        conflicts_with = "signers"
    )]
    crl: Vec<Source>,

    /// Chains have to be valid at this time, such as 2027-01-31 or 2027-01-31T12:00:00Z [default: now]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = time,
        requires = "roots",
        conflicts_with = "signers"
    )]
    at: Option<UnixTime>,

    /// Chains have to be valid at the time of signing, for which there is only the signer's word
    #[arg(long, requires = "roots", conflicts_with_all = ["at", "signers"])]
    at_signing_time: bool,

    /// Refuse signatures without signed attributes: any signature that the key made of the content, for whatever
    /// purpose, can be presented as one
    #[arg(long)]
    require_attributes: bool,

    /// Where to write the content; "-" is standard output
    #[arg(long, short, value_name = "FILE")]
    out: Option<Destination>,

    /// Replace files that exist
    #[arg(long, requires = "out", conflicts_with = "signature")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cms verify release.cms --signer server.pem --out release.verified.txt
  $ pqtls cms verify release.txt --signature release.p7s --signer server.pem --json";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let out = arguments.out.as_ref();
    let delivery = Delivery::to(out.as_slice(), arguments.force, json)?;
    let validator = validator(arguments)?;
    let refused = |error| Failure::SignedMessage {
        file: arguments.message().to_string(),
        error: Box::new(error),
    };
    let verifier = verifier(arguments, &validator)?;
    let mut verifier = verifier.algorithms(other_verification());
    if arguments.require_attributes {
        verifier = verifier.require_attributes();
    }
    let message = decode_if_pem(Watched::open(arguments.message())?);
    let message = message.map_err(|error| refused(error.into()))?;
    let mut grown = match out {
        Some(out) => Some(Growing::begin(out, Access::Public, arguments.force)?),
        None => None,
    };
    let verified = match (arguments.content(), &mut grown) {
        (Some(content), _) => verifier.verify_detached(message, Watched::open(content)?),
        (None, Some(grown)) => verifier.write_unverified(message, grown),
        (None, None) => verifier.write_unverified(message, io::sink()),
    };
    match verified {
        Ok(verified) => {
            let report = Verdict::of(arguments, &verified);
            match (grown, out) {
                (Some(grown), Some(out)) => delivery.deliver_grown(grown, out, &report),
                _ => {
                    report::print(&report, json)?;
                    Ok(ExitStatus::Done)
                }
            }
        }
        Err(error) => {
            if json && !matches!(error, VerificationError::Encoding(_)) {
                report::print(&Verdict::refused(arguments, &error), json)?;
            }
            Err(list_after_signing(arguments, &error).unwrap_or_else(|| refused(error)))
        }
    }
}

impl Arguments {
    /// What has the signatures.
    fn message(&self) -> &Source {
        self.signature.as_ref().unwrap_or(&self.file)
    }

    /// What was signed, if it is not in the message.
    fn content(&self) -> Option<&Source> {
        self.signature.is_some().then_some(&self.file)
    }
}

/// What is wrong, if the lists are all from after the time of signing: the clock has nothing to do with it.
fn list_after_signing(arguments: &Arguments, error: &VerificationError) -> Option<Failure> {
    let VerificationError::Signature { refusal, .. } = error else {
        return None;
    };
    match &**refusal {
        SignatureRefusal::Chain(ValidationError::RevocationListNotYetValid {
            issuer,
            this_update,
            time,
        }) if arguments.at_signing_time => Some(Failure::ListAfterSigning {
            file: arguments.message().to_string(),
            issuer: issuer.clone().unwrap_or_else(|| "a CA of the chain".into()),
            list: rfc3339(*this_update),
            signed: rfc3339(*time),
        }),
        _ => None,
    }
}

fn validator(arguments: &Arguments) -> Result<Option<ChainValidator>, Failure> {
    if arguments.roots.is_empty() {
        return Ok(None);
    }
    let validator = ChainValidator::new(documents::all_certificates(&arguments.roots)?)
        .map_err(|error| match error {
            ValidationError::RootNotACa(_) => Failure::SignerAsRoot(error.into()),
            error => Failure::Trust(error.into()),
        })?
        .with_algorithms(other_verification());
    if arguments.crl.is_empty() {
        return Ok(Some(validator));
    }
    let mut lists = Vec::new();
    for file in &arguments.crl {
        lists.extend(documents::revocation_lists(file)?);
    }
    let policy = RevocationPolicy::new(lists).map_err(|error| Failure::Trust(error.into()))?;
    Ok(Some(validator.with_revocation(policy)))
}

fn verifier<'v>(
    arguments: &Arguments,
    validator: &'v Option<ChainValidator>,
) -> Result<Verifier<'v>, Failure> {
    let refused = |error: pq_cms::EncodingError| Failure::SignedMessage {
        file: arguments.message().to_string(),
        error: Box::new(error.into()),
    };
    let Some(validator) = validator else {
        let signers = documents::all_certificates(&arguments.signers)?;
        return Verifier::with_signers(signers).map_err(refused);
    };
    let time = match (arguments.at, arguments.at_signing_time) {
        (Some(time), _) => VerificationTime::At(time),
        (None, true) => VerificationTime::Signing,
        (None, false) => VerificationTime::Now,
    };
    Verifier::with_chains(validator)
        .time(time)
        .certificates(documents::all_certificates(&arguments.certificates)?)
        .map_err(refused)
}

#[derive(Debug, Serialize)]
struct Verdict {
    valid: bool,
    message: String,
    /// The content's file, for a detached signature.
    content: Option<String>,
    bytes: Option<u64>,
    /// What the content is, as the signers say: `data` for a file.
    content_type: Option<String>,
    signers: Vec<Signer>,
    revocation: Revocation,
    /// Why the message was refused.
    reason: Option<String>,
    /// Whether the signers' own certificates are trusted, and no chain was verified.
    #[serde(skip)]
    by_signer: bool,
}

#[derive(Debug, Serialize)]
struct Signer {
    subject: String,
    key_algorithm: String,
    digest: Option<&'static str>,
    signed_at: Option<String>,
    /// The fingerprint of the certificate.
    fingerprint: String,
}

impl Verdict {
    fn of(arguments: &Arguments, verified: &Verified) -> Self {
        Self {
            valid: true,
            bytes: Some(verified.len),
            content_type: Some(oid_name(verified.content_type)),
            signers: verified.signers.iter().map(Signer::of).collect(),
            ..Self::empty(arguments)
        }
    }

    fn refused(arguments: &Arguments, error: &VerificationError) -> Self {
        Self {
            reason: Some(error.to_string()),
            ..Self::empty(arguments)
        }
    }

    fn empty(arguments: &Arguments) -> Self {
        Self {
            valid: false,
            message: arguments.message().to_string(),
            content: arguments.content().map(ToString::to_string),
            bytes: None,
            content_type: None,
            signers: Vec::new(),
            revocation: Revocation::by(!arguments.crl.is_empty(), false),
            reason: None,
            by_signer: arguments.roots.is_empty(),
        }
    }
}

impl Signer {
    fn of(signer: &VerifiedSigner) -> Self {
        Self {
            subject: signer.certificate.describe_subject(),
            key_algorithm: key_name(&signer.certificate.spki()),
            digest: signer.digest.map(|digest| digest.name()),
            signed_at: signer.signing_time.map(rfc3339),
            fingerprint: fingerprint(signer.certificate.der()),
        }
    }
}

impl Report for Verdict {
    const SCHEMA: &'static str = "cms-verify/1";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = with_unit(self.bytes.unwrap_or_default(), "byte");
        writeln!(f, "{}: valid, of {len}", self.message)?;
        write_unusual_type(f, self.content_type.as_deref())?;
        for signer in &self.signers {
            write!(f, "  by {}, {}", signer.subject, signer.key_algorithm)?;
            match &signer.signed_at {
                Some(time) => writeln!(f, ", at {time}, as the signer says")?,
                None => writeln!(f)?,
            }
        }
        let advice = match self.by_signer {
            true => "nor is validity, of a certificate that --signer trusts",
            false => "give --crl",
        };
        writeln!(f, "{}", self.revocation.line(advice))
    }
}
