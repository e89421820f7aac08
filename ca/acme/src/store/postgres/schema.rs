//! The tables, and that they are of this version.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;
use sha2::{Digest, Sha256};

use super::session::{Value, Worker};
use crate::store::failure::StorageError;

/// What makes the tables, one file after another. A file that was released never changes: what has to, the next one does.
const STEPS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// Makes the tables, or brings them to this version, each step in one transaction.
pub(super) async fn ensure(worker: &Worker) -> Result<(), StorageError> {
    let known = STEPS.len() as i32;
    let steps = async |client: &Client| {
        let mut format = worker.format(client).await?;
        while format.is_none_or(|format| format < known) {
            format = Some(worker.step(client).await?);
        }
        Ok(format)
    };
    let format = worker.database.retrying(steps).await;
    let format = format.map_err(|failure| worker.storage_error(failure))?;
    match format {
        Some(format) if format > known => Err(StorageError::Newer {
            storage: worker.database.description(),
            format: format.unsigned_abs().into(),
            known: known.unsigned_abs().into(),
        }),
        _ => Ok(()),
    }
}

impl Worker {
    /// How many of the steps were run; `None` if there is no store.
    async fn format(&self, client: &Client) -> Result<Option<i32>, Failure> {
        let query =
            "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'store'";
        let schema = self.schema();
        let values: [Value<'_>; 1] = [(&schema, Type::TEXT)];
        if client.query_typed(query, &values).await?.is_empty() {
            return Ok(None);
        }
        let statement = self.named("SELECT format FROM @.store");
        let rows = client.query_typed(&statement, &[]).await?;
        let row = rows.first();
        let row = row.ok_or_else(|| Failure::damaged("its table store is empty"))?;
        Ok(Some(row.try_get(0)?))
    }

    /// Runs the first step that was not run, alone. Returns how many were run then.
    async fn step(&self, client: &Client) -> Result<i32, Failure> {
        client.batch_execute(self.database.begin()).await?;
        let digest = Sha256::digest(["pq-acme tables\0", self.schema()].concat());
        let (lock, _) = digest.split_first_chunk().unwrap_or((&[0; 8], &[]));
        let lock = i64::from_be_bytes(*lock);
        let values: [Value<'_>; 1] = [(&lock, Type::INT8)];
        let statement = "SELECT pg_advisory_xact_lock($1)";
        client.query_typed(statement, &values).await?;
        let format = self.format(client).await?;
        let done = format.unwrap_or_default();
        // Another process may have run it meanwhile, or be of a newer version.
        let step = usize::try_from(done).ok().and_then(|done| STEPS.get(done));
        let Some(step) = step else {
            client.batch_execute("ROLLBACK").await?;
            return Ok(done);
        };
        if format.is_none() {
            self.make_schema(client).await?;
        }
        client.batch_execute(&self.named(step)).await?;
        let statement = self.named("UPDATE @.store SET format = $1");
        let done = done + 1;
        let values: [Value<'_>; 1] = [(&done, Type::INT4)];
        client.query_typed(&statement, &values).await?;
        client.batch_execute("COMMIT").await?;
        Ok(done)
    }

    async fn make_schema(&self, client: &Client) -> Result<(), Failure> {
        let query = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1";
        let schema = self.schema();
        let values: [Value<'_>; 1] = [(&schema, Type::TEXT)];
        // Making it takes a right that is not needed if an administrator has made it.
        if client.query_typed(query, &values).await?.is_empty() {
            let statement = format!("CREATE SCHEMA \"{schema}\"");
            client.batch_execute(&statement).await?;
        }
        Ok(())
    }
}
