//! The command `pqtls ca accounts`: the accounts of ACME's clients, and their end by the operator.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_acme::objects::AccountStatus;
use pq_acme::server::revoke_account;
use pq_acme::store::{AccountRecord, StorageError, Store, StoreError};
use serde::Serialize;

use super::acme_objects::{AccountId, Objects, ObjectsError, ObjectsPlace, Wishes};
use super::place::Place;
use crate::exit_status::ExitStatus;
use crate::failure::{AcmeFailure, Failure};
use crate::report::Report;

/// List the accounts of ACME clients, show one, or end it
///
/// An account that was ended can't be used any more: it gets no certificate, also where one was ordered already. The
/// certificates that it has stay valid: "pqtls ca list" says of each which account has it, and "pqtls ca revoke" revokes it. Nobody can use
/// the account again, and its key gets no other one.
///
/// If accounts are in a file, only one process can have that open. While the server has it, an account is ended by the server,
/// for which --end waits; and to see accounts, stop the server first.
///
/// Who is bound to an entry of the file --external-accounts of the server gets no certificate while the entry is not there.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The account's identifier, or its URL [default: all accounts]
    #[arg(value_name = "ACCOUNT")]
    account: Option<AccountId>,

    /// End the account
    #[arg(long, requires = "account")]
    end: bool,

    /// Where accounts are kept, as for "pqtls ca serve": a file, or postgres://… [default: acme.redb in the CA's folder]
    #[arg(long, value_name = "FILE")]
    acme_objects: Option<ObjectsPlace>,

    #[command(flatten)]
    pub(super) place: Place,
}

const EXAMPLES: &str = "\
Examples:
  pqtls ca accounts
  pqtls ca accounts kUBNqLkLJIRHgTnMwkQb1A --end";

/// How long is waited for the server.
const WAIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How many accounts are read at once.
const AT_ONCE: usize = 256;

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<ExitStatus, Failure> {
    let place = arguments.acme_objects.clone();
    let place = place.unwrap_or_else(|| ObjectsPlace::in_folder(&arguments.place.path()));
    if let Some(path) = place.path().filter(|path| !path.exists()) {
        return Err(AcmeFailure::NoObjects(path.display().to_string()).into());
    }
    match (&arguments.account, arguments.end) {
        (Some(account), true) => {
            let was_valid = end(&place, account)?;
            let ended = Ended {
                account: account.as_str().into(),
                was_valid,
            };
            arguments.place.print(ended, json)?;
        }
        (wanted, _) => {
            let found = match place.open() {
                Ok(Objects::File(store)) => read(&store, wanted.as_ref())?,
                Ok(Objects::Postgres(store)) => read(&store, wanted.as_ref())?,
                Err(error) => return Err(not_opened(error).into()),
            };
            arguments.place.print(Accounts { accounts: found }, json)?;
        }
    }
    Ok(ExitStatus::Done)
}

fn not_opened(error: ObjectsError) -> AcmeFailure {
    match error {
        ObjectsError::Storage(StorageError::InUse { storage }) => {
            AcmeFailure::ObjectsInUse(storage)
        }
        error => AcmeFailure::Objects(error.to_string()),
    }
}

fn of_store(error: &StoreError) -> AcmeFailure {
    AcmeFailure::Objects(error.to_string())
}

fn read(store: &impl Store, wanted: Option<&AccountId>) -> Result<Vec<AccountFacts>, Failure> {
    if let Some(id) = wanted {
        let found = store
            .account(id.as_str())
            .map_err(|error| of_store(&error))?;
        let found = found.ok_or_else(|| AcmeFailure::NoAccount(id.as_str().into()))?;
        return Ok(vec![AccountFacts::of(&found)]);
    }
    let mut all: Vec<AccountFacts> = Vec::new();
    loop {
        let after = all.last().map(|last| last.account.clone());
        let page = store.accounts(after.as_deref(), AT_ONCE);
        let page: Vec<Arc<AccountRecord>> = page.map_err(|error| of_store(&error))?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page.iter().map(|one| AccountFacts::of(one)));
    }
}

/// Ends an account, or has the server end it. Says whether it was not ended so before, if that is known.
fn end(place: &ObjectsPlace, account: &AccountId) -> Result<Option<bool>, Failure> {
    let ended = match (place.open(), place.path()) {
        (Ok(Objects::File(store)), _) => revoke_account(&store, account.as_str()),
        (Ok(Objects::Postgres(store)), _) => revoke_account(&store, account.as_str()),
        (Err(ObjectsError::Storage(StorageError::InUse { .. })), Some(path)) => {
            ask_server(&Wishes::beside(path), account)?;
            return Ok(None);
        }
        (Err(error), _) => return Err(not_opened(error).into()),
    };
    match ended {
        Ok(was_valid) => Ok(Some(was_valid)),
        Err(StoreError::Changed) => Err(AcmeFailure::NoAccount(account.as_str().into()).into()),
        Err(error) => Err(of_store(&error).into()),
    }
}

fn ask_server(wishes: &Wishes, account: &AccountId) -> Result<(), AcmeFailure> {
    let added = wishes.add(account);
    added.map_err(|error| AcmeFailure::NotAsked(error.to_string()))?;
    let begun = Instant::now();
    while begun.elapsed() < WAIT {
        if let Some(outcome) = wishes.outcome(account) {
            return outcome;
        }
        thread::sleep(LOOK_EVERY);
    }
    Err(AcmeFailure::NotEnded(account.as_str().into()))
}

#[derive(Debug, Serialize)]
struct AccountFacts {
    account: String,
    status: AccountStatus,
    created: String,
    contact: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_account: Option<String>,
    algorithm: String,
    key_thumbprint: String,
}

impl AccountFacts {
    fn of(account: &AccountRecord) -> Self {
        Self {
            account: account.id.clone(),
            status: account.status,
            created: account.created.to_string(),
            contact: account.contact.clone(),
            external_account: account.external.as_ref().map(|(kid, _)| kid.clone()),
            algorithm: account.key.algorithm().to_string(),
            key_thumbprint: account.key.thumbprint().to_string(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Accounts {
    accounts: Vec<AccountFacts>,
}

impl Report for Accounts {
    const SCHEMA: &'static str = "ca-accounts/1";
}

impl fmt::Display for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.accounts.is_empty() {
            return writeln!(f, "There are no accounts.");
        }
        for one in &self.accounts {
            let status = match one.status {
                AccountStatus::Valid => "valid",
                AccountStatus::Deactivated => "ended by its holder",
                AccountStatus::Revoked => "ended",
            };
            let (account, created, algorithm) = (&one.account, &one.created, &one.algorithm);
            write!(f, "{account}: {status}, made {created}, key of {algorithm}")?;
            if let Some(kid) = &one.external_account {
                write!(f, ", bound to {kid:?}")?;
            }
            for contact in &one.contact {
                write!(f, ", {contact}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Ended {
    account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    was_valid: Option<bool>,
}

impl Report for Ended {
    const SCHEMA: &'static str = "ca-accounts-end/1";
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let account = &self.account;
        match self.was_valid {
            Some(false) => writeln!(f, "{account}: was ended before")?,
            _ => writeln!(f, "{account}: ended")?,
        }
        writeln!(
            f,
            "The certificates that it has stay valid; see those that name it in \"pqtls ca list\"."
        )
    }
}
