//! The command `pqtls store list`.

use core::cell::{Cell, RefCell};
use core::fmt;

use pq_keystore::{KeyName, KeyPage, KeySummary, StoreError};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::check::damage;
use super::moment;
use crate::commands::custody::{Opened, Place};
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, StoreFailure, of_store_error};
use crate::report::{self, Report};

/// List the keys of a store
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Only the keys of one tenant, the first part of a key's name
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    /// Only keys that are due for rotation
    #[arg(long)]
    due: bool,

    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  $ pqtls store list --kek-file kek
  $ pqtls store list --kek-file kek --due --json";

/// How many keys are asked for at once.
const PAGE: usize = 100;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let opened = arguments.place.open()?;
    let tenant = arguments.tenant.as_deref();
    // Before they are listed, so that there are at least as many.
    let indexed = match tenant {
        None => opened.store.indexed_keys(&opened.principal)?,
        Some(_) => None,
    };
    let clock = opened.store.check_time();
    if arguments.due {
        clock?;
    } else if let Err(error) = clock {
        warn_of_clock(&error);
    }
    // Before anything is printed: who asks may have no right to it.
    let first = opened.store.list(&opened.principal, tenant, None, PAGE)?;
    let listing = Listing {
        opened,
        arguments,
        first: Cell::new(Some(first)),
        missing: Cell::new(indexed.unwrap_or_default()),
        damaged: RefCell::default(),
        trouble: Cell::new(None),
    };
    let printed = report::print(&listing, json);
    if let Some(error) = listing.trouble.take() {
        return Err(error.into());
    }
    printed?;
    match (listing.missing.get(), damage(listing.damaged.into_inner())) {
        (0, done) => done,
        (missing, done) => {
            let missing = StoreFailure::MissingKeys(missing);
            if done.is_ok() {
                return Err(missing.into());
            }
            report::warn(missing);
            done
        }
    }
}

/// Says that nobody knows what is due.
pub(super) fn warn_of_clock(error: &StoreError) {
    report::warn(format_args!(
        "it is not known what is due: {}",
        of_store_error(error)
    ));
}

/// Keys that are read from the store while they are printed: memory may not hold all of them.
struct Listing<'a> {
    opened: Opened,
    arguments: &'a Arguments,
    first: Cell<Option<KeyPage>>,
    /// How many keys the index has that were not found yet.
    missing: Cell<u64>,
    /// What is wrong with rows that should be among them: as many as the report says.
    damaged: RefCell<Vec<StoreError>>,
    /// Why the store could not be read to its end. `fmt` can't return this error.
    trouble: Cell<Option<StoreError>>,
}

/// The most damaged rows that are told of, by name and in the count.
const MAX_DAMAGED: usize = 10_000;

impl Listing<'_> {
    /// Shows pages until there are no more or printing fails, and returns the error of printing.
    fn each<E>(&self, mut show: impl FnMut(&[Line]) -> Result<(), E>) -> Result<(), E> {
        let mut page = self.first.take();
        while let Some(KeyPage {
            keys,
            damaged,
            next,
            ..
        }) = page
        {
            let found = keys.len() as u64 + damaged.len() as u64;
            self.missing.set(self.missing.get().saturating_sub(found));
            let is_wanted = |key: &&KeySummary| !self.arguments.due || key.is_due;
            let lines: Vec<_> = keys.iter().filter(is_wanted).map(Line::of).collect();
            let mut all = self.damaged.borrow_mut();
            let room = MAX_DAMAGED.saturating_sub(all.len());
            all.extend(damaged.into_iter().take(room));
            drop(all);
            show(&lines)?;
            page = next.and_then(|after| self.page_after(&after));
        }
        Ok(())
    }

    fn page_after(&self, after: &KeyName) -> Option<KeyPage> {
        let (Opened { store, principal }, tenant) =
            (&self.opened, self.arguments.tenant.as_deref());
        match store.list(principal, tenant, Some(after), PAGE) {
            Ok(page) => Some(page),
            Err(error) => {
                self.trouble.set(Some(error));
                None
            }
        }
    }
}

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(Some(2))?;
        fields.serialize_entry("keys", &Keys(self))?;
        let damaged = self.damaged.borrow();
        let mut damaged: Vec<_> = damaged.iter().map(StoreError::to_string).collect();
        if self.missing.get() > 0 {
            damaged.push(StoreFailure::MissingKeys(self.missing.get()).to_string());
        }
        fields.serialize_entry("damaged", &damaged)?;
        fields.end()
    }
}

struct Keys<'a>(&'a Listing<'a>);

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.0.each(|lines| {
            lines
                .iter()
                .try_for_each(|line| list.serialize_element(line))
        })?;
        match self.0.trouble.take() {
            // A list that is cut short is not JSON.
            Some(error) => {
                let said = S::Error::custom(&error);
                self.0.trouble.set(Some(error));
                Err(said)
            }
            None => list.end(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    algorithm: &'static str,
    /// The newest version.
    version: u32,
    /// Its state.
    state: &'static str,
    created: String,
    rotated: String,
    due: bool,
}

impl Line {
    fn of(key: &KeySummary) -> Self {
        Self {
            key: key.name.to_string(),
            algorithm: key.algorithm.name(),
            version: key.newest.get(),
            state: key.state.name(),
            created: moment::text(key.created),
            rotated: moment::text(key.rotated),
            due: key.is_due,
        }
    }
}

impl Report for Listing<'_> {
    const SCHEMA: &'static str = "store-list/1";
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_empty = true;
        let id = |line: &Line| format!("{}#{}", line.key, line.version);
        self.each(|lines| {
            is_empty &= lines.is_empty();
            // The columns of a page are aligned.
            let width = lines.iter().map(|line| id(line).len()).max();
            let width = width.unwrap_or_default();
            for line in lines {
                let due = if line.due { ", due for rotation" } else { "" };
                writeln!(
                    f,
                    "{:width$}  {} ({}) of {}{due}",
                    id(line),
                    line.algorithm,
                    line.state,
                    line.rotated
                )?;
            }
            Ok::<_, fmt::Error>(())
        })?;
        let trouble = self.trouble.take();
        let is_known =
            trouble.is_none() && self.damaged.borrow().is_empty() && self.missing.get() == 0;
        self.trouble.set(trouble);
        match is_empty && is_known {
            true => writeln!(f, "no keys"),
            false => Ok(()),
        }
    }
}
