//! Many certificates, of which the ledger records some hundred at once.

use core::mem;

use pq_x509::keys::Signer;
use pq_x509::pki_types::UnixTime;

use crate::authority::{Authority, AuthorityError, Batch, Order};
use crate::ledger::{Ledger, NewEntry};

/// Certificates for any number of orders, in little memory: they are signed one by one, and the ledger records
/// [`AT_ONCE`](Self::AT_ONCE) of them in one change, waiting for its disk only once. A refused order doesn't keep the
/// others from being issued.
///
/// Each order has a ticket, such as where its certificate goes, which comes back with the certificate.
///
/// ```
/// # use pq_ca::authority::{Authority, AuthorityError, Order};
/// # use pq_ca::issuing::{Answer, Series, Terms};
/// # use pq_ca::ledger::Ledger;
/// # use pq_x509::pki_types::UnixTime;
/// # use pq_x509::keys::Signer;
/// # use pq_x509::request::VerifiedRequest;
/// # fn issue<S: Signer, L: Ledger>(
/// #     ca: &Authority<S, L>,
/// #     requests: Vec<(String, VerifiedRequest)>,
/// #     terms: &Terms,
/// # ) -> Result<(), AuthorityError> {
/// let mut series = Series::new(ca, "alice", UnixTime::now);
/// let mut requests = requests.iter().peekable();
/// while let Some((file, request)) = requests.next() {
///     let order = Order::for_request(request)?.with(|wanted| terms.apply(wanted));
///     if let Err(error) = series.add(&order, file) {
///         eprintln!("{file}: {error}");
///     }
///     if series.is_full() || requests.peek().is_none() {
///         for Answer { ticket: file, outcome } in series.record()? {
///             match outcome {
///                 Ok(issued) => println!("{file}: {}", issued.to_pem()),
///                 Err(error) => eprintln!("{file}: {error}"),
///             }
///         }
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "certificates are issued only when the ledger records them"]
pub struct Series<'a, S, L, T> {
    authority: &'a Authority<S, L>,
    by: &'a str,
    clock: fn() -> UnixTime,
    batch: Batch<'a, S, L>,
    /// Of the certificates in the batch.
    tickets: Vec<T>,
}

/// What became of an order of a [`Series`].
#[derive(Debug)]
pub struct Answer<T> {
    /// What came with the order.
    pub ticket: T,
    /// The certificate, which the ledger has, or why it refused it.
    pub outcome: Result<NewEntry<'static>, AuthorityError>,
}

impl<'a, S: Signer, L: Ledger, T> Series<'a, S, L, T> {
    /// How many certificates the ledger records at once.
    pub const AT_ONCE: usize = 512;

    /// Begins a series. `by` says who ordered the certificates. `clock` says when they are issued: those that are
    /// recorded at once have one time.
    pub fn new(authority: &'a Authority<S, L>, by: &'a str, clock: fn() -> UnixTime) -> Self {
        Self {
            authority,
            by,
            clock,
            batch: authority.batch(by, clock()),
            tickets: Vec::new(),
        }
    }

    /// Signs a certificate, which [`record`](Self::record) issues.
    ///
    /// # Errors
    ///
    /// [`AuthorityError::Forbidden`] if the policy forbids the certificate, and other errors if it can't be made. The
    /// series goes on without it.
    pub fn add(&mut self, order: &Order<'_>, ticket: T) -> Result<(), AuthorityError> {
        self.batch.add(order)?;
        self.tickets.push(ticket);
        Ok(())
    }

    /// Whether there are as many as the ledger records at once. Then call [`record`](Self::record).
    pub fn is_full(&self) -> bool {
        self.tickets.len() >= Self::AT_ONCE
    }

    /// Issues what was added since the last time, in this order: the ledger has it when this returns. What the ledger
    /// refuses, such as a certificate for a compromised key, has its error in its place.
    ///
    /// # Errors
    ///
    /// If the ledger can't record them. Then none of these was issued, unless the error says that
    /// [this is not certain](AuthorityError::changed_nothing).
    pub fn record(&mut self) -> Result<Vec<Answer<T>>, AuthorityError> {
        let next = self.authority.batch(self.by, (self.clock)());
        let batch = mem::replace(&mut self.batch, next);
        let tickets = mem::take(&mut self.tickets);
        let kept = tickets.into_iter().zip(batch.keep()?);
        let answers = kept.map(|(ticket, outcome)| Answer { ticket, outcome });
        Ok(answers.collect())
    }
}
