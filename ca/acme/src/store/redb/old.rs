//! What ended long ago, and is removed.

use ::redb::ReadableTable;

use super::changes::{Changes, Entry};
use super::rows::{
    ACCOUNTS, AUTHORIZATIONS, AUTHORIZATIONS_BY_EXPIRY, CERTIFICATES, CERTIFICATES_BY_EXPIRY,
    CLAIMS, ENDED_ACCOUNTS, KEYS, NAMES, NONCES, OF_ACCOUNT, ORDERS, ORDERS_BY_EXPIRY, Stop, Times,
    missing,
};
use crate::nonce::NonceDigest;
use crate::store::codec::Record;
use crate::store::records::{
    AccountRecord, AuthorizationRecord, CertificateRecord, OrderRecord, OrderState,
};

/// Of how many new orders one removes old ones, and how many of each kind: more than were made meanwhile, with the
/// authorizations that each has.
const EVERY: u8 = 32;
pub(super) const AT_ONCE: u32 = 256;

/// Whether who made an order with this nonce removes old ones.
pub(super) fn is_due(nonce: &NonceDigest) -> bool {
    nonce.0[15].is_multiple_of(EVERY)
}

impl Changes<'_> {
    /// Removes what ended before this time: at most `limit` objects of each kind.
    pub(super) fn remove_old(&self, before: u64, limit: usize) -> Result<u64, Stop> {
        let mut removed = 0;
        for id in self.ended(ORDERS_BY_EXPIRY, before, limit)? {
            removed += u64::from(self.remove_order(&id)?);
        }
        for id in self.ended(AUTHORIZATIONS_BY_EXPIRY, before, limit)? {
            removed += u64::from(self.remove_authorization(&id)?);
        }
        for id in self.ended(CERTIFICATES_BY_EXPIRY, before, limit)? {
            self.remove_certificate(&id)?;
            removed += 1;
        }
        for id in self.ended(ENDED_ACCOUNTS, before, limit)? {
            removed += u64::from(self.remove_account(&id)?);
        }
        Ok(removed)
    }

    /// Removes an account that its holder ended, unless it has orders.
    fn remove_account(&self, id: &str) -> Result<bool, Stop> {
        let account = self.find::<AccountRecord>(ACCOUNTS, id)?;
        let account = account.ok_or_else(|| missing(AccountRecord::WHAT, id))?;
        let of_account = self.0.open_table(OF_ACCOUNT)?;
        let first = of_account.range((id, "")..)?.next().transpose()?;
        if first.is_some_and(|(first, _)| first.value().0 == id) {
            return Ok(false);
        }
        if let Some(ended) = account.ended() {
            self.index(ENDED_ACCOUNTS, ended, id, Entry::Take)?;
        }
        self.0.open_table(ACCOUNTS)?.remove(id)?;
        let mut keys = self.0.open_table(KEYS)?;
        keys.remove(account.key.thumbprint().as_bytes())?;
        self.0.open_table(NONCES)?.remove(&account.nonce.0)?;
        Ok(true)
    }

    pub(super) fn ended(
        &self,
        table: Times,
        before: u64,
        limit: usize,
    ) -> Result<Vec<String>, Stop> {
        let table = self.0.open_table(table)?;
        let ended = table.range(..(before, ""))?.take(limit);
        let ids = ended.map(|found| Ok(found?.0.value().1.to_owned()));
        ids.collect()
    }

    /// Removes an order, unless somebody works on it. The claim of one that came to nothing goes with it; that of another
    /// goes with the certificate.
    fn remove_order(&self, id: &str) -> Result<bool, Stop> {
        let order = self.find::<OrderRecord>(ORDERS, id)?;
        let order = order.ok_or_else(|| missing(OrderRecord::WHAT, id))?;
        if matches!(order.state, OrderState::Processing(_)) {
            return Ok(false);
        }
        self.index_order(&order, Entry::Take)?;
        self.0.open_table(ORDERS)?.remove(id)?;
        self.0.open_table(NONCES)?.remove(&order.nonce.0)?;
        let mut of_account = self.0.open_table(OF_ACCOUNT)?;
        of_account.remove((&*order.account, id))?;
        if let Some(name) = &order.replaces
            && !matches!(order.state, OrderState::Valid { .. })
        {
            self.unclaim(name, Some(id))?;
        }
        Ok(true)
    }

    /// Removes the claim on a certificate, if it is this order's.
    fn unclaim(&self, name: &str, order: Option<&str>) -> Result<(), Stop> {
        let mut claims = self.0.open_table(CLAIMS)?;
        let is_its = match claims.get(name)? {
            Some(found) => order.is_none_or(|order| found.value() == order),
            None => false,
        };
        if is_its {
            claims.remove(name)?;
        }
        Ok(())
    }

    fn remove_authorization(&self, id: &str) -> Result<bool, Stop> {
        let found = self.find::<AuthorizationRecord>(AUTHORIZATIONS, id)?;
        let found = found.ok_or_else(|| missing(AuthorizationRecord::WHAT, id))?;
        if found.in_work_since().is_some() {
            return Ok(false);
        }
        self.index_authorization(&found, Entry::Take)?;
        self.0.open_table(AUTHORIZATIONS)?.remove(id)?;
        Ok(true)
    }

    fn remove_certificate(&self, id: &str) -> Result<(), Stop> {
        let found = self.find::<CertificateRecord>(CERTIFICATES, id)?;
        let found = found.ok_or_else(|| missing(CertificateRecord::WHAT, id))?;
        let not_after = found.not_after.as_secs();
        self.index(CERTIFICATES_BY_EXPIRY, not_after, id, Entry::Take)?;
        self.0.open_table(CERTIFICATES)?.remove(id)?;
        let Some(name) = &found.name else {
            return Ok(());
        };
        self.unclaim(name, None)?;
        let mut names = self.0.open_table(NAMES)?;
        let is_its = match names.get(name.as_str())? {
            Some(named) => named.value() == id,
            None => false,
        };
        if is_its {
            names.remove(name.as_str())?;
        }
        Ok(())
    }
}
