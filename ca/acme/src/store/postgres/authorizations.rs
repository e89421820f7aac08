//! Authorizations.

use alloc::sync::Arc;
use std::collections::HashMap;

use pq_postgres::tokio_postgres::types::Type;

use super::session::{Change, Outcome, Value, Worker, limit, number, seconds};
use crate::identifier::Identifier;
use crate::store::StoreError;
use crate::store::records::{AuthorizationRecord, AuthorizationState};

/// What stands for an identifier.
fn identifier_text(identifier: &Identifier) -> String {
    format!("{}:{}", identifier.kind(), identifier.value())
}

fn in_work(authorization: &AuthorizationRecord) -> Option<i64> {
    authorization.in_work_since().map(seconds)
}

fn is_valid(authorization: &AuthorizationRecord) -> bool {
    authorization.state == AuthorizationState::Valid
}

fn is_pending(authorization: &AuthorizationRecord) -> bool {
    authorization.state == AuthorizationState::Pending
}

/// Authorizations as they are inserted: one after another in each column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) ids: Vec<&'a str>,
    pub(super) accounts: Vec<&'a str>,
    pub(super) identifiers: Vec<String>,
    pub(super) are_wildcards: Vec<bool>,
    pub(super) are_valid: Vec<bool>,
    pub(super) expire: Vec<i64>,
    pub(super) in_work: Vec<Option<i64>>,
    pub(super) bodies: Vec<String>,
    pub(super) are_pending: Vec<bool>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(
        worker: &Worker,
        authorizations: &'a [AuthorizationRecord],
    ) -> Result<Self, StoreError> {
        let mut columns = Self::default();
        for one in authorizations {
            columns.ids.push(&one.id);
            columns.accounts.push(&one.account);
            columns.identifiers.push(identifier_text(&one.identifier));
            columns.are_wildcards.push(one.is_wildcard);
            columns.are_valid.push(is_valid(one));
            columns.expire.push(seconds(one.expires));
            columns.in_work.push(in_work(one));
            columns.bodies.push(worker.json(one)?);
            columns.are_pending.push(is_pending(one));
        }
        Ok(columns)
    }
}

impl Worker {
    pub(super) async fn authorization(
        &self,
        id: &str,
    ) -> Result<Option<Arc<AuthorizationRecord>>, StoreError> {
        let statement = "SELECT id, version, body FROM @.authorizations WHERE id = $1";
        self.named_record(statement, id).await
    }

    /// The authorizations with these identifiers, in their order.
    pub(super) async fn authorizations(
        &self,
        ids: &[String],
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let statement = "SELECT id, version, body FROM @.authorizations WHERE id = ANY ($1)";
        let values: [Value<'_>; 1] = [(&ids, Type::TEXT_ARRAY)];
        let found: Vec<Arc<AuthorizationRecord>> = self.records(statement, &values).await?;
        let by_id: HashMap<&str, _> = found.iter().map(|one| (one.id.as_str(), one)).collect();
        let each = ids.iter().map(|id| match by_id.get(id.as_str()) {
            Some(&found) => Ok(Arc::clone(found)),
            None => Err(self.damaged(format!("the authorization {id:?} is missing"))),
        });
        each.collect()
    }

    pub(super) async fn valid_authorizations(
        &self,
        account: &str,
        identifier: &Identifier,
        is_wildcard: bool,
        most: usize,
    ) -> Result<Vec<Arc<AuthorizationRecord>>, StoreError> {
        let statement = "SELECT id, version, body FROM @.authorizations \
            WHERE account = $1 AND identifier = $2 AND is_wildcard = $3 AND is_valid \
            ORDER BY expires DESC, id DESC LIMIT $4";
        let values: [Value<'_>; 4] = [
            (&account, Type::TEXT),
            (&identifier_text(identifier), Type::TEXT),
            (&is_wildcard, Type::BOOL),
            (&limit(most), Type::INT8),
        ];
        self.records(statement, &values).await
    }

    pub(super) async fn update_authorization(
        &self,
        authorization: AuthorizationRecord,
    ) -> Result<Arc<AuthorizationRecord>, StoreError> {
        let (mark, body) = (self.new_mark()?, self.json(&authorization)?);
        let version = number(authorization.version);
        let made = self.change(Change {
            statement: "UPDATE @.authorizations SET version = version + 1, account = $3, identifier = $4, \
                is_wildcard = $5, is_valid = $6, expires = $7, in_work = $8, body = $9, \
                marks = substring($10 || marks FROM 1 FOR 128), is_pending = $11 WHERE id = $1 AND version = $2 RETURNING 1",
            values: &[
                (&authorization.id, Type::TEXT),
                (&version, Type::INT8),
                (&authorization.account, Type::TEXT),
                (&identifier_text(&authorization.identifier), Type::TEXT),
                (&authorization.is_wildcard, Type::BOOL),
                (&is_valid(&authorization), Type::BOOL),
                (&seconds(authorization.expires), Type::INT8),
                (&in_work(&authorization), Type::INT8),
                (&body, Type::TEXT),
                (&&mark[..], Type::BYTEA),
                (&is_pending(&authorization), Type::BOOL),
            ],
            table: "authorizations",
            id: &authorization.id,
            version: version.saturating_add(1),
            mark,
        }).await?;
        match made {
            Outcome::Made => Ok(Arc::new(AuthorizationRecord {
                version: authorization.version + 1,
                ..authorization
            })),
            Outcome::NotMet | Outcome::Taken(_) => Err(StoreError::Changed),
        }
    }
}
