//! A CA as it issues at a time.

use alloc::sync::Arc;

use pq_ca::authority::AuthorityError;
use pq_x509::certificate::Certificate;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CrlReason;

use crate::keys::CaKey;

/// A CA as it issues at a time: whoever answers a request keeps to one, as the CA may get another key meanwhile.
#[derive(Clone)]
pub struct Issuing {
    /// The key that issues.
    pub key: Arc<dyn CaKey>,
    /// The other keys that this process has.
    pub(super) others: Vec<Arc<dyn CaKey>>,
    /// The certificates that follow those of the key that issues.
    pub(super) chain: Vec<Certificate>,
    /// The certificates of all issuing keys, by their names.
    pub(super) certificates: Vec<(String, Certificate)>,
}

impl Issuing {
    /// The certificates that follow those of the key that issues.
    pub fn chain(&self) -> &[Certificate] {
        &self.chain
    }

    /// The certificates that follow one that the CA issued before, maybe by an earlier key under the same root.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    pub fn chain_of(&self, certificate: &Certificate) -> Result<Vec<Certificate>, AuthorityError> {
        let mut chain = self.chain.clone();
        let entry = self.key.entry(certificate)?;
        let own = entry.and_then(|entry| {
            let mut all = self.certificates.iter();
            all.find(|(name, _)| *name == entry.issued.issuer)
        });
        if let (Some(first), Some((_, own))) = (chain.first_mut(), own) {
            *first = own.clone();
        }
        Ok(chain)
    }

    /// Revokes exactly this certificate, and says whether that changed anything. `None` if it is none of the CA's.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read or written.
    pub fn revoke(
        &self,
        certificate: &Certificate,
        reason: CrlReason,
        by: &str,
        at: UnixTime,
    ) -> Result<Option<bool>, AuthorityError> {
        match self.key_of(certificate)? {
            Some(key) => key.revoke(certificate, reason, by, at),
            None => Ok(None),
        }
    }

    /// Whether exactly this certificate is one of the CA's that was revoked.
    ///
    /// # Errors
    ///
    /// If the ledger can't be read.
    pub fn is_revoked(&self, certificate: &Certificate) -> Result<bool, AuthorityError> {
        let entry = self.key.entry(certificate)?;
        Ok(entry.is_some_and(|entry| entry.revocation().is_some()))
    }

    /// The key that issued a certificate, by the name that the ledger has.
    fn key_of(&self, certificate: &Certificate) -> Result<Option<&Arc<dyn CaKey>>, AuthorityError> {
        let Some(entry) = self.key.entry(certificate)? else {
            return Ok(None);
        };
        let mut all = [&self.key].into_iter().chain(&self.others);
        let own = all.find(|key| key.name() == entry.issued.issuer);
        Ok(Some(own.unwrap_or(&self.key)))
    }
}
