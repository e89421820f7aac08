//! The key for nonces, which all replicas share.

use pq_postgres::tokio_postgres::types::Type;

use super::session::Worker;
use crate::store::StoreError;

/// Of several who bring one at once, the first one's is kept, and all get that.
const KEEP: &str = "UPDATE @.store SET nonce_key = coalesce(nonce_key, $1) RETURNING nonce_key";

impl Worker {
    pub(super) async fn nonce_key(&self, new: &[u8; 32]) -> Result<[u8; 32], StoreError> {
        let rows = self.rows(KEEP, &[(&new.as_slice(), Type::BYTEA)]).await?;
        let row = rows.first();
        let row = row.ok_or_else(|| self.damaged("its table store is empty".into()))?;
        let kept: &[u8] = self.column(row, 0)?;
        kept.try_into()
            .map_err(|_| self.damaged("its key for nonces has not 32 bytes".into()))
    }
}
