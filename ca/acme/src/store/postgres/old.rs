//! What ended long ago, and is removed.

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;

use super::session::{Value, Worker, seconds};
use crate::objects::Time;
use crate::store::StoreError;

/// The claim of an order that came to nothing goes with it; that of another goes with the certificate.
const STATEMENTS: [&str; 4] = [
    "WITH gone AS (
        DELETE FROM @.orders WHERE id = ANY (ARRAY(
            SELECT id FROM @.orders WHERE expires < $1 AND in_work IS NULL
            ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING id, replaces, is_valid),
    unclaimed AS (
        DELETE FROM @.claims WHERE name = ANY (ARRAY(SELECT replaces FROM gone WHERE NOT is_valid))
            AND order_id = ANY (ARRAY(SELECT id FROM gone)))
    SELECT count(*) FROM gone",
    "WITH gone AS (
        DELETE FROM @.authorizations WHERE id = ANY (ARRAY(
            SELECT id FROM @.authorizations WHERE expires < $1 AND in_work IS NULL
            ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone",
    "WITH gone AS (
        DELETE FROM @.certificates WHERE id = ANY (ARRAY(
            SELECT id FROM @.certificates WHERE not_after < $1
            ORDER BY not_after LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING name),
    unclaimed AS (DELETE FROM @.claims WHERE name = ANY (ARRAY(SELECT name FROM gone)))
    SELECT count(*) FROM gone",
    "WITH gone AS (
        DELETE FROM @.accounts WHERE id = ANY (ARRAY(
            SELECT id FROM @.accounts a WHERE ended < $1 AND NOT EXISTS (SELECT FROM @.orders o WHERE o.account = a.id)
            ORDER BY ended LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING 1)
    SELECT count(*) FROM gone",
];

/// After how many new orders old ones are looked for, and how many of each kind are removed then: more than were made
/// meanwhile, with the authorizations that each has.
const EVERY: u32 = 32;
const AT_ONCE: u32 = 256;

impl Worker {
    /// Removes what ended before this time: at most `limit` objects of each kind. Whoever does the same at once removes
    /// others.
    pub(super) async fn remove_old(&self, before: Time, limit: u32) -> Result<u64, StoreError> {
        let (before, limit) = (seconds(before), i64::from(limit));
        let values: [Value<'_>; 2] = [(&before, Type::INT8), (&limit, Type::INT8)];
        let mut removed = 0;
        for statement in STATEMENTS.map(|statement| self.named(statement)) {
            let remove = async |client: &Client| {
                let rows = client.query_typed(&statement, &values).await?;
                let row = rows.first();
                let count: i64 = row
                    .ok_or_else(|| Failure::damaged("no count"))?
                    .try_get(0)?;
                Ok(count.unsigned_abs())
            };
            let count = self.database.retrying(remove).await;
            removed += count.map_err(|failure| self.error(failure))?;
        }
        Ok(removed)
    }

    /// The same, for a part of the calls. If it fails, another one does it.
    pub(super) async fn remove_now_and_then(&self, before: Time) {
        if self.count_to(EVERY) {
            let _ = self.remove_old(before, AT_ONCE).await;
        }
    }
}
