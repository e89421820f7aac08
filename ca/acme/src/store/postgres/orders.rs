//! Orders, and what is written together with them.

use alloc::sync::Arc;

use pq_postgres::tokio_postgres::types::Type;
use tokio::try_join;

use super::authorizations::Columns;
use super::session::{Change, Outcome, Value, Worker, limit, number, seconds};
use crate::objects::Time;
use crate::store::records::{AuthorizationRecord, CertificateRecord, OrderRecord, OrderState};
use crate::store::{Most, Overdue, StoreError, Undecided};

/// The claim of an order on the certificate that it replaces.
const CLAIM: &str = "claimed AS (
        INSERT INTO @.claims AS c (name, order_id) SELECT $6, $1 FROM owner
        ON CONFLICT (name) DO UPDATE SET order_id = excluded.order_id WHERE c.order_id = $11
        RETURNING 1),";

/// What inserts an order with its authorizations: `$1` to `$8` are the order's, `$9` and `$10` its account and that one's
/// version, `$11` the order whose claim it takes, `$12` and `$22` the order's, and the others the columns of the authorizations.
fn insertion(replaces: bool) -> String {
    let (claim, condition) = match replaces {
        true => (CLAIM, "WHERE EXISTS (SELECT FROM claimed)"),
        false => ("", ""),
    };
    format!(
        "WITH owner AS (SELECT 1 FROM @.accounts WHERE id = $9 AND version = $10),
        {claim}
        made AS (
            INSERT INTO @.orders (id, version, account, nonce, expires, is_valid, replaces, in_work, marks, body, is_open)
            SELECT $1, 0, $2, $3, $4, $5, $6, $12, $7, $8, $22 FROM owner {condition}
            RETURNING 1),
        needed AS (
            INSERT INTO @.authorizations
                (id, version, account, identifier, is_wildcard, is_valid, expires, in_work, marks, body, is_pending)
            SELECT a.id, 0, a.account, a.identifier, a.is_wildcard, a.is_valid, a.expires, a.in_work, $7, a.body, a.is_pending
            FROM made, unnest($13, $14, $15, $16, $17, $18, $19, $20, $21)
                AS a (id, account, identifier, is_wildcard, is_valid, expires, in_work, body, is_pending))
        SELECT 1 FROM made"
    )
}

/// `$1` is the order, `$2` its version as it was read.
const UPDATE: &str = "UPDATE @.orders SET version = version + 1, expires = $3, is_valid = $4, in_work = $5, body = $6, \
    marks = substring($7 || marks FROM 1 FOR 128), is_open = $8 WHERE id = $1 AND version = $2";

const OPEN: &str = "SELECT id, version, body FROM @.orders \
    WHERE account = $1 AND is_open AND expires > $2 ORDER BY expires, id LIMIT $3";
const PENDING: &str = "SELECT expires FROM @.authorizations \
    WHERE account = $1 AND is_pending AND expires > $2 ORDER BY expires, id LIMIT $3";

fn in_work(order: &OrderRecord) -> Option<i64> {
    match &order.state {
        OrderState::Processing(work) => Some(seconds(work.since)),
        _ => None,
    }
}

fn is_valid(order: &OrderRecord) -> bool {
    matches!(order.state, OrderState::Valid { .. })
}

fn is_open(order: &OrderRecord) -> bool {
    order.state == OrderState::Open
}

impl Worker {
    pub(super) async fn order(&self, id: &str) -> Result<Option<Arc<OrderRecord>>, StoreError> {
        let statement = "SELECT id, version, body FROM @.orders WHERE id = $1";
        self.named_record(statement, id).await
    }

    pub(super) async fn orders_of(
        &self,
        account: &str,
        after: &str,
        most: usize,
    ) -> Result<Vec<Arc<OrderRecord>>, StoreError> {
        if account.contains('\0') || after.contains('\0') {
            return Ok(Vec::new());
        }
        let statement = "SELECT id, version, body FROM @.orders \
                         WHERE account = $1 AND id > $2 ORDER BY id LIMIT $3";
        let values: [Value<'_>; 3] = [
            (&account, Type::TEXT),
            (&after, Type::TEXT),
            (&limit(most), Type::INT8),
        ];
        self.records(statement, &values).await
    }

