//! The command `pqtls ca list`: it prints entries while it reads them from the ledger, so that a list of any length
//! takes little memory.

use alloc::collections::BTreeSet;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::ops::ControlFlow;
use core::time::Duration;

use pq_ca::ledger::{Entry, Filter, Issued, Ledger, LedgerError, SerialNumber, Stage};
use pq_ca::policy::parse_duration;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use super::entry::{EntryFacts, heading};
use super::opened::AnyLedger;
use super::place::Place;
use super::which;
use crate::arguments::without_port;
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

    /// Only certificates that are not revoked, that expire within this time, such as 30d, or expired in the last 90 days,
    /// and that no newer certificate of the same profile for the same names replaces; the exit status is 5 if there are any
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires_within: Option<Duration>,

    /// Only certificates for this DNS name or address
    #[arg(long, value_name = "NAME", value_parser = without_port)]
    name: Option<String>,

    /// Only certificates for this domain or a name below it
    #[arg(long, value_name = "DOMAIN", value_parser = without_port, conflicts_with = "name")]
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
  $ pqtls ca list --domain example.org --expires-within 60d || echo 'renew these'";

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let now = UnixTime::now();
    let folder = arguments.place.open()?;
    let ledger = folder.ledger()?;
    let listing = Listing {
        followed: followed(&ledger, now)?,
        ledger,
        filter: filter(arguments, now),
        alarms: arguments.expires_within.is_some(),
        limit: arguments.limit,
        width: report::terminal_width(),
        now,
        count: Cell::new(0),
        trouble: RefCell::new(None),
    };
    let printed = report::print(&listing, json);
    if let Some(error) = listing.trouble.into_inner() {
        return Err(error.into());
    }
    printed?;
    Ok(match listing.alarms && listing.count.get() > 0 {
        true => ExitStatus::ExpiresSoon,
        false => ExitStatus::Done,
    })
}

/// For how long a certificate that expired is still said to need renewal: until it is renewed or revoked, and no longer than
/// this, after which nobody can need it.
const MISSED: Duration = Duration::from_secs(90 * 24 * 60 * 60);

fn filter(arguments: &Arguments, now: UnixTime) -> Filter {
    let mut filter = Filter::all();
    if arguments.revoked {
        filter = filter.revoked();
    }
    if arguments.valid {
        filter = filter.valid().expires_from(now);
    }
    if let Some(within) = arguments.expires_within {
        let start = now.as_secs().saturating_sub(MISSED.as_secs());
        let start = UnixTime::since_unix_epoch(Duration::from_secs(start));
        filter = filter.valid().expires_from(start);
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
        // Of those that expire, some are left out.
        Some(limit) if arguments.expires_within.is_none() => filter.limit(limit),
        _ => filter,
    }
}

/// The numbers of the CA's own keys' certificates for which nobody needs others: another key took their place, or they
/// expired before they issued.
fn followed(ledger: &impl Ledger, now: UnixTime) -> Result<BTreeSet<SerialNumber>, Failure> {
    let mut numbers = BTreeSet::new();
    for one in ledger.generations()? {
        let own = one.certificate().map(|der| Certificate::from_der(der));
        let Some(Ok(own)) = own else {
            continue;
        };
        let is_past = matches!(one.stage, Stage::Retired | Stage::Ended);
        let has_expired = one.stage != Stage::Issuing && own.not_after() < now;
        if is_past || has_expired {
            numbers.extend(which::kept_number(ledger, &own)?);
        }
    }
    Ok(numbers)
}

/// Entries that are read from the ledger while they are printed: memory may not hold all of them.
struct Listing {
    ledger: AnyLedger,
    /// The certificates of the CA's own keys that others followed.
    followed: BTreeSet<SerialNumber>,
    filter: Filter,
    /// Whether what is listed has to be renewed.
    alarms: bool,
    limit: Option<usize>,
    /// The width of the terminal, if there is one.
    width: Option<usize>,
    now: UnixTime,
    count: Cell<usize>,
    /// Why the ledger could not be read to its end. `fmt` can't return this error.
    trouble: RefCell<Option<LedgerError>>,
}

impl Listing {
    /// Shows entries until there are no more or printing fails, and returns the error of printing.
    fn each<E>(&self, mut show: impl FnMut(&EntryFacts) -> Result<(), E>) -> Result<(), E> {
        let mut shown = Ok(());
        let mut failed = Ok(false);
        let found = self.ledger.find(&self.filter, &mut |entry| {
            if self.limit.is_some_and(|limit| self.count.get() >= limit) {
                return ControlFlow::Break(());
            }
            if self.alarms {
                failed = self.is_superseded(&entry);
                match failed {
                    Ok(false) => {}
                    Ok(true) => return ControlFlow::Continue(()),
                    Err(_) => return ControlFlow::Break(()),
                }
            }
            self.count.set(self.count.get() + 1);
            shown = show(&EntryFacts::of(&entry, self.now));
            match shown {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        if let Err(error) = found.and_then(|()| failed.map(|_| ())) {
            *self.trouble.borrow_mut() = Some(error);
        }
        shown
    }

    /// Whether a newer valid certificate of the same profile for the same names, or without names for the same subject,
    /// lasts longer, or the certificate's key, one of the CA's own, was followed by another.
    fn is_superseded(&self, entry: &Entry) -> Result<bool, LedgerError> {
        let old = &entry.issued;
        if self.followed.contains(&old.serial_number) {
            return Ok(true);
        }
        let next = old.not_after.as_secs().saturating_add(1);
        let filter = Filter::all()
            .valid()
            .expires_from(UnixTime::since_unix_epoch(Duration::from_secs(next)));
        let filter = match old.names.first() {
            Some(name) => filter.name(name),
            None => filter.subject_contains(&old.subject),
        };
        let names = |issued: &Issued| issued.names.iter().cloned().collect::<BTreeSet<_>>();
        let mut is_superseded = false;
        self.ledger.find(&filter, &mut |other| {
            let new = &other.issued;
            is_superseded = new.profile == old.profile
                && new.at.as_secs() >= old.at.as_secs()
                && names(new) == names(old)
                && (!old.names.is_empty() || new.subject == old.subject);
            match is_superseded {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(is_superseded)
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
            match self.width {
                Some(width) => write!(f, "{}", entry.within(width)),
                None => writeln!(f, "{entry}"),
            }
        })?;
        // If there is nothing because of an error, that is all to be said.
        match is_begun || self.trouble.borrow().is_some() {
            true => Ok(()),
            false => writeln!(f, "{}", heading()),
        }
    }
}
