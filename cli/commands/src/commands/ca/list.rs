use core::cell::RefCell;
use core::fmt;
use core::ops::ControlFlow;
use core::time::Duration;

use pq_ca::{Filter, Ledger, LedgerError, LocalLedger, parse_duration};
use pq_x509::pki_types::UnixTime;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use super::entry::{EntryFacts, heading};
use super::place::Place;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::report::{self, Report};

/// List certificates of the CA, the first to expire first
///
/// All conditions that are given have to hold. For certificates, names and times an index is used, so
/// that it takes no longer with a million others; --subject looks at all that the other conditions
/// leave.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only what has neither expired nor been revoked
    #[arg(long, conflicts_with_all = ["revoked", "expires_within"])]
    valid: bool,

    /// Only what was revoked or is on hold
    #[arg(long, conflicts_with = "expires_within")]
    revoked: bool,

    /// Only what is valid and expires within this time, such as 30d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires_within: Option<Duration>,

    /// Only what is for this DNS name or address
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only what is for this domain or a name below it
    #[arg(long, value_name = "DOMAIN", conflicts_with = "name")]
    domain: Option<String>,

    /// Only what has this text in its subject, in capitals or not
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// At most so many
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls ca list --revoked
  $ pqtls ca list --domain example.org --expires-within 60d";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    let listing = Listing {
        ledger: arguments.place.open()?.ledger()?,
        filter: filter(arguments, now),
        now,
        trouble: RefCell::new(None),
    };
    let printed = report::print(&listing, json);
    match listing.trouble.into_inner() {
        Some(error) => Err(error.into()),
        None => Ok(printed.map(|()| ExitStatus::Done)?),
    }
}

fn filter(arguments: &Arguments, now: UnixTime) -> Filter {
    let mut filter = Filter::all();
    if arguments.revoked {
        filter = filter.revoked();
    }
    if arguments.valid || arguments.expires_within.is_some() {
        filter = filter.valid().expires_from(now);
    }
    if let Some(within) = arguments.expires_within {
        let end = now.as_secs().saturating_add(within.as_secs());
        filter = filter.expires_before(UnixTime::since_unix_epoch(Duration::from_secs(end)));
    }
    if let Some(name) = &arguments.name {
        filter = filter.name(name);
    }
    if let Some(domain) = &arguments.domain {
        filter = filter.domain(domain);
    }
    if let Some(text) = &arguments.subject {
        filter = filter.subject_contains(text);
    }
    match arguments.limit {
        Some(limit) => filter.limit(limit),
        None => filter,
    }
}

/// What is read from the ledger as it is printed, since there may be more than memory holds.
struct Listing {
    ledger: LocalLedger,
    filter: Filter,
    now: UnixTime,
    /// What kept the ledger from being read to the end. Printing has no place for it.
    trouble: RefCell<Option<LedgerError>>,
}

impl Listing {
    /// Shows entries until there are no more or the printing fails, and returns why it did.
    fn each<E>(&self, mut show: impl FnMut(&EntryFacts) -> Result<(), E>) -> Result<(), E> {
        let mut shown = Ok(());
        let found = self.ledger.find(&self.filter, &mut |entry| {
            shown = show(&EntryFacts::of(&entry, self.now));
            match shown {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        if let Err(error) = found {
            *self.trouble.borrow_mut() = Some(error);
        }
        shown
    }
}

impl Serialize for Listing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            certificates: Certificates<'a>,
        }

        let certificates = Certificates(self);
        Fields { certificates }.serialize(serializer)
    }
}

struct Certificates<'a>(&'a Listing);

impl Serialize for Certificates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.0.each(|entry| list.serialize_element(entry))?;
        match self.0.trouble.borrow().as_ref() {
            // A list that is cut short is no JSON.
            Some(error) => Err(S::Error::custom(error)),
            None => list.end(),
        }
    }
}

impl Report for Listing {
    const SCHEMA: &'static str = "ca-list/1";
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", heading())?;
        self.each(|entry| writeln!(f, "{entry}"))
    }
}
