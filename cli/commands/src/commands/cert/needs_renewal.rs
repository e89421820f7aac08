//! The command `pqtls cert needs-renewal`: for scripts, it says by its exit status whether a certificate has too few
//! days, or too small a part of its validity, left.

use core::fmt;
use core::time::Duration;

use pq_ca::policy::parse_duration;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::arguments::time;
use crate::documents;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, CertificateFacts, Report, with_unit};

/// Tell by the exit status whether certificates expire soon
///
/// The exit status is 5 if one of the file's certificates has less time left than allowed, or none,
/// and 0 otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Certificates in PEM, or one in DER; "-" is standard input
    file: Source,

    /// How much time must be left, such as 14d or 12h
    #[arg(long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "fraction")]
    expires_within: Option<Duration>,

    /// Which fraction of the validity must be left, from 0 to 1 [default: a third]
    #[arg(long, value_parser = fraction)]
    fraction: Option<f64>,

    /// Check for this time, such as 2027-01-31 or 2027-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<UnixTime>,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls cert needs-renewal server.pem --expires-within 14d
  $ pqtls cert needs-renewal server.pem --fraction 0.5 && echo not yet";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let certificates = documents::certificates(&arguments.file)?;
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let left = |certificate: &Certificate| between(at, certificate.not_after());
    let is_due = |certificate: &Certificate| {
        at > certificate.not_after() || left(certificate) < required(arguments, certificate)
    };
    let due = certificates.iter().find(|one| is_due(one));
    let first_to_expire = certificates
        .iter()
        .min_by_key(|one| one.not_after().as_secs());
    // There is at least one.
    let Some(certificate) = due.or(first_to_expire) else {
        return Ok(ExitStatus::Done);
    };
    let facts = CertificateFacts::of(certificate, at);
    let report = Renewal {
        needs_renewal: due.is_some(),
        subject: facts.subject,
        not_after: facts.not_after,
        days_left: facts.days_left,
        days_required: required(arguments, certificate).as_secs() / DAY.as_secs(),
    };
    report::print(&report, json)?;
    Ok(match due {
        Some(_) => ExitStatus::ExpiresSoon,
        None => ExitStatus::Done,
    })
}

/// How much time a certificate must have left.
fn required(arguments: &Arguments, certificate: &Certificate) -> Duration {
    let whole = between(certificate.not_before(), certificate.not_after());
    match (arguments.expires_within, arguments.fraction) {
        (Some(time), _) => time,
        (None, Some(fraction)) => whole.mul_f64(fraction),
        (None, None) => whole / 3,
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The time from the first to the second; zero if the second is before the first.
fn between(from: UnixTime, to: UnixTime) -> Duration {
    Duration::from_secs(to.as_secs().saturating_sub(from.as_secs()))
}

fn fraction(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let within = number.filter(|number| (0.0..=1.0).contains(number));
    within.ok_or_else(|| "write a number from 0 to 1, such as 0.33".into())
}

#[derive(Debug, Serialize)]
struct Renewal {
    needs_renewal: bool,
    /// The subject of the certificate that is due, or else of the one that expires first.
    subject: String,
    not_after: String,
    days_left: i64,
    days_required: u64,
}

impl Report for Renewal {
    const SCHEMA: &'static str = "cert-needs-renewal/1";
}

impl fmt::Display for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let due = match self.needs_renewal {
            true => "needs renewal",
            false => "needs no renewal",
        };
        let left = match u64::try_from(self.days_left) {
            Ok(days) => format!("{} left", with_unit(days, "day")),
            Err(_) => "expired".into(),
        };
        let (subject, required) = (&self.subject, self.days_required);
        writeln!(f, "{subject}: {due}: {left}, {required} required")
    }
}