    pub(super) async fn insert_order(
        &self,
        order: OrderRecord,
        authorizations: &[AuthorizationRecord],
        owner: &(String, u64),
        instead_of: Option<&str>,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let (mark, body) = (self.new_mark()?, self.json(&order)?);
        let needed = Columns::of(self, authorizations)?;
        let (owner, version) = (&owner.0, number(owner.1));
        let made = self
            .change(Change {
                statement: &insertion(order.replaces.is_some()),
                values: &[
                    (&order.id, Type::TEXT),
                    (&order.account, Type::TEXT),
                    (&&order.nonce.0[..], Type::BYTEA),
                    (&seconds(order.expires), Type::INT8),
                    (&is_valid(&order), Type::BOOL),
                    (&order.replaces, Type::TEXT),
                    (&&mark[..], Type::BYTEA),
                    (&body, Type::TEXT),
                    (&owner, Type::TEXT),
                    (&version, Type::INT8),
                    (&instead_of, Type::TEXT),
                    (&in_work(&order), Type::INT8),
                    (&needed.ids, Type::TEXT_ARRAY),
                    (&needed.accounts, Type::TEXT_ARRAY),
                    (&needed.identifiers, Type::TEXT_ARRAY),
                    (&needed.are_wildcards, Type::BOOL_ARRAY),
                    (&needed.are_valid, Type::BOOL_ARRAY),
                    (&needed.expire, Type::INT8_ARRAY),
                    (&needed.in_work, Type::INT8_ARRAY),
                    (&needed.bodies, Type::TEXT_ARRAY),
                    (&needed.are_pending, Type::BOOL_ARRAY),
                    (&is_open(&order), Type::BOOL),
                ],
                table: "orders",
                id: &order.id,
                version: 0,
                mark,
            })
            .await?;
        match made {
            Outcome::Made => Ok(Arc::new(OrderRecord {
                version: 0,
                ..order
            })),
            Outcome::Taken(constraint) if constraint == "orders_nonce" => {
                Err(StoreError::NonceTaken)
            }
            Outcome::Taken(_) => Err(StoreError::Changed),
            Outcome::NotMet => Err(self.why_no_order(&order, owner, version).await?),
        }
    }

    async fn why_no_order(
        &self,
        order: &OrderRecord,
        owner: &str,
        version: i64,
    ) -> Result<StoreError, StoreError> {
        let statement = "SELECT order_id FROM @.claims WHERE name = $1 \
            AND EXISTS (SELECT FROM @.accounts WHERE id = $2 AND version = $3)";
        let values: [Value<'_>; 3] = [
            (&order.replaces, Type::TEXT),
            (&owner, Type::TEXT),
            (&version, Type::INT8),
        ];
        let rows = self.rows(statement, &values).await?;
        match rows.first() {
            Some(row) => Ok(StoreError::Replaced(self.column(row, 0)?)),
            None => Ok(StoreError::Changed),
        }
    }

