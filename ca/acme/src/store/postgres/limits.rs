//! How often something was done.

use std::collections::HashMap;

use pq_postgres::Failure;
use pq_postgres::tokio_postgres::Client;
use pq_postgres::tokio_postgres::types::Type;
use tokio::try_join;

use super::session::{Value, Worker, limit, seconds};
use crate::objects::Time;
use crate::store::StoreError;
use crate::store::limits::{Counted, Limit, said};

/// Of how many calls one removes windows that are over, and how many.
const EVERY: u32 = 32;
const AT_ONCE: usize = 256;

/// All who count take rows in the order of their names, so nobody waits in a circle.
const COUNT: &str = "INSERT INTO @.limits AS l (name, until, count)
    SELECT w.name, w.until, 1 FROM unnest($1, $2, $3) AS w (name, until, most) WHERE w.most > 0 ORDER BY w.name
    ON CONFLICT (name) DO UPDATE SET
        until = CASE WHEN l.until > $4 THEN l.until ELSE excluded.until END,
        count = CASE WHEN l.until > $4 THEN l.count + 1 ELSE 1 END
    WHERE l.until <= $4
        OR l.count < (SELECT min(w.most) FROM unnest($1, $3) AS w (name, most) WHERE w.name = l.name)
    RETURNING name";

const REMOVE: &str = "DELETE FROM @.limits WHERE name = ANY (ARRAY(
    SELECT name FROM @.limits WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))";

impl Worker {
    pub(super) async fn count(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let names: Vec<&str> = limits.iter().map(|one| one.of.as_str()).collect();
        let ends = limits.iter().map(|one| seconds(now.after(one.window)));
        let ends: Vec<i64> = ends.collect();
        let most: Vec<i64> = limits.iter().map(|one| one.most.into()).collect();
        let values: [Value<'_>; 4] = [
            (&names, Type::TEXT_ARRAY),
            (&ends, Type::INT8_ARRAY),
            (&most, Type::INT8_ARRAY),
            (&seconds(now), Type::INT8),
        ];
        let statement = self.named(COUNT);
        let count = async |client: &Client| {
            let begin = async {
                client.batch_execute(self.database.begin()).await?;
                Ok(())
            };
            // Nobody waits for a disk that it was counted.
            let hurry = async {
                let statement = "SET LOCAL synchronous_commit = off";
                client.batch_execute(statement).await?;
                Ok(())
            };
            let counting = async { Ok(client.query_typed(&statement, &values).await?) };
            let ((), (), rows): (_, _, Vec<_>) =
                try_join!(biased; begin, hurry, counting).map_err(|error: Failure| error)?;
            let counted = rows.iter().map(|row| row.try_get::<_, String>(0));
            let counted: Vec<String> = counted.collect::<Result<_, _>>()?;
            let end = match counted.len() == limits.len() {
                true => "COMMIT",
                false => "ROLLBACK",
            };
            client.batch_execute(end).await?;
            Ok(counted)
        };
        let counted = self.database.retrying(count).await;
        let counted = counted.map_err(|failure| self.error(failure))?;
        if self.count_to(EVERY) {
            let values: [Value<'_>; 2] =
                [(&seconds(now), Type::INT8), (&limit(AT_ONCE), Type::INT8)];
            // If it fails, another one does it.
            let _ = self.rows(REMOVE, &values).await;
        }
        let refused = limits.iter().find(|one| !counted.contains(&one.of));
        let Some(refused) = refused else {
            return Ok(Counted::All);
        };
        let statement = "SELECT until FROM @.limits WHERE name = $1";
        let rows = self.rows(statement, &[(&refused.of, Type::TEXT)]).await?;
        let until = match rows.first() {
            Some(row) => self.column::<i64>(row, 0)?.unsigned_abs(),
            None => now.after(refused.window).as_secs(),
        };
        Ok(Counted::UsedUp {
            of: refused.of.clone(),
            until: Time::from_secs(until),
        })
    }

    /// What is said of limits. It counts nothing.
    pub(super) async fn look(&self, limits: &[Limit], now: Time) -> Result<Counted, StoreError> {
        let names: Vec<&str> = limits.iter().map(|one| one.of.as_str()).collect();
        let statement = "SELECT name, until, count FROM @.limits WHERE name = ANY ($1)";
        let rows = self.rows(statement, &[(&names, Type::TEXT_ARRAY)]).await?;
        let mut counted = HashMap::new();
        for row in &rows {
            let (until, count): (i64, i64) = (self.column(row, 1)?, self.column(row, 2)?);
            let until = Time::from_secs(until.unsigned_abs());
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            counted.insert(self.column::<&str>(row, 0)?, (until, count));
        }
        said(
            limits,
            |limit| Ok(counted.get(limit.of.as_str()).copied()),
            now,
        )
    }
}
