//! Issues many certificates with one record in the ledger. If the ledger refuses some of them, the others are still
//! recorded.

use alloc::collections::BTreeMap;

use pq_x509::keys::Signer;
use pq_x509::pki_types::UnixTime;

use super::Authority;
use super::error::AuthorityError;
use super::order::Order;
use crate::ledger::{KeyHash, Ledger, LedgerError, NewEntry, RequestId, SerialNumber};

/// Many certificates that the ledger records at once.
///
/// This takes much less time than to issue them one by one. [`keep`](Self::keep) returns the certificates only after
/// the ledger has recorded them.
///
/// ```
/// # use pq_ca::authority::{Authority, AuthorityError, Order};
/// # use pq_ca::ledger::{Ledger, NewEntry};
/// # use pq_x509::pki_types::UnixTime;
/// # use pq_x509::keys::{KeyError, Signer};
/// # use pq_x509::request::VerifiedRequest;
/// # fn issue<S: Signer, L: Ledger>(
/// #     ca: &Authority<S, L>,
/// #     requests: &[VerifiedRequest],
/// # ) -> Result<Vec<NewEntry<'static>>, AuthorityError> {
/// # let mut issued = Vec::new();
/// let mut batch = ca.batch("alice", UnixTime::now());
/// for request in requests {
///     if let Err(error) = batch.add(&Order::for_request(request)?) {
///         eprintln!("refused: {error}");
///     }
/// }
/// for kept in batch.keep()? {
///     match kept {
///         Ok(certificate) => issued.push(certificate),
///         Err(error) => eprintln!("refused: {error}"),
///     }
/// }
/// # Ok(issued)
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
    /// were added. What the ledger refuses, the others do without: a certificate whose key others may know, or whose
    /// serial number or request is taken, has its error in its place.
    ///
    /// # Errors
    ///
    /// If the ledger can't record them. Then none was issued.
    pub fn keep(self) -> Result<Vec<Result<NewEntry<'static>, AuthorityError>>, AuthorityError> {
        let Self {
            authority, made, ..
        } = self;
        let count = made.len();
        let mut refused = BTreeMap::new();
        let (mut places, mut made): (Vec<_>, Vec<_>) = made.into_iter().enumerate().unzip();
        // Each time round, there is one certificate less, or more.
        while let Err(error) = authority.record(&made, &[]) {
            let is_of = Refused::by(&error, authority)?;
            let Some(is_of) = is_of.filter(|is_of| made.iter().any(|one| is_of.is(one))) else {
                return Err(error);
            };
            let (out, left): (Vec<_>, Vec<_>) = places
                .into_iter()
                .zip(made)
                .partition(|(_, one)| is_of.is(one));
            refused.extend(out.into_iter().map(|(place, _)| (place, is_of.error())));
            (places, made) = left.into_iter().unzip();
        }
        let mut made = made.into_iter();
        let kept = (0..count).filter_map(|place| match refused.remove(&place) {
            Some(error) => Some(Err(error)),
            None => made.next().map(Ok),
        });
        Ok(kept.collect())
    }
}

/// What a ledger refuses of a batch.
enum Refused {
    /// Certificates with one of these keys, those of this certificate, which others may know.
    Keys(Vec<KeyHash>, SerialNumber),
    /// Certificates with this number, which another has.
    Number(SerialNumber),
    /// Certificates for this request, which has this one.
    Request(RequestId, SerialNumber),
}

impl Refused {
    /// What the ledger's error is about, if it is not about all.
    fn by<S, L: Ledger>(
        error: &AuthorityError,
        authority: &Authority<S, L>,
    ) -> Result<Option<Self>, AuthorityError> {
        Ok(match error {
            AuthorityError::Ledger(LedgerError::KeyCompromised(number)) => {
                let entry = authority.ledger.entry(number)?;
                entry.map(|entry| Self::Keys(entry.issued.keys().collect(), *number))
            }
            AuthorityError::Ledger(LedgerError::SerialNumberTaken(number)) => {
                Some(Self::Number(*number))
            }
            AuthorityError::Ledger(LedgerError::RequestTaken { request, number }) => {
                Some(Self::Request(*request, *number))
            }
            _ => None,
        })
    }

    fn is(&self, made: &NewEntry<'_>) -> bool {
        match self {
            Self::Keys(keys, _) => made.issued.keys().any(|key| keys.contains(&key)),
            Self::Number(number) => made.issued.serial_number == *number,
            Self::Request(request, number) => {
                made.issued.request == Some(*request) && made.issued.serial_number != *number
            }
        }
    }

    fn error(&self) -> AuthorityError {
        let error = match self {
            Self::Keys(_, number) => LedgerError::KeyCompromised(*number),
            Self::Number(number) => LedgerError::SerialNumberTaken(*number),
            Self::Request(request, number) => LedgerError::RequestTaken {
                request: *request,
                number: *number,
            },
        };
        error.into()
    }
}
