//! A ledger in PostgreSQL, for several machines: [`PostgresLedger`].
//!
//! Each change is one transaction. It takes locks on what it decides by (certificates, keys, lists, generations), each
//! shared by those who only read it, reads that, writes, and leaves a mark by which it is found if the answer is lost.
//! Locks are taken before anything is read, in one order, so that nobody waits in a circle; and each statement sees what
//! was committed when it begins. So transactions about different certificates don't wait for each other.
//!
//! Nothing belongs to a session, so a pooler between them does no harm.

// This room uses its parent's types and pq-postgres; nothing else in this crate is asynchronous.

mod auditing;
mod changing;
mod clock;
mod conditions;
mod lists;
mod locks;
mod moving;
mod recording;
mod revoking;
mod rows;
mod schema;
mod searching;
mod session;
mod succeeding;
mod text;

use alloc::rc::Rc;
use core::fmt;
use core::ops::ControlFlow;

use pq_postgres::{Database, Ended, Purpose, Thread};
pub use pq_postgres::{InvalidPostgresOptions, PostgresOptions};
use pq_x509::pki_types::{CertificateDer, UnixTime};

use self::changing::Worker;
use self::searching::Search;
use self::session::Session;
use super::audit::{AuditEvent, AuditHead, Deed};
use super::condition::Condition;
use super::database::DatabaseError;
use super::entry::{AdoptedEntry, Entry, Issued, NewEntry, Revocation, Revoked};
use super::error::LedgerError;
use super::filter::Filter;
use super::generation::Generation;
use super::moving::{KeptEntry, Movable, Move, Rest, Standing};
use super::request_id::RequestId;
use super::serial_number::SerialNumber;
use super::{KeyHash, Ledger};

/// What the database is for, with the schema by default.
const PURPOSE: Purpose = Purpose {
    what: "the ledger in the PostgreSQL database",
    schema: "pq_ca",
    program: "pq-ca",
};

/// A ledger in a schema of a PostgreSQL database, which several machines may have open at once.
///
/// Its connections belong to a thread of its own, so its methods can be called from anywhere, but they block: from within
/// an asynchronous executor, call them where blocking is allowed. Each ends within
/// [the time-out](PostgresOptions::timeout), and a change whose answer was lost within two of these. While the database
/// can't be reached they return [`DatabaseError::Away`]; the ledger goes on trying by itself.
///
/// What was recorded survives a crash of the server if the server's `fsync` and `full_page_writes` are on, as they are by
/// default. Where a standby takes over, it keeps everything only if it is in `synchronous_standby_names`.
///
/// ```
/// use core::time::Duration;
/// use std::error::Error;
///
/// use pq_ca::ledger::{PostgresLedger, PostgresOptions};
///
/// fn open(address: &str) -> Result<PostgresLedger, Box<dyn Error>> {
///     let options = PostgresOptions::new(address)?.timeout(Duration::from_millis(500));
///     Ok(PostgresLedger::open(options)?)
/// }
///
/// // No server is there.
/// let error = open("host=/nowhere user=ca dbname=ca").unwrap_err();
/// assert!(error.to_string().contains("can't be reached"));
/// ```
pub struct PostgresLedger {
    description: String,
    thread: Thread<Worker>,
}

/// How a ledger is opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Opening {
    /// There has to be one.
    There,
    /// There must be none, and it is made.
    New,
}

impl PostgresLedger {
    /// Makes an empty ledger: the schema, unless there is one, and its tables.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::AlreadyThere`], and those of [`open`](Self::open).
    pub fn create(options: PostgresOptions) -> Result<Self, LedgerError> {
        Self::start(options, Opening::New)
    }

    /// Opens a ledger. Tables of an earlier version of this crate are brought to the present one, in one transaction: other
    /// machines with the earlier version may go on meanwhile.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::NoLedger`] if there is none: this never makes one, since a CA that can't find its revocations must
    /// not make an empty revocation list. [`DatabaseError::Newer`], [`DatabaseError::Away`] if the database can't be reached
    /// within the time-out, and [`DatabaseError::NotOpened`] if it refuses this user.
    pub fn open(options: PostgresOptions) -> Result<Self, LedgerError> {
        Self::start(options, Opening::There)
    }

    fn start(options: PostgresOptions, opening: Opening) -> Result<Self, LedgerError> {
        let description = Database::new(options.clone(), PURPOSE).description();
        let open = async move || {
            let worker = Worker::new(Database::new(options, PURPOSE));
            schema::ensure(&worker, opening).await?;
            Ok::<_, LedgerError>(Rc::new(worker))
        };
        let started = Thread::start("ledger-pg", open);
        let thread = started.map_err(|ended| stopped(&description, &ended))??;
        Ok(Self {
            description,
            thread,
        })
    }

