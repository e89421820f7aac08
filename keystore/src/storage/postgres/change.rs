//! A change, made in one transaction, and what has become of it if the answer was lost.

use std::collections::HashMap;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::failure::{Failure, reason};
use super::pool::Tries;
use super::read;
use super::statements::Statements;
use super::worker::Worker;
use crate::storage::change::{Change, Committed, Write};
use crate::storage::error::{CommitError, StorageError};

/// What a transaction writes beside the change, drawn at random: who finds it knows that it is its own.
type Mark = [u8; 16];

/// How a try ended.
enum Tried {
    Committed(u64),
    Conflict,
    /// `COMMIT` was sent for this revision, and no answer came.
    Unanswered(u64, String),
}

/// How far a transaction is before `COMMIT`.
enum Prepared {
    Written(u64),
    Conflict,
}

impl Worker {
    pub(super) async fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let storage = || self.description.clone();
        let mut mark = Mark::default();
        getrandom::fill(&mut mark).map_err(|error| StorageError::NotOpened {
            storage: storage(),
            reason: error.to_string(),
        })?;
        let mut tries = Tries::new(&self.options);
        loop {
            let (revision, reason) = match self.transact(change, &mark, tries.deadline).await {
                Ok(Tried::Committed(revision)) => return Ok(self.committed(revision)),
                Ok(Tried::Conflict) => return Err(CommitError::Conflict),
                Ok(Tried::Unanswered(revision, reason)) => (Some(revision), reason),
                Err(Failure::Lost(reason)) => (None, reason),
                Err(failure) => return Err(failure.into_error(&self.description).into()),
            };
            if let Some(revision) = revision {
                match self.was_made(revision, &mark).await {
                    Some(true) => return Ok(self.committed(revision)),
                    // Nothing was changed.
                    Some(false) => {}
                    None => {
                        let storage = storage();
                        return Err(CommitError::OutcomeUnknown { storage, reason });
                    }
                }
            }
            let again = tries.again(reason).await;
            again.map_err(|failure| failure.into_error(&self.description))?;
        }
    }

    fn committed(&self, revision: u64) -> Committed {
        self.seen(revision);
        Committed { revision }
    }

    /// Tries once. With an error, nothing was changed.
    async fn transact(
        &self,
        change: &Change,
        mark: &Mark,
        deadline: Instant,
    ) -> Result<Tried, Failure> {
        let pool = &self.pool;
        let pooled = pool.take(&self.options, deadline).await?;
        let late = || format!("no answer within {:?}", self.options.timeout);
        let client = pooled.client();
        let prepared = timeout_at(deadline, prepare(client, &self.statements, change, mark)).await;
        // The connection is closed with an error, which ends the transaction.
        let tried = match prepared.map_err(|_| Failure::Lost(late()))?? {
            Prepared::Written(revision) => {
                match timeout_at(deadline, client.batch_execute("COMMIT")).await {
                    Ok(Ok(())) => Tried::Committed(revision),
                    Ok(Err(error)) => {
                        return Ok(Tried::Unanswered(revision, reason(&error)));
                    }
                    Err(_) => return Ok(Tried::Unanswered(revision, late())),
                }
            }
            Prepared::Conflict => {
                let ended = timeout_at(deadline, client.batch_execute("ROLLBACK")).await;
                if !matches!(ended, Ok(Ok(()))) {
                    return Ok(Tried::Conflict);
                }
                Tried::Conflict
            }
        };
        pool.put_back(pooled);
        Ok(tried)
    }

    /// Whether the commit with this revision was this one, or `None` if that can't be found out within the time-out.
    ///
    /// The transaction had the lock when it was last heard of. So once the lock can be taken, it has ended.
    async fn was_made(&self, revision: u64, mark: &Mark) -> Option<bool> {
        let look = async |client: &Client| {
            client.batch_execute(&self.statements.begin).await?;
            let row = client.query_typed_opt(&self.statements.lock, &[]).await?;
            let (current, _) = read::state(&row.ok_or_else(read::no_state)?)?;
            let found = client
                .query_typed_opt(&self.statements.mark, &[(&stored(revision)?, Type::INT8)])
                .await?;
            let found: Option<&[u8]> = match &found {
                Some(row) => read::column(row, 0)?,
                None => None,
            };
            let made = match found {
                Some(found) => Some(found == mark),
                None if current < revision => Some(false),
                // so many commits later that the mark is gone
                None => None,
            };
            client.batch_execute("ROLLBACK").await?;
            Ok(made)
        };
        // Whatever the error is, it says nothing of the commit.
        let Ok(made) = self.pool.retrying(&self.options, look).await else {
            return None;
        };
        made
    }
}

