//! A change, made in one transaction, and what has become of it if the answer was lost.

use std::collections::HashMap;

use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;
use pq_postgres::{Changed, Decision, Failure, Mark};

use super::read;
use super::statements::Statements;
use super::worker::Worker;
use crate::storage::change::{Change, Committed, Write};
use crate::storage::error::CommitError;

impl Worker {
    pub(super) async fn commit(&self, change: &Change) -> Result<Committed, CommitError> {
        let made = self.database.change(
            async |client: &Client, mark: &Mark| {
                prepare(client, &self.statements, change, mark).await
            },
            async |client: &Client, revision: &u64, mark: &Mark| {
                self.was_made(client, *revision, mark).await
            },
        );
        match made.await.map_err(|failure| self.error(failure))? {
            Changed::Made(revision) => {
                self.seen(revision);
                Ok(Committed { revision })
            }
            Changed::Refused(Conflict) => Err(CommitError::Conflict),
            Changed::Unknown(reason) => Err(CommitError::OutcomeUnknown {
                storage: self.description.clone(),
                reason,
            }),
        }
    }

    /// Whether the commit with this revision was this one, or `None` if that is no longer known.
    ///
    /// The transaction had the lock when it was last heard of. So once the lock can be taken, it has ended.
    async fn was_made(
        &self,
        client: &Client,
        revision: u64,
        mark: &Mark,
    ) -> Result<Option<bool>, Failure> {
        client.batch_execute(self.database.begin()).await?;
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
    }
}

/// A row or the log is not as expected.
struct Conflict;

/// Writes the change, if all is as expected.
async fn prepare(
    client: &Client,
    statements: &Statements,
    change: &Change,
    mark: &Mark,
) -> Result<Decision<u64, Conflict>, Failure> {
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
        return Ok(Decision::Refuse(Conflict));
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
    Ok(Decision::Make(revision))
}

/// A number as PostgreSQL stores it.
fn stored(number: u64) -> Result<i64, Failure> {
    i64::try_from(number).map_err(|_| Failure::Limit("commits or entries"))
}
