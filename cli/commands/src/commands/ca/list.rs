//! The command `pqtls ca list`: it prints entries while it reads them from the ledger, so that a list of any length
//! takes little memory.

use core::cell::RefCell;
use core::fmt;
use core::ops::ControlFlow;
use core::time::Duration;

use pq_ca::ledger::{Filter, Ledger, LedgerError, LocalLedger};
use pq_ca::policy::parse_duration;
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
/// All conditions that are given have to hold. An index finds serial numbers, names and times, so that a
/// million other certificates don't slow this down; --subject searches all certificates that meet the other
/// conditions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only certificates that have neither expired nor been revoked
    #[arg(long, conflicts_with_all = ["revoked", "expires_within"])]
    valid: bool,

    /// Only certificates that were revoked or are on hold
    #[arg(long, conflicts_with = "expires_within")]
    revoked: bool,

    /// Only valid certificates that expire within this time, such as 30d
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires_within: Option<Duration>,

    /// Only certificates for this DNS name or address
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only certificates for this domain or a name below it
    #[arg(long, value_name = "DOMAIN", conflicts_with = "name")]
    domain: Option<String>,

    /// Only certificates with this text in the subject, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// At most this many
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,

    #[command(flatten)]
    pub(super) place: Place,
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

/// Entries that are read from the ledger while they are printed: memory may not hold all of them.
struct Listing {
    ledger: LocalLedger,
    filter: Filter,
    now: UnixTime,
    /// Why the ledger could not be read to its end. `fmt` can't return this error.
    trouble: RefCell<Option<LedgerError>>,
}

impl Listing {
    /// Shows entries until there are no more or printing fails, and returns the error of printing.
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
            // A list that is cut short is not JSON.
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
        let mut is_begun = false;
        self.each(|entry| {
            if !is_begun {
                is_begun = true;
                writeln!(f, "{}", heading())?;
            }
            writeln!(f, "{entry}")
        })?;
        // If there is nothing because of an error, that is all to be said.
        match is_begun || self.trouble.borrow().is_some() {
            true => Ok(()),
            false => writeln!(f, "{}", heading()),
        }
    }
}