/// Writes the change, if all is as expected.
async fn prepare(
    client: &Client,
    statements: &Statements,
    change: &Change,
    mark: &Mark,
) -> Result<Prepared, Failure> {
    client.batch_execute(&statements.begin).await?;
    let keys: Vec<&str> = change.rows.iter().map(|row| row.key.as_str()).collect();
    // Both are sent at once. The second begins when the first has the lock, and so sees what was committed before.
    let keys = [(&keys as _, Type::TEXT_ARRAY)];
    let (state, rows) = tokio::join!(
        client.query_typed_opt(&statements.lock, &[]),
        client.query_typed(&statements.revisions, &keys),
    );
    let (revision, head) = read::state(&state?.ok_or_else(read::no_state)?)?;
    let mut revisions = HashMap::new();
    let rows = rows?;
    for row in &rows {
        revisions.insert(read::column::<&str>(row, 0)?, read::number(row, 1)?);
    }
    let mut changes = change.rows.iter();
    let as_expected = changes.all(|row| {
        let found = revisions.get(row.key.as_str());
        row.expected.holds(found.copied())
    });
    let after = change.append.as_ref().map(|append| append.after);
    if !as_expected || after.is_some_and(|after| after != head) {
        return Ok(Prepared::Conflict);
    }

    let revision = revision.checked_add(1).ok_or(Failure::Limit("commits"))?;
    let (mut keys, mut values, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
    for row in &change.rows {
        match &row.write {
            Write::Keep => {}
            Write::Put(value) => {
                keys.push(row.key.as_str());
                values.push(value.as_slice());
            }
            // What isn't there has been deleted.
            Write::Delete => {
                if revisions.contains_key(row.key.as_str()) {
                    deleted.push(row.key.as_str());
                }
            }
        }
    }
    let append = change.append.as_ref();
    let entries = append.map_or(&[][..], |append| &append.entries);
    let sequences = entries.iter().map(|entry| stored(entry.sequence));
    let sequences = sequences.collect::<Result<Vec<i64>, Failure>>()?;
    let hashes: Vec<&[u8]> = entries.iter().map(|entry| &entry.hash[..]).collect();
    let said: Vec<&[u8]> = entries.iter().map(|entry| &entry.value[..]).collect();
    let head = append.map_or(head, |append| append.head());
    let written = client
        .query_typed_opt(
            &statements.write,
            &[
                (&stored(revision)?, Type::INT8),
                (&keys, Type::TEXT_ARRAY),
                (&values, Type::BYTEA_ARRAY),
                (&deleted, Type::TEXT_ARRAY),
                (&sequences, Type::INT8_ARRAY),
                (&hashes, Type::BYTEA_ARRAY),
                (&said, Type::BYTEA_ARRAY),
                (&&mark[..], Type::BYTEA),
                (&stored(head.sequence)?, Type::INT8),
                (&&head.hash[..], Type::BYTEA),
            ],
        )
        .await?;
    let written =
        written.ok_or_else(|| Failure::damaged("its revision has changed under a lock"))?;
    let counts = [keys.len(), deleted.len(), entries.len()];
    for (column, count) in counts.into_iter().enumerate() {
        if read::number(&written, column)? != count as u64 {
            return Err(Failure::damaged("a row has changed under a lock"));
        }
    }
    Ok(Prepared::Written(revision))
}

/// A number as PostgreSQL stores it.
fn stored(number: u64) -> Result<i64, Failure> {
    i64::try_from(number).map_err(|_| Failure::Limit("commits or entries"))
}
