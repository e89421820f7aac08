//! What the store's thread has: the database, and how rows are read in it and changed.

use alloc::sync::Arc;
use core::cell::{Cell, RefCell};

use pq_keys::random;
use pq_postgres::tokio_postgres::types::{FromSql, ToSql, Type};
use pq_postgres::tokio_postgres::{Client, Row};
use pq_postgres::{Database, Failure, Mark, Permanent};
use tokio::join;

use super::known::KnownAccounts;
use crate::objects::Time;
use crate::store::StoreError;
use crate::store::codec::Record;
use crate::store::failure::StorageError;

/// A value of a statement, and its type.
pub(super) type Value<'v> = (&'v (dyn ToSql + Sync), Type);

/// The code of the error that something unique is there already.
const TAKEN: &str = "23505";

/// How many marks a row has.
const MARKS: usize = 8;

/// What came of a change.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was made, by this call.
    Made,
    /// It was not, as its conditions are not met.
    NotMet,
    /// Something unique is there already, by the name of its constraint.
    Taken(String),
}

/// A change of one row, and of others together with it.
pub(super) struct Change<'c> {
    /// It writes all or nothing, and returns a row if it wrote.
    pub(super) statement: &'c str,
    pub(super) values: &'c [Value<'c>],
    /// Where the row is.
    pub(super) table: &'static str,
    pub(super) id: &'c str,
    /// The version that the row gets.
    pub(super) version: i64,
    /// What is written to the row with it.
    pub(super) mark: Mark,
}

/// A number as the database has it.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A time as the database has it.
pub(super) fn seconds(time: Time) -> i64 {
    number(time.as_secs())
}

/// At most so many rows.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) struct Worker {
    pub(super) database: Database,
    description: String,
    /// What a statement has for `@.`.
    prefix: String,
    count: Cell<u32>,
    pub(super) accounts: RefCell<KnownAccounts>,
}

impl Worker {
    pub(super) fn new(database: Database) -> Self {
        Self {
            description: database.description(),
            prefix: format!("\"{}\".", database.schema()),
            database,
            count: Cell::new(0),
            accounts: RefCell::default(),
        }
    }

    /// Whether this is one of so many calls.
    pub(super) fn count_to(&self, every: u32) -> bool {
        let count = self.count.get().wrapping_add(1);
        self.count.set(count);
        count.is_multiple_of(every)
    }

    pub(super) fn schema(&self) -> &str {
        self.database.schema()
    }

    /// A statement with the name of the schema for each `@`.
    pub(super) fn named(&self, statement: &str) -> String {
        statement.replace("@.", &self.prefix)
    }

    /// The rows that a statement finds, which is asked again if the connection was lost.
    pub(super) async fn rows(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let statement = self.named(statement);
        let ask = async |client: &Client| Ok(client.query_typed(&statement, values).await?);
        let rows = self.database.retrying(ask).await;
        rows.map_err(|failure| self.error(failure))
    }