    pub(super) async fn update_order(
        &self,
        order: OrderRecord,
        unchanged: &[Arc<AuthorizationRecord>],
    ) -> Result<Arc<OrderRecord>, StoreError> {
        // The rows are locked, so that none changes before this does.
        let statement = match unchanged {
            [] => format!("{UPDATE} RETURNING 1"),
            _ => format!(
                "WITH kept AS (
                    SELECT 1 FROM @.authorizations a, unnest($9, $10) AS u (id, version)
                    WHERE a.id = u.id AND a.version = u.version FOR SHARE OF a)
                {UPDATE} AND (SELECT count(*) FROM kept) = cardinality($9) RETURNING 1"
            ),
        };
        let ids: Vec<&str> = unchanged.iter().map(|one| one.id.as_str()).collect();
        let versions: Vec<i64> = unchanged.iter().map(|one| number(one.version)).collect();
        let (mark, body) = (self.new_mark()?, self.json(&order)?);
        let version = number(order.version);
        let values: [Value<'_>; 10] = [
            (&order.id, Type::TEXT),
            (&version, Type::INT8),
            (&seconds(order.expires), Type::INT8),
            (&is_valid(&order), Type::BOOL),
            (&in_work(&order), Type::INT8),
            (&body, Type::TEXT),
            (&&mark[..], Type::BYTEA),
            (&is_open(&order), Type::BOOL),
            (&ids, Type::TEXT_ARRAY),
            (&versions, Type::INT8_ARRAY),
        ];
        let used = if unchanged.is_empty() { 8 } else { 10 };
        let made = self
            .change(Change {
                statement: &statement,
                values: &values[..used],
                table: "orders",
                id: &order.id,
                version: version.saturating_add(1),
                mark,
            })
            .await?;
        Self::next(made, order)
    }

    pub(super) async fn complete_order(
        &self,
        order: OrderRecord,
        certificate: &CertificateRecord,
    ) -> Result<Arc<OrderRecord>, StoreError> {
        let statement = format!(
            "WITH done AS ({UPDATE} RETURNING 1), stored AS (
                INSERT INTO @.certificates (id, name, not_after, body) SELECT $9, $10, $11, $12 FROM done
                ON CONFLICT (id) DO NOTHING)
            SELECT 1 FROM done"
        );
        let (mark, body) = (self.new_mark()?, self.json(&order)?);
        let version = number(order.version);
        let made = self
            .change(Change {
                statement: &statement,
                values: &[
                    (&order.id, Type::TEXT),
                    (&version, Type::INT8),
                    (&seconds(order.expires), Type::INT8),
                    (&is_valid(&order), Type::BOOL),
                    (&in_work(&order), Type::INT8),
                    (&body, Type::TEXT),
                    (&&mark[..], Type::BYTEA),
                    (&is_open(&order), Type::BOOL),
                    (&certificate.id, Type::TEXT),
                    (&certificate.name, Type::TEXT),
                    (&seconds(certificate.not_after), Type::INT8),
                    (&self.json(certificate)?, Type::TEXT),
                ],
                table: "orders",
                id: &order.id,
                version: version.saturating_add(1),
                mark,
            })
            .await?;
        Self::next(made, order)
    }

    /// The order after a change.
    fn next(outcome: Outcome, order: OrderRecord) -> Result<Arc<OrderRecord>, StoreError> {
        match outcome {
            Outcome::Made => Ok(Arc::new(OrderRecord {
                version: order.version + 1,
                ..order
            })),
            Outcome::NotMet | Outcome::Taken(_) => Err(StoreError::Changed),
        }
    }

    pub(super) async fn undecided(
        &self,
        account: &str,
        now: Time,
        most: Most,
    ) -> Result<Undecided, StoreError> {
        let (now, most_orders) = (seconds(now), limit(most.orders));
        let of_orders: [Value<'_>; 3] = [
            (&account, Type::TEXT),
            (&now, Type::INT8),
            (&most_orders, Type::INT8),
        ];
        let most_authorizations = limit(most.authorizations);
        let of_authorizations: [Value<'_>; 3] = [
            (&account, Type::TEXT),
            (&now, Type::INT8),
            (&most_authorizations, Type::INT8),
        ];
        let (orders, rows) = try_join!(
            self.records(OPEN, &of_orders),
            self.rows(PENDING, &of_authorizations)
        )?;
        let authorizations = rows.iter().map(|row| {
            let expires: i64 = self.column(row, 0)?;
            Ok(Time::from_secs(expires.unsigned_abs()))
        });
        Ok(Undecided {
            orders,
            authorizations: authorizations.collect::<Result<_, StoreError>>()?,
        })
    }

    pub(super) async fn overdue(&self, since: Time, most: usize) -> Result<Overdue, StoreError> {
        let of = |table: &str| {
            format!(
                "SELECT id, version, body FROM @.{table} WHERE in_work <= $1 ORDER BY in_work, id LIMIT $2"
            )
        };
        let (since, most) = (seconds(since), limit(most));
        let values: [Value<'_>; 2] = [(&since, Type::INT8), (&most, Type::INT8)];
        let (orders, authorizations) = (of("orders"), of("authorizations"));
        let (orders, authorizations) = try_join!(
            self.records(&orders, &values),
            self.records(&authorizations, &values)
        )?;
        Ok(Overdue {
            orders,
            authorizations,
        })
    }
}
