//! The tables, and that they are of this version.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::Type;

use super::Opening;
use super::changing::Worker;
use super::locks::digest;
use super::session::{Session, Stop, column};
use crate::ledger::database::DatabaseError;
use crate::ledger::error::LedgerError;

/// What makes the tables, one file after another. A file that was released never changes: what has to, the next one does.
const STEPS: [&str; 3] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
];

/// Makes the tables, or brings them to this version, in one transaction.
pub(super) async fn ensure(worker: &Worker, opening: Opening) -> Result<(), LedgerError> {
    let known = STEPS.len() as i32;
    let there = || worker.description.clone();
    if opening == Opening::There {
        let format = worker
            .read_anything(async |session| session.format().await)
            .await?;
        match format {
            None => return Err(DatabaseError::NoLedger(there()).into()),
            Some(format) if format == known => return Ok(()),
            Some(_) => {}
        }
    }
    // Whoever lost the answer would otherwise take its own tables for another's.
    worker
        .change_with(
            async |session| session.bring(opening, &there()).await,
            async |session| session.has_tables().await,
        )
        .await
}

impl Session<'_> {
    /// Waits until no other transaction brings the tables to a version.
    async fn lock_tables(&self) -> Result<(), Failure> {
        let lock = digest(&[b"pq-ca tables\0", self.schema().as_bytes()].concat());
        self.query(
            "SELECT pg_advisory_xact_lock($1)",
            &[(&lock.cast_signed(), Type::INT8)],
        )
        .await?;
        Ok(())
    }

    /// Whether the tables are there, once a lost transaction that made them has ended.
    async fn has_tables(&self) -> Result<bool, Failure> {
        self.lock_tables().await?;
        match self.format().await {
            Ok(format) => Ok(format.is_some()),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Refused(error)) => Err(Failure::damaged(error.to_string())),
        }
    }

    /// Runs the steps that were not run yet.
    async fn bring(&self, opening: Opening, ledger: &str) -> Result<(), Stop> {
        // Two processes may get here at once.
        self.lock_tables().await?;
        let format = self.format().await?;
        let refuse = |error: DatabaseError| Err(Stop::Refused(error.into()));
        let done = match (format, opening) {
            (None, Opening::There) => return refuse(DatabaseError::NoLedger(ledger.into())),
            (Some(_), Opening::New) => return refuse(DatabaseError::AlreadyThere(ledger.into())),
            (None, Opening::New) => {
                self.make_schema().await?;
                0
            }
            (Some(format), Opening::There) => format,
        };
        let known = STEPS.len() as i32;
        let Some(steps) = usize::try_from(done)
            .ok()
            .and_then(|done| STEPS.get(done..))
        else {
            return refuse(DatabaseError::Newer {
                ledger: ledger.into(),
                format: done,
                known,
            });
        };
        for step in steps {
            self.run(step).await?;
        }
        self.query("UPDATE @.ledger SET format = $1", &[(&known, Type::INT4)])
            .await?;
        Ok(())
    }

    /// How many of the steps were run; `None` if there is no ledger.
    async fn format(&self) -> Result<Option<i32>, Stop> {
        // The catalog's tables: functions such as `to_regclass` may answer from what the session knew before the lock.
        let found = self
            .query(
                "SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = $1 AND c.relname = 'ledger'",
                &[(&self.schema(), Type::TEXT)],
            )
            .await?;
        if found.is_empty() {
            return Ok(None);
        }
        let rows = self.query("SELECT format FROM @.ledger", &[]).await?;
        let row = rows.first();
        let row = row.ok_or_else(|| Failure::damaged("its table ledger is empty"))?;
        Ok(Some(column(row, 0)?))
    }

    async fn make_schema(&self) -> Result<(), Stop> {
        let query = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1";
        let found = self.query(query, &[(&self.schema(), Type::TEXT)]).await?;
        // Making it takes a right that is not needed if an administrator has made it.
        if found.is_empty() {
            self.run(&format!("CREATE SCHEMA \"{}\"", self.schema()))
                .await?;
        }
        Ok(())
    }
}
