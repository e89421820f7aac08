use pq_x509::Signer;
use pq_x509::pki_types::UnixTime;

use super::Authority;
use super::error::AuthorityError;
use super::order::Order;
use crate::ledger::{Ledger, NewEntry};

/// Many certificates that the ledger records at once.
///
/// This takes much less time than to issue them one by one. [`keep`](Self::keep) returns the certificates only after
/// the ledger has recorded them.
///
/// ```
/// # use pq_ca::{Authority, AuthorityError, Ledger, NewEntry, Order};
/// # use pq_x509::pki_types::UnixTime;
/// # use pq_x509::{KeyError, Signer, VerifiedRequest};
/// # fn issue<S: Signer, L: Ledger>(
/// #     ca: &Authority<S, L>,
/// #     requests: &[VerifiedRequest],
/// # ) -> Result<Vec<NewEntry<'static>>, AuthorityError> {
/// let mut batch = ca.batch("alice", UnixTime::now());
/// for request in requests {
///     if let Err(error) = batch.add(&Order::for_request(request)?) {
///         eprintln!("refused: {error}");
///     }
/// }
/// let kept = batch.keep()?;
/// # Ok(kept)
/// # }
/// ```
#[must_use = "certificates are issued only when the ledger keeps them"]
pub struct Batch<'a, S, L> {
    authority: &'a Authority<S, L>,
    by: &'a str,
    now: UnixTime,
    made: Vec<NewEntry<'static>>,
}

impl<'a, S, L> Batch<'a, S, L> {
    pub(super) fn new(authority: &'a Authority<S, L>, by: &'a str, now: UnixTime) -> Self {
        Self {
            authority,
            by,
            now,
            made: Vec::new(),
        }
    }
}

impl<S: Signer, L: Ledger> Batch<'_, S, L> {
    /// Makes a certificate and adds it to the batch.
    ///
    /// # Errors
    ///
    /// [`AuthorityError::Forbidden`] if the policy forbids the certificate, and other errors if it can't be made.
    /// The batch goes on without it.
    pub fn add(&mut self, order: &Order<'_>) -> Result<(), AuthorityError> {
        let made = self.authority.make(order, self.by, self.now)?;
        self.made.push(made);
        Ok(())
    }

    /// Records the certificates in the ledger, and returns them with their ledger data, in the order in which they
    /// were added.
    ///
    /// # Errors
    ///
    /// If the ledger can't record them. Then none was issued.
    pub fn keep(self) -> Result<Vec<NewEntry<'static>>, AuthorityError> {
        self.authority.ledger.record(&self.made)?;
        Ok(self.made)
    }
}
