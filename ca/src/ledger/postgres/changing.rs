//! What the ledger's thread has: the database, and how changes are made in it and what is there is read.

use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;
use pq_postgres::{Changed, Database, Decision, Failure, Mark, Permanent};

use super::session::{Session, Stop};
use crate::ledger::database::DatabaseError;
use crate::ledger::error::LedgerError;
use crate::ledger::moving::Use;

pub(super) struct Worker {
    pub(super) database: Database,
    pub(super) description: String,
}

impl Worker {
    pub(super) fn new(database: Database) -> Self {
        Self {
            description: database.description(),
            database,
        }
    }

    /// Reads something, again if the connection was lost, if the ledger is in force.
    pub(super) async fn read<T>(
        &self,
        read: impl AsyncFn(&Session<'_>) -> Result<T, Stop>,
    ) -> Result<T, LedgerError> {
        self.read_anything(async |session| {
            let stands = session.check_standing(Use::Reading, &self.description);
            let (stands, read) = tokio::join!(stands, read(session));
            stands?;
            read
        })
        .await
    }

    /// The same, whether or not it is in force.
    pub(super) async fn read_anything<T>(
        &self,
        read: impl AsyncFn(&Session<'_>) -> Result<T, Stop>,
    ) -> Result<T, LedgerError> {
        let done = self
            .database
            .retrying(async |client| match read(&self.session(client)).await {
                Ok(value) => Ok(Ok(value)),
                Err(Stop::Refused(error)) => Ok(Err(error)),
                Err(Stop::Failed(failure)) => Err(failure),
            });
        done.await.map_err(|failure| self.error(failure))?
    }

    /// Makes a change in one transaction, all of it or nothing, if the ledger is in force. It is decided anew if it was not made.
    pub(super) async fn change<T>(
        &self,
        act: impl AsyncFn(&Session<'_>) -> Result<T, Stop>,
    ) -> Result<T, LedgerError> {
        self.change_anything(async |session| {
            let stands = session.check_standing(Use::Changing, &self.description);
            let (stands, done) = tokio::join!(stands, act(session));
            stands?;
            done
        })
        .await
    }

    /// The same, whether or not it is in force.
    pub(super) async fn change_anything<T>(
        &self,
        act: impl AsyncFn(&Session<'_>) -> Result<T, Stop>,
    ) -> Result<T, LedgerError> {
        self.change_with(act, async |_: &Session<'_>| Ok(true))
            .await
    }

    /// The same, where the change may make the tables, without which no mark can be left.
    pub(super) async fn change_with<T>(
        &self,
        act: impl AsyncFn(&Session<'_>) -> Result<T, Stop>,
        has_tables: impl AsyncFn(&Session<'_>) -> Result<bool, Failure>,
    ) -> Result<T, LedgerError> {
        let decide = async |client: &Client, mark: &Mark| {
            let session = self.session(client);
            match act(&session).await {
                Ok(value) => {
                    session.leave(mark).await?;
                    Ok(Decision::Make(value))
                }
                Err(Stop::Refused(error)) => Ok(Decision::Refuse(error)),
                Err(Stop::Failed(failure)) => Err(failure),
            }
        };
        let was_made = async |client: &Client, _: &T, mark: &Mark| {
            client.batch_execute(self.database.begin()).await?;
            let session = self.session(client);
            // Who leaves the same mark waits until the lost transaction has ended.
            let was_made = has_tables(&session).await? && !session.leave(mark).await?;
            client.batch_execute("ROLLBACK").await?;
            Ok(Some(was_made))
        };
        match self.database.change(decide, was_made).await {
            Ok(Changed::Made(value)) => Ok(value),
            Ok(Changed::Refused(error)) => Err(error),
            Ok(Changed::Unknown(reason)) => Err(DatabaseError::OutcomeUnknown {
                ledger: self.description.clone(),
                reason,
            }
            .into()),
            Err(failure) => Err(self.error(failure)),
        }
    }

    pub(super) fn session<'c>(&'c self, client: &'c Client) -> Session<'c> {
        Session::new(client, self.database.schema())
    }

    /// The error that a failure is for a caller.
    pub(super) fn error(&self, failure: Failure) -> LedgerError {
        let ledger = self.description.clone();
        let error = match failure {
            Failure::Lost(reason) => DatabaseError::Away { ledger, reason },
            Failure::Permanent(Permanent::Full, reason) => DatabaseError::Full { ledger, reason },
            Failure::Permanent(Permanent::Damaged, reason) => {
                DatabaseError::Damaged { ledger, reason }
            }
            Failure::Permanent(_, reason) => DatabaseError::NotOpened { ledger, reason },
            Failure::Limit(what) => DatabaseError::Limit(what),
            other => DatabaseError::NotOpened {
                ledger,
                reason: format!("{other:?}"),
            },
        };
        error.into()
    }
}

impl Session<'_> {
    /// Leaves a mark with a change. Returns whether it is new.
    async fn leave(&self, mark: &Mark) -> Result<bool, Failure> {
        // Now and then, those of long ago go.
        let statement = match mark[0] {
            0 => {
                "WITH forgotten AS (DELETE FROM @.changes WHERE made_at < now() - interval '1 hour') \
                 INSERT INTO @.changes (mark) VALUES ($1) ON CONFLICT DO NOTHING RETURNING 1"
            }
            _ => "INSERT INTO @.changes (mark) VALUES ($1) ON CONFLICT DO NOTHING RETURNING 1",
        };
        let left = self.query(statement, &[(&&mark[..], Type::BYTEA)]).await?;
        Ok(!left.is_empty())
    }
}
