//! Accounts.

use alloc::sync::Arc;

use pq_postgres::tokio_postgres::types::Type;

use super::known::Known;
use super::session::{Change, Outcome, Value, Worker, limit, number};
use crate::store::StoreError;
use crate::store::codec::Record;
use crate::store::records::AccountRecord;

impl Worker {
    pub(super) async fn account(&self, id: &str) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        if id.contains('\0') {
            return Ok(None);
        }
        let known = self.accounts.borrow().get(id);
        // No row has this version.
        let as_known = known.as_ref().map(|known| (known.version, &*known.marks));
        let (version, marks) = as_known.unwrap_or((-1, &[]));
        let statement = "SELECT version, marks, CASE WHEN version = $2 AND marks = $3 THEN NULL ELSE body END \
                         FROM @.accounts WHERE id = $1";
        let values: [Value<'_>; 3] = [
            (&id, Type::TEXT),
            (&version, Type::INT8),
            (&marks, Type::BYTEA),
        ];
        let rows = self.rows(statement, &values).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let version: i64 = self.column(row, 0)?;
        let Some(body) = self.column(row, 2)? else {
            return Ok(known.map(|known| known.account));
        };
        let account = self.read(id, version, body)?;
        let known = Known {
            version,
            marks: self.column::<&[u8]>(row, 1)?.into(),
            account: Arc::clone(&account),
        };
        self.accounts.borrow_mut().put(id, known);
        Ok(Some(account))
    }

    pub(super) async fn account_of_key(
        &self,
        thumbprint: &[u8; 32],
    ) -> Result<Option<Arc<AccountRecord>>, StoreError> {
        let statement = "SELECT id, version, body FROM @.accounts WHERE thumbprint = $1";
        let values: [Value<'_>; 1] = [(&&thumbprint[..], Type::BYTEA)];
        let found = self.records(statement, &values).await?;
        Ok(found.into_iter().next())
    }

    pub(super) async fn accounts(
        &self,
        after: &str,
        most: usize,
    ) -> Result<Vec<Arc<AccountRecord>>, StoreError> {
        if after.contains('\0') {
            return Ok(Vec::new());
        }
        let statement =
            "SELECT id, version, body FROM @.accounts WHERE id > $1 ORDER BY id LIMIT $2";
        let values: [Value<'_>; 2] = [(&after, Type::TEXT), (&limit(most), Type::INT8)];
        self.records(statement, &values).await
    }

    pub(super) async fn insert_account(
        &self,
        account: AccountRecord,
    ) -> Result<Arc<AccountRecord>, StoreError> {
        let thumbprint = *account.key.thumbprint().as_bytes();
        let (mark, body) = (self.new_mark()?, self.json(&account)?);
        let made = self
            .change(Change {
                // Nobody logs an error where two make an account at once.
                statement: "INSERT INTO @.accounts (id, version, thumbprint, nonce, marks, body) \
                        VALUES ($1, 0, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1",
                values: &[
                    (&account.id, Type::TEXT),
                    (&&thumbprint[..], Type::BYTEA),
                    (&&account.nonce.0[..], Type::BYTEA),
                    (&&mark[..], Type::BYTEA),
                    (&body, Type::TEXT),
                ],
                table: "accounts",
                id: &account.id,
                version: 0,
                mark,
            })
            .await?;
        match made {
            Outcome::Made => Ok(Arc::new(AccountRecord {
                version: 0,
                ..account
            })),
            _ => Err(self.why_no_account(&account, &thumbprint).await?),
        }
    }

    /// Which of the things that are unique is there already.
    async fn why_no_account(
        &self,
        account: &AccountRecord,
        thumbprint: &[u8; 32],
    ) -> Result<StoreError, StoreError> {
        if let Some(other) = self.account_of_key(thumbprint).await?
            && other.id != account.id
        {
            return Ok(StoreError::KeyTaken(other.id.clone()));
        }
        match self.account(&account.id).await? {
            Some(_) => Ok(StoreError::Changed),
            None => Ok(StoreError::NonceTaken),
        }
    }

    pub(super) async fn update_account(
        &self,
        account: AccountRecord,
    ) -> Result<Arc<AccountRecord>, StoreError> {
        let thumbprint = *account.key.thumbprint().as_bytes();
        let (mark, body) = (self.new_mark()?, self.json(&account)?);
        let version = number(account.version);
        let made = self.change(Change {
            statement: "UPDATE @.accounts SET version = version + 1, thumbprint = $3, body = $4, \
                        marks = substring($5 || marks FROM 1 FOR 128), ended = $6 \
                        WHERE id = $1 AND version = $2 RETURNING 1",
            values: &[
                (&account.id, Type::TEXT),
                (&version, Type::INT8),
                (&&thumbprint[..], Type::BYTEA),
                (&body, Type::TEXT),
                (&&mark[..], Type::BYTEA),
                (&account.ended().map(number), Type::INT8),
            ],
            table: "accounts",
            id: &account.id,
            version: version.saturating_add(1),
            mark,
        }).await?;
        match made {
            Outcome::Made => Ok(Arc::new(AccountRecord {
                version: account.version + 1,
                ..account
            })),
            Outcome::NotMet => Err(StoreError::Changed),
            Outcome::Taken(_) => match self.account_of_key(&thumbprint).await? {
                Some(other) => Err(StoreError::KeyTaken(other.id.clone())),
                // It has another key since.
                None => Err(StoreError::Changed),
            },
        }
    }

    /// A record as JSON.
    pub(super) fn json(&self, record: &impl Record) -> Result<String, StoreError> {
        record
            .to_json()
            .map_err(|error| self.damaged(error.to_string()))
    }
}