    /// Records that a statement finds, whose columns are identifiers, versions and bodies.
    pub(super) async fn records<R: Record>(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Arc<R>>, StoreError> {
        let rows = self.rows(statement, values).await?;
        rows.iter().map(|row| self.record(row)).collect()
    }

    /// The same, of which there is one at most. A text with a zero is nobody's name, and PostgreSQL takes none.
    pub(super) async fn named_record<R: Record>(
        &self,
        statement: &str,
        name: &str,
    ) -> Result<Option<Arc<R>>, StoreError> {
        if name.contains('\0') {
            return Ok(None);
        }
        let found = self.records(statement, &[(&name, Type::TEXT)]).await?;
        Ok(found.into_iter().next())
    }

    fn record<R: Record>(&self, row: &Row) -> Result<Arc<R>, StoreError> {
        let (id, version) = (self.column(row, 0)?, self.column(row, 1)?);
        self.read(id, version, self.column(row, 2)?)
    }

    /// The record that a row has.
    pub(super) fn read<R: Record>(
        &self,
        id: &str,
        version: i64,
        body: &str,
    ) -> Result<Arc<R>, StoreError> {
        let what = R::WHAT;
        let version = u64::try_from(version);
        let version = version.map_err(|_| self.damaged(format!("the version of {what} {id:?}")))?;
        let read = R::from_json(id, version, body);
        let read = read.map_err(|error| self.damaged(format!("the {what} {id:?}: {error}")));
        Ok(Arc::new(read?))
    }

    pub(super) fn column<'r, T: FromSql<'r>>(
        &self,
        row: &'r Row,
        column: usize,
    ) -> Result<T, StoreError> {
        let value = row.try_get(column);
        value.map_err(|error| self.damaged(error.to_string()))
    }

    /// Random bytes that a change leaves in its row.
    pub(super) fn new_mark(&self) -> Result<Mark, StoreError> {
        let mut mark = Mark::default();
        let filled = random::fill(&mut mark);
        filled.map_err(|error| StorageError::NotOpened {
            storage: self.description.clone(),
            reason: error.to_string(),
        })?;
        Ok(mark)
    }

    /// Makes a change, at most once.
    pub(super) async fn change(&self, change: Change<'_>) -> Result<Outcome, StoreError> {
        let statement = self.named(change.statement);
        let is_again = Cell::new(false);
        let attempt = async |client: &Client| {
            let was_lost = is_again.replace(true);
            match self.at_once(client, &statement, change.values).await? {
                Outcome::Made => Ok(Outcome::Made),
                // Perhaps only because it was made before, and the answer was lost.
                _ if was_lost && self.is_marked(client, &change).await? => Ok(Outcome::Made),
                outcome => Ok(outcome),
            }
        };
        let outcome = self.database.retrying(attempt).await;
        outcome.map_err(|failure| self.error(failure))
    }

    /// Runs one statement in a transaction, with one wait for the server. If it was not made, nothing was changed.
    async fn at_once(
        &self,
        client: &Client,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Outcome, Failure> {
        // Were the first refused, each of the others would be, or do what it does all the same.
        let (begun, rows, ended) = join!(
            biased;
            client.batch_execute(self.database.begin()),
            client.query_typed(statement, values),
            client.batch_execute("COMMIT"),
        );
        begun?;
        let outcome = match rows {
            Ok(rows) if rows.is_empty() => Outcome::NotMet,
            Ok(_) => Outcome::Made,
            Err(error) => {
                let of_server = error.as_db_error();
                let taken = of_server.filter(|error| error.code().code() == TAKEN);
                match taken.and_then(|error| error.constraint()) {
                    Some(constraint) => Outcome::Taken(constraint.into()),
                    None => return Err(error.into()),
                }
            }
        };
        ended?;
        Ok(outcome)
    }

    /// Whether the row has the mark of a change.
    pub(super) async fn is_marked(
        &self,
        client: &Client,
        change: &Change<'_>,
    ) -> Result<bool, Failure> {
        let table = change.table;
        let statement = format!("SELECT version, marks FROM @.{table} WHERE id = $1");
        let values: [Value<'_>; 1] = [(&change.id, Type::TEXT)];
        let rows = client.query_typed(&self.named(&statement), &values).await?;
        let Some(row) = rows.first() else {
            return Ok(false);
        };
        let (version, marks): (i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
        let (marks, _) = marks.as_chunks();
        match marks.contains(&change.mark) {
            // There were so many changes since that it would be forgotten.
            false if version.saturating_sub(change.version) >= MARKS as i64 => Err(Failure::Lost(
                "whether the change was made is not known any more".into(),
            )),
            is_marked => Ok(is_marked),
        }
    }

    /// The error that a failure is for a caller.
    pub(super) fn error(&self, failure: Failure) -> StoreError {
        self.storage_error(failure).into()
    }

    pub(super) fn storage_error(&self, failure: Failure) -> StorageError {
        let storage = self.description.clone();
        match failure {
            Failure::Lost(reason) => StorageError::Away { storage, reason },
            Failure::Permanent(Permanent::Full, reason) => StorageError::Full { storage, reason },
            Failure::Permanent(Permanent::Damaged, reason) => {
                StorageError::Damaged { storage, reason }
            }
            Failure::Permanent(_, reason) => StorageError::NotOpened { storage, reason },
            other => StorageError::NotOpened {
                storage,
                reason: format!("{other:?}"),
            },
        }
    }

    pub(super) fn damaged(&self, reason: String) -> StoreError {
        let storage = self.description.clone();
        StorageError::Damaged { storage, reason }.into()
    }
}