    /// Runs a job on the ledger's thread, and waits for its result.
    fn call<T, J>(&self, job: J) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        J: AsyncFnOnce(&Worker) -> Result<T, LedgerError> + Send + 'static,
    {
        let done = self.thread.call(job);
        done.map_err(|ended| stopped(&self.description, &ended))?
    }
}

fn stopped(ledger: &str, ended: &Ended) -> DatabaseError {
    DatabaseError::NotOpened {
        ledger: ledger.into(),
        reason: ended.to_string(),
    }
}

/// A copy of entries that the ledger's thread can have.
fn owned(entries: &[NewEntry<'_>]) -> Vec<NewEntry<'static>> {
    entries.iter().map(owned_entry).collect()
}

fn owned_entry(entry: &NewEntry<'_>) -> NewEntry<'static> {
    NewEntry {
        issued: Issued::clone(&entry.issued),
        certificate: entry.certificate.clone().into_owned(),
    }
}

impl Ledger for PostgresLedger {
    fn record_if(
        &self,
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        let (entries, conditions) = (owned(entries), conditions::owned(conditions));
        self.call(async move |worker| {
            worker.record(&entries, &conditions).await?;
            worker.chain_now_and_then().await;
            Ok(())
        })
    }

    fn adopt(&self, entries: &[AdoptedEntry<'_>]) -> Result<(), LedgerError> {
        let entries = entries.iter().map(|one| AdoptedEntry {
            entry: owned_entry(&one.entry),
            revocation: one.revocation.clone(),
        });
        let entries: Vec<_> = entries.collect();
        self.call(async move |worker| worker.adopt(&entries).await)
    }

    fn entry(&self, number: &SerialNumber) -> Result<Option<Entry>, LedgerError> {
        let number = *number;
        self.call(async move |worker| {
            worker
                .read(async |session| session.entry(&number).await)
                .await
        })
    }

    fn of_request(&self, request: &RequestId) -> Result<Option<Entry>, LedgerError> {
        let request = *request;
        self.call(async move |worker| {
            worker
                .read(async |session| session.of_request(&request).await)
                .await
        })
    }

    fn certificate(
        &self,
        number: &SerialNumber,
    ) -> Result<Option<CertificateDer<'static>>, LedgerError> {
        let number = *number;
        self.call(async move |worker| {
            worker
                .read(async |session| session.certificate(&number).await)
                .await
        })
    }

    fn compromised(&self, key: &KeyHash) -> Result<Option<SerialNumber>, LedgerError> {
        let key = *key;
        self.call(async move |worker| {
            let found = worker.read(async |session| session.compromised(&[key]).await);
            Ok(found.await?.get(&key).copied())
        })
    }

    fn revoke_if(
        &self,
        numbers: &[SerialNumber],
        revocation: &Revocation,
        conditions: &[Condition<'_>],
    ) -> Result<Vec<Revoked>, LedgerError> {
        let (numbers, revocation) = (numbers.to_vec(), revocation.clone());
        let conditions = conditions::owned(conditions);
        self.call(async move |worker| worker.revoke(&numbers, &revocation, &conditions).await)
    }

    fn reinstate_if(
        &self,
        number: &SerialNumber,
        at: UnixTime,
        by: &str,
        conditions: &[Condition<'_>],
    ) -> Result<Entry, LedgerError> {
        let (number, by, conditions) = (*number, by.to_owned(), conditions::owned(conditions));
        self.call(async move |worker| worker.reinstate(&number, at, &by, &conditions).await)
    }

    /// Entries are read by a thousand. Between these, nothing is locked.
    fn find(
        &self,
        filter: &Filter,
        show: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let mut search = Search::new(filter);
        while left > 0 {
            let from = search.clone();
            let (entries, next) = self.call(async move |worker| {
                let look_on = async |session: &Session<'_>| {
                    let mut search = from.clone();
                    Ok((session.look_on(&mut search).await?, search))
                };
                worker.read(look_on).await
            })?;
            let Some(entries) = entries else {
                return Ok(());
            };
            search = next;
            for entry in entries.into_iter().take(left) {
                left -= 1;
                if show(entry).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn numbered_list(
        &self,
        issuer: &str,
        number: Option<u64>,
        now: UnixTime,
        show: &mut dyn FnMut(&SerialNumber, &Revocation),
    ) -> Result<u64, LedgerError> {
        let issuer = issuer.to_owned();
        let (number, listed) =
            self.call(async move |worker| worker.numbered_list(&issuer, number, now).await)?;
        for (number, revocation) in &listed {
            show(number, revocation);
        }
        Ok(number)
    }

    fn check_list(&self, issuer: &str, number: u64) -> Result<(), LedgerError> {
        let issuer = issuer.to_owned();
        self.call(async move |worker| worker.check_list(&issuer, number).await)
    }

    fn confirm_list(&self, issuer: &str, number: u64, at: UnixTime) -> Result<(), LedgerError> {
        let issuer = issuer.to_owned();
        self.call(async move |worker| worker.confirm_list(&issuer, number, at).await)
    }

    fn check_time(&self, now: UnixTime) -> Result<(), LedgerError> {
        self.call(async move |worker| worker.check_time(now).await)
    }

    fn confirm_time(&self, now: UnixTime, by: &str) -> Result<(), LedgerError> {
        let by = by.to_owned();
        self.call(async move |worker| worker.confirm_time(now, &by).await)
    }

    fn audit(
        &self,
        show: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>,
    ) -> Result<AuditHead, LedgerError> {
        let mut head = self.call(async |worker| {
            worker.chain_all().await?;
            worker.chain_start().await
        })?;
        loop {
            let page = self.call(async move |worker| worker.chained_after(head).await)?;
            if page.is_empty() {
                return Ok(head);
            }
            for event in page {
                head = event.head;
                if show(event).is_break() {
                    return Ok(head);
                }
            }
        }
    }

    fn generations(&self) -> Result<Vec<Generation>, LedgerError> {
        self.call(async move |worker| {
            worker
                .read(async |session| session.generations().await)
                .await
        })
    }

    fn change_generations(
        &self,
        before: &[Generation],
        after: &[Generation],
        entries: &[NewEntry<'_>],
        conditions: &[Condition<'_>],
    ) -> Result<(), LedgerError> {
        let (before, after) = (before.to_vec(), after.to_vec());
        let (entries, conditions) = (owned(entries), conditions::owned(conditions));
        self.call(async move |worker| {
            worker
                .change_generations(&before, &after, &entries, &conditions)
                .await
        })
    }
}

impl Movable for PostgresLedger {
    fn description(&self) -> String {
        self.description.clone()
    }

    fn standing(&self) -> Result<Standing, LedgerError> {
        self.call(async move |worker| worker.standing().await)
    }

    fn change_standing(&self, before: &Standing, after: &Standing) -> Result<(), LedgerError> {
        let (before, after) = (before.clone(), after.clone());
        self.call(async move |worker| worker.change_standing(&before, &after).await)
    }

    fn receive(&self, before: &Standing, arriving: &Move) -> Result<(), LedgerError> {
        let (before, arriving) = (before.clone(), arriving.clone());
        self.call(async move |worker| worker.receive(&before, &arriving).await)
    }

    fn entries_after(&self, after: Option<&SerialNumber>) -> Result<Vec<KeptEntry>, LedgerError> {
        let after = after.copied();
        self.call(async move |worker| {
            let page =
                worker.read_anything(async |session| session.entries_after(after.as_ref()).await);
            page.await
        })
    }

    fn rest(&self) -> Result<Rest, LedgerError> {
        self.call(async move |worker| {
            worker
                .read_anything(async |session| session.rest().await)
                .await
        })
    }

    fn history(
        &self,
        show: &mut dyn FnMut(Vec<Deed>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.call(async move |worker| worker.chain_anything().await)?;
        let mut head = None;
        loop {
            let events = self.call(async move |worker| worker.history_after(head).await)?;
            let Some(last) = events.last() else {
                return Ok(());
            };
            head = Some(last.head);
            show(events.into_iter().map(|event| event.deed).collect())?;
        }
    }

    fn put_entries(&self, by: &Move, entries: &[KeptEntry]) -> Result<(), LedgerError> {
        let (by, entries) = (by.clone(), entries.to_vec());
        self.call(async move |worker| worker.put_entries(&by, &entries).await)
    }

    fn put_history(&self, by: &Move, history: &[Deed]) -> Result<(), LedgerError> {
        let (by, history) = (by.clone(), history.to_vec());
        self.call(async move |worker| worker.put_history(&by, &history).await)
    }

    fn put_rest(&self, by: &Move, rest: &Rest) -> Result<(), LedgerError> {
        let (by, rest) = (by.clone(), rest.clone());
        self.call(async move |worker| worker.put_rest(&by, &rest).await)
    }
}

impl fmt::Debug for PostgresLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresLedger")
            .field(&self.description)
            .finish()
    }
}

#[cfg(all(test, unix))]
mod tests;
