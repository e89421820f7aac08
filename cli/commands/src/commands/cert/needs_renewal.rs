//! The command `pqtls cert needs-renewal`: for scripts, it says by its exit status whether certificates or revocation
//! lists have too little time, or too small a part of their validity, left.

use core::fmt;
use core::time::Duration;

use pq_ca::policy::parse_duration;
use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;
use serde::Serialize;

use crate::arguments::time;
use crate::documents::{self, Expiring};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::files::Source;
use crate::report::{self, Report, printable, whole_days, with_unit};

/// Tell by the exit status whether certificates or revocation lists expire soon
///
/// The exit status is 5 if a certificate or a revocation list of the files has less time left than allowed, or none,
/// and 0 otherwise. All that are due are listed, or else the one that expires first. A file that can't be read, or in which
/// nothing expires, is named, and keeps no other from being looked at: if nothing is due, the exit status says why it can't
/// be read, such as 3.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files with certificates, also in messages (PKCS#7), and revocation lists, in PEM or DER; "-" is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<Source>,

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
  $ pqtls cert needs-renewal *.pem *.crl --expires-within 1h
  $ pqtls cert needs-renewal server.pem --fraction 0.5 && echo not yet";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let at = arguments.at.unwrap_or_else(UnixTime::now);
    let (mut documents, mut unread) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        match items(file, arguments, at) {
            Ok(items) => documents.extend(items),
            Err(failure) => unread.push((file, failure)),
        }
    }
    documents.sort_by_key(|one| (!one.needs_renewal, one.end));
    let due = documents.iter().take_while(|one| one.needs_renewal);
    let due: Vec<_> = due.cloned().collect();
    let is_due = !due.is_empty();
    if let Some(first) = documents.first().cloned() {
        let report = Renewal {
            first,
            due,
            unread: unread.iter().map(Unread::of).collect(),
        };
        report::print(&report, json)?;
    }
    // What is due must not be silenced by a file that is of no use. Without any, the first of these is the failure.
    let mut unread = unread.into_iter().map(|(_, failure)| failure);
    let failure = if is_due { None } else { unread.next() };
    for other in unread {
        report::warn(other);
    }
    match failure {
        Some(failure) => Err(failure),
        None if is_due => Ok(ExitStatus::ExpiresSoon),
        None => Ok(ExitStatus::Done),
    }
}

/// What expires in a file.
fn items(file: &Source, arguments: &Arguments, at: UnixTime) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for document in documents::expiring(file)? {
        items.extend(Item::of(file, &document, arguments, at));
    }
    match items.is_empty() {
        true => Err(Failure::NothingExpires(file.to_string())),
        false => Ok(items),
    }
}

const DAY: u64 = 24 * 60 * 60;

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
    /// What is due, and expires first, or else what expires first.
    #[serde(flatten)]
    first: Item,
    due: Vec<Item>,
    /// The files that can't be read, or in which nothing expires.
    unread: Vec<Unread>,
}

#[derive(Debug, Serialize)]
struct Unread {
    file: String,
    error: String,
}

impl Unread {
    fn of((file, failure): &(&Source, Failure)) -> Self {
        Self {
            file: file.to_string(),
            error: failure.to_string(),
        }
    }
}

/// A certificate or a revocation list, and whether it is due.
#[derive(Clone, Debug, Serialize)]
struct Item {
    needs_renewal: bool,
    file: String,
    /// Of a revocation list, its issuer.
    subject: String,
    not_after: String,
    days_left: i64,
    days_required: u64,
    /// In seconds since 1970.
    #[serde(skip)]
    end: u64,
}

impl Item {
    /// `None` if it doesn't say when it expires.
    fn of(file: &Source, document: &Expiring, arguments: &Arguments, at: UnixTime) -> Option<Self> {
        let (subject, start, end) = match document {
            Expiring::Certificate(one) => {
                (one.describe_subject(), one.not_before(), one.not_after())
            }
            Expiring::List(list) => {
                let issuer = printable(&list.issuer().to_string());
                let name = format!("revocation list of {issuer}");
                (name, list.this_update(), list.next_update()?)
            }
        };
        let whole = between(start, end);
        let required = match (arguments.expires_within, arguments.fraction) {
            (Some(time), _) => time,
            (None, Some(fraction)) => whole.mul_f64(fraction),
            (None, None) => whole / 3,
        };
        Some(Self {
            needs_renewal: at > end || between(at, end) < required,
            file: file.to_string(),
            subject,
            not_after: rfc3339(end),
            days_left: whole_days(at, end),
            days_required: required.as_secs() / DAY,
            end: end.as_secs(),
        })
    }
}

impl Report for Renewal {
    const SCHEMA: &'static str = "cert-needs-renewal/1";
}

impl fmt::Display for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.due.is_empty() {
            true => writeln!(f, "{}", self.first),
            false => self.due.iter().try_for_each(|one| writeln!(f, "{one}")),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let due = match self.needs_renewal {
            true => "needs renewal",
            false => "needs no renewal",
        };
        let left = match u64::try_from(self.days_left) {
            Ok(days) => format!("{} left", with_unit(days, "day")),
            Err(_) => "expired".into(),
        };
        let (subject, file, required) = (&self.subject, &self.file, self.days_required);
        write!(f, "{file}: {subject}: {due}: {left}, {required} required")
    }
}
