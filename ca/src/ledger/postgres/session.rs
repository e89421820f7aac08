//! Statements on one connection, in the ledger's schema.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::types::{FromSql, ToSql, Type};
use pq_postgres::tokio_postgres::{Client, Row};

use crate::ledger::error::LedgerError;

/// Why nothing came of it.
#[derive(Debug)]
pub(super) enum Stop {
    /// The ledger says no.
    Refused(LedgerError),
    /// The database or the connection failed.
    Failed(Failure),
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Refused(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A value of a statement, and its type.
pub(super) type Value<'v> = (&'v (dyn ToSql + Sync), Type);

pub(super) struct Session<'c> {
    client: &'c Client,
    schema: &'c str,
}

impl<'c> Session<'c> {
    pub(super) fn new(client: &'c Client, schema: &'c str) -> Self {
        Self { client, schema }
    }

    /// A statement with the name of the schema for each `@`.
    pub(super) fn named(&self, statement: &str) -> String {
        statement.replace("@.", &format!("\"{}\".", self.schema))
    }

    pub(super) fn schema(&self) -> &str {
        self.schema
    }

    /// Runs a statement with values, and returns its rows.
    pub(super) async fn query(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Failure> {
        Ok(self
            .client
            .query_typed(&self.named(statement), values)
            .await?)
    }

    /// Runs statements without values.
    pub(super) async fn run(&self, statements: &str) -> Result<(), Failure> {
        Ok(self.client.batch_execute(&self.named(statements)).await?)
    }
}

/// What a column has.
pub(super) fn column<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Failure> {
    row.try_get(column)
        .map_err(|error| Failure::damaged(error.to_string()))
}
