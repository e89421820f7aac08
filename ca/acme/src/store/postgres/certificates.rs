//! Certificates.

use alloc::sync::Arc;

use super::session::Worker;
use crate::store::StoreError;
use crate::store::records::CertificateRecord;

impl Worker {
    pub(super) async fn certificate(
        &self,
        id: &str,
    ) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        let statement = "SELECT id, 0::int8, body FROM @.certificates WHERE id = $1";
        self.named_record(statement, id).await
    }

    pub(super) async fn certificate_named(
        &self,
        name: &str,
    ) -> Result<Option<Arc<CertificateRecord>>, StoreError> {
        let statement = "SELECT id, 0::int8, body FROM @.certificates WHERE name = $1 LIMIT 1";
        self.named_record(statement, name).await
    }
}
