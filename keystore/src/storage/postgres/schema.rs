//! The tables, and that they are of this version.

use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;
use pq_postgres::{Database, Failure, Permanent};

use super::read;

/// The version of the tables.
const FORMAT: i32 = 1;
/// The first half of the lock that is held while tables are made; the other half is a hash of the schema's name.
const LOCK: i32 = 0x7071_6b73;

/// Makes the tables, unless there are any.
pub(super) async fn ensure(client: &Client, database: &Database) -> Result<(), Failure> {
    let schema = database.schema();
    if !exists(client, schema).await? {
        client.batch_execute(database.begin()).await?;
        // Two processes may get here at once.
        client
            .query_typed(
                "SELECT pg_advisory_xact_lock($1, hashtext($2))",
                &[(&LOCK, Type::INT4), (&schema, Type::TEXT)],
            )
            .await?;
        if !exists(client, schema).await? {
            create(client, schema).await?;
        }
        client.batch_execute("COMMIT").await?;
    }
    check(client, schema).await
}

/// Reads the catalog's tables: functions such as `to_regclass` may answer from what the session knew before the lock.
async fn exists(client: &Client, schema: &str) -> Result<bool, Failure> {
    is_found(
        client,
        "SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relname = 'storage'",
        schema,
    )
    .await
}

async fn is_found(client: &Client, query: &str, schema: &str) -> Result<bool, Failure> {
    let found = client.query_typed(query, &[(&schema, Type::TEXT)]).await?;
    Ok(!found.is_empty())
}

async fn create(client: &Client, schema: &str) -> Result<(), Failure> {
    let query = "SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1";
    // Making it takes a right that is not needed if an administrator has made it.
    if !is_found(client, query, schema).await? {
        client
            .batch_execute(&format!("CREATE SCHEMA \"{schema}\""))
            .await?;
    }
    client
        .batch_execute(&format!(
            "CREATE TABLE \"{schema}\".storage (
                single boolean PRIMARY KEY DEFAULT true CHECK (single),
                format integer NOT NULL,
                revision bigint NOT NULL,
                sequence bigint NOT NULL,
                hash bytea NOT NULL
            ) WITH (fillfactor = 10);
            CREATE TABLE \"{schema}\".rows (
                key text COLLATE \"C\" PRIMARY KEY,
                revision bigint NOT NULL,
                value bytea NOT NULL
            );
            CREATE TABLE \"{schema}\".log (
                sequence bigint PRIMARY KEY,
                hash bytea NOT NULL,
                value bytea NOT NULL
            );
            CREATE TABLE \"{schema}\".commits (
                revision bigint PRIMARY KEY,
                mark bytea NOT NULL
            );
            INSERT INTO \"{schema}\".storage (format, revision, sequence, hash)
            VALUES ({FORMAT}, 0, 0, decode(repeat('00', 32), 'hex'))"
        ))
        .await?;
    Ok(())
}

async fn check(client: &Client, schema: &str) -> Result<(), Failure> {
    let format = client
        .query_typed_opt(&format!("SELECT format FROM \"{schema}\".storage"), &[])
        .await?
        .ok_or_else(read::no_state)?;
    match read::column(&format, 0)? {
        FORMAT => Ok(()),
        format => Err(Failure::Permanent(
            Permanent::NotOpened,
            format!("its tables have version {format}, and this program knows {FORMAT}"),
        )),
    }
}
