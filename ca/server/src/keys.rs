//! A CA's keys, whatever their types and that of the ledger: what the doors need of each.

// This room uses `ocsp`.

use core::time::Duration;

use pq_ca::authority::{Authority, AuthorityError, Order};
use pq_ca::ledger::Ledger;
use pq_x509::certificate::Certificate;
use pq_x509::keys::Signer;
use pq_x509::pki_types::UnixTime;
use pq_x509::revocation::CertificateRevocationList;

use crate::ocsp::Answers;

/// One of a CA's keys, with its ledger: an [`Authority`] of any types. Its methods may block.
pub trait CaKey: Answers {
    /// The key's name in the ledger.
    fn name(&self) -> &str;

    /// Makes the key's next revocation list: [`Authority::revocation_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::revocation_list`].
    fn list(&self, now: UnixTime) -> Result<CertificateRevocationList, AuthorityError>;

    /// How long a list is valid.
    fn list_validity(&self) -> Duration;

    /// [`Authority::check_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::check_list`].
    fn check_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError>;

    /// [`Authority::confirm_list`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::confirm_list`].
    fn confirm_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError>;

    /// Issues a certificate: [`Authority::issue`].
    ///
    /// # Errors
    ///
    /// Those of [`Authority::issue`].
    fn issue(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError>;

    /// What keeps the key from issuing, as far as can be told without it: the ledger, its certificate, the clock.
    fn problem(&self, now: UnixTime) -> Option<String>;

    /// What keeps the key from signing, found out by a signature.
    fn problem_of_signing(&self) -> Option<String>;
}

impl<S: Signer + 'static, L: Ledger + 'static> CaKey for Authority<S, L> {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn list(&self, now: UnixTime) -> Result<CertificateRevocationList, AuthorityError> {
        self.revocation_list(now, None)
    }

    fn list_validity(&self) -> Duration {
        self.policy().revocation_list_validity()
    }

    fn check_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        Self::check_list(self, list)
    }

    fn confirm_list(&self, list: &CertificateRevocationList) -> Result<(), AuthorityError> {
        Self::confirm_list(self, list)
    }

    fn issue(
        &self,
        order: &Order<'_>,
        by: &str,
        now: UnixTime,
    ) -> Result<Certificate, AuthorityError> {
        Self::issue(self, order, by, now)
    }

    fn problem(&self, now: UnixTime) -> Option<String> {
        let own = self.issuer().certificate();
        if now < own.not_before() || own.not_after() < now {
            return Some("the CA's certificate is not valid now".into());
        }
        let checked = self.ledger().check_time(now);
        checked.err().map(|error| format!("the ledger: {error}"))
    }

    fn problem_of_signing(&self) -> Option<String> {
        // No certificate, list or response is such a text.
        let signed = self.issuer().signer().sign(b"Does this key sign?");
        signed.err().map(|error| error.to_string())
    }
}
